package expression

import (
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/reference"
)

// maxInteger is the largest whole number that a float64 tells from its
// neighbours.
const maxInteger = 1<<53 - 1

// An Expr is one parsed expression. It is immutable and safe for concurrent
// use.
type Expr struct {
	// Text is what was parsed.
	Text string

	root      *Node // nil when the text is one required reference alone, see Root
	refs      []Reference
	slots     int // fallbacks and gates that keep their value
	locals    int // let variables
	variables []string

	only [1]Reference // the refs of a reference alone
}

// Parse reads an expression: a string whose first character is †, as the plan has it once it is decoded. The places of
// the error, of the references and of later findings are bytes of text.
func Parse(text string) (*Expr, *Error) {
	if !reference.IsExpression(text) {
		return nil, fail(0, len(text), "an expression begins with one †", "write †state.key")
	}
	if !strings.HasPrefix(text[len(mark):], "(") {
		ref, end, err := reference.Read(text, 0)
		if err != nil {
			return nil, err
		}
		if reference.SkipBlanks(text, end) == len(text) {
			e := &Expr{Text: text}
			e.only[0] = ref
			e.refs = e.only[:]
			if !ref.Required {
				e.root = &Node{Op: OpRef, Soft: true, End: end, local: noLocal, slot: -1}
			}
			return e, nil
		}
	}
	return parse(text, false)
}

// Root is the root of the expression's tree. That of a required reference alone is made on each call.
func (e *Expr) Root() *Node {
	if e.root != nil {
		return e.root
	}
	return &Node{Op: OpRef, End: e.only[0].End, local: noLocal, slot: -1}
}

// ParseCode reads the code of an expr activity: an expression without
// references, whose variables are the parameters of the call. A variable that
// no parameter fills is null.
func ParseCode(text string) (*Expr, *Error) {
	return parse(text, true)
}

// References are the expression's references in the order of the text, one for
// each place where one stands. The slice must not be changed.
func (e *Expr) References() []Reference { return e.refs }

// Plain reports whether the expression is one required reference and nothing
// else. Its value is then what the reference's path holds, null included.
func (e *Expr) Plain() bool { return e.root == nil || e.root.Op == OpRef && !e.root.Soft }

// String is the expression as people are shown it: as it is written, a required reference alone in its canonical form.
func (e *Expr) String() string {
	if e.Plain() {
		return e.refs[0].String()
	}
	return e.Text
}

// Variables are the names of the parameters that the code of an activity uses,
// sorted. $env, which is all of them, isn't among them.
func (e *Expr) Variables() []string { return e.variables }

func parse(text string, code bool) (*Expr, *Error) {
	l := &lowering{scan: &scan{text: text, code: code}}
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
func (l *lowering) read(from, to, depth int) (*Node, *Error) {
	if err := l.scanExpression(from, to); err != nil {
		return nil, err
	}
	tree, failure := parseTree(l.source)
	if failure != nil {
		return nil, l.syntax(failure)
	}
	n := l.lower(tree.Node, depth)
	return n, l.err
}

// finish makes the expression of its whole tree.
func (l *lowering) finish(root *Node) *Expr {
	root.seal()
	l.settle(root)
	sort.Strings(l.variables)
	return &Expr{
		Text: l.text, root: root, refs: l.refs,
		slots: l.slots, locals: l.locals, variables: l.variables,
	}
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

func (l *lowering) fail(at token, message, help string) *Node {
	if l.err == nil {
		l.err = fail(at.start, at.end, message, help)
	}
	return &Node{Start: at.start, End: at.end}
}

// token is where the parser says that a node is, which is one token of it.
func (l *lowering) token(n ast.Node) token {
	if len(l.tokens) == 0 {
		return token{}
	}
	return l.tokens[l.tokenAt(l.offset(n.Location().From))]
}

// lower is the node of a node of the parser's, and where it is.
func (l *lowering) lower(n ast.Node, depth int) *Node {
	if chain, ok := n.(*ast.ChainNode); ok {
		return l.lower(chain.Node, depth)
	}
	if l.err != nil {
		return &Node{}
	}
	t := l.token(n)
	if !sameChain(n) {
		l.nodes++
	}
	if l.nodes > maxNodes {
		l.err = tooLarge(l.text)
		return &Node{}
	}
	if depth > maxDepth {
		l.err = tooDeep(t.start, t.end)
		return &Node{}
	}
	out := l.node(n, t, depth)
	if out.End == 0 {
		l.place(out, t, out.Args...)
	}
	if out.fn == nil && int(out.Op) < len(operators) {
		out.fn = operators[out.Op]
	}
	return out
}

// place sets a node's place to that of its token, with the bracket that it opens and a call's arguments, and of its
// operands, with the parentheses around these.
func (l *lowering) place(out *Node, t token, operands ...*Node) {
	bracket := t
	if i := l.tokenAt(t.start) + 1; t.kind == tokenWord && i < len(l.tokens) && l.tokens[i].kind == tokenOpen {
		bracket = l.tokens[i]
	}
	out.Start, out.End = t.start, t.end
	if bracket.match >= 0 {
		out.End = l.tokens[bracket.match].end
	}
	for _, a := range operands {
		if a != nil {
			start, end := l.widen(a.Start, a.End)
			out.Start, out.End = min(out.Start, start), max(out.End, end)
		}
	}
}

func (l *lowering) node(n ast.Node, t token, depth int) *Node {
	switch n := n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return l.literal(n, t)
	case *ast.IdentifierNode:
		return l.identifier(n, t)
	case *ast.PointerNode:
		return l.pointer(n, t)
	case *ast.UnaryNode:
		return l.unary(n, t, depth)
	case *ast.BinaryNode:
		return l.binary(n, t, depth)
	case *ast.MemberNode:
		return l.member(n, t, depth)
	case *ast.SliceNode:
		base := l.lower(n.Node, depth)
		out := &Node{Op: OpSlice, Soft: base.Soft, Args: []*Node{base, nil, nil}}
		for i, bound := range []ast.Node{n.From, n.To} {
			if bound != nil {
				out.Args[i+1] = l.lower(bound, depth+1)
			}
		}
		return out
	case *ast.CallNode:
		return l.call(n, t, depth)
	case *ast.BuiltinNode:
		return l.builtin(n, t, depth)
	case *ast.ConditionalNode:
		return &Node{Op: OpCond,
			Args: []*Node{l.lower(n.Cond, depth+1), l.lower(n.Exp1, depth+1), l.lower(n.Exp2, depth)}}
	case *ast.VariableDeclaratorNode:
		return l.let(n, t, depth)
	case *ast.ArrayNode:
		return &Node{Op: OpList, Args: l.all(n.Nodes, depth+1)}
	case *ast.MapNode:
		return l.object(n, depth)
	case *ast.SequenceNode:
		return l.fail(t, "an expression is one value", "\";\" only ends a let: let x = …; x + 1")
	}
	return l.fail(t, "this can't be in an expression", "")
}

func (l *lowering) all(nodes []ast.Node, depth int) (out []*Node) {
	for _, n := range nodes {
		out = append(out, l.lower(n, depth))
	}
	return out
}

func (l *lowering) literal(n ast.Node, t token) *Node {
	out := &Node{Op: OpLiteral}
	switch n := n.(type) {
	case *ast.BoolNode:
		out.Value = n.Value
	case *ast.IntegerNode:
		if n.Value > maxInteger || n.Value < -maxInteger {
			return l.fail(t, quote(l.text[t.start:t.end])+" is larger than a number can be exactly",
				"whole numbers go up to 9007199254740991")
		}
		out.Value = float64(n.Value)
	case *ast.FloatNode:
		out.Value = n.Value
	case *ast.StringNode:
		if !utf8.ValidString(n.Value) {
			return l.fail(t, "the text isn't valid Unicode", "write characters as they are, or as \\u00e9")
		}
		out.Value = n.Value
	}
	return out
}

// pointer lowers # and what begins with it.
func (l *lowering) pointer(n *ast.PointerNode, t token) *Node {
	t.end += len(n.Name)
	op, ok := map[string]Op{"": OpItem, "index": OpIndex, "acc": OpAcc}[n.Name]
	switch {
	case !ok:
		return l.fail(t, "there is no "+quote("#"+n.Name),
			"# is the item, #index its place, #acc what reduce has so far")
	case op == OpAcc && (len(l.loops) == 0 || l.loops[len(l.loops)-1] != "reduce"):
		return l.fail(t, "\"#acc\" is only known in reduce", "")
	}
	return &Node{Op: op, Start: t.start, End: t.end}
}

func (l *lowering) object(n *ast.MapNode, depth int) *Node {
	out := &Node{Op: OpObject}
	for _, p := range n.Pairs {
		p := p.(*ast.PairNode)
		_, isName := p.Key.(*ast.StringNode)
		if key := l.token(p.Key); isName && key.kind == tokenReference {
			return l.fail(key, "write a computed key in parentheses", "write {("+l.text[key.start:key.end]+"): …}")
		}
		out.Args = append(out.Args, l.lower(p.Key, depth+1), l.lower(p.Value, depth+1))
	}
	return out
}

func (l *lowering) identifier(n *ast.IdentifierNode, t token) *Node {
	if t.kind == tokenReference {
		return l.reference(t)
	}
	for i := len(l.visible) - 1; i >= 0; i-- {
		if l.visible[i].name == n.Value {
			return &Node{Op: OpLocal, Name: n.Value, Index: l.visible[i].index}
		}
	}
	switch {
	case n.Value == "null":
		return &Node{Op: OpLiteral}
	case l.code && n.Value == "$env":
		return &Node{Op: OpParams}
	case l.code: // also a name that a function has: only calls are functions
		l.variable(n.Value)
		return &Node{Op: OpVar, Name: n.Value}
	}
	help := helpName(n.Value)
	if kind, ok := naming.Nearest(n.Value, reference.Kinds); ok && l.isKind != nil {
		help = "did you mean " + kind + "?"
	}
	return l.fail(t, "there is no value "+quote(n.Value), help)
}

func (l *lowering) variable(name string) {
	if !slices.Contains(l.variables, name) {
		l.variables = append(l.variables, name)
	}
}

func (l *lowering) reference(t token) *Node {
	i := sort.Search(len(l.refs), func(i int) bool { return l.refs[i].Start >= t.start })
	optional := !l.refs[i].Required
	l.refs[i].Required = l.fallbacks == 0 && !optional
	return &Node{Op: OpRef, Index: i, Soft: optional, Start: t.start, End: t.end}
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

func (l *lowering) unary(n *ast.UnaryNode, t token, depth int) *Node {
	// A word of its own is as deep as what it stands before; a run of signs isn't.
	operand := l.lower(n.Node, depth+1)
	op := map[string]Op{"-": OpNegate, "+": OpPlus, "not": OpNot, "!": OpNot}[n.Operator]
	if v, ok := operand.Value.(float64); ok && operand.Op == OpLiteral && op == OpNegate {
		return &Node{Op: OpLiteral, Value: -v, Start: t.start, End: operand.End}
	}
	return &Node{Op: op, Args: []*Node{operand}}
}

func (l *lowering) binary(n *ast.BinaryNode, t token, depth int) *Node {
	name := n.Operator
	if name == "&&" && l.written(n) != "&&" { // a < b < c, which the parser gives as a < b && b < c
		name = "and"
	}
	out := l.operator(name)
	if out == nil {
		return l.fail(t, "there is no operator "+quote(l.written(n)), "")
	}
	if name != n.Operator {
		out.Name = l.written(n)
	}
	if out.Op == OpFallback {
		l.fallbacks++
		defer func() { l.fallbacks-- }()
	}
	left := l.lower(n.Left, depth)
	right := l.lower(n.Right, depth+1)
	for _, a := range []*Node{left, right} {
		if a.Op == out.Op && (a.Op == OpGate || a.Op == OpFallback && !l.endsInside(a)) {
			out.Args = append(out.Args, a.Args...)
		} else {
			out.Args = append(out.Args, a)
		}
	}
	l.place(out, t, left, right)
	if out.Op == OpMatches && right.Op == OpLiteral {
		source, isText := right.Value.(string)
		problem := "\"matches\" wants a pattern in quotes"
		if isText {
			out.pattern, problem = compilePattern(source)
		}
		if problem != "" && l.err == nil {
			l.err = fail(right.Start, right.End, problem, "")
		}
	}
	return out
}

// operator is a node without operands for an operator between two values; nil if there is none of the name.
func (l *lowering) operator(name string) *Node {
	if name == "^" {
		name = "**"
	}
	for op, f := range operators {
		if f != nil && f.name == name && (f.least > 1 || Op(op) == OpFallback || Op(op) == OpGate) {
			return &Node{Op: Op(op), Name: name, fn: f}
		}
	}
	return nil
}

// endsInside reports whether a fallback is in parentheses of its own and may end in them with a null, which doesn't end
// the fallback around it.
func (l *lowering) endsInside(n *Node) bool {
	if start, _ := l.widen(n.Start, n.End); start == n.Start {
		return false
	}
	return slices.ContainsFunc(n.Args, func(a *Node) bool { return a.Op == OpLiteral && a.Value == nil })
}

func (l *lowering) written(n ast.Node) string {
	t := l.token(n)
	return l.text[t.start:t.end]
}

func (l *lowering) member(n *ast.MemberNode, t token, depth int) *Node {
	base := l.lower(n.Node, depth)
	out := &Node{Op: OpMember, Soft: n.Optional || base.Soft}
	key, ok := n.Property.(*ast.StringNode)
	if !ok {
		out.Args = []*Node{base, l.lower(n.Property, depth+1)}
		return out
	}
	if p := l.token(key); p.kind == tokenReference {
		return l.fail(p, "write a computed key in brackets", "write […] without the dot")
	}
	out.Args = []*Node{base, {Op: OpLiteral, Value: key.Value, Start: t.start, End: t.end}}
	if l.code && base.Op == OpParams {
		l.variable(key.Value)
	}
	return out
}

func (l *lowering) let(n *ast.VariableDeclaratorNode, t token, depth int) *Node {
	switch {
	case t.kind == tokenReference:
		return l.fail(t, "let names a variable, not a reference", "write let x = …; …")
	case functions[n.Name] != nil || n.Name == "null" || n.Name == "$env":
		return l.fail(t, quote(n.Name)+" has a meaning already", "choose another name")
	case slices.ContainsFunc(l.visible, func(v local) bool { return v.name == n.Name }):
		return l.fail(t, quote(n.Name)+" is already named by a let", "choose another name")
	}
	value := l.lower(n.Value, depth+1)
	out := &Node{Op: OpLet, Name: n.Name, Index: l.locals}
	l.visible = append(l.visible, local{n.Name, l.locals})
	l.locals++
	out.Args = []*Node{value, l.lower(n.Expr, depth)}
	l.visible = l.visible[:len(l.visible)-1]
	if i := l.tokenAt(t.start); i > 0 {
		t = l.tokens[i-1]
	}
	l.place(out, t, out.Args...)
	return out
}

func (l *lowering) call(n *ast.CallNode, t token, depth int) *Node {
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		return l.fail(t, unknownFunction(callee.Value), helpFunction(callee.Value))
	case *ast.MemberNode:
		key, ok := callee.Property.(*ast.StringNode)
		if !ok {
			break
		}
		f := functions["."+key.Value]
		if f == nil {
			return l.fail(t, quote(key.Value)+" can't be called",
				"only functions can: "+quote("len(†state.items)")+" or "+quote("†state.items | len()"))
		}
		base := []*Node{l.lower(callee.Node, depth)}
		return l.invoked(key.Value, f, append(base, l.all(n.Arguments, depth+1)...), t)
	}
	return l.fail(t, "this can't be called", "only functions can, such as len(…)")
}

// invoked is the call of a function or a method.
func (l *lowering) invoked(name string, f *function, args []*Node, t token) *Node {
	out := &Node{Op: OpCall, Name: name, fn: f, Args: args}
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		l.place(out, t)
		return l.fail(token{start: out.Start, end: out.End}, wrongArity(name, f, len(args)), f.usage())
	}
	return out
}

func (l *lowering) builtin(n *ast.BuiltinNode, t token, depth int) *Node {
	f := functions[n.Name]
	if f == nil {
		return l.fail(t, unknownFunction(n.Name), helpFunction(n.Name))
	}
	i := l.tokenAt(t.start)
	piped := i > 0 && l.word(i-1) == "|"
	var args []*Node
	for i, a := range n.Arguments {
		d := depth + 1
		if piped && i == 0 {
			d = depth
		}
		if p, ok := a.(*ast.PredicateNode); ok {
			l.loops = append(l.loops, n.Name)
			args = append(args, l.lower(p.Node, d))
			l.loops = l.loops[:len(l.loops)-1]
			continue
		}
		args = append(args, l.lower(a, d))
	}
	return l.invoked(n.Name, f, args, t)
}

func itoa(n int) string { return strconv.Itoa(n) }
