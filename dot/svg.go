package dot

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/dot/layout"
)

// How large an SVG's letters are.
const (
	largeText  = 13
	smallText  = 11
	largeLine  = 17
	smallLine  = 15
	textMargin = 12
)

// Anchor is the id of a call's group in an SVG, by the call's name: the same in
// every drawing, and another for every name.
func Anchor(call string) string {
	var b strings.Builder
	b.WriteString("call-")
	for i := range len(call) {
		if c := call[i]; wordByte(c) || c == '-' || c == '_' || c == '.' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "~%02x", c)
		}
	}
	return b.String()
}

// SVG is the view as a picture that needs no other program, laid out by
// [layout.Place], in the colours that its reader prefers, light or dark. It has
// no scripts and takes nothing from elsewhere. A node is a group with the
// classes "node" and its kind, and "mark-" with the kind of each of its marks;
// its id is the call's [Anchor], or the node's ID. The edge of index i is a
// group "edge" with the id "e" and i, and the IDs of its nodes as data-from and
// data-to.
func (v View) SVG() string {
	d := svgDrawing{View: v}
	d.measure()
	d.placed = layout.Place(d.graph)
	return d.write()
}

// A svgDrawing is the work on an SVG.
type svgDrawing struct {
	View
	placed layout.Placed
	graph  layout.Graph
	frames []*frame  // by cluster
	titles []svgText // of clusters, from the second on
	texts  []svgText
	labels []svgText // of edges
	out    bytes.Buffer
}

// A svgText is lines of a text, each with its class, one below the other.
type svgText struct {
	lines         []svgLine
	width, height int
}

type svgLine struct {
	text, class   string
	size, y, wide int // y is that of its middle
}

func (t *svgText) add(text, class string, size int) {
	line := smallLine
	if size == largeText {
		line = largeLine
	}
	wide := textWidth(text, size)
	t.lines = append(t.lines, svgLine{text, class, size, t.height + line/2, wide})
	t.width, t.height = max(t.width, wide), t.height+line
}

func (d *svgDrawing) measure() {
	d.graph.Clusters, d.frames = []layout.Cluster{{}}, []*frame{nil}
	var enter func(f *frame, cluster int)
	cluster := make([]int, len(d.Nodes))
	enter = func(f *frame, at int) {
		for _, i := range f.nodes {
			cluster[i] = at
		}
		for _, inner := range f.inside {
			var title svgText
			for _, row := range wrapped(inner.name, maxLabel) {
				title.add(row, "detail", smallText)
			}
			d.graph.Clusters = append(d.graph.Clusters, layout.Cluster{Inside: at, TitleWidth: title.width, TitleHeight: title.height + 8})
			d.frames, d.titles = append(d.frames, inner), append(d.titles, title)
			enter(inner, len(d.frames)-1)
		}
	}
	enter(d.View.frames(), 0)
	for i := range d.Nodes {
		n := &d.Nodes[i]
		t := n.svg()
		d.texts = append(d.texts, t)
		d.graph.Nodes = append(d.graph.Nodes, layout.Node{Width: max(56, t.width+2*textMargin), Height: t.height + textMargin, Cluster: cluster[i]})
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		var t svgText
		for _, row := range rows(e.Label, maxLabel) {
			t.add(row, "", smallText)
		}
		for _, row := range rows(e.Condition, maxLabel) {
			t.add(row, "condition", smallText)
		}
		for _, m := range first(e.Marks) {
			t.add(m.words(), "tone-"+m.Kind.tone().name, smallText)
		}
		d.labels = append(d.labels, t)
		edge := layout.Edge{From: e.From, To: e.To}
		if len(t.lines) > 0 {
			edge.LabelWidth, edge.LabelHeight = t.width+8, t.height+2
		}
		d.graph.Edges = append(d.graph.Edges, edge)
	}
}

func (n *Node) svg() svgText {
	var t svgText
	for _, row := range rows(n.Label, maxLabel) {
		t.add(row, "name", largeText)
	}
	for _, row := range wrapped(n.Detail, maxDetail) {
		t.add(row, "detail", smallText)
	}
	for _, m := range said(n.Marks) {
		for _, row := range wrapped(m.words(), maxDetail) {
			t.add(row, "tone-"+m.Kind.tone().name, smallText)
		}
	}
	if len(t.lines) == 0 {
		t.add(" ", "name", largeText)
	}
	return t
}

func (d *svgDrawing) write() string {
	const margin = 24
	var head, foot svgText
	for _, row := range rows(d.Name, maxTitle) {
		head.add(row, "title", largeText)
	}
	for _, note := range d.Notes {
		for _, row := range wrapped(note, maxNote) {
			head.add(row, "detail", smallText)
		}
	}
	legend := d.Legend()
	for _, entry := range legend {
		foot.add(entry.Words, "detail", smallText)
	}
	const sample = 44 // how wide what the legend explains is drawn
	top := margin + head.height
	if head.height > 0 {
		top += margin / 2
	}
	width, height := max(d.placed.Width, head.width, foot.width+sample)+2*margin, top+d.placed.Height+margin
	below := height
	if len(legend) > 0 {
		height += foot.height + margin
	}
	fmt.Fprintf(&d.out, `<svg xmlns="http://www.w3.org/2000/svg" class="obelus" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	d.element("title", cmp.Or(strings.Join(rows(d.Name, maxTitle), " "), "plan"))
	d.out.WriteString("<style>" + svgStyle + "</style>\n")
	fmt.Fprintf(&d.out, `<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
	d.text(head, margin, margin, "start")
	fmt.Fprintf(&d.out, `<g class="plan" transform="translate(%d %d)">`+"\n", margin+max(0, (width-2*margin-d.placed.Width)/2), top)
	for i, f := range d.frames[1:] {
		box := d.placed.Clusters[i+1]
		fmt.Fprintf(&d.out, `<g class="frame" id="frame-%d"><rect x="%d" y="%d" width="%d" height="%d" rx="8"/>`, f.number, box.X, box.Y, box.Width, box.Height)
		d.text(d.titles[i], box.X+12, box.Y+6, "start")
		d.out.WriteString("</g>\n")
	}
	for i := range d.Edges {
		d.edge(i)
	}
	for i := range d.Nodes {
		d.node(&d.Nodes[i], d.texts[i], d.placed.Nodes[i])
	}
	d.out.WriteString("</g>\n")
	if len(legend) > 0 {
		d.out.WriteString(`<g class="legend">` + "\n")
		d.text(foot, margin+sample, below, "start")
		for i, entry := range legend {
			d.sample(entry, margin, below+foot.lines[i].y)
		}
		d.out.WriteString("</g>\n")
	}
	d.out.WriteString("</svg>\n")
	return d.out.String()
}

// element writes an element that holds only text.
func (d *svgDrawing) element(name, text string) {
	d.out.WriteString("<" + name + ">")
	xml.EscapeText(&d.out, []byte(text))
	d.out.WriteString("</" + name + ">")
}

// text writes lines from a place on, which is their left end or their middle.
func (d *svgDrawing) text(t svgText, x, y int, anchor string) {
	for _, line := range t.lines {
		fmt.Fprintf(&d.out, `<text class="%s" x="%d" y="%d" font-size="%d" text-anchor="%s">`, line.class, x, y+line.y+line.size*7/20, line.size, anchor)
		xml.EscapeText(&d.out, []byte(line.text))
		d.out.WriteString("</text>")
	}
}

func (d *svgDrawing) node(n *Node, t svgText, box layout.Box) {
	id := n.ID
	if n.Call != "" {
		id = Anchor(n.Call)
	}
	fmt.Fprintf(&d.out, `<g class="%s" id="%s" data-node="%s">`, classes("node", string(n.Kind), n.Marks), id, n.ID)
	if tip := tips(n); tip != "" {
		d.element("title", tip)
	}
	d.shape(n.Kind, n.Repeats, box)
	if has(n.Marks, Critical) { // whatever its own outline says
		d.trail(box)
	}
	d.text(t, box.X+box.Width/2, box.Y+(box.Height-t.height)/2, "middle")
	d.out.WriteString("</g>\n")
}

// trail is the outline of what is on the critical path, around a node's own.
func (d *svgDrawing) trail(box layout.Box) {
	fmt.Fprintf(&d.out, `<path class="trail" d="M%d %dh%dv%dh%dz"/>`, box.X-4, box.Y-4, box.Width+8, box.Height+8, -box.Width-8)
}

// shape draws the border of a node: each kind has its own, besides its colour.
func (d *svgDrawing) shape(kind Kind, repeats bool, box layout.Box) {
	round := 5
	switch kind {
	case Input, Initial, Output:
		round = box.Height / 2
	case Latent:
		round = 12
	case Effect, Path:
		round = 0
	}
	rect := func(inset, round int) {
		fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, box.X+inset, box.Y+inset, box.Width-2*inset, box.Height-2*inset, round)
	}
	if repeats { // two more stand behind it
		for _, at := range []int{2, 1} {
			fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, box.X+4*at, box.Y+4*at, box.Width, box.Height, round)
		}
	}
	rect(0, round)
	if kind == Folded {
		rect(3, round-2)
	}
}

// classes are those of a group, by which styles and scripts find it.
func classes(what, kind string, marks []Mark) string {
	words := []string{what, kind}
	gravest := said(marks)
	if what == "node" {
		gravest = outline(marks, true)
	}
	if len(gravest) > 0 {
		words = append(words, "line-"+gravest[0].Kind.tone().name)
	}
	for _, m := range marks {
		words = append(words, "mark-"+string(m.Kind))
	}
	return strings.Join(words, " ")
}

func (d *svgDrawing) edge(i int) {
	e, r, t := &d.Edges[i], d.placed.Edges[i], d.labels[i]
	class := classes("edge", string(e.Kind), e.Marks)
	if d.Nodes[e.From].Kind == Missing {
		class += " of-nothing"
	}
	if e.Optional {
		class += " optional"
	}
	fmt.Fprintf(&d.out, `<g class="%s" id="e%d" data-from="%s" data-to="%s">`, class, i, d.Nodes[e.From].ID, d.Nodes[e.To].ID)
	end := r.Curve[len(r.Curve)-1]
	before := r.Curve[len(r.Curve)-2]
	fmt.Fprintf(&d.out, `<path class="way" d="%s"/>`, r.Path())
	d.out.WriteString(arrow(end, before))
	if len(t.lines) > 0 {
		fmt.Fprintf(&d.out, `<rect class="under" x="%d" y="%d" width="%d" height="%d"/>`, r.Label.X, r.Label.Y, r.Label.Width, r.Label.Height)
		d.text(t, r.Label.X+r.Label.Width/2, r.Label.Y+1, "middle")
	}
	d.out.WriteString("</g>\n")
}

// arrow is the head of an edge that ends at a point, coming down, up or from the
// side.
func arrow(end, before layout.Point) string {
	x, y := 0, 1
	switch {
	case before.Y > end.Y:
		y = -1
	case before.Y == end.Y:
		x, y = 1, 0
		if before.X > end.X {
			x = -1
		}
	}
	const long, half = 8, 4
	return fmt.Sprintf(`<path class="head" d="M%d %dl%d %dl%d %dz"/>`, end.X, end.Y, -long*x-half*y, -long*y-half*x, 2*half*y, 2*half*x)
}

// sample draws what an entry of the legend explains, beside a line of text.
func (d *svgDrawing) sample(entry LegendEntry, x, y int) {
	switch {
	case entry.Node != "":
		fmt.Fprintf(&d.out, `<g class="node %s">`, entry.Node)
		d.shape(entry.Node, false, layout.Box{X: x, Y: y - 6, Width: 30, Height: 12})
		d.out.WriteString("</g>\n")
	case entry.Repeats:
		d.out.WriteString(`<g class="node call">`)
		d.shape(Call, true, layout.Box{X: x, Y: y - 8, Width: 24, Height: 6})
		d.out.WriteString("</g>\n")
	case entry.Edge != "", entry.Optional:
		if entry.Optional {
			entry.Edge = "optional"
		}
		fmt.Fprintf(&d.out, `<g class="edge %s"><path class="way" d="M%d %dh30"/>%s</g>`+"\n", entry.Edge, x, y, arrow(layout.Point{X: x + 32, Y: y}, layout.Point{X: x, Y: y}))
	case entry.Mark == Critical:
		d.trail(layout.Box{X: x + 4, Y: y - 3, Width: 22, Height: 6})
		d.out.WriteString("\n")
	case entry.Look != "":
		fmt.Fprintf(&d.out, `<g class="node call line-%s"><rect x="%d" y="%d" width="30" height="12" rx="5"/></g>`+"\n", entry.Mark.tone().name, x, y-6)
	}
}

// textWidth is how wide a line is at most in one of the usual fonts, as DejaVu
// Sans, which is wide among them.
func textWidth(s string, size int) int {
	width := 0
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			width += int(asciiWidths[r-' '])
		case r < 0x300: // of Latin letters, with accents
			width += 64
		case r < 0x370: // accents by themselves
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f000:
			width += 102 // as wide as it is high
		default:
			width += 84
		}
	}
	return (width*size + 99) / 100
}

// asciiWidths are in hundredths of the letters' size, of those from the blank to ~.
var asciiWidths = [95]uint8{
	32, 41, 46, 84, 64, 95, 78, 28, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
	100, 69, 69, 70, 77, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 39, 34, 39, 84, 50,
	50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
}

var svgStyle = svgColours(false) + `.obelus text{font-family:"DejaVu Sans",Verdana,"Helvetica Neue",Arial,sans-serif}.obelus .title{font-weight:bold}.obelus .condition{font-style:italic}` +
	`.obelus .node rect{stroke-width:1.2}.obelus .node[class*="line-"] rect{stroke-width:2}.obelus .missing rect{stroke-dasharray:5 4}` +
	`.obelus .way{fill:none;stroke-width:1.2}.obelus .trail{fill:none;stroke-width:2.5;stroke-linejoin:round}.obelus .edge[class*="line-"] .way{stroke-width:2}.obelus .edge .head{stroke:none}.obelus .edge.optional .head{stroke-width:1.2}.obelus .failure .way,.obelus .of-nothing .way{stroke-dasharray:6 4}.obelus .after .way{stroke-dasharray:6 4;stroke-width:1.6}.obelus .order .way,.obelus .once .way{stroke-dasharray:1.5 4;stroke-width:1.6}.obelus .write .way{stroke-width:2.6}` +
	`.obelus .edge .under{stroke:none}.obelus .frame rect{fill:none;stroke-dasharray:2 3}` +
	"@media (prefers-color-scheme:dark){" + svgColours(true) + "}"

// svgColours are the rules that give all there is its colours, which are those of
// the other formats, on white or on black.
func svgColours(dark bool) string {
	var b strings.Builder
	rule := func(selectors, property, light string) {
		if dark {
			light = darker[light]
		}
		parts := strings.Split(selectors, ",")
		for i := range parts {
			parts[i] = ".obelus " + parts[i]
		}
		fmt.Fprintf(&b, "%s{%s:%s}", strings.Join(parts, ","), property, light)
	}
	rule(".paper,.under", "fill", paper)
	rule("text", "fill", ink)
	rule(".detail,.edge text,.legend text,.missing .name", "fill", muted)
	rule(".way", "stroke", line)
	rule(".trail", "stroke", working)
	rule(".head", "fill", line)
	rule(".edge.optional .head", "fill", paper)
	rule(".edge.optional .head", "stroke", line)
	rule(".frame rect", "stroke", line)
	for _, kind := range []Kind{Call, Effect, Latent, Folded, Path, Input, Initial, Missing, Output} {
		rule("."+string(kind)+" rect", "fill", paints[kind].fill)
		rule("."+string(kind)+" rect", "stroke", paints[kind].border)
	}
	rule(".failure .way", "stroke", danger)
	rule(".failure .head,.failure text", "fill", danger)
	rule(".edge.failure.optional .head", "stroke", danger)
	for _, t := range tones {
		rule(".line-"+t.name+" rect,.line-"+t.name+" .way", "stroke", t.colour)
		rule(".line-"+t.name+" .head,text.tone-"+t.name, "fill", t.colour)
		rule(".edge.line-"+t.name+".optional .head", "stroke", t.colour)
	}
	return b.String()
}
