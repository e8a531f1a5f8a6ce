package dot

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/dot/layout"
	"github.com/obelus-dev/obelus/testdata/crossings"
)

// A drawnGroup is a node, edge or frame of an SVG of ours.
type drawnGroup struct {
	class, tip string
	lines      []string
	box        layout.Box
}

// readSVG reads an SVG of ours back, by id, and checks that it holds nothing that
// acts: elements, attributes and classes are ours alone.
func readSVG(t testing.TB, text string) map[string]*drawnGroup {
	t.Helper()
	groups := map[string]*drawnGroup{}
	in := xml.NewDecoder(strings.NewReader(text))
	var open []string
	var group *drawnGroup
	for {
		token, err := in.Token()
		if err == io.EOF {
			return groups
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			open = append(open, name)
			if !slices.Contains([]string{"svg", "title", "style", "g", "rect", "path", "text"}, name) {
				t.Fatalf("an element %q", name)
			}
			values := map[string]string{}
			for _, a := range token.Attr {
				values[a.Name.Local] = a.Value
				if !slices.Contains([]string{"xmlns", "class", "viewBox", "width", "height", "role", "id", "data-node", "data-from", "data-to", "x", "y", "rx", "d", "transform", "font-size", "text-anchor"}, a.Name.Local) {
					t.Fatalf("an attribute %q=%q", a.Name.Local, a.Value)
				}
			}
			switch {
			case name == "g" && values["id"] != "":
				group = &drawnGroup{class: values["class"]}
				if groups[values["id"]] != nil {
					t.Fatalf("two groups %q", values["id"])
				}
				groups[values["id"]] = group
			case name == "rect" && group != nil && group.box.Width == 0:
				fmt.Sscan(values["x"]+" "+values["y"]+" "+values["width"]+" "+values["height"], &group.box.X, &group.box.Y, &group.box.Width, &group.box.Height)
			}
		case xml.EndElement:
			if open = open[:len(open)-1]; token.Name.Local == "g" {
				group = nil
			}
		case xml.CharData:
			if s := string(token); group != nil && open[len(open)-1] == "text" {
				group.lines = append(group.lines, s)
			} else if group != nil && open[len(open)-1] == "title" {
				group.tip = s
			}
		}
	}
}

var svgEdge = regexp.MustCompile(`data-from="(\w+)" data-to="(\w+)"><path class="way" d="M(\d+) (\d+)([^"]*)"`)

// drawnEdges are the edges of an SVG of ours.
func drawnEdges(t testing.TB, svg string) []crossings.Edge {
	t.Helper()
	var edges []crossings.Edge
	for _, m := range svgEdge.FindAllStringSubmatch(svg, -1) {
		var at crossings.Spot
		fmt.Sscan(m[3]+" "+m[4], &at.X, &at.Y)
		e := crossings.Edge{From: m[1], To: m[2], Curve: []crossings.Spot{at}}
		for _, piece := range regexp.MustCompile(`[VC][\d ]+`).FindAllString(m[5], -1) {
			var n [6]float64
			if piece[0] == 'V' {
				fmt.Sscan(piece[1:], &n[5])
				e.Curve = append(e.Curve, at, crossings.Spot{X: at.X, Y: n[5]}, crossings.Spot{X: at.X, Y: n[5]})
			} else {
				fmt.Sscan(piece[1:], &n[0], &n[1], &n[2], &n[3], &n[4], &n[5])
				e.Curve = append(e.Curve, crossings.Spot{X: n[0], Y: n[1]}, crossings.Spot{X: n[2], Y: n[3]}, crossings.Spot{X: n[4], Y: n[5]})
			}
			at = e.Curve[len(e.Curve)-1]
		}
		edges = append(edges, e)
	}
	return edges
}

// noneOverlap reports nodes that stand over each other.
func noneOverlap(t testing.TB, v View, groups map[string]*drawnGroup) {
	t.Helper()
	var boxes []layout.Box
	for i := range v.Nodes {
		id := v.Nodes[i].ID
		if v.Nodes[i].Call != "" {
			id = Anchor(v.Nodes[i].Call)
		}
		g := groups[id]
		if g == nil {
			t.Fatalf("no node %q", id)
		}
		for k, b := range boxes {
			if a := g.box; a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y < b.Y+b.Height && b.Y < a.Y+a.Height {
				t.Errorf("nodes %d and %d stand over each other", k, i)
			}
		}
		boxes = append(boxes, g.box)
	}
	for i := range v.Edges {
		if groups[fmt.Sprintf("e%d", i)] == nil {
			t.Errorf("edge %d isn't drawn", i)
		}
	}
}

var svgMark = regexp.MustCompile(`<g class="(\w+)[^"]*" id="([^"]+)"|<text [^>]*x="(\d+)" y="(\d+)" font-size="(\d+)" text-anchor="(\w+)">([^<]*)|class="head" d="M(\d+) (\d+)l(-?\d+) (-?\d+)l(-?\d+) (-?\d+)`)

// legible reports texts of a plan's drawing that another text, an edge or its head lies over.
func legible(t testing.TB, name, svg string) {
	t.Helper()
	type patch struct {
		owner, text string
		box         layout.Box
	}
	var patches []patch // texts and heads
	owner := ""
	plan, _, _ := strings.Cut(svg[strings.Index(svg, `<g class="plan"`):], `<g class="legend"`)
	for _, m := range svgMark.FindAllStringSubmatch(plan, -1) {
		var n [14]int
		for i := range n {
			fmt.Sscan(m[i], &n[i])
		}
		switch {
		case m[2] != "":
			owner = m[2]
		case m[3] != "":
			text := html.UnescapeString(m[7])
			wide := textWidth(text, n[5])
			if m[6] == "middle" {
				n[3] -= wide / 2
			}
			patches = append(patches, patch{owner, text, layout.Box{X: n[3], Y: n[4] - n[5]*3/4, Width: wide, Height: n[5]}})
		default:
			xs, ys := []int{n[8], n[8] + n[10], n[8] + n[10] + n[12]}, []int{n[9], n[9] + n[11], n[9] + n[11] + n[13]}
			at := layout.Box{X: slices.Min(xs), Y: slices.Min(ys)}
			at.Width, at.Height = slices.Max(xs)-at.X, slices.Max(ys)-at.Y
			patches = append(patches, patch{owner: owner, box: at})
		}
	}
	for i, a := range patches {
		for _, b := range patches[:i] {
			both := a.box.X < b.box.X+b.box.Width && b.box.X < a.box.X+a.box.Width && a.box.Y < b.box.Y+b.box.Height && b.box.Y < a.box.Y+a.box.Height
			if both && a.text+b.text != "" {
				t.Errorf("%s: %s %q %v and %s %q %v stand over each other", name, a.owner, a.text, a.box, b.owner, b.text, b.box)
			}
		}
	}
	for i, e := range drawnEdges(t, svg) {
		for _, at := range e.Line() {
			for _, p := range patches {
				x, y := int(at.X), int(at.Y)
				if p.text != "" && p.owner != fmt.Sprintf("e%d", i) && x > p.box.X && x < p.box.X+p.box.Width && y > p.box.Y && y < p.box.Y+p.box.Height {
					t.Errorf("%s: edge e%d passes through %q of %s at %v", name, i, p.text, p.owner, at)
					break
				}
			}
		}
	}
}

// LANGUAGE.md#tools-and-activities: whatever a label holds, it comes through as text, in SVG and in the tree.
func TestSVGDrawsEveryLabel(t *testing.T) {
	for _, batch := range batches(append(append(randomTexts(60), strings.Repeat("8 kB ]]>", 1000), "\ufffe\uffff", "--></style></title></text>"), hostile...)) {
		v := labelled(batch...)
		groups := readSVG(t, v.SVG())
		noneOverlap(t, v, groups)
		for i, s := range batch {
			node := groups[fmt.Sprintf("n%d", 4*i)]
			want := squeeze(words(s, maxLabel) + " " + small(s) + " error OB203")
			if got := squeeze(strings.Join(node.lines, " ")); got != strings.ToValidUTF8(replaced.Replace(want), "\ufffd") {
				t.Errorf("%q is drawn as %q, want %q", s, got, want)
			}
			if edge := groups[fmt.Sprintf("e%d", 3*i)]; squeeze(strings.Join(edge.lines, " ")) != replaced.Replace(squeeze(words(s, maxLabel)+" warning OB211")) {
				t.Errorf("an edge %q is drawn as %q", s, edge.lines)
			}
		}
		for _, line := range strings.Split(v.Text(), "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) {
				t.Errorf("the tree holds %q", line)
			}
		}
	}
}

// replaced are what XML can't hold at all.
var replaced = strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd")

// A call's anchor is its own, and fit for an address.
func TestAnchor(t *testing.T) {
	seen := map[string]string{}
	for _, name := range append(randomTexts(200), hostile...) {
		a := Anchor(name)
		if before, ok := seen[a]; ok && before != name {
			t.Errorf("%q and %q share %q", before, name, a)
		}
		seen[a] = name
		if strings.Trim(strings.ToLower(a), "abcdefghijklmnopqrstuvwxyz0123456789-_.~") != "" {
			t.Errorf("%q is the anchor of %q", a, name)
		}
	}
	if got := Anchor("refund#2"); got != "call-refund~232" {
		t.Errorf("%q", got)
	}
}

// The legend explains what a drawing uses and nothing else.
func TestLegend(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"calls: [{_tool: a, _outputPath: x}]\noutput: †state.x", nil},
		{"calls: [{_tool: a}]", []string{"teal box"}},
		{"calls: [{_tool: a, _outputPath: x || e}, {_tool: b, e: †state.e, _outputPath: y}, {_tool: b, x: †state.x, _outputPath: z}]", []string{"dashed amber line"}},
		{"state: {}\ncalls: [{_id: a, _tool: a, _outputPath: x}, {_tool: b, _after: [a], x: †state.gone, _outputPath: y}]", []string{"dashed box", "dashed line"}},
		{"calls: [{_tool: t, _outputPath: x}]\ntools: {t: {type: object, properties: {_output: {type: string}}}}", []string{"✦"}},
		{"calls: [{_tool: t, _each: [1, 2], _outputPath: x}]", []string{"×n"}},
		{"calls: [{_tool: t, _outputPath: x}]\nactivities: {t: {exec: {argv: [true]}}}", []string{"△", "↗"}},
	} {
		p, found := compile(t, "plan.yaml", test.text)
		v := FromPlan(p, found, Options{})
		marks, rest := v.legend()
		var got []string
		for _, entry := range append(marks, rest...) {
			look, _, _ := strings.Cut(entry, ":")
			got = append(got, look)
			if !strings.Contains(html.UnescapeString(v.DOT()), entry) {
				t.Errorf("%s\n%q isn't explained", test.text, entry)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s\nexplains %q, and not %q", test.text, got, test.want)
		}
	}
}

// EXECUTION.md#approval: a box says what a yes depends on: what the call may do and who says so, what
// it runs; and with Detail what it is given.
func TestWhatACallSays(t *testing.T) {
	p, _ := compile(t, "plan.yaml", `
calls:
  - {_tool: wipe, disk: /dev/sda, _confirm: true}
  - {_tool: post, text: †input.text, _outputPath: answer}
tools:
  wipe: {type: object, properties: {disk: {type: string}}, annotations: {destructiveHint: true}}
activities:
  wipe: {exec: {argv: [wipe, "{disk}"]}, annotations: {destructiveHint: true}}
  post: {http: {method: POST, url: "https://example.com/in"}, annotations: {readOnlyHint: false, destructiveHint: false}}
`)
	v := FromPlan(p, nil, Options{Detail: true})
	var got []string
	for _, n := range v.Nodes[:2] {
		words := strings.Split(n.Detail, "\n")
		for _, m := range n.Marks {
			words = append(words, m.words())
		}
		got = append(got, strings.Join(words, " | "))
	}
	for i, parts := range [][]string{
		{"starts: \"wipe {disk}\"", "value disk: \"/dev/sda\"", "effect declared by: ", "destroys", "may leave the machine", "a person is asked"},
		{"starts: \"POST https://example.com/in\"", "value text: †input.text", "effect unknown", "effect that only the plan claims: \"writes\"", "may leave the machine"},
	} {
		for _, want := range parts {
			if !strings.Contains(got[i], want) {
				t.Errorf("no %q in %s", want, got[i])
			}
		}
	}

	// At a glance a box shows signs and the name, and the rest on hover.
	v = FromPlan(p, nil, Options{})
	svg := readSVG(t, v.SVG())
	for i, want := range []string{"▲ ↗ ? wipe#1", "△ ↗ post#2"} {
		group := svg[Anchor(v.Nodes[i].Call)]
		if strings.Join(group.lines, " | ") != want || !strings.HasPrefix(group.tip, v.Nodes[i].Detail) {
			t.Errorf("a box shows %q and on hover %q, want %q and %q", group.lines, group.tip, want, v.Nodes[i].Detail)
		}
	}
}
