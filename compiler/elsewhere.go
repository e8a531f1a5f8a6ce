package compiler

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// elsewhere are our words by the names that other systems have for them, in small
// letters and without separators. No name stands for two words that one mapping knows.
var elsewhere = func() map[string][]string {
	all := map[string][]string{}
	for meant, names := range map[string]string{
		"calls": "steps tasks jobs nodes actions stages toolcalls", "plan": "name title workflow", "input": "inputs parameters params vars variables args arguments",
		"output": "outputs result results return returns", "tools": "functions", "description": "summary",
		"_tool":       "tool uses action function",
		"_when":       "if condition cond when guard",
		"_after":      "needs dependson depends requires after waitfor dependencies runafter",
		"_each":       "foreach loop withitems each map",
		"_retry":      "retries retry attempts maxretries maxattempts",
		"_timeout":    "timeout timeoutseconds deadline",
		"_id":         "id name key step",
		"_outputPath": "outputpath saveas assignto register resultpath out result output storeas into",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = append(all[name], meant)
		}
	}
	return all
}()

// Elsewhere is the one of some words that other systems call by this name.
func Elsewhere(name string, words []string) (string, bool) {
	folded := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	for _, meant := range elsewhere[folded] {
		if slices.Contains(words, meant) {
			return meant, true
		}
	}
	return "", false
}

// MetaElsewhere is the key of a call that other systems call by the name of a parameter.
func MetaElsewhere(parameter string) (string, bool) {
	meta, ok := Elsewhere(parameter, metaKeys)
	return meta, ok && meta != "_tool"
}

// toolCalls is where a document holds what a model's interface gives calls of tools in:
// a list of "function" items; nil where it doesn't.
func toolCalls(root *source.Node) *source.Node {
	list := root
	if n := root.Get("tool_calls"); n != nil {
		list = n
	}
	if list.Kind != source.Array || len(list.Items) == 0 || list.Items[0].Get("function") == nil {
		return nil
	}
	return list
}

func (c *compilation) refuseToolCalls(list *source.Node) {
	f := c.report(diag.Syntax, headOf(list), "these are tool calls as a model's interface gives them, and no plan")
	f.Advise("write each as a call, its arguments beside its tool: {_tool: %s, …}", nameIn(list.Items[0].Get("function")))
}

func nameIn(function *source.Node) string {
	if name := function.Get("name"); name != nil && name.Kind == source.String {
		return Shown(name.Text)
	}
	return "name"
}
