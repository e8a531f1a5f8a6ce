package facts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

func (g *gatherer) tool(t *plan.Tool) Tool {
	use := &plan.Call{ToolName: t.Name, Tool: t, Activity: t.Activity, Delegate: t.Delegate}
	tool := Tool{Name: t.Name, Description: g.shown(t.Description), At: place(cmp.Or(t.NameNode, t.Node)), Effect: effect(compiler.EffectOf(g.plan, use, nil)), Runs: g.execution(use)}
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
	rest := map[string]any{}
	for _, key := range []string{"annotations", "x-simulate"} {
		if n := t.Node.Get(key); n != nil {
			rest[key] = n.Value()
		}
	}
	if t.Volatile {
		rest["x-volatile"] = true
	}
	if t.OutputPath != nil {
		rest["_outputPath"] = t.OutputPath.Raw()
	}
	if t.Scopes != nil {
		rest["_scopes"] = t.Scopes.Raw()
	}
	if len(t.Activities) > 0 {
		rest["_activity"] = t.Activities
	}
	if t.DelegateNode != nil {
		rest["_delegate"] = t.DelegateNode.Value()
	}
	if t.Mocks != nil {
		rest["examples"] = t.Mocks
	}
	if len(rest) > 0 {
		tool.Definition = g.literal(rest)
	}
	return tool
}

// settings are what else of a document decides what happens.
func (g *gatherer) settings() map[string]Literal {
	p := g.plan
	all := map[string]Literal{}
	set := func(key string, value any, there bool) {
		if there {
			all[key] = g.literal(value)
		}
	}
	set("description", p.Description, p.Description != "")
	set("version", p.Version, p.Version != "")
	set("input", p.Input, p.Input != nil)
	set("state", p.State, p.State != nil)
	set("data", p.Data, len(p.Data) > 0)
	set("errors", p.Errors, len(p.Errors) > 0)
	if p.InputSchema != nil {
		set("inputSchema", p.InputSchema.Raw(), true)
	}
	if p.StateSchema != nil {
		set("stateSchema", p.StateSchema.Raw(), true)
	}
	if p.OutputSchema != nil {
		set("outputSchema", p.OutputSchema.Raw(), true)
	}
	schemas := map[string]any{}
	for kind, s := range p.DataSchemas {
		schemas[kind] = s.Raw()
	}
	set("dataSchemas", schemas, len(schemas) > 0)
	set("writes", p.Writes.String(), p.Writes != plan.Last)
	set("terminate", p.Terminate, p.Terminate != "" && p.Terminate != plan.TerminateOutput)
	set("mode", p.Mode, p.Mode != "" && p.Mode != plan.Eager)
	limits := map[string]any{}
	for key, n := range map[string]float64{
		"ticks": float64(p.Limits.Ticks), "calls": float64(p.Limits.Calls), "parallel": float64(p.Limits.Parallel),
		"tokens": float64(p.Limits.Tokens), "cost": p.Limits.Cost, "time": p.Limits.Time.Seconds(),
	} {
		if n != 0 {
			limits[key] = n
		}
	}
	set("limits", limits, len(limits) > 0)
	set("advice", p.Advice, p.Advice != plan.Advice{} && len(p.Advisors) > 0)
	advisors := map[string]any{}
	for _, a := range p.Advisors {
		advisors[a.ID] = a.Node.Value()
	}
	set("advisors", advisors, len(advisors) > 0)
	if p.Opinions != nil {
		set("opinions", p.Opinions.Value(), true)
	}
	if texts := messages(p.Root); len(texts) > 0 {
		set("messages", texts, true)
	}
	instances := map[string]any{}
	for _, one := range p.Instances {
		own := map[string]any{}
		for key, value := range map[string]any{"input": one.Input, "state": one.State} {
			if value != nil {
				own[key] = value
			}
		}
		if len(one.Data) > 0 {
			own["data"] = one.Data
		}
		if len(one.Errors) > 0 {
			own["errors"] = one.Errors
		}
		if one.InputSchema != nil {
			own["inputSchema"] = one.InputSchema.Raw()
		}
		if one.StateSchema != nil {
			own["stateSchema"] = one.StateSchema.Raw()
		}
		instances[one.ID] = own
	}
	set("instances", instances, len(instances) > 0)
	g.unused(set)
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
		if kind := text(m.Get("type")); kind == "text" || kind == "meta" {
			texts = append(texts, m.Value())
		}
	}
	return texts
}

// unused are definitions of the document that no tool and no call names: another plan of the same tools
// may.
func (g *gatherer) unused(set func(string, any, bool)) {
	p := g.plan
	used := map[string]bool{}
	for _, t := range p.Tools {
		used[t.Activity] = true
	}
	for _, c := range p.Calls {
		used[c.Activity] = true
	}
	activities := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(p.Activities)) {
		if a := p.Activities[name]; !used[name] && a.Node != nil && a.Origin == plan.Document {
			activities[name] = a.Node.Value()
		}
	}
	set("activities", activities, len(activities) > 0)
}
