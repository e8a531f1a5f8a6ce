package expression

import (
	"strconv"
	"strings"
)

// String is the expression in canonical form: two expressions that differ only
// in blanks, comments, quotes, spelling of numbers or needless parentheses have
// the same. Parsing it gives an expression with the same form.
func (e *Expr) String() string {
	p := &printer{expr: e}
	p.print(e.tree(), bindLet)
	s := p.out.String()
	switch {
	case e.tree().op == opText, !strings.HasPrefix(e.Text, mark), strings.HasPrefix(s, mark):
		return s // code of an activity, or a reference first
	case strings.HasPrefix(s, "("):
		return mark + s
	}
	return mark + "(" + s + ")"
}

type printer struct {
	expr  *Expr
	named func(ref int) string // names for references; nil: as they are written
	out   strings.Builder
}

func (p *printer) text(s string) { p.out.WriteString(s) }

// bind is how strongly a node's own operator binds.
func (n *node) bind() int {
	switch n.op {
	case opLet:
		return bindLet
	case opCond:
		return bindCond
	case opNot:
		return bindNot
	case opNegate, opPlus:
		return bindSign
	case opChain:
		return bindCompare
	case opLiteral:
		if v, ok := n.value.(float64); ok && v < 0 { // the zero below 0 is written 0
			return bindSign
		}
	case opLoop, opCall:
	default:
		if name := binaryNames[n.op]; name != "" {
			return binary[name].bind
		}
	}
	return bindPrimary
}

// print writes a node where at least the given strength is needed.
func (p *printer) print(n *node, least int) {
	if n.bind() < least {
		p.text("(")
		p.bare(n)
		p.text(")")
		return
	}
	p.bare(n)
}

func (p *printer) bare(n *node) {
	switch n.op {
	case opLiteral:
		p.literal(n.value)
	case opRef:
		p.reference(n)
	case opVar, opLocal:
		p.text(n.name)
	case opParams:
		p.text("$env")
	case opItem:
		p.text("#")
	case opIndex:
		p.text("#index")
	case opAcc:
		p.text("#acc")
	case opLet:
		p.text("let " + n.name + " = ")
		p.print(n.args[0], bindCond)
		p.text("; ")
		p.print(n.args[1], bindLet)
	case opCond:
		p.print(n.args[0], bindOr)
		if n.args[0].start == n.args[1].start && n.args[0].end == n.args[1].end { // it stands there once
			p.text(" ?: ")
		} else {
			p.text(" ? ")
			p.print(n.args[1], bindOr)
			p.text(" : ")
		}
		p.print(n.args[2], bindOr)
	case opNot:
		p.text("not ")
		p.print(n.args[0], bindNot)
	case opNegate:
		p.text("-")
		p.print(n.args[0], bindSign+1)
	case opPlus:
		p.text("+")
		p.print(n.args[0], bindSign+1)
	case opList:
		p.text("[")
		p.list(n.args)
		p.text("]")
	case opObject:
		p.object(n)
	case opMember, opAt:
		p.member(n)
	case opSlice:
		p.base(n.args[0], false)
		p.text("[")
		for i, a := range n.args[1:] {
			if i > 0 {
				p.text(":")
			}
			if a != nil {
				p.print(a, bindCond)
			}
		}
		p.text("]")
	case opChain:
		p.print(n.args[0], bindRange)
		for i, o := range n.ops {
			p.text(" " + binaryNames[o] + " ")
			p.print(n.args[i+1], bindRange)
		}
	case opLoop, opCall:
		p.text(n.name + "(")
		p.list(n.args)
		p.text(")")
	case opText:
		p.interpolation(n)
	case opMethod:
		p.base(n.args[0], true)
		p.text("." + n.name + "(")
		p.list(n.args[1:])
		p.text(")")
	default:
		p.binary(n)
	}
}

func (p *printer) list(nodes []*node) {
	for i, a := range nodes {
		if i > 0 {
			p.text(", ")
		}
		p.print(a, bindCond)
	}
}

func (p *printer) binary(n *node) {
	name := binaryNames[n.op]
	strength := binary[name].bind
	for i, a := range n.args {
		least := strength + 1
		if i == 0 && n.op != opPower {
			least = strength
			// What compares by size chains with what follows it.
			if comparesSize(n.op) && comparesSize(a.op) || a.op == opChain && comparesSize(n.op) {
				least++
			}
			if n.op == opFallback && a.op == opFallback { // one that ends in its own parentheses
				least++
			}
		}
		if i > 0 {
			p.text(" " + name + " ")
			if n.op == opPower {
				least = strength
			}
		}
		p.print(a, least)
	}
}

func comparesSize(o op) bool {
	return o == opLess || o == opLessEqual || o == opMore || o == opMoreEqual
}

// base writes what a key, an index, a slice or a method is taken of. Behind a
// bare number none of them can stand, and behind a reference what looks like a
// segment would belong to it.
func (p *printer) base(n *node, segment bool) {
	_, text := n.value.(string)
	if n.op == opLiteral && !text || n.op == opRef && segment {
		p.text("(")
		p.bare(n)
		p.text(")")
		return
	}
	p.print(n, bindPrimary)
}

func (p *printer) member(n *node) {
	base := n.args[0]
	bare := base.op == opRef && len(p.expr.refs[base.index].Path) == 0
	dot := "."
	if n.soft && (!base.soft || bare) {
		dot = "?."
	}
	index := n.op == opAt
	switch {
	case base.op == opItem && !index && dot == "." && plainWord(n.name):
	case index:
		v, number := n.args[1].value.(float64)
		p.base(base, dot == "." && number && n.args[1].op == opLiteral && v >= 0)
	default:
		p.base(base, !(bare && dot == "?."))
	}
	switch {
	case !index && plainWord(n.name):
		p.text(dot + n.name)
		return
	case dot == "?.":
		p.text(dot)
	}
	p.text("[")
	if index {
		p.print(n.args[1], bindCond)
	} else {
		p.text(quoteText(n.name))
	}
	p.text("]")
}

// plainWord reports whether a key can follow a dot in the library's grammar.
func plainWord(s string) bool { return s != "" && wordEnd(s, 0) == len(s) }

func (p *printer) object(n *node) {
	p.text("{")
	for i := 0; i < len(n.args); i += 2 {
		if i > 0 {
			p.text(", ")
		}
		if key, ok := n.args[i].value.(string); ok && n.args[i].op == opLiteral {
			p.text(quoteText(key))
		} else {
			p.text("(")
			p.print(n.args[i], bindLet)
			p.text(")")
		}
		p.text(": ")
		p.print(n.args[i+1], bindCond)
	}
	p.text("}")
}

func (p *printer) literal(v any) {
	switch v := v.(type) {
	case nil:
		p.text("null")
	case bool:
		if v {
			p.text("true")
		} else {
			p.text("false")
		}
	case float64:
		if v > maxInteger || v < -maxInteger { // digits alone would be read as a whole number
			p.text(strconv.FormatFloat(v, 'e', -1, 64))
		} else {
			p.text(string(appendNumber(nil, v)))
		}
	case string:
		p.text(quoteText(v))
	}
}

// reference writes a reference. Where its ?. stands makes no difference, so it
// stands before the last segment.
func (p *printer) reference(n *node) {
	if p.named != nil {
		p.text(p.named(n.index))
		if n.soft {
			p.text("?")
		}
		return
	}
	ref := p.expr.refs[n.index]
	last := len(ref.Path) - 1
	if !n.soft || last < 0 {
		p.text(ref.String())
		return
	}
	tail := ref.Path[last:]
	ref.Path = ref.Path[:last]
	p.text(ref.String() + "?")
	var b strings.Builder
	writePath(&b, tail)
	if !strings.HasPrefix(b.String(), ".") {
		p.text(".")
	}
	p.text(b.String())
}
