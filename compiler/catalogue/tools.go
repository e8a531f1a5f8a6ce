package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Tool is what an MCP server declares of one of its tools. Of a recorded tool only the
// name, the digest and the hints are known.
type Tool struct {
	Name, Description string
	Hints             map[string]bool // by their names
	Input, Output     any             // JSON Schemas; nil where it declares none
	Digest            string
}

// Hints are the names of the hints that are recorded.
var Hints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// SetDigest computes the digest of a tool from all else that its server declares.
func (t *Tool) SetDigest() {
	declared := struct {
		Hints       map[string]bool `json:"annotations,omitempty"`
		Description string          `json:"description,omitempty"`
		Input       any             `json:"inputSchema,omitempty"`
		Output      any             `json:"outputSchema,omitempty"`
	}{Hints: t.Hints, Input: t.Input, Output: t.Output}
	if t.Description != "" {
		declared.Description = workspace.SumOf([]byte(t.Description))
	}
	text, _ := json.Marshal(declared) // of values that were read as JSON; the keys are sorted
	t.Digest = workspace.SumOf(text)
}

// A Record is what the tools of an MCP server were when they were imported.
type Record struct {
	Tools []Tool
	Node  *source.Node
}

// Tool is a recorded tool, or nil.
func (r *Record) Tool(name string) *Tool {
	if r == nil {
		return nil
	}
	if at := slices.IndexFunc(r.Tools, func(t Tool) bool { return t.Name == name }); at >= 0 {
		return &r.Tools[at]
	}
	return nil
}

// ImportAgain is what to do about a record that doesn't count.
const ImportAgain = "import the server's tools again: obelus tools import FILE -o CATALOGUE"

// ReadRecord reads what a server's definition records of its tools.
func ReadRecord(server string, n *source.Node, d *decode.Reader) *Record {
	r, what := &Record{Node: n}, fmt.Sprintf("the record of the server %q", server)
	patterns := func(f source.Field) { // of the import, as its flags have them
		d.Texts(f.Value, fmt.Sprintf("%q of %s", f.Key.Text, what), "a list of patterns")
	}
	d.Keys(n, what, map[string]func(source.Field){
		"only": patterns, "names": patterns,
		"tools": func(f source.Field) {
			if f.Value.Kind != source.Object {
				d.Expects(f.Value, "\"tools\" of "+what, "a mapping from names to records of tools").Advise(ImportAgain)
			}
			for _, tool := range f.Value.Fields {
				r.Tools = append(r.Tools, readTool(tool, d))
			}
		},
	})
	return r
}

func readTool(f source.Field, d *decode.Reader) Tool {
	t := Tool{Name: f.Key.Text, Hints: map[string]bool{}, Digest: f.Value.Get("digest").AsText()}
	what := fmt.Sprintf("the record of the tool %q", t.Name)
	if !strings.HasPrefix(t.Digest, "sha256:") {
		d.Report(diag.WrongType, f.Value.Span().Head(), "%s has no digest", what).Advise(ImportAgain)
		return t
	}
	hints := map[string]func(source.Field){}
	for _, hint := range Hints {
		hints[hint] = func(f source.Field) { t.Hints[hint] = d.Bool(f.Value, fmt.Sprintf("%q", hint)) }
	}
	d.Keys(f.Value, what, map[string]func(source.Field){
		"digest":      nil,
		"annotations": func(f source.Field) { d.Keys(f.Value, "the \"annotations\" of "+what, hints) },
	})
	return t
}
