package compiler

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/obelus-dev/obelus/compiler/source"
)

// compiledKey is where the compiled plan keeps what compiling found out: an
// extension key, so that the compiled plan is a document again.
const compiledKey = "x-obelus"

// Canonical is the compiled plan (S6.6): canonical JSON (RFC 8785) of the
// document with its imports taken in, and under "x-obelus" every call with its
// activity, the calls it depends on and what each of its reads is bound to, the
// digest, and those of the plans that are run as its calls. It is a document that compiles to the same bytes again.
//
// Who waits for whom may be the square of the plan. Where the lists of calls would be
// far longer than the document they are abridged, and "abridged" says so: a read's
// "bound" is then the word for which of the calls that write an overlapping path it
// sees ("earlier", "later", "every" or "none"), and "depends" is left out, as it
// follows from these words, "_after", and under "once" from the order of the calls.
func (p *Plan) Canonical() ([]byte, error) {
	document, digest, size, err := p.canonical()
	if err != nil {
		return nil, err
	}
	compiled := p.compiled(digest, size)
	delegates := map[string]string{}
	for path, d := range p.AllDelegates() {
		if delegates[p.from(path)], err = d.Digest(); err != nil {
			return nil, err
		}
	}
	if len(delegates) > 0 {
		compiled["delegates"] = delegates
	}
	document[compiledKey] = compiled
	return canonicalJSON(document)
}

// Digest is "sha256:" and the SHA-256 of the canonical form without what
// compiling found out. It is the same however the document is laid out, and
// whether it is YAML or JSON.
func (p *Plan) Digest() (string, error) {
	_, digest, _, err := p.canonical()
	return digest, err
}

// canonical is the document without what compiling found out, its digest, and how
// many bytes it has.
func (p *Plan) canonical() (document map[string]any, digest string, size int, err error) {
	document = p.document()
	delete(document, compiledKey)
	text, err := canonicalJSON(document)
	if err != nil {
		return nil, "", 0, err
	}
	sum := sha256.Sum256(text)
	return document, "sha256:" + hex.EncodeToString(sum[:]), len(text), nil
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
// means the same, and imports are taken in.
func (p *Plan) document() map[string]any {
	if p.Root == nil {
		return map[string]any{}
	}
	switch root := p.Root.Value().(type) {
	case map[string]any:
		p.takeIn(root)
		return root
	case []any:
		if p.Form == Context {
			return map[string]any{"context": root}
		}
		return map[string]any{"calls": root}
	}
	return map[string]any{}
}

// takeIn puts what imports and overlays contributed into the document itself.
func (p *Plan) takeIn(root map[string]any) {
	_, imports := root["import"]
	delete(root, "import")
	if imports {
		tools := map[string]any{}
		for _, t := range p.Tools {
			if !t.Builtin {
				tools[t.Name] = p.toolHere(t)
			}
		}
		if len(tools) > 0 {
			root["tools"] = tools
		}
		if len(p.schemas) > 0 {
			root["schemas"] = p.schemas
		}
		if len(p.Advisors) > 0 {
			advisors := make([]any, len(p.Advisors))
			for i, a := range p.Advisors {
				advisors[i] = a.Node.Value()
			}
			root["advisors"] = advisors
		}
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

// NamedSchemas are where the document's named schemas stand, by name.
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

// choicesHere names the delegates that calls choose as the tools taken in do.
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
	if definition, ok := value.(map[string]any); ok && a.Plan != "" && a.Node.File != p.File {
		definition["plan"] = p.from(a.Plan)
	}
	return value
}

// from is the path of a delegate as seen from the plan's folder.
func (p *Plan) from(delegate string) string {
	relative, err := filepath.Rel(filepath.FromSlash(p.dir), filepath.FromSlash(delegate))
	if err != nil || !runsPlan(delegate) {
		return delegate
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

func (p *Plan) compiled(digest string, size int) map[string]any {
	abridged := p.listed() > mostNames+namesPerByte*size
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
		for a, route := range c.Output {
			for _, path := range route {
				one.Writes[a] = append(one.Writes[a], p.Paths.String(path.ID))
			}
		}
		calls[i] = one
	}
	var output []int
	for r := len(p.Reads) - 1; r >= 0 && p.Reads[r].Call < 0; r-- {
		output = append(output, r)
	}
	compiled := map[string]any{"calls": calls, "output": reads(output), "order": p.names(p.Graph.Order()), "digest": digest}
	if abridged {
		compiled["abridged"] = "so many calls wait for each other that they aren't listed: \"bound\" says which of those that write an overlapping path a read sees"
	}
	return compiled
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
