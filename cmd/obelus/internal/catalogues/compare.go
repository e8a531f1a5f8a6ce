package catalogues

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// compare reports how a tool differs from its catalogue: each value of the catalogue's parameters must
// still be valid, and each result must fit the catalogue's.
func (d *drift) compare(before, after *plan.Plan, was, is *plan.Tool) {
	old, now := before.Activities[was.Name], after.Activities[is.Name]
	d.compareRequests(was.Name, requestParts(old), requestParts(now), namedParameters(was))
	if !reflect.DeepEqual(withReferences(before, was.Parameters), withReferences(after, is.Parameters)) {
		var accepted [2]*schema.Schema
		for i, t := range []*plan.Tool{was, is} {
			if accepted[i] = t.Parameters; !t.Open { // plans pass the parameters that it names (OB503)
				only := map[string]any{"properties": namedParameters(t), "additionalProperties": false}
				accepted[i] = schema.AllOf(accepted[i], schema.New(only, schema.Options{}))
			}
		}
		d.fits(was.Name, accepted[0], accepted[1], "parameters", "its parameters may not be %s any more%s")
	}
	if !reflect.DeepEqual(withReferences(before, was.Output), withReferences(after, is.Output)) {
		d.fits(was.Name, is.Output, was.Output, "result", "its result may now be %s, which was ruled out%s")
	}
	for i, name := range catalogue.Hints {
		worst := name == "destructiveHint" || name == "openWorldHint" // without a declaration
		declared := func(a *plan.Activity) bool {
			if a != nil {
				hints := []*bool{a.Hints.ReadOnly, a.Hints.Destructive, a.Hints.Idempotent, a.Hints.OpenWorld}
				if hints[i] != nil {
					return *hints[i]
				}
			}
			return worst
		}
		if before, after := declared(old), declared(now); before != after && after == worst {
			d.add(was.Name, "its %s is %t, and was %t", name, after, before)
		}
	}
}

// namedParameters has the parameters that a tool names as keys.
func namedParameters(t *plan.Tool) map[string]any {
	raw, _ := t.Parameters.Raw().(map[string]any)
	properties, _ := raw["properties"].(map[string]any)
	named := map[string]any{}
	for name := range properties {
		named[name] = true
	}
	return named
}

// withReferences is a schema together with those that it refers to.
func withReferences(p *plan.Plan, s *schema.Schema) any {
	named, all := map[string]any{}, map[string]any{}
	for name, n := range p.NamedSchemas {
		named[name] = n.Value()
	}
	catalogue.Reach(s.Raw(), named, map[string]bool{}, func(name string) { all[name] = named[name] })
	return []any{s.Raw(), all}
}

// fits reports whether a change of a schema breaks plans, with a value that the producer gives and the
// consumer refuses.
func (d *drift) fits(tool string, producer, consumer *schema.Schema, what, refused string) {
	switch verdict := schema.Contains(producer, consumer, schema.Budget{}); verdict.Relation {
	case schema.Fits:
	case schema.Unknown:
		d.add(tool, "its %s may not fit any more (%s)", what, cmp.Or(verdict.Reason, verdict.Keyword))
	default:
		because := ""
		if why := consumer.Validate(verdict.Witness); why != nil {
			because = ": " + why.Message
		}
		d.add(tool, refused, wording.Cut(terminal.JSON(verdict.Witness, ""), 200), because)
	}
}

// compareRequests reports how an operation is sent otherwise, which breaks plans. The place of a new
// parameter is reported with the parameters.
func (d *drift) compareRequests(tool string, old, now map[string]string, named map[string]any) {
	for _, part := range slices.Sorted(maps.Keys(now)) {
		parameter := leadingParameter.FindStringSubmatch(now[part])
		switch text, exists := old[part]; {
		case exists && text != now[part]:
			d.add(tool, "its %s is %s, and was %s", part, now[part], text)
		case !exists && part != "body" && (parameter == nil || named[parameter[1]] != nil):
			d.add(tool, "its %s is required now: %s", part, now[part])
		}
	}
}

var leadingParameter = regexp.MustCompile(`^[^†]*†([A-Za-z_][A-Za-z0-9_]*)`)

// requestParts are the parts of an HTTP request by their keys, such as headers.X-Key.
func requestParts(a *plan.Activity) map[string]string {
	parts := map[string]string{}
	if a == nil || a.Node.Get("http") == nil {
		return parts
	}
	parts["response"] = `"json"` // unless another is declared
	for _, f := range a.Node.Get("http").Fields {
		for _, inner := range f.Value.Fields {
			parts[f.Key.Text+"."+inner.Key.Text] = terminal.JSON(inner.Value.Value(), "")
		}
		if f.Value.Kind != source.Object && f.Value.Text != "none" {
			parts[f.Key.Text] = terminal.JSON(f.Value.Value(), "")
		}
	}
	return parts
}
