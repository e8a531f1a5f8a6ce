package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	declared := map[string]any{}
	if t.Description != "" {
		declared["description"] = workspace.SumOf([]byte(t.Description))
	}
	if len(t.Hints) > 0 {
		declared["annotations"] = t.Hints
	}
	if t.Input != nil {
		declared["inputSchema"] = t.Input
	}
	if t.Output != nil {
		declared["outputSchema"] = t.Output
	}
	text, _ := json.Marshal(declared) // of values that were read as JSON; the keys are sorted
	t.Digest = workspace.SumOf(text)
}

// A Record is what the tools of an MCP server were when they were imported.
type Record struct {
	Tools       []Tool
	Only, Names []string // the patterns of the import, as its flags have them
	Node        *source.Node
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
func ReadRecord(server string, n *source.Node, found *diag.Findings) *Record {
	r, what := &Record{Node: n}, fmt.Sprintf("the record of the server %q", server)
	known(n, what, found, "only", "names", "tools")
	for key, into := range map[string]*[]string{"only": &r.Only, "names": &r.Names} {
		if list := n.Get(key); list != nil {
			for _, item := range list.Several() {
				*into = append(*into, item.AsText())
			}
		}
	}
	tools := n.Get("tools")
	if tools == nil {
		return r
	}
	expect(tools, source.Object, "\"tools\" of "+what, "a mapping from names to records of tools", found)
	for _, f := range tools.Fields {
		t, what := Tool{Name: f.Key.Text, Hints: map[string]bool{}}, fmt.Sprintf("the record of the tool %q", f.Key.Text)
		if t.Digest = f.Value.Get("digest").AsText(); !strings.HasPrefix(t.Digest, "sha256:") {
			found.Report(diag.WrongType, f.Value.Span().Head(), "%s has no digest", what).Advise(ImportAgain)
		} else if known(f.Value, what, found, "digest", "annotations"); f.Value.Get("annotations") != nil {
			annotations := f.Value.Get("annotations")
			known(annotations, "the \"annotations\" of "+what, found, Hints...)
			for _, hint := range annotations.Fields {
				expect(hint.Value, source.Bool, fmt.Sprintf("%q", hint.Key.Text), "true or false", found)
				t.Hints[hint.Key.Text] = hint.Value.Text == "true"
			}
		}
		r.Tools = append(r.Tools, t)
	}
	return r
}

// known reports the keys of a mapping that it doesn't have; those that begin with x- are ignored.
func known(n *source.Node, what string, found *diag.Findings, keys ...string) {
	expect(n, source.Object, what, "a mapping", found)
	for _, f := range n.Fields {
		if !slices.Contains(keys, f.Key.Text) && !strings.HasPrefix(f.Key.Text, "x-") {
			found.Report(diag.UnknownKey, f.Key.Span(), "%s has no key %q", what, f.Key.Text).Advise(ImportAgain)
		}
	}
}

func expect(n *source.Node, kind source.Kind, what, expected string, found *diag.Findings) {
	if n.Kind != kind {
		found.Report(diag.WrongType, n.Span(), "%s is %s; expected %s", what, n.Kind, expected).Advise(ImportAgain)
	}
}
