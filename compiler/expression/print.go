package expression

import (
	"strconv"
	"strings"
)

// String is the expression in canonical form: two expressions that differ only
// in blanks, quotes, spelling of numbers or needless parentheses have
// the same. Parsing it gives an expression with the same form.
func (e *Expr) String() string {
	s := e.Print(e.Root(), nil)
	switch {
	case e.Root().Op == OpText, !strings.HasPrefix(e.Text, mark), strings.HasPrefix(s, mark):
		return s // code of an activity, or a reference first
	case strings.HasPrefix(s, "("):
		return mark + s
	}
	return mark + "(" + s + ")"
}

// Print is a part of the expression in canonical form. If named isn't nil it names the references, by their index, so
// that parts that differ in them alone have the same form.
func (e *Expr) Print(n *Node, named func(ref int) string) string {
	p := &printer{expr: e, named: named}
	p.print(n, bindLet)
	return p.out.String()
}

type printer struct {
	expr  *Expr
	named func(ref int) string // names for references; nil: as they are written
	out   strings.Builder
}

func (p *printer) text(s string) { p.out.WriteString(s) }

// bind is how strongly a node's own operator binds.
func (n *Node) bind() int {
	switch n.Op {
	case OpLet:
		return bindLet
	case OpLiteral:
		if v, ok := n.Value.(float64); ok && v < 0 { // the zero below 0 is written 0
			return bindSign
		}
	}
	if n.isChain() {
		return bindCompare
	}
	if n.fn != nil && n.fn.bind > 0 {
		return n.fn.bind
	}
	return bindPrimary
}

// print writes a node where at least the given strength is needed.
func (p *printer) print(n *Node, least int) {
	if n.bind() < least {
		p.text("(")
		p.bare(n)
		p.text(")")
		return
	}
	p.bare(n)
}

func (p *printer) bare(n *Node) {
	switch n.Op {
	case OpLiteral:
		p.literal(n.Value)
	case OpRef:
		p.reference(n)
	case OpVar, OpLocal:
		p.text(n.Name)
	case OpParams:
		p.text("$env")
	case OpItem:
		p.text("#")
	case OpIndex:
		p.text("#index")
	case OpAcc:
		p.text("#acc")
	case OpLet:
		p.text("let " + n.Name + " = ")
		p.print(n.Args[0], bindCond)
		p.text("; ")
		p.print(n.Args[1], bindLet)
	case OpCond:
		parts, between := n.Args, []string{" ? ", " : "}
		if n.Args[0].Start == n.Args[1].Start && n.Args[0].End == n.Args[1].End { // it stands there once
			parts, between = n.Args[1:], []string{" ?: "}
		}
		for i, a := range parts {
			if i > 0 {
				p.text(between[i-1])
			}
			p.print(a, bindOr)
		}
	case OpNot:
		p.text("not ")
		p.print(n.Args[0], bindNot)
	case OpNegate, OpPlus:
		p.text(n.fn.name)
		p.print(n.Args[0], bindSign+1)
	case OpList:
		p.list("[", n.Args, ", ", "]")
	case OpObject:
		p.object(n)
	case OpMember:
		p.member(n)
	case OpSlice:
		p.base(n.Args[0], false)
		p.list("[", n.Args[1:], ":", "]")
	case OpCall:
		args := n.Args
		if strings.HasPrefix(n.fn.name, ".") {
			p.base(args[0], true)
			args = args[1:]
		}
		p.list(n.fn.name+"(", args, ", ", ")")
	case OpText:
		p.interpolation(n)
	default:
		p.binary(n)
	}
}

func (p *printer) list(open string, nodes []*Node, between, closing string) {
	p.text(open)
	for i, a := range nodes {
		if i > 0 {
			p.text(between)
		}
		if a != nil {
			p.print(a, bindCond)
		}
	}
	p.text(closing)
}

// isChain reports whether a node is a chain of comparisons such as a < b < c.
func (n *Node) isChain() bool { return n.Op == OpAnd && n.Name != "and" }

// binary writes operands with their operator between them.
func (p *printer) binary(n *Node) {
	if n.isChain() {
		p.print(n.Args[0], bindCompare)
		p.text(" " + n.Name + " ")
		p.print(n.Args[1].Args[1], bindRange)
		return
	}
	for i, a := range n.Args {
		least := n.fn.bind + 1
		if (i == 0) != (n.Op == OpPower) { // the side to which it associates
			least--
		}
		// What compares by size chains with what follows it, and a fallback may end in its own parentheses.
		if i == 0 && (n.Op.Orders() && (a.Op.Orders() || a.isChain()) || n.Op == OpFallback && a.Op == OpFallback) {
			least++
		}
		if i > 0 {
			p.text(" " + n.fn.name + " ")
		}
		p.print(a, least)
	}
}

// base writes what a key, an index, a slice or a method is taken of. Behind a
// bare number none of them can stand, and behind a reference what looks like a
// segment would belong to it.
func (p *printer) base(n *Node, segment bool) {
	_, text := n.Value.(string)
	if n.Op == OpLiteral && !text || n.Op == OpRef && segment {
		p.text("(")
		p.bare(n)
		p.text(")")
		return
	}
	p.print(n, bindPrimary)
}

func (p *printer) member(n *Node) {
	base := n.Args[0]
	bare := base.Op == OpRef && len(p.expr.refs[base.Index].Path) == 0
	dot := "."
	if n.Soft && (!base.Soft || bare) {
		dot = "?."
	}
	key, named := n.key()
	switch {
	case base.Op == OpItem && named && dot == "." && plainWord(key):
	case !named:
		v, number := n.Args[1].Value.(float64)
		p.base(base, dot == "." && number && n.Args[1].Op == OpLiteral && v >= 0)
	default:
		p.base(base, !(bare && dot == "?."))
	}
	switch {
	case named && plainWord(key):
		p.text(dot + key)
		return
	case dot == "?.":
		p.text(dot)
	}
	p.text("[")
	p.print(n.Args[1], bindCond)
	p.text("]")
}

// plainWord reports whether a key can follow a dot in the library's grammar.
func plainWord(s string) bool { return s != "" && wordEnd(s, 0) == len(s) }

func (p *printer) object(n *Node) {
	p.text("{")
	for i := 0; i < len(n.Args); i += 2 {
		if i > 0 {
			p.text(", ")
		}
		if key, ok := n.Args[i].Value.(string); ok && n.Args[i].Op == OpLiteral {
			p.text(quoteText(key))
		} else {
			p.text("(")
			p.print(n.Args[i], bindLet)
			p.text(")")
		}
		p.text(": ")
		p.print(n.Args[i+1], bindCond)
	}
	p.text("}")
}

func (p *printer) literal(v any) {
	switch v := v.(type) {
	case nil:
		p.text("null")
	case bool:
		p.text(strconv.FormatBool(v))
	case float64:
		if v > maxInteger || v < -maxInteger { // digits alone would be read as a whole number
			p.text(strconv.FormatFloat(v, 'e', -1, 64))
		} else {
			p.text(numberText(v))
		}
	case string:
		p.text(quoteText(v))
	}
}

// reference writes a reference. Where its ?. stands makes no difference, so it
// stands before the last segment.
func (p *printer) reference(n *Node) {
	if p.named != nil {
		p.text(p.named(n.Index))
		if n.Soft {
			p.text("?")
		}
		return
	}
	ref := p.expr.refs[n.Index]
	if last := len(ref.Path) - 1; n.Soft && last >= 0 {
		tail := Reference{Path: ref.Path[last:]}.String()
		ref.Path = ref.Path[:last]
		p.text(ref.String() + "?." + strings.TrimPrefix(strings.TrimPrefix(tail, mark), "."))
		return
	}
	p.text(ref.String())
}
