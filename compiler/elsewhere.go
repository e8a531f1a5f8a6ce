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

// foreignTool reports a tool that is written as a model's interface wants it, and gives what it says of itself and
// where the schema of its parameters stands: what depends on these can be checked all the same.
func (c *toolReader) foreignTool() (fields, parameters *source.Node) {
	fields = c.node
	if inner := c.node.Get("function"); inner.IsMapping() && c.node.Get("properties") == nil {
		fields = inner
	}
	if fields.Get("properties") != nil || fields.Get("inputSchema") != nil {
		return c.node, nil
	}
	for _, f := range fields.Fields {
		known := slices.Index([]string{"parameters", "input_schema", "input", "args", "arguments", "params", "schema"},
			f.Key.Text)
		if known < 0 || f.Value.Kind != source.Object {
			continue
		}
		found := c.Report(diag.WrongType, f.Key.Span(),
			"a tool has its parameters under \"inputSchema\" or \"properties\", and %q has them under %q, as models' "+
				"interfaces have it", c.name, f.Key.Text)
		if fields != c.node {
			found.Advise("put what is below \"function\" in its place, and call %q \"inputSchema\"", f.Key.Text)
		} else {
			found.Advise("write inputSchema in the place of %s", f.Key.Text).
				Rename(f.Key, 0, len(f.Key.Text), "inputSchema", known < 2)
		}
		return fields, f.Value
	}
	return c.node, nil
}
