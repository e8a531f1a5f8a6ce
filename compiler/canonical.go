package compiler

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// compiledKey is where the compiled plan keeps what compiling found out: an
// extension key, so that the compiled plan is a document again.
const compiledKey = "x-obelus"

// Canonical is the compiled plan: canonical JSON (RFC 8785) of the
// document with what it reads from other files, and under "x-obelus" every call with
// its activity, the calls it depends on and what each of its reads is bound to, the
// digest with its [Plan.Parts], and the plans that are run as its calls, by their paths
// from its folder. It is a document that compiles to the same bytes again, and needs of
// the workspace no more than the files that programs are started with.
//
// Who waits for whom may be the square of the plan. Where the lists of calls would be
// far longer than the document they are abridged, and "abridged" says so: a read's
// "bound" is then the word for which of the calls that write an overlapping path it
// sees ("earlier", "later", "every" or "none"), and "depends" is left out, as it
// follows from these words, "_after", and under "once" from the order of the calls.
func (p *Plan) Canonical() ([]byte, error) {
	document := p.document()
	compiled, err := p.compiled(document)
	if err != nil {
		return nil, err
	}
	document[compiledKey] = compiled
	return canonicalJSON(document)
}

// Compiled reports whether the document is a compiled plan.
func (p *Plan) Compiled() bool { return p.Form != Replan && p.Root.Get(compiledKey) != nil }

// NotAsCompiled is the finding about a compiled plan that isn't what compiling it gives, or nil:
// somebody changed it, or a file that its programs are started with. A
// document that isn't a compiled plan costs nothing.
func (p *Plan) NotAsCompiled() *diag.Diagnostic {
	if !p.Compiled() {
		return nil
	}
	said := p.Root.Get(compiledKey)
	refuse := func(at *source.Node, format string, args ...any) *diag.Diagnostic {
		d := diag.New(diag.Syntax, at.Span().Head(), fmt.Sprintf(format, args...))
		d.Help = "compile it anew from what it was compiled from; or take \"" + compiledKey + "\" out, which makes it a plan like any other"
		return &d
	}
	compiled, err := p.compiled(p.document())
	if err != nil {
		return refuse(said, "the compiled plan can't be compared with what compiling it gives: %v", err)
	}
	if p.AwaitsInstances { // it was compiled without, and then a read may be there from the start in each
		for _, key := range []string{"calls", "output", "order", "abridged"} {
			delete(compiled, key)
		}
	}
	var parts []Part
	if list := said.Get("parts"); list != nil {
		if text, err := json.Marshal(list.Value()); err == nil {
			_ = json.Unmarshal(text, &parts) // what isn't a part differs
		}
		if changed := Changed(parts, compiled["parts"].([]Part)); len(changed) > 0 {
			return refuse(list, "this compiled plan isn't what compiling it gives: %s", strings.Join(changed[:min(len(changed), fewListed)], "; "))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(compiled)) {
		is, err := canonicalJSON(compiled[key])
		if err != nil {
			return refuse(said, "the compiled plan can't be compared with what compiling it gives: %v", err)
		}
		at := said.Get(key)
		if at == nil {
			return refuse(said, "this compiled plan isn't what compiling it gives: its %q lacks %q", compiledKey, key)
		}
		if was, err := canonicalJSON(at.Value()); err != nil || string(was) != string(is) {
			return refuse(at, "this compiled plan isn't what compiling it gives: its %q is another", key)
		}
	}
	for _, f := range said.Fields {
		if _, known := compiled[f.Key.Text]; !known && !p.AwaitsInstances {
			return refuse(f.Key, "this compiled plan isn't what compiling it gives: that has no %q", f.Key.Text)
		}
	}
	return nil
}

// hold lets a compiled plan find the plans that it is run with in itself.
func (c *compilation) hold() {
	held := c.plan.Root.Get(compiledKey).Get("delegates")
	if held == nil || len(c.delegation.chain) > 1 {
		return
	}
	files := map[string]opened{}
	for _, f := range held.Fields {
		if text, err := canonicalJSON(f.Value.Value()); err == nil {
			file := source.NewFile(c.plan.File.Name+"#"+f.Key.Text, text)
			file.Format = source.JSON
			files[path.Join(c.plan.dir, f.Key.Text)] = opened{file: file}
		}
	}
	c.delegation.reads.files = files
}

func canonicalJSON(v any) ([]byte, error) {
	marshalled, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing the plan as JSON: %w", err)
	}
	text := jsontext.Value(marshalled)
	if err := text.Canonicalize(); err != nil {
		return nil, fmt.Errorf("bringing the plan into canonical form: %w", err)
	}
	return text, nil
}

// document is the plan's document as a mapping: a list becomes the mapping that
// means the same, and imports are merged in.
func (p *Plan) document() map[string]any {
	document := map[string]any{}
	if p.Root == nil {
		return document
	}
	switch root := p.Root.Value().(type) {
	case map[string]any:
		document = root
		delete(document, compiledKey)
	case []any:
		if p.Form == Context {
			document["context"] = root
		} else {
			document["calls"] = root
		}
	}
	if p.Form == PlanFile || p.Form == CallList { // no other has definitions of its own
		p.takeIn(document)
	}
	return document
}

// takeIn puts what imports, catalogues and overlays contributed into the document itself.
func (p *Plan) takeIn(root map[string]any) {
	delete(root, "import")
	elsewhere := func(n *source.Node) bool { return n != nil && n.File != p.File }
	if slices.ContainsFunc(p.Tools, func(t *Tool) bool { return !t.Builtin && elsewhere(t.Node) }) {
		tools := map[string]any{}
		for _, t := range p.Tools {
			if !t.Builtin {
				tools[t.Name] = p.toolHere(t)
			}
		}
		root["tools"] = tools
	}
	for _, n := range p.schemaNodes {
		if elsewhere(n) {
			root["schemas"] = p.schemas
		}
	}
	if slices.ContainsFunc(p.Advisors, func(a *Advisor) bool { return elsewhere(a.Node) }) {
		advisors := make([]any, len(p.Advisors))
		for i, a := range p.Advisors {
			advisors[i] = a.Node.Value()
		}
		root["advisors"] = advisors
	}
	servers := map[string]any{}
	for name, s := range p.Servers {
		servers[name] = p.serverHere(s)
	}
	if len(servers) > 0 {
		root["servers"] = servers
	}
	p.choicesHere(root)
	activities := map[string]any{}
	for name, a := range p.Activities {
		if a.Node != nil {
			activities[name] = p.activityHere(a)
		}
	}
	if len(activities) > 0 {
		root["activities"] = activities
	}
}

// Here is a definition of a tool or an activity as it reads in the plan's own folder, and
// whether that is another than where it stands.
func (p *Plan) Here(tool *Tool, activity *Activity) (definition any, moved bool) {
	if activity != nil {
		return p.activityHere(activity), activity.Plan != "" && activity.Node.File != p.File
	}
	return p.toolHere(tool), tool.DelegateNode != nil && tool.Node.File != p.File
}

// NamedSchemas are where the document's named schemas stand, those of its imports and of
// catalogues included, by name.
func (p *Plan) NamedSchemas() map[string]*source.Node { return p.schemaNodes }

// toolHere is a tool's definition as it reads in the plan's own folder: what it
// delegates to is named from there.
func (p *Plan) toolHere(t *Tool) any {
	value := t.Node.Value()
	if t.Node.File == p.File || t.DelegateNode == nil {
		return value
	}
	definition, _ := value.(map[string]any)
	for _, within := range []string{"", "inputSchema"} {
		at := definition
		if within != "" {
			at, _ = definition[within].(map[string]any)
		}
		properties, _ := at["properties"].(map[string]any)
		for _, holder := range []map[string]any{at, properties} {
			if said, ok := holder["_delegate"]; ok {
				holder["_delegate"] = p.delegateHere(t, said)
			}
		}
	}
	return definition
}

func (p *Plan) delegateHere(t *Tool, said any) any {
	switch said := said.(type) {
	case string:
		if to, choice := t.delegates[said]; choice {
			return p.from(to)
		}
		return p.from(t.Delegate)
	case map[string]any:
		if fixed, ok := said["const"]; ok {
			said["const"] = p.delegateHere(t, fixed)
		}
		if choices, ok := said["enum"].([]any); ok {
			for i := range choices {
				choices[i] = p.delegateHere(t, choices[i])
			}
		}
	}
	return said
}

// choicesHere names the delegates that calls choose as the merged tools do.
func (p *Plan) choicesHere(root map[string]any) {
	calls, _ := root["calls"].([]any)
	if p.Form != PlanFile || len(calls) != len(p.Calls) {
		return
	}
	for i, call := range p.Calls {
		written, _ := calls[i].(map[string]any)
		text, _ := written["_delegate"].(string)
		if t := p.Tool(call.ToolName); t != nil && t.Node.File != p.File && t.delegates[text] != "" {
			written["_delegate"] = p.from(t.delegates[text])
		}
	}
}

// activityHere is an activity's definition as it reads in the plan's own folder.
func (p *Plan) activityHere(a *Activity) any {
	value := a.Node.Value()
	definition, ok := value.(map[string]any)
	if !ok || a.Node.File == p.File {
		return value
	}
	if a.Plan != "" {
		definition["plan"] = p.from(a.Plan)
	}
	if exec, ok := definition["exec"].(map[string]any); ok && p.from(a.Dir) != "." {
		exec["cwd"] = p.from(a.Dir)
	}
	return value
}

// from is a path of the workspace, or a delegate, as seen from the plan's folder.
func (p *Plan) from(name string) string {
	relative, err := filepath.Rel(filepath.FromSlash(p.dir), filepath.FromSlash(name))
	if err != nil || name == "" || name == Anonymous {
		return name
	}
	return filepath.ToSlash(relative)
}

type compiledCall struct {
	Name     string         `json:"name"`
	Tool     string         `json:"tool"`
	Activity any            `json:"activity"` // null when latent
	Delegate string         `json:"delegate,omitempty"`
	Depends  *[]string      `json:"depends,omitempty"` // nil where it is abridged
	Reads    []compiledRead `json:"reads"`
	Writes   [][]string     `json:"writes"`
}

type compiledRead struct {
	Path  string `json:"path"`
	Start bool   `json:"start"`
	Bound any    `json:"bound"` // the names of calls, or a word where they are abridged
}

// How long the lists of calls in the compiled plan may be: so many bytes, and so many
// times the document.
const (
	mostNames    = 1 << 20
	namesPerByte = 16
)

// compiled is what compiling a document found out about it.
func (p *Plan) compiled(document map[string]any) (map[string]any, error) {
	text, err := canonicalJSON(document)
	if err != nil {
		return nil, err
	}
	parts, err := p.Parts()
	if err != nil {
		return nil, err
	}
	digest, err := DigestOf(parts)
	if err != nil {
		return nil, err
	}
	abridged := p.listed() > mostNames+namesPerByte*len(text)
	reads := func(of []int) []compiledRead {
		out := make([]compiledRead, len(of))
		for i, r := range of {
			read := &p.Reads[r]
			out[i] = compiledRead{Path: p.Paths.String(read.Path), Start: read.Start}
			if out[i].Bound = read.Bound.String(); !abridged {
				out[i].Bound = p.names(read.Writers)
			}
		}
		// The order of the text is a matter of layout.
		slices.SortStableFunc(out, func(a, b compiledRead) int { return strings.Compare(a.Path, b.Path) })
		return out
	}
	calls := make([]compiledCall, len(p.Calls))
	for i, c := range p.Calls {
		one := compiledCall{Name: c.Name, Tool: c.ToolName, Delegate: p.from(c.Delegate), Reads: reads(c.Reads), Writes: make([][]string, len(c.Output))}
		if !abridged {
			depends := p.names(p.Graph.Deps(i))
			one.Depends = &depends
		}
		if c.Activity != "" {
			one.Activity = c.Activity
		}
		for a, path := range c.Paths() {
			one.Writes[a] = append(one.Writes[a], p.Paths.String(path.ID))
		}
		calls[i] = one
	}
	var output []int
	for r := len(p.Reads) - 1; r >= 0 && p.Reads[r].Call < 0; r-- {
		output = append(output, r)
	}
	compiled := map[string]any{"calls": calls, "output": reads(output), "order": p.names(p.Graph.Order()), "digest": digest, "parts": parts}
	delegates := map[string]any{}
	for path, d := range p.AllDelegates() {
		delegates[p.from(path)] = d.document()
	}
	if len(delegates) > 0 {
		compiled["delegates"] = delegates
	}
	if abridged {
		compiled["abridged"] = "so many calls wait for each other that they aren't listed: \"bound\" says which of those that write an overlapping path a read sees"
	}
	return compiled, nil
}

func (p *Plan) names(calls []int32) []string {
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = p.Calls[c].Name
	}
	return names
}

// listed is about how many bytes the lists of calls would take.
func (p *Plan) listed() (bytes int) {
	add := func(calls []int32) {
		for _, c := range calls {
			bytes += len(p.Calls[c].Name) + len(`"",`)
		}
	}
	for i := range p.Reads {
		add(p.Reads[i].Writers)
	}
	for i := range p.Calls {
		add(p.Graph.Deps(i))
	}
	return bytes
}

// String is the word for a binding in the compiled plan.
func (b Binding) String() string { return [...]string{"none", "earlier", "later", "every"}[b] }
