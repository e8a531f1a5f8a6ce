package analyzer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// outputPart judges what of the plan's output holds no expression: literals,
// properties that are missing or not allowed, and required ones that are left
// out on some branch.
func (p *Pass) outputPart(t *compiler.Template, key *source.Node, s *schema.Schema, name string) {
	wrong := func(at source.Span, severity diag.Severity, why string) {
		where := "the output"
		if name != "" {
			where = quote(strings.TrimPrefix(name, "."))
		}
		f := p.report(at, "%s isn't what \"outputSchema\" wants: %s", where, why).as(severity).
			help("give what \"outputSchema\" asks for, or mend the schema")
		if n := p.Plan.Root.Get("outputSchema"); p.Plan.Root.Kind == source.Object && n != nil {
			f.note(headOf(n.Span()), "the output's schema is here")
		}
	}
	switch {
	case s == nil || t.Opaque():
	case !t.Live():
		if bad := s.Validate(t.Value); bad != nil {
			name += bad.Where()
			wrong(placeAt(key, t.Node, bad.Path), diag.Error, bad.Message)
		}
	case t.Items != nil:
		if s.Kinds()&schema.Array == 0 {
			wrong(placeAt(key, t.Node, nil), diag.Error, "expected "+s.Kinds().String()+", got a list")
			return
		}
		for i, item := range t.Items {
			if at := s.At([]schema.Step{schema.Index(i)}); at.Possible {
				p.outputPart(item, nil, at.Schema, fmt.Sprintf("%s[%d]", name, i))
			}
		}
	default:
		if s.Kinds()&schema.Object == 0 {
			wrong(placeAt(key, t.Node, nil), diag.Error, "expected "+s.Kinds().String()+", got a mapping")
			return
		}
		for _, required := range s.Required() {
			at := slices.IndexFunc(t.Fields, func(f compiler.TemplateField) bool { return f.Key == required })
			if at < 0 {
				wrong(placeAt(key, t.Node, nil), diag.Error, "the property "+quote(required)+" is missing")
			} else if when := p.leftOut(t.Fields[at].Value); when != "" {
				field := t.Fields[at]
				wrong(placeAt(field.Node, field.Value.Node, nil), diag.Warning, "the property "+quote(required)+" is left out when "+when)
			}
		}
		for _, f := range t.Fields {
			if at := s.At([]schema.Step{schema.Key(f.Key)}); at.Possible {
				p.outputPart(f.Value, f.Node, at.Schema, name+"."+f.Key)
			} else {
				wrong(f.Node.Span(), diag.Error, "the property "+quote(f.Key)+" isn't allowed")
			}
		}
	}
}

// stateMismatches reports results that the state schema never accepts where they
// are written, and those of which it refuses some.
func stateMismatches(p *Pass) {
	if p.Plan.StateSchema == nil || p.gaps.state || p.Plan.StateSchema.Compile() != nil {
		return
	}
	for _, call := range p.Plan.Calls {
		if call.Produced != nil && call.Method == compiler.Set && len(call.Output) > 0 {
			p.producedMismatch(call)
			continue
		}
		if call.Tool == nil || call.Tool.Output == nil || len(call.Output) == 0 || call.Produced != nil {
			continue
		}
		switch call.Method {
		case compiler.Set:
			p.stateMismatch(call, call.Tool.Output, p.acceptedSomewhere(call), "")
		case compiler.Push, compiler.Concat:
			p.itemMismatch(call)
		default:
			p.partMismatch(call)
		}
	}
	p.missingParts()
}

// acceptedSomewhere is what the state schema accepts of a result at one
// alternative at least, all paths of which are written.
func (p *Pass) acceptedSomewhere(call *compiler.Call) *schema.Schema {
	var any []*schema.Schema
	for _, route := range call.Output {
		var all *schema.Schema
		for _, path := range route {
			all = p.meet(all, p.stateAt(path.ID).Schema)
		}
		if all == nil {
			return nil
		}
		any = append(any, all)
	}
	if len(any) == 1 {
		return any[0]
	}
	return schema.AnyOf(any...)
}

func (p *Pass) stateMismatch(call *compiler.Call, produced, wanted *schema.Schema, part string) {
	if produced == nil || wanted == nil {
		return
	}
	verdict := p.fits(produced, wanted)
	path := call.Output[0][0]
	j := judgement{relation: verdict.Relation, kinds: produced.Kinds(), witness: verdict.Witness, to: target{schema: wanted}}
	what := "the result of " + quote(call.ToolName)
	if part != "" {
		what = quote(part) + " of " + what
	}
	where := "the state schema at " + quote(p.path(path.ID))
	if len(call.Output) > 1 {
		where = "what the state schema accepts at any of the alternatives"
	}
	var f finding
	switch verdict.Relation {
	case schema.Never:
		f = p.report(path.Span(), "%s never fits %s: %s", what, where, j.because()).of(call)
	case schema.MayNotFit:
		f = p.report(path.Span(), "%s may not fit %s: %s", what, where, j.because()).of(call).as(diag.Warning)
	default:
		if verdict.Relation == schema.Unknown && verdict.Keyword == "budget" {
			p.cutShort(path.Span(), "whether %s fits %s isn't fully analysed: the schemas take more work than the budget allows", what, where).of(call)
		}
		return
	}
	f.Witness = verdict.Witness
	f.help("let the two schemas agree, write the result elsewhere, or give it an alternative that accepts the rest")
	for _, said := range outputPlace(call.Tool, nil) {
		f.note(said.at, "%s", said.says)
	}
	if segments := p.Plan.Paths.Segments(path.ID); len(segments) > 1 {
		for _, said := range p.documentPlace("stateSchema", segments[1:]) {
			f.note(said.at, "%s", said.says)
		}
	}
}

// producedMismatch judges a result that the solution already holds.
func (p *Pass) producedMismatch(call *compiler.Call) {
	wanted := p.acceptedSomewhere(call)
	if wanted == nil {
		return
	}
	v := wanted.Validate(call.Produced.Value())
	if v == nil {
		return
	}
	path := call.Output[0][0]
	f := p.report(placeAt(nil, call.Produced, v.Path), "the result of %q doesn't fit the state schema at %q: %s", call.Name, p.path(path.ID), v.Error()).of(call).
		help("give a result that the state schema accepts, or write it elsewhere").
		note(path.Span(), "it would be written here")
	f.Witness = call.Produced.Value()
}

// itemMismatch judges what is pushed, or the items of what is appended, against
// what the state schema says of the list's items, where it says one thing of all.
func (p *Pass) itemMismatch(call *compiler.Call) {
	if len(call.Output) != 1 || len(call.Output[0]) != 1 {
		return
	}
	list := p.stateAt(call.Output[0][0].ID).Schema
	if list == nil || list.Kinds()&schema.Array == 0 || !uniform(list) {
		return
	}
	item := []schema.Step{schema.Index(0)}
	produced := call.Tool.Output
	if call.Method == compiler.Concat {
		if produced.Kinds() != schema.Array || !uniform(produced) {
			return
		}
		produced = produced.At(item).Schema
	}
	p.stateMismatch(call, produced, list.At(item).Schema, "")
}

// partMismatch judges the properties that are merged into an object one by one.
func (p *Pass) partMismatch(call *compiler.Call) {
	if len(call.Output) != 1 || len(call.Output[0]) != 1 || call.Tool.Output.Kinds() != schema.Object {
		return
	}
	into := p.stateAt(call.Output[0][0].ID).Schema
	if into == nil || into.Kinds() != schema.Object {
		return
	}
	p.partsMismatch(call, call.Tool.Output, into, "")
}

// maxParts bounds how deep the parts of a merged object are looked into.
const maxParts = 8

func (p *Pass) partsMismatch(call *compiler.Call, given, into *schema.Schema, above string) {
	for _, name := range given.Properties() {
		key := []schema.Step{schema.Key(name)}
		from, to := given.At(key), into.At(key)
		switch {
		case !from.Possible:
		case !to.Possible:
			p.noPlaceFor(call, above+name, from.Required)
		case from.Schema == nil:
		case call.Method == compiler.Merge && from.Schema.Kinds()&schema.Object != 0: // it is merged in its turn
			if to.Schema != nil && from.Schema.Kinds() == schema.Object && to.Schema.Kinds() == schema.Object && strings.Count(above, ".") < maxParts {
				p.partsMismatch(call, from.Schema, to.Schema, above+name+".")
			}
		default:
			p.stateMismatch(call, from.Schema, to.Schema, above+name)
		}
	}
}

// noPlaceFor reports a property that the state schema leaves no room for.
func (p *Pass) noPlaceFor(call *compiler.Call, part string, always bool) {
	path := call.Output[0][0]
	verb, severity := "never fits", diag.Error
	if !always {
		verb, severity = "may not fit", diag.Warning
	}
	f := p.report(path.Span(), "the result of %s %s the state schema at %s, which allows no %s", quote(call.ToolName), verb, quote(p.path(path.ID)), quote(part)).of(call).as(severity).
		help("let the state schema allow it, or let the tool give nothing of the kind")
	for _, said := range outputPlace(call.Tool, nil) {
		f.note(said.at, "%s", said.says)
	}
}

// badMethods reports methods that can't work on what stands at the path, or with
// what the tool gives (S5.3).
func badMethods(p *Pass) {
	for _, call := range p.Plan.Calls {
		if call.Method == compiler.Set || len(call.Output) == 0 {
			continue
		}
		path := call.Output[0][0]
		if call.Tool != nil && call.Tool.Output != nil && call.Produced == nil {
			if gives, takes := call.Tool.Output.Kinds(), patchKinds[call.Method]; gives != 0 && gives&takes == 0 {
				f := p.report(p.methodPlace(call), "%q wants %s to write, and the result of %q is %s", call.Method, takes, call.ToolName, gives).of(call).
					help("use another \"_outputMethod\", or let the tool give %s", takes)
				for _, said := range outputPlace(call.Tool, nil) {
					f.note(said.at, "%s", said.says)
				}
				continue
			}
		}
		if len(call.Output) != 1 {
			continue
		}
		for _, path = range call.Output[0] {
			if kinds, said := p.baseOf(call, path); kinds != 0 && kinds&(baseKinds[call.Method]|schema.Null) == 0 {
				f := p.report(p.methodPlace(call), "%q needs %s at %q, and there it is %s", call.Method, baseKinds[call.Method], p.path(path.ID), kinds).of(call).
					help("use another \"_outputMethod\", or another path")
				for _, s := range said {
					f.note(s.at, "%s", s.says)
				}
				break
			}
		}
	}
}

var (
	patchKinds = map[compiler.Method]schema.Kinds{
		compiler.Merge: schema.Anything, compiler.Assign: schema.Object, compiler.Push: schema.Anything, compiler.Concat: schema.Array,
	}
	baseKinds = map[compiler.Method]schema.Kinds{
		compiler.Merge: schema.Object, compiler.Assign: schema.Object, compiler.Push: schema.Array, compiler.Concat: schema.Array,
	}
)

func (p *Pass) methodPlace(call *compiler.Call) source.Span {
	if n := call.Node.Get("_outputMethod"); n != nil {
		return n.Span()
	}
	return call.OutputNode.Span()
}

// baseOf is which kinds of value may stand where a call's method is applied, and
// where that is said; 0 where it isn't known or nothing may stand there.
func (p *Pass) baseOf(call *compiler.Call, path compiler.Path) (schema.Kinds, []remark) {
	segments := p.Plan.Paths.Segments(path.ID)
	if len(segments) < 2 || p.gaps.state || p.gaps.writes {
		return 0, nil
	}
	if s := p.stateAt(path.ID).Schema; s != nil {
		return s.Kinds(), p.documentPlace("stateSchema", segments[1:])
	}
	if segments[0].Key != "state" || len(p.Plan.Instances) > 0 {
		return 0, nil
	}
	var kinds schema.Kinds
	var said []remark
	if value, ok := compiler.Walk(p.Plan.State, segments[1:]); ok && value != nil {
		kinds = schema.KindOf(value)
		said = p.documentPlace("state", segments[1:])
	}
	for _, w := range p.Plan.Writers(path.ID) {
		other := p.Plan.Calls[w.Call]
		if other == call || w.Failure {
			continue
		}
		if w.Path != path.ID || other.Method != compiler.Set && other.Method != call.Method || len(said) > maxHolders {
			return 0, nil
		}
		if other.Method != compiler.Set {
			continue
		}
		if _, before := slices.BinarySearch(call.Waits, w.Call); !before {
			continue // it comes after, or in no order, which is another finding
		}
		if other.Tool == nil || other.Tool.Output == nil {
			return 0, nil
		}
		if at, ok := p.outputOver(other, path.ID); ok {
			said = append(said, remark{at.Span(), quote(other.Name) + " writes " + other.Tool.Output.Kinds().String() + " here"})
		}
		kinds |= other.Tool.Output.Kinds()
	}
	return kinds, said
}

// forbiddenOutputPath reports output paths that the tool's own schema doesn't
// allow (S5.2), however they are spelt.
func forbiddenOutputPath(p *Pass, call *compiler.Call) {
	if call.Tool == nil || call.Tool.OutputPath == nil || call.Tool.OutputPath.Compile() != nil {
		return
	}
	n := call.Node.Get("_outputPath")
	if n == nil || n.Kind != source.String || len(call.Output) == 0 || p.allowsPath(call, n.Text) {
		return
	}
	why := "its schema refuses it"
	if v := call.Tool.OutputPath.Validate(n.Text); v != nil {
		why = v.Message
	}
	f := p.report(n.Span(), "%q doesn't let its result go to %q: %s", call.ToolName, n.Text, why).of(call).
		help("write it where the tool's \"_outputPath\" allows, or leave \"_outputPath\" out where the tool fixes one")
	if call.Tool.NameNode != nil {
		f.note(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
	}
	if only, ok := only(call.Tool.OutputPath); ok {
		if edit, ok := diag.EditScalar(n, 0, len(n.Text), only); ok {
			f.Fixes = append(f.Fixes, diag.Fix{Message: "write it to " + only, Edits: []diag.Edit{edit}})
		}
	}
}

// only is the one path that a schema allows.
func only(s *schema.Schema) (string, bool) {
	raw, _ := s.Raw().(map[string]any)
	text, ok := raw["const"].(string)
	return text, ok
}

// allowsPath tells whether a tool's schema accepts an output path, as it is
// written, in its canonical form, or each of its paths by itself.
func (p *Pass) allowsPath(call *compiler.Call, text string) bool {
	s := call.Tool.OutputPath
	accepts := func(text string) bool {
		bare := strings.ReplaceAll(text, string(expression.Mark), "")
		return s.Accepts(text) || s.Accepts(bare) || s.Accepts(strings.ReplaceAll(bare, "state.", ""))
	}
	if accepts(text) || accepts(strings.Join(p.Plan.Offered(call), " || ")) {
		return true
	}
	for _, route := range call.Output {
		for _, path := range route {
			if !accepts(p.path(path.ID)) {
				return false
			}
		}
	}
	return true
}

// booleanFallbacks reports || and && between booleans, which choose by presence
// and not by truth (S4.3). A literal at the end of a fallback is a default.
func booleanFallbacks(p *Pass) {
	p.calculations(func(call *compiler.Call, t *compiler.Template) {
		if _, literal := t.Expr.Alternatives(); literal || t.Expr.Plain() || !strings.ContainsAny(t.Expr.Text, "|&") {
			return
		}
		t.Expr.Presences(func(part expression.Part) { p.booleanFallback(call, t, part) })
	})
}

func (p *Pass) booleanFallback(call *compiler.Call, t *compiler.Template, part expression.Part) {
	if slices.ContainsFunc(part.Parts, func(x expression.Part) bool { return x.Kind == expression.Written }) {
		return
	}
	for _, x := range part.Parts {
		if known := p.typeOfPart(t, x); known == nil || known.Kinds != expression.Bool {
			return
		}
	}
	at := t.Node.Within(part.Start, part.End)
	operator, word, says := "||", "or", "†a || †b is †a whenever that is there, also when it is false"
	if part.Kind == expression.Gate {
		operator, word, says = "&&", "and", "†a && †b is †b whenever both are there, also when †a is false"
	}
	f := p.report(at, "%q between booleans looks at whether they are there, not at whether they are true: %s", operator, says).of(call).
		help("write %q if truth is meant", word)
	var edits []diag.Edit
	for i := range part.Parts[1:] {
		from := part.Parts[i].End
		between := t.Expr.Text[from:part.Parts[i+1].Start]
		gap := strings.Index(between, operator)
		if gap < 0 || strings.ContainsAny(between, "/#") {
			return // ?? or a comment: left to the author
		}
		edit, ok := diag.EditScalar(t.Node, from+gap, from+gap+len(operator), spaced(t.Expr.Text, from+gap, len(operator), word))
		if !ok {
			return
		}
		edits = append(edits, edit)
	}
	// Where every operand is there from the start nothing can be meant by asking
	// whether it is; elsewhere the author has to say what an absent one means.
	sure := !slices.ContainsFunc(t.Reads, func(read int) bool { return !p.Plan.Reads[read].Start })
	f.Fixes = append(f.Fixes, diag.Fix{Message: "write " + strconv.Quote(word), Safe: sure, Edits: edits})
}

// spaced is a word in the place of an operator, with blanks where it would
// otherwise run into its neighbours.
func spaced(text string, at, length int, word string) string {
	if at > 0 && text[at-1] != ' ' {
		word = " " + word
	}
	if end := at + length; end < len(text) && text[end] != ' ' {
		word += " "
	}
	return word
}

// redundantCalls reports calls that ask a read-only tool again for what another
// call has already asked it: the same parameters, of reads with the same
// bindings.
func redundantCalls(p *Pass) {
	if p.gaps.order || p.gaps.writes {
		return
	}
	first := map[string]*compiler.Call{}
	for _, call := range p.Plan.Calls {
		tool := call.Tool
		if tool == nil || tool.Volatile || tool.Hints.ReadOnly == nil || !*tool.Hints.ReadOnly || call.Produced != nil || call.Method != compiler.Set {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%q %q %q ", call.ToolName, call.Activity, call.Delegate)
		p.fingerprint(&b, call.Params)
		p.fingerprintOfScopes(&b, call)
		if call.When != nil {
			p.fingerprint(&b, call.When)
		}
		key := b.String()
		earlier, again := first[key]
		if !again {
			first[key] = call
			continue
		}
		f := p.report(call.ToolNode.Span(), "%q asks %q for what %q has already asked it: the same parameters of the same values", call.Name, call.ToolName, earlier.Name).of(call).
			note(earlier.ToolNode.Span(), "%q asks here", earlier.Name)
		if len(earlier.Output) > 0 {
			f.help("read %q instead; a tool that answers differently each time says x-volatile: true", p.path(earlier.Output[0][0].ID))
		} else {
			f.help("give the first an \"_outputPath\" and read that; a tool that answers differently each time says x-volatile: true")
		}
	}
}

// fingerprint writes what a template passes: two with the same fingerprint get
// the same value.
func (p *Pass) fingerprint(b *strings.Builder, t *compiler.Template) {
	switch {
	case !t.Live():
		text, err := json.Marshal(t.Value)
		if err != nil {
			text = fmt.Append(nil, t.Node.Start) // like no other
		}
		b.WriteByte('=')
		b.Write(text)
	case t.Expr != nil:
		b.WriteString("†" + strconv.Quote(t.Expr.String()))
		for _, i := range t.Reads {
			fmt.Fprint(b, p.Plan.Reads[i].Path, p.Plan.Reads[i].Writers)
		}
	case t.Items != nil:
		b.WriteByte('[')
		for _, item := range t.Items {
			p.fingerprint(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	default:
		fields := slices.Clone(t.Fields)
		slices.SortFunc(fields, func(x, y compiler.TemplateField) int { return strings.Compare(x.Key, y.Key) })
		b.WriteByte('{')
		for _, f := range fields {
			b.WriteString(strconv.Quote(f.Key))
			p.fingerprint(b, f.Value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}

// fingerprintOfScopes writes what context a call is handed.
func (p *Pass) fingerprintOfScopes(b *strings.Builder, call *compiler.Call) {
	if call.Scopes == nil {
		return
	}
	b.WriteString(" in")
	for _, s := range call.Scopes {
		r := &p.Plan.Reads[s.Read]
		fmt.Fprint(b, " ", r.Path, r.Writers)
	}
}

// unsafeRetry reports calls that are tried again although their tool isn't
// known to do no harm when it is carried out twice. What has no effect by itself
// is safe: an expression, a model's answer.
func unsafeRetry(p *Pass, call *compiler.Call) {
	if call.Retry.Attempts <= 1 || call.Tool == nil || call.Activity == "" {
		return
	}
	if activity := p.Plan.Activities[call.Activity]; activity != nil && activity.Kind == "expr" {
		return
	}
	h := call.Tool.Hints
	if h.Idempotent != nil && *h.Idempotent || h.ReadOnly != nil && *h.ReadOnly {
		return
	}
	how := "isn't said to be idempotent"
	if h.Idempotent != nil {
		how = "says that it isn't idempotent"
	}
	f := p.report(call.Node.Get("_retry").Span(), "%q is tried up to %d times, and %q %s: a try that failed late may have had its effect", call.Name, call.Retry.Attempts, call.ToolName, how).of(call).
		help("leave \"_retry\" out, or say annotations: {idempotentHint: true} if the tool may be run twice")
	if call.Tool.NameNode != nil {
		f.note(call.Tool.NameNode.Span(), "%q is declared here", call.ToolName)
	}
}
