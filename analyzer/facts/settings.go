package facts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
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
	if output := raw(t.Output); output != nil {
		tool.Output = g.literal(output)
	}
	rest := declared(map[string]any{
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

// declared is what of an object isn't so by default.
func declared(all map[string]any) map[string]any {
	defaults := []string{"null", `""`, "0", "[]", "{}"}
	maps.DeleteFunc(all, func(_ string, value any) bool { return slices.Contains(defaults, string(Compact(value))) })
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
	var messages []any // of a context, that only a model reads
	if p.Root != nil {
		for _, m := range cmp.Or(p.Root.Get("context"), p.Root).Items {
			if kind := m.Get("type").AsText(); kind == "text" || kind == "meta" {
				messages = append(messages, m.Value())
			}
		}
	}
	all := beginning(&p.Values)
	maps.Copy(all, declared(map[string]any{
		"description": p.Description, "version": p.Version, "dataSchemas": schemas, "advisors": advisors,
		"messages": messages, "instances": instances, "opinions": p.Opinions.Value(),
		"outputSchema": raw(p.OutputSchema),
		"limits": declared(map[string]any{
			"ticks": p.Limits.Ticks, "calls": p.Limits.Calls, "parallel": p.Limits.Parallel,
			"tokens": p.Limits.Tokens, "cost": p.Limits.Cost, "time": p.Limits.Time.Seconds(),
		}),
	}))
	if p.Advice != (plan.Advice{}) && len(advisors) > 0 {
		all["advice"] = p.Advice
	}
	for key, choice := range map[string][2]any{"writes": {p.Writes.String(), plan.Last.String()},
		"terminate": {p.Terminate, plan.TerminateOutput}, "mode": {p.Mode, plan.Eager}} {
		if choice[0] != choice[1] {
			all[key] = choice[0]
		}
	}
	literals := make(map[string]Literal, len(all))
	for key, value := range all {
		literals[key] = g.literal(value)
	}
	return literals
}

// beginning is what a run, or an instance of it, begins with.
func beginning(v *plan.Values) map[string]any {
	return declared(map[string]any{"input": v.Input, "state": v.State, "inputSchema": raw(v.InputSchema),
		"stateSchema": raw(v.StateSchema), "data": v.Data, "errors": v.Errors})
}
