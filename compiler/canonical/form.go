// Package canonical writes compiled plans and their digests: the same bytes wherever a workspace lies and however a
// document is laid out. It reads the files that programs are started with, and decides nothing.
package canonical

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Where the compiled plan keeps what compiling found out: extension keys, so that it is a document again.
const (
	CompiledKey = "x-obelus"
	OrderKey    = "x-instances" // the order of instances, if they aren't sorted by their ids
)

// Plan is the compiled plan: canonical JSON (RFC 8785) of the document with what it reads from other files, and
// under "x-obelus" every call with its activity, the calls it depends on and what each of its reads is bound to, the
// digest with its [plan.Plan.Parts], and the plans that are run as its calls, by their paths from its folder. It is a
// document that compiles to the same bytes again, and needs of the workspace no more than the files that programs are
// started with.
// A plan whose lists of calls would be far longer than its document can't be written.
func Plan(p *plan.Plan) ([]byte, error) {
	document := document(p)
	compiled, err := compiledForm(p, document)
	if err != nil {
		return nil, err
	}
	document[CompiledKey] = compiled
	return JSON(document)
}

// Compiled reports whether the document is a compiled plan.
func Compiled(p *plan.Plan) bool { return p.Form != plan.Replan && p.Root.Get(CompiledKey) != nil }

// NotAsCompiled is the finding about a compiled plan that isn't what compiling it gives, or nil: somebody changed it,
// or a file that its programs are started with. A document that isn't a compiled plan costs nothing.
func NotAsCompiled(p *plan.Plan) *diag.Diagnostic {
	if !Compiled(p) {
		return nil
	}
	said := p.Root.Get(CompiledKey)
	refuse := func(at *source.Node, format string, args ...any) *diag.Diagnostic {
		d := diag.New(diag.Syntax, at.Span().Head(), fmt.Sprintf(format, args...))
		d.Help = "compile it anew from what it was compiled from; or take \"" + CompiledKey +
			"\" out, which makes it a plan like any other"
		return &d
	}
	compiled, err := compiledForm(p, document(p))
	if err != nil {
		return refuse(said, "the compiled plan can't be compared with what compiling it gives: %v", err)
	}
	var parts []plan.Part
	if list := said.Get("parts"); list != nil {
		if text, err := json.Marshal(list.Value()); err == nil {
			_ = json.Unmarshal(text, &parts) // what isn't a part differs
		}
		if changed := Changed(parts, compiled["parts"].([]plan.Part)); len(changed) > 0 {
			return refuse(list, "this compiled plan isn't what compiling it gives: %s",
				strings.Join(changed[:min(len(changed), mostChanges)], "; "))
		}
	}
	was, _ := said.Value().(map[string]any)
	keys := slices.Concat(slices.Collect(maps.Keys(compiled)), slices.Collect(maps.Keys(was)))
	slices.Sort(keys)
	for _, key := range keys {
		if p.AwaitsInstances && slices.Contains([]string{"calls", "output", "order"}, key) {
			continue // it was compiled without, and then a read may be there from the start in each
		}
		here, failed := JSON(was[key])
		if is, err := JSON(compiled[key]); err != nil || failed != nil || string(here) != string(is) {
			return refuse(cmp.Or(said.Get(key), said),
				"this compiled plan isn't what compiling it gives: its %q is another", key)
		}
	}
	return nil
}

// JSON is a value as canonical JSON (RFC 8785).
func JSON(v any) ([]byte, error) {
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
func document(p *plan.Plan) map[string]any {
	document := map[string]any{}
	if p.Root == nil {
		return document
	}
	switch root := p.Root.Value().(type) {
	case map[string]any:
		document = root
		delete(document, CompiledKey)
	case []any:
		if p.Form == plan.Context {
			document["context"] = root
		} else {
			document["calls"] = root
		}
	}
	if p.Form == plan.PlanFile || p.Form == plan.CallList { // no other has definitions of its own
		takeIn(p, document)
		if ids := p.InstanceIDs(); !slices.IsSorted(ids) {
			document[OrderKey] = ids
		}
	}
	return document
}

// takeIn puts what imports, catalogues and overlays contributed into the document itself.
func takeIn(p *plan.Plan, root map[string]any) {
	delete(root, "import")
	foreign := func(n *source.Node) bool { return n != nil && n.File != p.File }
	if slices.ContainsFunc(p.Tools, func(t *plan.Tool) bool { return !t.Builtin && foreign(t.Node) }) {
		tools := map[string]any{}
		for _, t := range p.Tools {
			if !t.Builtin {
				tools[t.Name] = toolHere(p, t)
			}
		}
		root["tools"] = tools
	}
	for _, n := range p.NamedSchemas {
		if foreign(n) {
			root["schemas"] = p.Schemas
		}
	}
	if slices.ContainsFunc(p.Advisors, func(a *plan.Advisor) bool { return foreign(a.Node) }) {
		advisors := make([]any, len(p.Advisors))
		for i, a := range p.Advisors {
			advisors[i] = a.Node.Value()
		}
		root["advisors"] = advisors
	}
	servers, activities := map[string]any{}, map[string]any{}
	for name, s := range p.Servers {
		servers[name] = serverHere(p, s)
	}
	for name, a := range p.Activities {
		if a.Node != nil {
			activities[name] = activityHere(p, a)
		}
	}
	for key, of := range map[string]map[string]any{"servers": servers, "activities": activities} {
		if len(of) > 0 {
			root[key] = of
		}
	}
	choicesHere(p, root)
}

// DefinitionHere is a definition of a tool or an activity as it reads in the plan's own folder, and
// whether that is another than where it stands.
func DefinitionHere(p *plan.Plan, tool *plan.Tool, activity *plan.Activity) (definition any, moved bool) {
	if activity != nil {
		return activityHere(p, activity), activity.Plan != "" && activity.Node.File != p.File
	}
	return toolHere(p, tool), tool.DelegateNode != nil && tool.Node.File != p.File
}

// toolHere is a tool's definition as it reads in the plan's own folder: what it delegates to is named from there.
func toolHere(p *plan.Plan, t *plan.Tool) any {
	value := t.Node.Value()
	if t.Node.File == p.File || t.DelegateNode == nil {
		return value
	}
	definition, _ := value.(map[string]any)
	input, _ := definition["inputSchema"].(map[string]any)
	for _, holder := range []any{definition, definition["properties"], input, input["properties"]} {
		if holder, _ := holder.(map[string]any); holder["_delegate"] != nil {
			holder["_delegate"] = delegateHere(p, t, holder["_delegate"])
		}
	}
	return definition
}

func delegateHere(p *plan.Plan, t *plan.Tool, said any) any {
	switch said := said.(type) {
	case string:
		if to, choice := t.Delegates[said]; choice {
			return from(p, to)
		}
		return from(p, t.Delegate)
	case map[string]any:
		if fixed, ok := said["const"]; ok {
			said["const"] = delegateHere(p, t, fixed)
		}
		if choices, ok := said["enum"].([]any); ok {
			for i := range choices {
				choices[i] = delegateHere(p, t, choices[i])
			}
		}
	}
	return said
}

// choicesHere names the delegates that calls choose as the merged tools do.
func choicesHere(p *plan.Plan, root map[string]any) {
	calls, _ := root["calls"].([]any)
	if p.Form != plan.PlanFile || len(calls) != len(p.Calls) {
		return
	}
	for i, call := range p.Calls {
		written, _ := calls[i].(map[string]any)
		text, _ := written["_delegate"].(string)
		if t := p.Tool(call.ToolName); t != nil && t.Node.File != p.File && t.Delegates[text] != "" {
			written["_delegate"] = from(p, t.Delegates[text])
		}
	}
}

// activityHere is an activity's definition as it reads in the plan's own folder.
func activityHere(p *plan.Plan, a *plan.Activity) any {
	value := a.Node.Value()
	if definition, ok := value.(map[string]any); ok && a.Node.File != p.File {
		if a.Plan != "" {
			definition["plan"] = from(p, a.Plan)
		}
		if exec, ok := definition["exec"].(map[string]any); ok && from(p, a.Dir) != "." {
			exec["cwd"] = from(p, a.Dir)
		}
	}
	return value
}

// from is a path of the workspace, or a delegate, as seen from the plan's folder.
func from(p *plan.Plan, name string) string {
	relative, err := filepath.Rel(filepath.FromSlash(p.Folder), filepath.FromSlash(name))
	if err != nil || name == "" {
		return name
	}
	return filepath.ToSlash(relative)
}

type compiledCall struct {
	Name     string         `json:"name"`
	Tool     string         `json:"tool"`
	Activity any            `json:"activity"` // null when latent
	Delegate string         `json:"delegate,omitempty"`
	Depends  []string       `json:"depends"`
	Reads    []compiledRead `json:"reads"`
	Writes   [][]string     `json:"writes"`
}

type compiledRead struct {
	Path  string   `json:"path"`
	Start bool     `json:"start"`
	Bound []string `json:"bound"`
}

// mostChanges is how many a message names.
const mostChanges = 12

// How long the lists of calls in the compiled plan may be: so many bytes, and so many times the document.
const (
	mostNames    = 1 << 20
	namesPerByte = 16
)

// compiledForm is what compiling a document found out about it.
func compiledForm(p *plan.Plan, document1 map[string]any) (map[string]any, error) {
	text, err := JSON(document1)
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
	if listedOf(p) > mostNames+namesPerByte*len(text) {
		return nil,
			errors.New("so many calls wait for each other that the lists of them would be far longer than the plan")
	}
	reads := func(of []int) []compiledRead {
		out := make([]compiledRead, len(of))
		for i, r := range of {
			read := &p.Reads[r]
			out[i] = compiledRead{Path: p.Paths.String(read.Path), Start: read.Start, Bound: namesOf(p, read.Writers)}
		}
		// The order of the text is a matter of layout.
		slices.SortStableFunc(out, func(a, b compiledRead) int { return strings.Compare(a.Path, b.Path) })
		return out
	}
	calls := make([]compiledCall, len(p.Calls))
	for i, c := range p.Calls {
		one := compiledCall{Name: c.Name, Tool: c.ToolName, Delegate: from(p, c.Delegate), Reads: reads(c.Reads),
			Depends: namesOf(p, p.Graph.Deps(i)), Writes: make([][]string, len(c.Output))}
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
	compiled := map[string]any{"calls": calls, "output": reads(output), "order": namesOf(p, p.Graph.Order()),
		"digest": digest, "parts": parts}
	delegates := map[string]any{}
	for path, d := range p.AllDelegates() {
		delegates[from(p, path)] = document(d)
	}
	if len(delegates) > 0 {
		compiled["delegates"] = delegates
	}
	return compiled, nil
}

func namesOf(p *plan.Plan, calls []int32) []string {
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = p.Calls[c].Name
	}
	return names
}

// listedOf is about how many bytes the lists of calls would take.
func listedOf(p *plan.Plan) (bytes int) {
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

// serverHere is a server's definition as it reads in the plan's own folder, with what is recorded of it.
func serverHere(p *plan.Plan, s *plan.Server) any {
	value := s.Node.Value()
	definition, ok := value.(map[string]any)
	if ok && s.Node.File != p.File && s.URL == "" && from(p, s.Dir) != "." {
		definition["cwd"] = from(p, s.Dir)
	}
	return value
}
