package expression

import (
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/obelus-dev/obelus/compiler/naming"
)

// maxInteger is the largest whole number that a float64 tells from its
// neighbours.
const maxInteger = 1<<53 - 1

// An Expr is one parsed expression. It is immutable and safe for concurrent
// use.
type Expr struct {
	// Text is what was parsed.
	Text string

	root      *node // nil when the text is one required reference alone, see tree
	refs      []Reference
	limits    *Limits // of an evaluation; a reference alone needs none
	slots     int     // fallbacks and gates that keep their value
	locals    int     // let variables
	variables []string

	only [1]Reference // the refs of a reference alone
}

// Parse reads an expression: a string whose first character is †, as the plan has it once it is decoded. The places of
// the error, of the references and of later findings are bytes of text.
func Parse(text string, l Limits) (*Expr, *Error) {
	if !IsExpression(text) {
		return nil, fail(0, len(text), "an expression begins with one †", "write †state.key")
	}
	if !strings.HasPrefix(text[len(mark):], "(") {
		ref, end, optional, err := readReference(text, 0)
		if err != nil {
			return nil, err
		}
		if skipBlanks(text, end) == len(text) {
			e := &Expr{Text: text}
			ref.Required = !optional
			e.only[0] = ref
			e.refs = e.only[:]
			if optional {
				e.root = &node{op: opRef, soft: true, end: end, local: noLocal, slot: -1}
			}
			return e, nil
		}
	}
	return parse(text, l.orDefault(), false)
}

// tree is the root of the expression's tree. Most expressions are plain references whose tree is never needed, so that
// it is made on demand.
func (e *Expr) tree() *node {
	if e.root != nil {
		return e.root
	}
	return &node{op: opRef, end: e.only[0].End, local: noLocal, slot: -1}
}

// ParseCode reads the code of an expr activity: an expression without
// references, whose variables are the parameters of the call. A variable that
// no parameter fills is null.
func ParseCode(text string, l Limits) (*Expr, *Error) {
	return parse(text, l.orDefault(), true)
}

// References are the expression's references in the order of the text, one for
// each place where one stands. The slice must not be changed.
func (e *Expr) References() []Reference { return e.refs }

// Plain reports whether the expression is one required reference and nothing
// else. Its value is then what the reference's path holds, null included.
func (e *Expr) Plain() bool { return e.root == nil || e.root.op == opRef && !e.root.soft }

// Variables are the names of the parameters that the code of an activity uses,
// sorted. $env, which is all of them, isn't among them.
func (e *Expr) Variables() []string { return e.variables }

func parse(text string, limits Limits, code bool) (*Expr, *Error) {
	l := &lowering{scan: newScan(text, nil), limits: limits, code: code}
	defer l.release()
	from := 0
	if !code && strings.HasPrefix(text, mark+"(") {
		from = len(mark)
	}
	root, err := l.read(from, len(text), 1)
	if err != nil {
		return nil, err
	}
	return l.finish(root), nil
}

// read is the tree of the expression text[from:to], which stands depth levels deep.
func (l *lowering) read(from, to, depth int) (*node, *Error) {
	if err := l.scanExpression(from, to, l.limits, l.code); err != nil {
		return nil, err
	}
	tree, failure := parseTree(l.source)
	if failure != nil {
		return nil, l.syntax(failure, l.limits)
	}
	n := l.lower(tree.Node, depth)
	return n, l.err
}

// finish makes the expression of its whole tree.
func (l *lowering) finish(root *node) *Expr {
	l.seal(root)
	l.settle(root)
	sort.Strings(l.variables)
	return &Expr{Text: l.text, root: root, refs: l.refs, limits: l.limits.shared(), slots: l.slots, locals: l.locals, variables: l.variables}
}

// parseTree runs the library's parser. The text may be hostile, so a panic of
// the library is the text's fault and not ours.
func parseTree(source string) (tree *parser.Tree, failure error) {
	defer func() {
		if recover() != nil {
			failure = errors.New("the parser gave up")
		}
	}()
	return parser.Parse(source)
}

// A lowering turns the parser's tree into ours.
type lowering struct {
	*scan
	limits    Limits
	code      bool
	err       *Error // the first one
	nodes     int
	slots     int
	locals    int
	visible   []local // let variables in scope
	loops     []string
	fallbacks int // how many fallbacks we are inside of
	variables []string
}

type local struct {
	name  string
	index int
}

func (l *lowering) fail(start, end int, message, help string) *node {
	if l.err == nil {
		l.err = fail(start, end, message, help)
	}
	return &node{start: start, end: end}
}

// token is where the parser says that a node is, which is one token of it.
func (l *lowering) token(n ast.Node) token {
	if len(l.tokens) == 0 {
		return token{}
	}
	return l.tokens[l.tokenAt(l.offset(n.Location().From))]
}

func (l *lowering) lower(n ast.Node, depth int) *node {
	if l.err != nil {
		return &node{}
	}
	t := l.token(n)
	if !sameChain(n) {
		l.nodes++
	}
	if l.nodes > l.limits.Nodes {
		l.err = tooLarge(l.text, l.limits)
		return &node{}
	}
	if depth > l.limits.Depth {
		l.err = tooDeep(t.start, t.end, l.limits)
		return &node{}
	}
	leaf := func(o op) *node { return &node{op: o, start: t.start, end: t.end} }
	literal := func(v any) *node { return &node{op: opLiteral, value: v, start: t.start, end: t.end} }
	switch n := n.(type) {
	case *ast.NilNode:
		return literal(nil)
	case *ast.BoolNode:
		return literal(n.Value)
	case *ast.IntegerNode:
		if n.Value > maxInteger || n.Value < -maxInteger {
			return l.fail(t.start, t.end, quote(l.text[t.start:t.end])+" is larger than a number can be exactly", "whole numbers go up to 9007199254740991")
		}
		return literal(float64(n.Value))
	case *ast.FloatNode:
		return literal(n.Value)
	case *ast.StringNode:
		if !utf8.ValidString(n.Value) {
			return l.fail(t.start, t.end, "the text isn't valid Unicode", "write characters as they are, or as \\u00e9")
		}
		return literal(n.Value)
	case *ast.IdentifierNode:
		return l.identifier(n, t)
	case *ast.UnaryNode:
		return l.unary(n, t, depth)
	case *ast.BinaryNode:
		return l.binary(n, depth)
	case *ast.ChainNode:
		l.nodes--
		return l.lower(n.Node, depth)
	case *ast.MemberNode:
		return l.member(n, t, depth)
	case *ast.SliceNode:
		out := &node{op: opSlice, args: []*node{l.lower(n.Node, depth), nil, nil}, end: l.closing(t)}
		out.soft = out.args[0].soft
		if n.From != nil {
			out.args[1] = l.lower(n.From, depth+1)
		}
		if n.To != nil {
			out.args[2] = l.lower(n.To, depth+1)
		}
		out.start, _ = l.widen(out.args[0].start, out.args[0].end)
		return out
	case *ast.CallNode:
		return l.call(n, t, depth)
	case *ast.BuiltinNode:
		return l.builtin(n, t, depth)
	case *ast.PointerNode:
		t.end += len(n.Name)
		switch n.Name {
		case "":
			return leaf(opItem)
		case "index":
			return leaf(opIndex)
		case "acc":
			if len(l.loops) > 0 && l.loops[len(l.loops)-1] == "reduce" {
				return leaf(opAcc)
			}
			return l.fail(t.start, t.end, "\"#acc\" is only known in reduce", "")
		}
		return l.fail(t.start, t.end, "there is no "+quote("#"+n.Name), "# is the item, #index its place, #acc what reduce has so far")
	case *ast.ConditionalNode:
		out := &node{op: opCond, args: []*node{l.lower(n.Cond, depth+1), l.lower(n.Exp1, depth+1), l.lower(n.Exp2, depth)}}
		l.span(out)
		return out
	case *ast.VariableDeclaratorNode:
		return l.let(n, t, depth)
	case *ast.ArrayNode:
		out := &node{op: opList, start: t.start, end: l.closing(t)}
		for _, item := range n.Nodes {
			out.args = append(out.args, l.lower(item, depth+1))
		}
		return out
	case *ast.MapNode:
		out := &node{op: opObject, start: t.start, end: l.closing(t)}
		for _, p := range n.Pairs {
			p := p.(*ast.PairNode)
			if key := l.token(p.Key); isName(p.Key) && key.kind == tokenReference {
				return l.fail(key.start, key.end, "write a computed key in parentheses", "write {("+l.text[key.start:key.end]+"): …}")
			}
			out.args = append(out.args, l.lower(p.Key, depth+1), l.lower(p.Value, depth+1))
		}
		return out
	case *ast.SequenceNode:
		return l.fail(t.start, t.end, "an expression is one value", "\";\" only ends a let: let x = …; x + 1")
	case *ast.BytesNode:
		return l.fail(t.start, t.end, "bytes have no form in JSON", "write a text")
	}
	return l.fail(t.start, t.end, "this can't stand in an expression", "")
}

func isName(n ast.Node) bool {
	_, ok := n.(*ast.StringNode)
	return ok
}

// span sets a node's place to that of what is below it.
func (l *lowering) span(n *node) {
	for i, a := range n.args {
		start, end := l.widen(a.start, a.end)
		if i == 0 || start < n.start {
			n.start = start
		}
		n.end = max(n.end, end)
	}
}

// closing is the end of the bracket that a token opens.
func (l *lowering) closing(t token) int {
	if t.match >= 0 {
		return l.tokens[t.match].end
	}
	return t.end
}

// callEnd is the end of the call of the function whose name the token is.
func (l *lowering) callEnd(t token) int {
	if i := l.tokenAt(t.start) + 1; i < len(l.tokens) && l.tokens[i].kind == tokenOpen {
		return l.closing(l.tokens[i])
	}
	return t.end
}

func (l *lowering) identifier(n *ast.IdentifierNode, t token) *node {
	if t.kind == tokenReference {
		return l.reference(t)
	}
	for i := len(l.visible) - 1; i >= 0; i-- {
		if l.visible[i].name == n.Value {
			return &node{op: opLocal, name: n.Value, index: l.visible[i].index, start: t.start, end: t.end}
		}
	}
	switch {
	case n.Value == "null":
		return &node{op: opLiteral, start: t.start, end: t.end}
	case l.code && n.Value == "$env":
		return &node{op: opParams, start: t.start, end: t.end}
	case l.code: // also a name that a function has: only calls are functions
		l.variable(n.Value)
		return &node{op: opVar, name: n.Value, start: t.start, end: t.end}
	}
	help := helpName(n.Value)
	if kind, ok := naming.Nearest(n.Value, kinds); ok && l.isKind != nil {
		help = "did you mean " + kind + "?"
	}
	return l.fail(t.start, t.end, "there is no value "+quote(n.Value), help)
}

func (l *lowering) variable(name string) {
	for _, v := range l.variables {
		if v == name {
			return
		}
	}
	l.variables = append(l.variables, name)
}

func (l *lowering) reference(t token) *node {
	i := sort.Search(len(l.refs), func(i int) bool { return l.refs[i].Start >= t.start })
	l.refs[i].Required = l.fallbacks == 0 && !l.optional[i]
	return &node{op: opRef, index: i, soft: l.optional[i], start: t.start, end: t.end}
}

// sameChain reports whether an operator only continues the chain on its left: a || b || c is one node with three
// operands.
func sameChain(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != "||" && b.Operator != "??" && b.Operator != "&&" {
		return false
	}
	left, ok := b.Left.(*ast.BinaryNode)
	return ok && left.Operator == b.Operator
}

func (l *lowering) unary(n *ast.UnaryNode, t token, depth int) *node {
	// A word of its own is as deep as what it stands before; a run of signs isn't.
	operand := l.lower(n.Node, depth+1)
	out := &node{op: opNot, args: []*node{operand}, start: t.start}
	switch n.Operator {
	case "-":
		if v, ok := operand.value.(float64); ok && operand.op == opLiteral {
			return &node{op: opLiteral, value: -v, start: t.start, end: operand.end}
		}
		out.op = opNegate
	case "+":
		out.op = opPlus
	}
	start, end := l.widen(operand.start, operand.end)
	out.start, out.end = min(out.start, start), max(out.end, end)
	return out
}

func (l *lowering) binary(n *ast.BinaryNode, depth int) *node {
	operator := l.token(n)
	written := l.text[operator.start:operator.end]
	if n.Operator == "&&" && written != "&&" {
		return l.chain(n, depth)
	}
	name := n.Operator
	if name == "^" {
		name = "**"
	}
	b, ok := binary[name]
	if !ok {
		return l.fail(operator.start, operator.end, "there is no operator "+quote(written), "")
	}
	out := &node{op: b.op, name: name}
	if b.op == opFallback {
		l.fallbacks++
		defer func() { l.fallbacks-- }()
	}
	left := l.lower(n.Left, depth)
	right := l.lower(n.Right, depth+1)
	for _, a := range []*node{left, right} {
		if a.op == b.op && (b.op == opGate || b.op == opFallback && !l.endsInside(a)) {
			out.args = append(out.args, a.args...)
		} else {
			out.args = append(out.args, a)
		}
	}
	l.span(out)
	start, end := l.widen(left.start, left.end)
	rightStart, rightEnd := l.widen(right.start, right.end)
	out.start, out.end = min(start, rightStart), max(end, rightEnd)
	if b.op == opMatches && right.op == opLiteral {
		source, ok := right.value.(string)
		if !ok {
			return l.fail(right.start, right.end, "\"matches\" wants a pattern in quotes", "")
		}
		p, problem := compilePattern(source)
		if problem != "" {
			return l.fail(right.start, right.end, problem, "")
		}
		out.pattern = p
	}
	return out
}

// endsInside reports whether a fallback is in parentheses of its own and may end in them with a null, which doesn't end
// the fallback around it.
func (l *lowering) endsInside(n *node) bool {
	if start, _ := l.widen(n.start, n.end); start == n.start {
		return false
	}
	return slices.ContainsFunc(n.args, func(a *node) bool { return a.op == opLiteral && a.value == nil })
}

// chain lowers a < b < c, which the parser gives as a < b && b < c with one and
// the same node for both b: it is evaluated once here.
func (l *lowering) chain(n *ast.BinaryNode, depth int) *node {
	var links []*ast.BinaryNode
	for {
		links = append(links, n.Right.(*ast.BinaryNode))
		left := n.Left.(*ast.BinaryNode)
		if left.Operator != "&&" || l.written(left) == "&&" {
			links = append(links, left)
			break
		}
		n = left
	}
	out := &node{op: opChain}
	for i := len(links) - 1; i >= 0; i-- {
		if i == len(links)-1 {
			out.args = append(out.args, l.lower(links[i].Left, depth))
		}
		out.args = append(out.args, l.lower(links[i].Right, depth+1))
		out.ops = append(out.ops, binary[links[i].Operator].op)
	}
	l.span(out)
	return out
}

func (l *lowering) written(n ast.Node) string {
	t := l.token(n)
	return l.text[t.start:t.end]
}

func (l *lowering) member(n *ast.MemberNode, t token, depth int) *node {
	base := l.lower(n.Node, depth)
	out := &node{op: opMember, args: []*node{base}, soft: n.Optional || base.soft}
	out.start, _ = l.widen(base.start, base.end)
	if key, ok := n.Property.(*ast.StringNode); ok {
		if p := l.token(key); p.kind == tokenReference {
			return l.fail(p.start, p.end, "write a computed key in brackets", "write […] without the dot")
		}
		out.name = key.Value
		out.end = t.end
		if t.kind == tokenOpen {
			out.end = l.closing(t)
		}
		if l.code && base.op == opParams {
			l.variable(key.Value)
		}
		return out
	}
	out.op = opAt
	out.args = append(out.args, l.lower(n.Property, depth+1))
	out.end = l.closing(t)
	return out
}

func (l *lowering) let(n *ast.VariableDeclaratorNode, t token, depth int) *node {
	if t.kind == tokenReference {
		return l.fail(t.start, t.end, "let names a variable, not a reference", "write let x = …; …")
	}
	if functions[n.Name] != nil || loops[n.Name] || n.Name == "null" || n.Name == "$env" {
		return l.fail(t.start, t.end, quote(n.Name)+" has a meaning already", "choose another name")
	}
	for _, v := range l.visible {
		if v.name == n.Name {
			return l.fail(t.start, t.end, quote(n.Name)+" is already named by a let", "choose another name")
		}
	}
	value := l.lower(n.Value, depth+1)
	out := &node{op: opLet, name: n.Name, index: l.locals}
	l.visible = append(l.visible, local{n.Name, l.locals})
	l.locals++
	body := l.lower(n.Expr, depth)
	l.visible = l.visible[:len(l.visible)-1]
	out.args = []*node{value, body}
	out.start = t.start
	if i := l.tokenAt(t.start); i > 0 {
		out.start = l.tokens[i-1].start
	}
	_, out.end = l.widen(body.start, body.end)
	return out
}

func (l *lowering) call(n *ast.CallNode, t token, depth int) *node {
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		return l.fail(t.start, t.end, unknownFunction(callee.Value), helpFunction(callee.Value))
	case *ast.MemberNode:
		if key, ok := callee.Property.(*ast.StringNode); ok {
			m := methods[key.Value]
			if m == nil {
				return l.fail(t.start, t.end, quote(key.Value)+" can't be called", "only functions can: "+quote("len(†state.items)")+" or "+quote("†state.items | len()"))
			}
			if len(n.Arguments) != m.arguments {
				return l.fail(t.start, l.callEnd(t), wrongArity(key.Value, m.arguments, m.arguments, len(n.Arguments)), "")
			}
			out := &node{op: opMethod, name: key.Value, args: []*node{l.lower(callee.Node, depth)}, end: l.callEnd(t)}
			for _, a := range n.Arguments {
				out.args = append(out.args, l.lower(a, depth+1))
			}
			out.start, _ = l.widen(out.args[0].start, out.args[0].end)
			return out
		}
	}
	return l.fail(t.start, t.end, "this can't be called", "only functions can, such as len(…)")
}

func (l *lowering) builtin(n *ast.BuiltinNode, t token, depth int) *node {
	out := &node{op: opCall, name: n.Name, start: t.start, end: l.callEnd(t)}
	piped := false
	if i := l.tokenAt(t.start); i > 0 && l.text[l.tokens[i-1].start:l.tokens[i-1].end] == "|" {
		piped = true
	}
	if loops[n.Name] {
		out.op = opLoop
	} else if out.fn = functions[n.Name]; out.fn == nil {
		return l.fail(t.start, t.end, unknownFunction(n.Name), helpFunction(n.Name))
	} else if most := out.fn.most; len(n.Arguments) < out.fn.least || most >= 0 && len(n.Arguments) > most {
		return l.fail(t.start, out.end, wrongArity(n.Name, out.fn.least, most, len(n.Arguments)), out.fn.usage())
	}
	for i, a := range n.Arguments {
		d := depth + 1
		if piped && i == 0 {
			d = depth
		}
		if p, ok := a.(*ast.PredicateNode); ok {
			l.loops = append(l.loops, n.Name)
			out.args = append(out.args, l.lower(p.Node, d))
			l.loops = l.loops[:len(l.loops)-1]
			continue
		}
		out.args = append(out.args, l.lower(a, d))
	}
	if piped {
		out.start, _ = l.widen(out.args[0].start, out.args[0].end)
	}
	return out
}

// syntax turns the parser's complaint into ours.
func (s *scan) syntax(failure error, limits Limits) *Error {
	var f *file.Error
	if !errors.As(failure, &f) {
		return fail(0, len(s.text), "this isn't an expression", "")
	}
	if strings.Contains(f.Message, "maximum allowed nodes") {
		return tooLarge(s.text, limits)
	}
	last := len(s.tokens) - 1
	if strings.Contains(f.Message, "EOF") && !(last > 0 && s.word(last-1) == "|") {
		t := s.tokens[last]
		return fail(t.start, t.end, "the expression ends too early after "+quote(s.text[t.start:t.end]), "a value must follow")
	}
	t, message, help := s.explain(min(s.tokenAt(s.offset(f.From)), last), f.Message)
	return fail(t.start, t.end, message, help)
}

func itoa(n int) string { return strconv.Itoa(n) }
