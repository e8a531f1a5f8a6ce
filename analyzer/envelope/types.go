package envelope

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// always reports whether a value that is read from a plan's state or input fits a schema
// whatever it comes to: by what the plan's schemas say of the path, or by what all say of
// their results that write there.
func always(f *facts.Facts, leaf Leaf, fit *schema.Schema) bool {
	e, err := expression.Parse(leaf.Expression, expression.Limits{})
	if f == nil || err != nil || !e.Plain() {
		return false
	}
	ref := e.References()[0]
	return slices.ContainsFunc(typesOf(f, ref, leaf.Sources[0]), func(s *schema.Schema) bool {
		return schema.Contains(s, fit, schema.Budget{}).Relation == schema.Fits
	})
}

// typesOf are schemas each of which a value fits that is read.
func typesOf(f *facts.Facts, ref expression.Reference, s Source) (all []*schema.Schema) {
	if said, ok := f.Settings[ref.Kind+"Schema"]; ok {
		if at := schema.New(decoded(said.Text), schema.Options{}).At(compiler.SchemaPath(ref.Path)); at.Schema != nil {
			all = append(all, at.Schema)
		}
	}
	if s.Start || len(s.Tools) == 0 {
		return all
	}
	var results []*schema.Schema
	for i := range f.Calls {
		for _, route := range f.Calls[i].Writes {
			for _, path := range route {
				if atOrBelow(path, s.Path) && path != s.Path {
					return all // it is put together of several results
				}
				if !atOrBelow(s.Path, path) {
					continue
				}
				result := resultAt(f, &f.Calls[i], path, ref)
				if result == nil {
					return all
				}
				results = append(results, result)
			}
		}
	}
	if len(results) > 0 {
		all = append(all, schema.AnyOf(results...))
	}
	return all
}

// resultAt is what stands at a path in the result of a call that writes above it, or nil
// where that isn't known: a record of its failure may stand there instead.
func resultAt(f *facts.Facts, c *facts.Call, path string, ref expression.Reference) *schema.Schema {
	at := slices.IndexFunc(f.Tools, func(t facts.Tool) bool { return t.Name == c.Tool })
	if at < 0 || f.Tools[at].Output.IsZero() || c.Method != "" || c.Each != nil || c.Runs.Plan != "" || len(c.Writes) > 1 {
		return nil
	}
	e, err := expression.Parse(path, expression.Limits{})
	if err != nil || !e.Plain() {
		return nil
	}
	below := ref.Path[len(e.References()[0].Path):]
	return schema.New(decoded(f.Tools[at].Output.Text), schema.Options{}).At(compiler.SchemaPath(below)).Schema
}

// isRead reports whether a leaf is what a path holds.
func isRead(leaves []Leaf) bool {
	return len(leaves) == 1 && leaves[0].Path == "" && len(leaves[0].Sources) == 1 && leaves[0].Expression == leaves[0].Sources[0].Path && strings.HasPrefix(leaves[0].Expression, "†")
}
