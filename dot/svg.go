package dot

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/obelus-dev/obelus/compiler/diag"
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
	titles []svgText // by frame
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
	text, class string
	size, y     int // y is that of its middle
}

// lay adds lines below those that are there.
func (t *svgText) lay(lines []string, class string, size int) {
	height := smallLine
	if size == largeText {
		height = largeLine
	}
	for _, line := range lines {
		t.lines = append(t.lines, svgLine{line, class, size, t.height + height/2})
		t.width, t.height = max(t.width, textWidth(line, size)), t.height+height
	}
}

func (t *svgText) row(r row) {
	size := smallText
	if r.class == "name" || r.class == "title" {
		size = largeText
	}
	t.lay(r.lines, r.class, size)
}

func (d *svgDrawing) measure() {
	frames, frameOf := d.frames()
	for _, name := range frames {
		var title svgText
		title.lay(wrapped(name, maxLabel), "detail", smallText)
		d.titles = append(d.titles, title)
		d.graph.Clusters = append(d.graph.Clusters,
			layout.Cluster{TitleWidth: title.width, TitleHeight: title.height + 8})
	}
	for i := range d.Nodes {
		var t svgText
		for _, r := range d.boxRows(&d.Nodes[i], maxLabel, maxDetail) {
			t.row(r)
		}
		d.texts = append(d.texts, t)
		d.graph.Nodes = append(d.graph.Nodes,
			layout.Node{Width: max(56, t.width+2*textMargin), Height: t.height + textMargin, Cluster: frameOf[i]})
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		var t svgText
		for _, r := range d.edgeRows(e) {
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
	var head, legend svgText
	for _, r := range d.headRows(maxNote) {
		if r.class == "legend" {
			legend.lay(r.lines, "detail", smallText)
		} else {
			head.row(r)
		}
	}
	top := margin + head.height
	if head.height > 0 {
		top += margin / 2
	}
	width, height := max(d.placed.Width, head.width, legend.width)+2*margin, top+d.placed.Height+margin
	below := height
	if legend.height > 0 {
		height += legend.height + margin
	}
	fmt.Fprintf(&d.out,
		`<svg xmlns="http://www.w3.org/2000/svg" class="obelus" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+
			"\n", width, height, width, height)
	d.element("title", strings.Join(rows(cmp.Or(d.Name, "plan"), maxTitle), " "))
	fmt.Fprintf(&d.out, `<style>%s</style>`+"\n"+`<rect class="paper" width="%d" height="%d"/>`+"\n", SVGStyle, width,
		height)
	d.text(head, margin, margin, "start")
	fmt.Fprintf(&d.out, `<g class="plan" transform="translate(%d %d)">`+"\n",
		margin+max(0, (width-2*margin-d.placed.Width)/2), top)
	for number, box := range d.placed.Clusters {
		if number == 0 {
			continue // the drawing itself
		}
		fmt.Fprintf(&d.out, `<g class="frame" id="frame-%d"><rect x="%d" y="%d" width="%d" height="%d" rx="8"/>`,
			number, box.X, box.Y, box.Width, box.Height)
		d.text(d.titles[number], box.X+12, box.Y+6, "start")
		d.out.WriteString("</g>\n")
	}
	for i := range d.Edges {
		d.edge(i)
	}
	for i := range d.Nodes {
		d.node(&d.Nodes[i], d.texts[i], d.placed.Nodes[i])
	}
	d.out.WriteString("</g>\n")
	if legend.height > 0 {
		d.out.WriteString(`<g class="legend">` + "\n")
		d.text(legend, margin, below, "start")
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
	round := round[n.Kind]
	fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, box.X, box.Y, box.Width, box.Height,
		round)
	if n.Kind == Folded {
		fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, box.X+3, box.Y+3, box.Width-6,
			box.Height-6, round-2)
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
	if len(r.Curve) == 0 { // from a node to itself
		return
	}
	class := classes("edge "+string(e.Kind), d.edgeLook(e), e.Marks)
	if d.Nodes[e.From].Kind == Missing {
		class += " of-nothing"
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

// arrow is the head of an edge that ends at a point, coming down or up.
func arrow(end, before layout.Point) string {
	long := 8
	if before.Y > end.Y {
		long = -long
	}
	return fmt.Sprintf(`<path class="head" d="M%d %dl-4 %dl8 0z"/>`, end.X, end.Y, -long)
}

// textWidth is how wide a line is at most in one of the usual fonts, as DejaVu
// Sans, which is wide among them.
func textWidth(s string, size int) int {
	width := 0
	for _, r := range s {
		switch text := string(r); {
		case r >= ' ' && r <= '~':
			width += int(asciiWidths[r-' '])
		case unicode.Is(unicode.Mn, r): // an accent by itself
		case diag.Columns(text) > 1:
			width += 102 // as wide as it is high
		case r < 0x300: // of Latin letters, with accents
			width += 64
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

// SVGStyle is the style of every picture, with its colours on white and on black. Those on white are the ones of the
// other formats.
//
//go:embed svg.css
var SVGStyle string
