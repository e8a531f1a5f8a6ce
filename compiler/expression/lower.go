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
				e.root = &Node{Op: OpRef, Soft: true, End: end, local: noLocal, slot: -1}
			}
			return e, nil
		}
	}
	return parse(text, l.orDefault(), false)
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
func ParseCode(text string, l Limits) (*Expr, *Error) {
	return parse(text, l.orDefault(), true)
}

// References are the expression's references in the order of the text, one for
// each place where one stands. The slice must not be changed.
func (e *Expr) References() []Reference { return e.refs }

// Plain reports whether the expression is one required reference and nothing
// else. Its value is then what the reference's path holds, null included.
func (e *Expr) Plain() bool { return e.root == nil || e.root.Op == OpRef && !e.root.Soft }

// Variables are the names of the parameters that the code of an activity uses,
// sorted. $env, which is all of them, isn't among them.
func (e *Expr) Variables() []string { return e.variables }

func parse(text string, limits Limits, code bool) (*Expr, *Error) {
	l := &lowering{scan: newScan(text, nil, limits, code)}
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
		Text: l.text, root: root, refs: l.refs, limits: l.limits.shared(),
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

func (l *lowering) fail(start, end int, message, help string) *Node {
	if l.err == nil {
		l.err = fail(start, end, message, help)
	}
	return &Node{Start: start, End: end}
}

// token is where the parser says that a node is, which is one token of it.
func (l *lowering) token(n ast.Node) token {
	if len(l.tokens) == 0 {
		return token{}
	}
	return l.tokens[l.tokenAt(l.offset(n.Location().From))]
}

func (l *lowering) lower(n ast.Node, depth int) *Node {
	if l.err != nil {
		return &Node{}
	}
	t := l.token(n)
	if !sameChain(n) {
		l.nodes++
	}
	if l.nodes > l.limits.Nodes {
		l.err = tooLarge(l.text, l.limits)
		return &Node{}
	}
	if depth > l.limits.Depth {
		l.err = tooDeep(t.start, t.end, l.limits)
		return &Node{}
	}
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
		return l.binary(n, depth)
	case *ast.ChainNode:
		l.nodes--
		return l.lower(n.Node, depth)
	case *ast.MemberNode:
		return l.member(n, t, depth)
	case *ast.SliceNode:
		base := l.lower(n.Node, depth)
		out := &Node{Op: OpSlice, Soft: base.Soft, Args: []*Node{base, nil, nil}, End: l.closing(t)}
		for i, bound := range []ast.Node{n.From, n.To} {
			if bound != nil {
				out.Args[i+1] = l.lower(bound, depth+1)
			}
		}
		out.Start = l.before(base)
		return out
	case *ast.CallNode:
		return l.call(n, t, depth)
	case *ast.BuiltinNode:
		return l.builtin(n, t, depth)
	case *ast.ConditionalNode:
		out := &Node{Op: OpCond}
		out.Args = []*Node{l.lower(n.Cond, depth+1), l.lower(n.Exp1, depth+1), l.lower(n.Exp2, depth)}
		l.span(out)
		return out
	case *ast.VariableDeclaratorNode:
		return l.let(n, t, depth)
	case *ast.ArrayNode:
		out := &Node{Op: OpList, Start: t.start, End: l.closing(t)}
		for _, item := range n.Nodes {
			out.Args = append(out.Args, l.lower(item, depth+1))
		}
		return out
	case *ast.MapNode:
		return l.object(n, t, depth)
	case *ast.SequenceNode:
		return l.fail(t.start, t.end, "an expression is one value", "\";\" only ends a let: let x = …; x + 1")
	case *ast.BytesNode:
		return l.fail(t.start, t.end, "bytes have no form in JSON", "write a text")
	}
	return l.fail(t.start, t.end, "this can't be in an expression", "")
}

func (l *lowering) literal(n ast.Node, t token) *Node {
	out := &Node{Op: OpLiteral, Start: t.start, End: t.end}
	switch n := n.(type) {
	case *ast.BoolNode:
		out.Value = n.Value
	case *ast.IntegerNode:
		if n.Value > maxInteger || n.Value < -maxInteger {
			return l.fail(t.start, t.end, quote(l.text[t.start:t.end])+" is larger than a number can be exactly",
				"whole numbers go up to 9007199254740991")
		}
		out.Value = float64(n.Value)
	case *ast.FloatNode:
		out.Value = n.Value
	case *ast.StringNode:
		if !utf8.ValidString(n.Value) {
			return l.fail(t.start, t.end, "the text isn't valid Unicode",
				"write characters as they are, or as \\u00e9")
		}
		out.Value = n.Value
	}
	return out
}

// pointer lowers # and what begins with it.
func (l *lowering) pointer(n *ast.PointerNode, t token) *Node {
	out := &Node{Start: t.start, End: t.end + len(n.Name)}
	switch n.Name {
	case "":
		out.Op = OpItem
	case "index":
		out.Op = OpIndex
	case "acc":
		out.Op = OpAcc
		if len(l.loops) == 0 || l.loops[len(l.loops)-1] != "reduce" {
			return l.fail(out.Start, out.End, "\"#acc\" is only known in reduce", "")
		}
	default:
		return l.fail(out.Start, out.End, "there is no "+quote("#"+n.Name),
			"# is the item, #index its place, #acc what reduce has so far")
	}
	return out
}

func (l *lowering) object(n *ast.MapNode, t token, depth int) *Node {
	out := &Node{Op: OpObject, Start: t.start, End: l.closing(t)}
	for _, p := range n.Pairs {
		p := p.(*ast.PairNode)
		_, isName := p.Key.(*ast.StringNode)
		if key := l.token(p.Key); isName && key.kind == tokenReference {
			return l.fail(key.start, key.end, "write a computed key in parentheses",
				"write {("+l.text[key.start:key.end]+"): …}")
		}
		out.Args = append(out.Args, l.lower(p.Key, depth+1), l.lower(p.Value, depth+1))
	}
	return out
}

// before is where an operand begins, with the parentheses around it.
func (l *lowering) before(operand *Node) int {
	start, _ := l.widen(operand.Start, operand.End)
	return start
}

// span sets a node's place to that of what is below it.
func (l *lowering) span(n *Node) {
	for i, a := range n.Args {
		start, end := l.widen(a.Start, a.End)
		if i == 0 || start < n.Start {
			n.Start = start
		}
		n.End = max(n.End, end)
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

func (l *lowering) identifier(n *ast.IdentifierNode, t token) *Node {
	if t.kind == tokenReference {
		return l.reference(t)
	}
	for i := len(l.visible) - 1; i >= 0; i-- {
		if l.visible[i].name == n.Value {
			return &Node{Op: OpLocal, Name: n.Value, Index: l.visible[i].index, Start: t.start, End: t.end}
		}
	}
	switch {
	case n.Value == "null":
		return &Node{Op: OpLiteral, Start: t.start, End: t.end}
	case l.code && n.Value == "$env":
		return &Node{Op: OpParams, Start: t.start, End: t.end}
	case l.code: // also a name that a function has: only calls are functions
		l.variable(n.Value)
		return &Node{Op: OpVar, Name: n.Value, Start: t.start, End: t.end}
	}
	help := helpName(n.Value)
	if kind, ok := naming.Nearest(n.Value, kinds); ok && l.isKind != nil {
		help = "did you mean " + kind + "?"
	}
	return l.fail(t.start, t.end, "there is no value "+quote(n.Value), help)
}

func (l *lowering) variable(name string) {
	if !slices.Contains(l.variables, name) {
		l.variables = append(l.variables, name)
	}
}

func (l *lowering) reference(t token) *Node {
	i := sort.Search(len(l.refs), func(i int) bool { return l.refs[i].Start >= t.start })
	l.refs[i].Required = l.fallbacks == 0 && !l.optional[i]
	return &Node{Op: OpRef, Index: i, Soft: l.optional[i], Start: t.start, End: t.end}
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
	out := &Node{Op: OpNot, Args: []*Node{operand}, Start: t.start}
	switch n.Operator {
	case "-":
		if v, ok := operand.Value.(float64); ok && operand.Op == OpLiteral {
			return &Node{Op: OpLiteral, Value: -v, Start: t.start, End: operand.End}
		}
		out.Op = OpNegate
	case "+":
		out.Op = OpPlus
	}
	start, end := l.widen(operand.Start, operand.End)
	out.Start, out.End = min(out.Start, start), max(out.End, end)
	return out
}

func (l *lowering) binary(n *ast.BinaryNode, depth int) *Node {
	operator := l.token(n)
	written := l.text[operator.start:operator.end]
	if n.Operator == "&&" && written != "&&" {
		return l.chain(n, depth)
	}
	name := n.Operator
	if name == "^" {
		name = "**"
	}
	op, ok := operatorFor(name)
	if !ok {
		return l.fail(operator.start, operator.end, "there is no operator "+quote(written), "")
	}
	out := &Node{Op: op, Name: name}
	if op == OpFallback {
		l.fallbacks++
		defer func() { l.fallbacks-- }()
	}
	left := l.lower(n.Left, depth)
	right := l.lower(n.Right, depth+1)
	for _, a := range []*Node{left, right} {
		if a.Op == op && (op == OpGate || op == OpFallback && !l.endsInside(a)) {
			out.Args = append(out.Args, a.Args...)
		} else {
			out.Args = append(out.Args, a)
		}
	}
	out.Start = l.before(left)
	_, out.End = l.widen(right.Start, right.End)
	if op == OpMatches && right.Op == OpLiteral {
		source, ok := right.Value.(string)
		if !ok {
			return l.fail(right.Start, right.End, "\"matches\" wants a pattern in quotes", "")
		}
		p, problem := compilePattern(source)
		if problem != "" {
			return l.fail(right.Start, right.End, problem, "")
		}
		out.pattern = p
	}
	return out
}

// endsInside reports whether a fallback is in parentheses of its own and may end in them with a null, which doesn't end
// the fallback around it.
func (l *lowering) endsInside(n *Node) bool {
	if l.before(n) == n.Start {
		return false
	}
	return slices.ContainsFunc(n.Args, func(a *Node) bool { return a.Op == OpLiteral && a.Value == nil })
}

// chain lowers a < b < c, which the parser gives as a < b && b < c with one and the same node for both b.
func (l *lowering) chain(n *ast.BinaryNode, depth int) *Node {
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
	out := &Node{Op: OpChain}
	left := l.lower(links[len(links)-1].Left, depth)
	for _, link := range slices.Backward(links) {
		right := l.lower(link.Right, depth+1)
		op, _ := operatorFor(link.Operator)
		comparison := &Node{Op: op, Name: link.Operator, Args: []*Node{left, right}}
		l.span(comparison)
		out.Args = append(out.Args, comparison)
		left = right
	}
	l.span(out)
	return out
}

func (l *lowering) written(n ast.Node) string {
	t := l.token(n)
	return l.text[t.start:t.end]
}

func (l *lowering) member(n *ast.MemberNode, t token, depth int) *Node {
	base := l.lower(n.Node, depth)
	out := &Node{Op: OpMember, Soft: n.Optional || base.Soft}
	out.Start = l.before(base)
	if key, ok := n.Property.(*ast.StringNode); ok {
		if p := l.token(key); p.kind == tokenReference {
			return l.fail(p.start, p.end, "write a computed key in brackets", "write […] without the dot")
		}
		out.Args = []*Node{base, {Op: OpLiteral, Value: key.Value, Start: t.start, End: t.end}}
		out.End = l.closing(t)
		if l.code && base.Op == OpParams {
			l.variable(key.Value)
		}
		return out
	}
	out.Args = []*Node{base, l.lower(n.Property, depth+1)}
	out.End = l.closing(t)
	return out
}

func (l *lowering) let(n *ast.VariableDeclaratorNode, t token, depth int) *Node {
	if t.kind == tokenReference {
		return l.fail(t.start, t.end, "let names a variable, not a reference", "write let x = …; …")
	}
	if functions[n.Name] != nil || n.Name == "null" || n.Name == "$env" {
		return l.fail(t.start, t.end, quote(n.Name)+" has a meaning already", "choose another name")
	}
	for _, v := range l.visible {
		if v.name == n.Name {
			return l.fail(t.start, t.end, quote(n.Name)+" is already named by a let", "choose another name")
		}
	}
	value := l.lower(n.Value, depth+1)
	out := &Node{Op: OpLet, Name: n.Name, Index: l.locals}
	l.visible = append(l.visible, local{n.Name, l.locals})
	l.locals++
	body := l.lower(n.Expr, depth)
	l.visible = l.visible[:len(l.visible)-1]
	out.Args = []*Node{value, body}
	out.Start = t.start
	if i := l.tokenAt(t.start); i > 0 {
		out.Start = l.tokens[i-1].start
	}
	_, out.End = l.widen(body.Start, body.End)
	return out
}

func (l *lowering) call(n *ast.CallNode, t token, depth int) *Node {
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		return l.fail(t.start, t.end, unknownFunction(callee.Value), helpFunction(callee.Value))
	case *ast.MemberNode:
		if key, ok := callee.Property.(*ast.StringNode); ok {
			m := methods[key.Value]
			if m == nil {
				return l.fail(t.start, t.end, quote(key.Value)+" can't be called",
					"only functions can: "+quote("len(†state.items)")+" or "+quote("†state.items | len()"))
			}
			if arguments := m.least - 1; len(n.Arguments) != arguments {
				message := wrongArity(key.Value, arguments, arguments, len(n.Arguments))
				return l.fail(t.start, l.callEnd(t), message, "")
			}
			base := l.lower(callee.Node, depth)
			out := &Node{Op: OpMethod, Name: key.Value, fn: m, Args: []*Node{base}, End: l.callEnd(t)}
			for _, a := range n.Arguments {
				out.Args = append(out.Args, l.lower(a, depth+1))
			}
			out.Start = l.before(base)
			return out
		}
	}
	return l.fail(t.start, t.end, "this can't be called", "only functions can, such as len(…)")
}

func (l *lowering) builtin(n *ast.BuiltinNode, t token, depth int) *Node {
	out := &Node{Op: OpCall, Name: n.Name, Start: t.start, End: l.callEnd(t)}
	piped := false
	if i := l.tokenAt(t.start); i > 0 && l.text[l.tokens[i-1].start:l.tokens[i-1].end] == "|" {
		piped = true
	}
	if out.fn = functions[n.Name]; out.fn == nil {
		return l.fail(t.start, t.end, unknownFunction(n.Name), helpFunction(n.Name))
	}
	if most := out.fn.most; len(n.Arguments) < out.fn.least || most >= 0 && len(n.Arguments) > most {
		return l.fail(t.start, out.End, wrongArity(n.Name, out.fn.least, most, len(n.Arguments)), out.fn.usage())
	}
	if out.fn.loop != nil {
		out.Op = OpLoop
	}
	for i, a := range n.Arguments {
		d := depth + 1
		if piped && i == 0 {
			d = depth
		}
		if p, ok := a.(*ast.PredicateNode); ok {
			l.loops = append(l.loops, n.Name)
			out.Args = append(out.Args, l.lower(p.Node, d))
			l.loops = l.loops[:len(l.loops)-1]
			continue
		}
		out.Args = append(out.Args, l.lower(a, d))
	}
	if piped {
		out.Start = l.before(out.Args[0])
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }
