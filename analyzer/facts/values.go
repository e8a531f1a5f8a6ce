package facts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// values lists the leaves of a template: items in their order, fields in that of their keys.
func (g *gatherer) values(all []Value, path string, t *plan.Template, of *plan.Call) []Value {
	switch {
	case t.Fields != nil && t.Live:
		for _, f := range sortedFields(t) {
			all = g.values(all, Step(path, f.Key), f.Value, of)
		}
		return all
	case t.Items != nil && t.Live:
		for i, item := range t.Items {
			all = g.values(all, path+"["+strconv.Itoa(i)+"]", item, of)
		}
		return all
	}
	return append(all, g.leaf(path, t, of))
}

func sortedFields(t *plan.Template) []plan.TemplateField {
	byKey := func(a, b plan.TemplateField) int { return cmp.Compare(a.Key, b.Key) }
	return slices.SortedStableFunc(slices.Values(t.Fields), byKey)
}

// leaf is a template that has no parts of its own.
func (g *gatherer) leaf(path string, t *plan.Template, of *plan.Call) Value {
	switch {
	case t.Expr == nil && !t.Live:
		return Value{Path: path, Literal: g.literal(t.Value)}
	case t.Expr == nil: // it doesn't parse
		return Value{Path: path, Expression: g.shown(t.Node.AsText())}
	}
	v := Value{Path: path, Expression: g.shown(t.Expr.String())}
	seen := map[string]bool{} // what reads one path in one call is bound alike
	for _, r := range t.Reads {
		for _, s := range g.sources(&g.plan.Reads[r], of) {
			if !seen[s.Path] {
				seen[s.Path] = true
				v.Sources = append(v.Sources, s)
			}
		}
	}
	return v
}

// single is a template as one value: a list that is written out holds what its items do.
func (g *gatherer) single(t *plan.Template, of *plan.Call) *Value {
	leaves := g.values(nil, "", t, of)
	if len(leaves) == 1 && leaves[0].Path == "" {
		return &leaves[0]
	}
	v := Value{Expression: g.shown(t.Node.Span().Text())}
	for _, leaf := range leaves {
		v.Sources = append(v.Sources, leaf.Sources...)
	}
	return &v
}

// sources are where a read gets its value from: a path, or for an item of a list where
// the list comes from.
func (g *gatherer) sources(r *plan.Read, of *plan.Call) []Source {
	p := g.plan
	if of != nil && of.Each != nil && compiler.ReadsItem(p, r) {
		var all []Source
		for _, read := range readsOf(of.Each.List) {
			all = append(all, g.sources(&p.Reads[read], nil)...)
		}
		if len(all) == 0 { // a list that is written out
			all = []Source{{Path: r.Ref.String(), Start: true}}
		}
		return all
	}
	s := g.from(r.Writers)
	s.Path, s.Start = r.Ref.String(), r.Start || len(r.Writers) == 0
	return []Source{s}
}

// mostCalls is how many of the calls are listed that may have written what one read sees.
const mostCalls = 100

// from is a source that some calls have written.
func (g *gatherer) from(writers []int32) Source {
	list := listOf(writers)
	s, known := g.sourceOf[list]
	if known {
		return s
	}
	s.writers, s.More = writers, max(0, len(writers)-mostCalls)
	for i, w := range writers {
		c := g.plan.Calls[w]
		if i < mostCalls {
			s.Calls = append(s.Calls, c.Name)
		}
		s.Tools = merged(s.Tools, c.ToolName)
	}
	slices.Sort(s.Tools)
	g.sourceOf[list] = s
	return s
}

func readsOf(t *plan.Template) (all []int) {
	for e := range t.Expressions() {
		all = append(all, e.Reads...)
	}
	return all
}

// most is how many items a list can have.
func (g *gatherer) most(list *plan.Template) int {
	switch {
	case list.Items != nil:
		return len(list.Items)
	case !list.Live:
		items, _ := list.Value.([]any)
		return len(items)
	case slices.ContainsFunc(g.plan.Instances,
		func(one plan.Instance) bool { return one.InputSchema != nil || one.StateSchema != nil }):
	case list.Expr != nil && list.Expr.Plain():
		r := &g.plan.Reads[list.Reads[0]]
		if s, below := g.plan.SchemaOf(g.plan.Paths.Segments(r.Path)); s != nil {
			object, _ := s.At(below).Schema.Raw().(map[string]any)
			if n, ok := object["maxItems"].(float64); ok && n >= 0 && n < compiler.MaxItems {
				return int(n)
			}
		}
	}
	return compiler.MaxItems
}

// shown is a text of the plan without its secrets.
func (g *gatherer) shown(text string) string { return compiler.Redact(g.plan, text) }

// literal is a value of the plan without its secrets.
func (g *gatherer) literal(v any) Literal {
	text := Compact(v)
	shown := []byte(g.shown(string(text)))
	switch {
	case bytes.Equal(shown, text):
		return Literal{Text: text}
	case !json.Valid(shown): // a secret that isn't a text
		shown = Compact(string(shown))
	}
	return Literal{Text: shown, secret: string(text)}
}

// Compact is a value as facts keep it: compact JSON with sorted keys.
func Compact(v any) []byte {
	text, _ := diag.Encode(v, "") // a JSON value
	return text
}

// writerList is a list of calls, which many reads share.
type writerList struct {
	first *int32
	n     int
}

func listOf(writers []int32) writerList {
	if len(writers) == 0 {
		return writerList{}
	}
	return writerList{&writers[0], len(writers)}
}
