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
	if t.Parameters != nil {
		parameters := t.Parameters.Raw()
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

// settings are what else of a document decides what happens.
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
		instances[one.ID] = beginning(one.Input, one.State, one.Data, one.Errors, one.InputSchema, one.StateSchema)
	}
	limits := map[string]any{
		"ticks": p.Limits.Ticks, "calls": p.Limits.Calls, "parallel": p.Limits.Parallel,
		"tokens": p.Limits.Tokens, "cost": p.Limits.Cost, "time": p.Limits.Time.Seconds(),
	}
	maps.DeleteFunc(limits, empty)
	all := map[string]any{
		"description": p.Description, "version": p.Version, "dataSchemas": schemas, "limits": limits,
		"advisors": advisors, "messages": messages(p.Root), "instances": instances, "activities": g.unused(),
	}
	if p.Writes != plan.Last {
		all["writes"] = p.Writes.String()
	}
	if p.Terminate != plan.TerminateOutput {
		all["terminate"] = p.Terminate
	}
	if p.Mode != plan.Eager {
		all["mode"] = p.Mode
	}
	maps.DeleteFunc(all, empty)
	if p.Advice != (plan.Advice{}) && len(advisors) > 0 {
		all["advice"] = p.Advice
	}
	maps.Copy(all, given(map[string]any{"opinions": p.Opinions.Value(), "outputSchema": raw(p.OutputSchema)}))
	maps.Copy(all, beginning(p.Input, p.State, p.Data, p.Errors, p.InputSchema, p.StateSchema))
	literals := make(map[string]Literal, len(all))
	for key, value := range all {
		literals[key] = g.literal(value)
	}
	return literals
}

// empty reports whether a document says nothing by a value.
func empty(_ string, value any) bool {
	return slices.Contains([]string{"null", `""`, "0", "[]", "{}"}, string(Compact(value)))
}

// beginning is what a run, or an instance of it, begins with.
func beginning(input, state any, data map[string]any, errors []any, inputs, states *schema.Schema) map[string]any {
	all := map[string]any{"data": data, "errors": errors}
	maps.DeleteFunc(all, empty)
	maps.Copy(all, given(map[string]any{"input": input, "state": state, "inputSchema": raw(inputs),
		"stateSchema": raw(states)}))
	return all
}

// messages are those of a context that only a model reads.
func messages(root *source.Node) (texts []any) {
	if root == nil {
		return nil
	}
	if within := root.Get("context"); within != nil {
		root = within
	}
	for _, m := range root.Items {
		if kind := m.Get("type").AsText(); kind == "text" || kind == "meta" {
			texts = append(texts, m.Value())
		}
	}
	return texts
}

// unused are definitions of the document that no tool and no call names: another plan of the same tools
// may.
func (g *gatherer) unused() map[string]any {
	p := g.plan
	activities := map[string]any{}
	for name, a := range p.Activities {
		if a.Node != nil && a.Origin == plan.Document {
			activities[name] = a.Node.Value()
		}
	}
	for _, t := range p.Tools {
		delete(activities, t.Activity)
	}
	for _, c := range p.Calls {
		delete(activities, c.Activity)
	}
	return activities
}
