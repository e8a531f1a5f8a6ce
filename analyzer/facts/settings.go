package facts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

func (g *gatherer) tool(t *plan.Tool) Tool {
	use := &plan.Call{Use: plan.Use{ToolName: t.Name, Tool: t, Activity: t.Activity, Delegate: t.Delegate}}
	tool := Tool{Name: t.Name, Description: g.shown(t.Description), At: place(cmp.Or(t.NameNode, t.Node)),
		Effect: effects.Of(g.plan, use, nil), Runs: g.execution(use)}
	if parameters := raw(t.Parameters); parameters != nil {
		if all, ok := parameters.(map[string]any); ok { // the schema may be the tool itself
			all = maps.Clone(all)
			maps.DeleteFunc(all, func(key string, value any) bool {
				return strings.HasPrefix(key, "x-") || key == "description" && value == t.Description
			})
			parameters = all
		}
		tool.Parameters = g.literal(parameters)
	}
	if t.Output != nil {
		tool.Output = g.literal(t.Output.Raw())
	}
	rest := given(map[string]any{
		"annotations": t.Node.Get("annotations").Value(), "x-simulate": t.Node.Get("x-simulate").Value(),
		"_activity": t.Activities, "_delegate": t.DelegateNode.Value(), "examples": t.Mocks,
		"_outputPath": raw(t.OutputPath), "_scopes": raw(t.Scopes), "x-volatile": t.Node.Get("x-volatile").Value(),
	})
	if len(rest) > 0 {
		tool.Definition = g.literal(rest)
	}
	return tool
}

// raw is a schema as a document has it, nil for none.
func raw(s *schema.Schema) any {
	if s == nil {
		return nil
	}
	return s.Raw()
}

// given is what of an object isn't null.
func given(all map[string]any) map[string]any {
	maps.DeleteFunc(all, func(_ string, value any) bool { return string(Compact(value)) == "null" })
	return all
}

// settings are what else of a document decides what happens, less what is so by default.
func (g *gatherer) settings() map[string]Literal {
	p := g.plan
	schemas, advisors, instances := map[string]any{}, map[string]any{}, map[string]any{}
	for kind, s := range p.DataSchemas {
		schemas[kind] = s.Raw()
	}
	for _, a := range p.Advisors {
		advisors[a.ID] = a.Node.Value()
	}
	for _, one := range p.Instances {
		instances[one.ID] = beginning(&one.Values)
	}
	defaults := map[string]any{"writes": plan.Last.String(), "terminate": plan.TerminateOutput, "mode": plan.Eager}
	isDefault := func(key string, value any) bool {
		return value == defaults[key] ||
			slices.Contains([]string{"null", `""`, "0", "[]", "{}"}, string(Compact(value)))
	}
	limits := map[string]any{
		"ticks": p.Limits.Ticks, "calls": p.Limits.Calls, "parallel": p.Limits.Parallel,
		"tokens": p.Limits.Tokens, "cost": p.Limits.Cost, "time": p.Limits.Time.Seconds(),
	}
	maps.DeleteFunc(limits, isDefault)
	all := map[string]any{
		"description": p.Description, "version": p.Version, "dataSchemas": schemas, "limits": limits,
		"advisors": advisors, "messages": messages(p.Root), "instances": instances, "activities": unused(p),
		"writes": p.Writes.String(), "terminate": p.Terminate, "mode": p.Mode,
	}
	maps.DeleteFunc(all, isDefault)
	if p.Advice != (plan.Advice{}) && len(advisors) > 0 {
		all["advice"] = p.Advice
	}
	maps.Copy(all, given(map[string]any{"opinions": p.Opinions.Value(), "outputSchema": raw(p.OutputSchema)}))
	maps.Copy(all, beginning(&p.Values))
	literals := make(map[string]Literal, len(all))
	for key, value := range all {
		literals[key] = g.literal(value)
	}
	return literals
}

// beginning is what a run, or an instance of it, begins with.
func beginning(v *plan.Values) map[string]any {
	all := map[string]any{"input": v.Input, "state": v.State, "inputSchema": raw(v.InputSchema),
		"stateSchema": raw(v.StateSchema)}
	if len(v.Data) > 0 {
		all["data"] = v.Data
	}
	if len(v.Errors) > 0 {
		all["errors"] = v.Errors
	}
	return given(all)
}

// messages are those of a context that only a model reads.
func messages(root *source.Node) (texts []any) {
	if root == nil {
		return nil
	}
	for _, m := range cmp.Or(root.Get("context"), root).Items {
		if kind := m.Get("type").AsText(); kind == "text" || kind == "meta" {
			texts = append(texts, m.Value())
		}
	}
	return texts
}

// unused are definitions of the document that no tool and no call names: another plan of the same tools
// may.
func unused(p *plan.Plan) map[string]any {
	used, activities := map[string]bool{}, map[string]any{}
	for _, t := range p.Tools {
		used[t.Activity] = true
	}
	for _, c := range p.Calls {
		used[c.Activity] = true
	}
	for name, a := range p.Activities {
		if a.Node != nil && a.Origin == plan.Document && !used[name] {
			activities[name] = a.Node.Value()
		}
	}
	return activities
}
