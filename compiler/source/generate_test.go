package source

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A wanted is a node as the generator wrote it: the bytes of its text, and what
// they mean.
type wanted struct {
	start, end int
	kind       Kind
	style      Style
	alias      bool
	text       string
}

// A generator writes random YAML and notes where each node stands and what it
// means while it writes, independently of the reader. Nodes are noted in the
// order of the text, a collection before what is in it.
type generator struct {
	*rand.Rand
	b       strings.Builder
	br      string // the file's line break
	line    int    // where the line begins
	want    []wanted
	anchors []wanted // finished ones, by number
	plainer bool     // leave out what goccy's parser is known to get wrong
}

func generate(seed uint64, plainer bool) (text string, want []wanted) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), plainer: plainer}
	g.br = "\n"
	if !plainer {
		g.br = []string{"\n", "\r\n", "\r"}[g.IntN(3)]
		if g.one(10) {
			g.put(byteOrderMark)
			g.line = g.b.Len()
		}
	}
	g.gap(true)
	if g.one(5) {
		g.put("---")
		g.value(-1, place{}, 0)
	} else {
		g.value(-1, place{allowed: true, gap: -1}, 0) // the document itself
	}
	return g.b.String(), g.want
}

func (g *generator) one(in int) bool { return g.IntN(in) == 0 }
func (g *generator) at() int         { return g.b.Len() }
func (g *generator) put(s string)    { g.b.WriteString(s) }
func (g *generator) column() int     { return g.at() - g.line }

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) brk() {
	g.put(g.br)
	g.line = g.at()
}

func (g *generator) spaces(n int) { g.put(strings.Repeat(" ", n)) }

func (g *generator) blanks() {
	g.put(g.pick(" ", " ", " ", "  "))
	if !g.plainer && g.one(8) {
		g.put(g.pick("\t", "\t ", " \t"))
	}
}

// begin notes a node; done notes its end and meaning.
func (g *generator) begin() int {
	g.want = append(g.want, wanted{start: g.at()})
	return len(g.want) - 1
}

func (g *generator) done(at, end int, kind Kind, style Style, text string) {
	g.want[at].end, g.want[at].kind, g.want[at].style, g.want[at].text = end, kind, style, text
}

// gap writes the rest of a line and what may stand between two entries.
func (g *generator) gap(start bool) {
	if !start {
		if g.one(6) && !g.plainer {
			g.put(g.pick(" ", "  ", "\t", " \t "))
		}
		if g.one(8) {
			g.put(" # †①😀 note: [x")
		}
		g.brk()
	}
	for g.one(6) {
		if g.one(2) && !g.plainer {
			g.put(g.pick("  ", "\t", ""))
		} else if g.one(2) && !g.plainer {
			g.put(g.pick("# c", "   # c: d", "#"))
		}
		g.brk()
	}
}

var words = []string{"a", "bc", "†state.x", "①", "😀", "é-ü", "b:c", "x#y", "it's", `q"q`, "-z", "0x", "†input.a||1", "ctx{}"}

// word is one that can begin and hold text in any context.
func (g *generator) word(flow bool) string {
	for {
		w := words[g.IntN(len(words))]
		if flow && strings.ContainsAny(w, "{}[],:") || g.plainer && (w == "-z" || w == "b:c") {
			continue
		}
		return w
	}
}

// value writes what belongs to an indicator of a parent at column n. It leaves
// the cursor at the end of the value, on its last line.
func (g *generator) value(n int, p place, depth int) {
	root := p.gap == -1
	choice := g.IntN(10)
	switch {
	case depth < 4 && (choice < 2 && p.allowed || root && choice < 8):
		column := n + 1 + g.IntN(3)
		if root {
			g.spaces(column)
		} else {
			g.spaces(1 + g.IntN(3))
			column = g.column()
		}
		g.collection(column, depth)
	case depth < 4 && choice < 5 && !root:
		list := g.one(2)
		anchored := g.one(6) && !g.plainer
		if anchored {
			g.put(fmt.Sprintf(" &n%d", len(g.anchors)))
		}
		g.gap(false)
		column := n + 1 + g.IntN(3)
		if list && p.column > 0 && g.one(2) {
			column = n
		}
		g.spaces(column)
		at := len(g.want)
		if anchored { // nobody refers to it before it ends
			g.anchors = append(g.anchors, wanted{start: -1})
		}
		number := len(g.anchors) - 1
		if list {
			g.list(column, depth)
		} else {
			g.mapping(column, depth)
		}
		if anchored {
			g.anchors[number] = g.want[at]
		}
	case choice < 6 && !root && !g.plainer:
		at := g.begin()
		g.done(at, g.at(), Null, Plain, "")
	default:
		if !root {
			g.blanks()
			if g.one(8) && !g.plainer {
				g.gap(false)
				g.spaces(n + 1 + g.IntN(3))
			}
		}
		switch {
		case depth < 4 && g.one(4):
			g.flow(n, depth)
		case g.one(4) && (n >= 0 || !g.plainer):
			g.block(n)
		case g.one(3) && g.aliasable() >= 0 && !root:
			g.alias()
		default:
			g.scalar(n, false)
		}
	}
}

// aliasable is the number of the last anchor that has ended, or -1.
func (g *generator) aliasable() int {
	for k := len(g.anchors) - 1; k >= 0; k-- {
		if g.anchors[k].start >= 0 {
			return k
		}
	}
	return -1
}

func (g *generator) alias() {
	k := g.aliasable()
	at := g.begin()
	g.put(fmt.Sprintf("*n%d", k))
	a := g.anchors[k]
	g.done(at, g.at(), a.kind, a.style, a.text)
	g.want[at].alias = true
}

func (g *generator) collection(column, depth int) {
	if g.one(2) {
		g.list(column, depth)
	} else {
		g.mapping(column, depth)
	}
}

func (g *generator) list(column, depth int) {
	at := g.begin()
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			g.nextLine(column)
		}
		g.put("-")
		g.value(column, place{allowed: true}, depth+1)
	}
	g.done(at, g.lastEnd(at), Array, Plain, "")
}

func (g *generator) mapping(column, depth int) {
	at := g.begin()
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			g.nextLine(column)
		}
		g.key(i)
		if g.one(10) && !g.plainer {
			g.blanks()
		}
		g.put(":")
		g.value(column, place{column: 1}, depth+1)
	}
	g.done(at, g.lastEnd(at), Object, Plain, "")
}

// nextLine goes from the end of an entry to the column of the next one.
func (g *generator) nextLine(column int) {
	if g.column() > 0 {
		if last := g.want[len(g.want)-1]; last.style == Literal || last.style == Folded {
			g.brk()
		} else {
			g.gap(false)
		}
	}
	g.spaces(column)
}

// lastEnd is the end of the last node below at, or of its own text.
func (g *generator) lastEnd(at int) int {
	end := 0
	for _, w := range g.want[at+1:] {
		end = max(end, w.end)
	}
	return end
}

// key writes a key of one line, unlike those beside it.
func (g *generator) key(i int) {
	at := g.begin()
	name := fmt.Sprintf("k%d%s", i, g.pick("", "†", "①", "😀 x", " y"))
	style := Plain
	switch {
	case g.one(6):
		style = DoubleQuoted
		g.put(`"` + strings.ReplaceAll(name, "†", `\u2020`) + `"`)
	case g.one(6):
		style = SingleQuoted
		g.put("'" + name + "'")
	default:
		g.put(name)
	}
	g.done(at, g.at(), String, style, name)
}

// scalar writes a plain or quoted scalar.
func (g *generator) scalar(n int, flow bool) {
	anchored := !flow && g.one(8)
	if anchored {
		g.put(fmt.Sprintf("&n%d ", len(g.anchors)))
	}
	at := g.begin()
	switch {
	case g.one(4):
		text := g.pick("12", "-0.5e-3", "true", "null", "0x1F", "~")
		g.put(text)
		kind := Number
		switch text {
		case "true":
			kind = Bool
		case "null", "~":
			kind, text = Null, ""
		}
		g.done(at, g.at(), kind, Plain, text)
	case g.one(3):
		g.double(n, at)
	case g.one(3):
		g.single(n, at)
	default:
		g.plainText(n, flow, at)
	}
	if anchored {
		g.anchors = append(g.anchors, g.want[at])
	}
}

// turn writes a line break inside of a scalar and gives what it means.
func (g *generator) turn(n int) string {
	if g.one(3) && !g.plainer {
		g.put(g.pick(" ", "\t", "  "))
	}
	g.brk()
	empty := 0
	for g.one(3) {
		if !g.plainer {
			g.put(g.pick("", "  ", "\t"))
		}
		g.brk()
		empty++
	}
	g.spaces(n + 1 + g.IntN(3))
	if !g.plainer && g.one(6) {
		g.put("\t")
	}
	if empty > 0 {
		return strings.Repeat("\n", empty)
	}
	return " "
}

func (g *generator) plainText(n int, flow bool, at int) {
	first := g.pick("w", "†a", "é", "😀")
	g.put(first)
	text := first
	for range g.IntN(4) {
		if g.one(5) && !(flow && g.plainer) {
			text += g.turn(n) + "v"
			g.put("v")
			continue
		}
		space := " "
		if !g.plainer {
			space = g.pick(" ", "  ", "\t")
		}
		w := g.word(flow)
		g.put(space + w)
		text += space + w
	}
	g.done(at, g.at(), String, Plain, text)
}

func (g *generator) single(n, at int) {
	g.put("'")
	text := ""
	for i := range g.IntN(4) {
		if i > 0 && g.one(5) {
			text += g.turn(n)
		}
		w := g.word(false)
		g.put(strings.ReplaceAll(w, "'", "''"))
		text += w
	}
	g.put("'")
	g.done(at, g.at(), String, SingleQuoted, text)
}

func (g *generator) double(n, at int) {
	g.put(`"`)
	text := ""
	for i := range g.IntN(5) {
		switch {
		case i > 0 && g.one(5):
			text += g.turn(n)
			g.put("v")
			text += "v"
		case i > 0 && g.one(6) && !g.plainer:
			g.put(` \`)
			g.brk()
			g.spaces(n + 1 + g.IntN(3))
			g.put("v")
			text += " v"
		case g.one(2):
			k := g.IntN(len(escapes))
			if g.plainer {
				k %= 5
			}
			g.put(escapes[k][0])
			text += escapes[k][1]
		default:
			w := g.word(false)
			g.put(strings.ReplaceAll(w, `"`, `\"`))
			text += w
		}
	}
	g.put(`"`)
	g.done(at, g.at(), String, DoubleQuoted, text)
}

var escapes = [][2]string{
	{`\n`, "\n"}, {`\\`, "\\"}, {`\"`, `"`}, {`\u2020`, "†"}, {`\t`, "\t"},
	{`\x41`, "A"}, {`\U0001F600`, "😀"}, {`\ud83d\ude00`, "😀"}, {`\/`, "/"}, {`\e`, "\x1b"},
	{`\_`, "\u00A0"}, {`\N`, "\u0085"}, {`\P`, "\u2029"}, {`\ `, " "}, {"\\\t", "\t"},
}

// block writes a literal or folded scalar, without its last line break.
func (g *generator) block(n int) {
	at := g.begin()
	style, header := Literal, "|"
	if g.one(2) {
		style, header = Folded, ">"
	}
	chomp := g.pick("", "-", "+")
	indent := max(n, 0) + 1 + g.IntN(3)
	explicit := ""
	if g.one(4) && !g.plainer {
		explicit = fmt.Sprint(indent - max(n, 0))
	}
	if g.one(2) {
		g.put(header + explicit + chomp)
	} else {
		g.put(header + chomp + explicit)
	}
	if g.one(8) && !g.plainer {
		g.put(" # note")
	}
	g.brk()
	var lines []string
	end := 0
	for i := range 1 + g.IntN(4) {
		if i > 0 {
			for g.one(4) {
				if !g.plainer {
					g.spaces(g.IntN(indent + 1))
				}
				lines = append(lines, "")
				g.brk()
			}
		}
		line := g.word(false) + g.pick("", " ", " x: y", " # no comment")
		if g.plainer {
			line = strings.TrimRight(line, " ")
		}
		if (i > 0 || explicit != "") && g.one(4) && (!g.plainer || style == Literal) {
			line = g.pick("  ", " ") + line
		}
		if !g.plainer && i > 0 && g.one(8) {
			line = "\t" + line
		}
		g.spaces(indent)
		g.put(line)
		end = g.at()
		lines = append(lines, line)
		g.brk()
	}
	trailing := 0
	if g.one(3) && chomp != "+" {
		trailing++
		g.brk()
	}
	text := joined(lines, style == Folded)
	switch chomp {
	case "":
		text += "\n"
	case "+":
		text += strings.Repeat("\n", 1+trailing)
	}
	g.done(at, end, String, style, text)
}

// joined is the plainest reading of YAML's folding: a line break between two
// lines that begin with text is a space, or vanishes before empty lines.
func joined(lines []string, folded bool) string {
	if !folded {
		return strings.Join(lines, "\n")
	}
	text, empty, spaced := "", 0, true
	for i, line := range lines {
		if line == "" {
			empty++
			continue
		}
		now := line[0] == ' ' || line[0] == '\t'
		switch {
		case i == 0:
		case spaced || now:
			text += strings.Repeat("\n", empty+1)
		case empty > 0:
			text += strings.Repeat("\n", empty)
		default:
			text += " "
		}
		text += line
		empty, spaced = 0, now
	}
	return text
}

// flow writes a collection in brackets.
func (g *generator) flow(n, depth int) {
	at := g.begin()
	list := g.one(2)
	open, closer, kind := "{", "}", Object
	if list {
		open, closer, kind = "[", "]", Array
	}
	g.put(open)
	g.turnFlow(n)
	count := g.IntN(4)
	for i := range count {
		if !list {
			g.key(i)
			g.put(":")
			g.put(" ")
		}
		if depth < 4 && g.one(4) {
			g.flow(n, depth+1)
		} else {
			g.scalar(n, true)
		}
		if i < count-1 || g.one(5) && !g.plainer {
			if g.one(4) {
				g.put(" ")
			}
			g.put(",")
			g.turnFlow(n)
		}
	}
	g.turnFlow(n)
	g.put(closer)
	g.done(at, g.at(), kind, Plain, "")
}

func (g *generator) turnFlow(n int) {
	switch {
	case g.plainer:
		g.put(" ")
	case g.one(4):
		g.put(g.pick("", " # ]}"))
		g.brk()
		g.spaces(n + 1 + g.IntN(4))
	case g.one(2):
		g.blanks()
	}
}
