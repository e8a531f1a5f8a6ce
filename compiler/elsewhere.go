package compiler

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// MetaForeign is the key of a call that other systems call by the name of a parameter.
func MetaForeign(parameter string) (string, bool) {
	meta, ok := decode.Foreign(parameter, metaKeys)
	return meta, ok && meta != "_tool"
}

// foreignTool reports a tool that is written as a model's interface wants it: nothing is known of its parameters.
func (c *toolReader) foreignTool() bool {
	fields := c.node
	if inner := c.node.Get("function"); inner.IsMapping() {
		fields = inner
	}
	if c.node.Get("properties") != nil || fields.Get("properties") != nil || fields.Get("inputSchema") != nil {
		return false
	}
	for _, f := range fields.Fields {
		known := slices.Index([]string{"parameters", "input_schema", "input", "args", "arguments", "params", "schema"},
			f.Key.Text)
		if known < 0 || f.Value.Kind != source.Object {
			continue
		}
		key := "inputSchema"
		if f.Value.Get("properties") == nil && f.Value.Get("type") == nil {
			key = "properties"
		}
		found := c.Report(diag.WrongType, f.Key.Span(),
			"a tool has its parameters under \"inputSchema\" or \"properties\", and %q has them under %q, as models' "+
				"interfaces have it", c.name, f.Key.Text)
		if fields != c.node {
			found.Advise("put what is below \"function\" in its place, and call %q %q", f.Key.Text, key)
		} else {
			found.Advise("write %s in the place of %s", key, f.Key.Text).
				Rename(f.Key, 0, len(f.Key.Text), key, known < 2)
		}
		return true
	}
	return false
}
