package dot

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/xml"
	"fmt"
	"maps"
	"regexp"
	"slices"
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
	return "call-" + unfit.ReplaceAllStringFunc(call, func(part string) string {
		return "~" + strings.ReplaceAll(fmt.Sprintf("% x", part), " ", "~")
	})
}

// unfit is what no id has.
var unfit = regexp.MustCompile(`[^\w.-]+`)

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

func (t *svgText) row(r row) {
	switch r.kind {
	case "name":
		t.add(r.text, r.kind, largeText)
	case "mark":
		t.add(r.text, "tone-"+r.tone.name, smallText)
	default:
		t.add(r.text, r.kind, smallText)
	}
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
			d.graph.Clusters = append(d.graph.Clusters,
				layout.Cluster{Inside: at, TitleWidth: title.width, TitleHeight: title.height + 8})
			d.frames, d.titles = append(d.frames, inner), append(d.titles, title)
			enter(inner, len(d.frames)-1)
		}
	}
	enter(d.View.frames(), 0)
	for i := range d.Nodes {
		var t svgText
		for _, r := range d.boxRows(&d.Nodes[i], fullSizes) {
			t.row(r)
		}
		if len(t.lines) == 0 {
			t.add(" ", "name", largeText)
		}
		d.texts = append(d.texts, t)
		d.graph.Nodes = append(d.graph.Nodes,
			layout.Node{Width: max(56, t.width+2*textMargin), Height: t.height + textMargin, Cluster: cluster[i]})
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		var t svgText
		for _, r := range d.edgeRows(e, fullSizes) {
			t.row(r)
		}
		d.labels = append(d.labels, t)
		edge := layout.Edge{From: e.From, To: e.To}
		if len(t.lines) > 0 {
			edge.LabelWidth, edge.LabelHeight = t.width+8, t.height+2
		}
		d.graph.Edges = append(d.graph.Edges, edge)
	}
}

func (d *svgDrawing) write() string {
	const margin = 24
	var legend []string
	for _, entry := range d.Legend() {
		legend = append(legend, entry.String())
	}
	head, foot := heading(d.Name, d.Notes), heading("", legend)
	top := margin + head.height
	if head.height > 0 {
		top += margin / 2
	}
	width, height := max(d.placed.Width, head.width, foot.width)+2*margin, top+d.placed.Height+margin
	below := height
	if len(legend) > 0 {
		height += foot.height + margin
	}
	d.begin(cmp.Or(d.Name, "plan"), width, height)
	d.text(head, margin, margin, "start")
	fmt.Fprintf(&d.out, `<g class="plan" transform="translate(%d %d)">`+"\n",
		margin+max(0, (width-2*margin-d.placed.Width)/2), top)
	for i, f := range d.frames[1:] {
		box := d.placed.Clusters[i+1]
		fmt.Fprintf(&d.out, `<g class="frame" id="frame-%d"><rect x="%d" y="%d" width="%d" height="%d" rx="8"/>`,
			f.number, box.X, box.Y, box.Width, box.Height)
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
		d.text(foot, margin, below, "start")
		d.out.WriteString("</g>\n")
	}
	d.out.WriteString("</svg>\n")
	return d.out.String()
}

// heading is the title of a picture, with notes below it.
func heading(title string, notes []string) (head svgText) {
	for _, row := range rows(title, maxTitle) {
		head.add(row, "title", largeText)
	}
	for _, note := range notes {
		for _, row := range wrapped(note, maxNote) {
			head.add(row, "detail", smallText)
		}
	}
	return head
}

// begin writes what is before the first element of a picture.
func (d *svgDrawing) begin(title string, width, height int) {
	fmt.Fprintf(&d.out,
		`<svg xmlns="http://www.w3.org/2000/svg" class="obelus" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+
			"\n", width, height, width, height)
	d.element("title", strings.Join(rows(title, maxTitle), " "))
	d.out.WriteString("<style>" + svgStyle + "</style>\n")
	fmt.Fprintf(&d.out, `<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
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
		fmt.Fprintf(&d.out, `<text class="%s" x="%d" y="%d" font-size="%d" text-anchor="%s">`, line.class, x,
			y+line.y+line.size*7/20, line.size, anchor)
		xml.EscapeText(&d.out, []byte(line.text))
		d.out.WriteString("</text>")
	}
}

func (d *svgDrawing) node(n *Node, t svgText, box layout.Box) {
	id := n.ID
	if n.Call != "" {
		id = Anchor(n.Call)
	}
	fmt.Fprintf(&d.out, `<g class="%s" id="%s" data-node="%s">`,
		classes("node "+string(n.Kind), n.look(), n.Marks), id, n.ID)
	if tip := d.tip(n); tip != "" {
		d.element("title", tip)
	}
	d.shape(n, box)
	d.text(t, box.X+box.Width/2, box.Y+(box.Height-t.height)/2, "middle")
	d.out.WriteString("</g>\n")
}

// shape draws the border of a node: each kind has its own, besides its colour.
func (d *svgDrawing) shape(n *Node, box layout.Box) {
	round := 5
	switch n.Kind {
	case Input, Initial, Output:
		round = box.Height / 2
	case Latent:
		round = 12
	case Effect:
		round = 0
	}
	rect := func(box layout.Box, round int) {
		fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, box.X, box.Y, box.Width,
			box.Height, round)
	}
	if n.Repeats { // two more stand behind it
		for _, at := range []int{8, 4} {
			rect(layout.Box{X: box.X + at, Y: box.Y + at, Width: box.Width, Height: box.Height}, round)
		}
	}
	rect(box, round)
	if n.Kind == Folded {
		rect(layout.Box{X: box.X + 3, Y: box.Y + 3, Width: box.Width - 6, Height: box.Height - 6}, round-2)
	}
}

// classes are those of a group, by which styles and scripts find it.
func classes(what string, look look, marks []Mark) string {
	words := []string{what}
	if look.tone != "" {
		words = append(words, "line-"+look.tone)
	}
	for _, m := range marks {
		words = append(words, "mark-"+string(m.Kind))
	}
	return strings.Join(words, " ")
}

func (d *svgDrawing) edge(i int) {
	e, r, t := &d.Edges[i], d.placed.Edges[i], d.labels[i]
	class := classes("edge "+string(e.Kind), d.edgeLook(e), e.Marks)
	if d.Nodes[e.From].Kind == Missing {
		class += " of-nothing"
	}
	if e.Optional {
		class += " optional"
	}
	fmt.Fprintf(&d.out, `<g class="%s" id="e%d" data-from="%s" data-to="%s">`, class, i, d.Nodes[e.From].ID,
		d.Nodes[e.To].ID)
	end := r.Curve[len(r.Curve)-1]
	before := r.Curve[len(r.Curve)-2]
	fmt.Fprintf(&d.out, `<path class="way" d="%s"/>`, r.Path())
	d.out.WriteString(arrow(end, before))
	if len(t.lines) > 0 {
		fmt.Fprintf(&d.out, `<rect class="under" x="%d" y="%d" width="%d" height="%d"/>`, r.Label.X, r.Label.Y,
			r.Label.Width, r.Label.Height)
		d.text(t, r.Label.X+r.Label.Width/2, r.Label.Y+1, "middle")
	}
	if tip := d.edgeTip(e); tip != "" {
		d.element("title", tip)
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
	return fmt.Sprintf(`<path class="head" d="M%d %dl%d %dl%d %dz"/>`, end.X, end.Y, -long*x-half*y, -long*y-half*x,
		2*half*y, 2*half*x)
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
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 &&
			r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f000:
			width += 102 // as wide as it is high
		default:
			width += 84
		}
	}
	return (width*size + 99) / 100
}

// asciiWidths are in hundredths of the letters' size, of those from the blank to ~.
var asciiWidths = [95]uint8{
	32, 41, 46, 84, 64, 95, 78, 28, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
	34, 34, 84, 84, 84, 53,
	100, 69, 69, 70, 77, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64, 62, 74, 69, 99, 69, 62,
	69, 39, 34, 39, 84, 50,
	50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60,
	60, 53, 64, 34, 64, 84,
}

//go:embed svg.css
var svgRules string

// svgStyle is the style of every picture: the rules of svg.css, and those of kinds and tones, in the colours of the
// other formats, on white or on black.
var svgStyle = func() string {
	rules, colours, _ := strings.Cut(svgRules, "/* colours */\n")
	names := []string{"<paper>", paper, "<ink>", ink, "<muted>", muted, "<line>", line, "<caution>", caution,
		"<working>", working, "<differs>", differs}
	colours = strings.NewReplacer(names...).Replace(colours)
	for _, kind := range []Kind{Call, Effect, Latent, Folded, Input, Initial, Missing, Output} {
		colours += fmt.Sprintf(".obelus .%s rect{fill:%s;stroke:%s}\n", kind, paints[kind].fill, paints[kind].border)
	}
	colours += ".obelus .mark-destroys rect{fill:" + dangerFill + "}\n"
	for _, t := range tones {
		colours += strings.NewReplacer("<tone>", t.name, "<colour>", t.colour).Replace(
			".obelus .line-<tone> rect,.obelus .line-<tone> .way,.obelus .edge.line-<tone>.optional " +
				".head{stroke:<colour>}\n" +
				".obelus .line-<tone> .head,.obelus text.tone-<tone>{fill:<colour>}\n" +
				".obelus .edge.line-<tone>.optional .head{fill:" + paper + "}\n")
	}
	var dark []string
	for _, light := range slices.Sorted(maps.Keys(darker)) {
		dark = append(dark, light, darker[light])
	}
	return rules + colours + "@media (prefers-color-scheme:dark){\n" + strings.NewReplacer(dark...).
		Replace(colours) + "}"
}()
