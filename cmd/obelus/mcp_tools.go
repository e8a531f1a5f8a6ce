package main

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

// A tool is what agents are offered of a command: some of its flags as arguments, and what it writes as
// the answer.
type tool struct {
	about     string // what a model reads
	arguments string // those of [toolArguments] that replace the command's
	flags     string // the flags that agents set
	fixed     string // flags set before those of agents
	fields    string // of an answer: a text, or the command's lines and what is the last of them
}

// planArgument is a plan, as text or as a file.
type planArgument struct {
	Plan string `json:"plan" about:"the text of the plan, in YAML or JSON"`
	Path string `json:"path" about:"a file of the workspace, by its path from the root"`
}

// toolArguments are the arguments that aren't flags, with descriptions that a model reads.
type toolArguments struct {
	planArgument
	Code  string          `json:"code" about:"a finding's code or name, such as OB401; without it, all are listed"`
	Input json.RawMessage `json:"input" about:"an object of input values, over the plan's own"`
	State json.RawMessage `json:"state" about:"an object: a state to start from, over the plan's own"`
	Old   planArgument    `json:"old" about:"the plan as it was: plan or path"`
	New   planArgument    `json:"new" about:"the plan as it is now: plan or path"`
}

// What agents are offered.
var (
	checkTool = &tool{
		about: "Find faults in a plan before it runs: what it can't mean, reads that nobody writes, values that " +
			"don't fit, calls that write over each other. Nothing is run.",
		arguments: "plan path", fixed: "--format=json",
		fields: "findings summary",
	}
	explainTool = &tool{
		about:     "Print what a finding means, with a failing and a fixed plan.",
		arguments: "code", fields: "page",
	}
	graphTool = &tool{
		about: "Draw which call of a plan waits for which, and the paths that data takes, as text, Mermaid or " +
			"another format. Plans with errors are drawn, too.",
		arguments: "plan path", flags: "format focus between depth detail", fixed: "--format=text",
		fields: "drawing",
	}
	diffTool = &tool{
		about: "Compare what two plans do, whatever their layout: calls, where values come from, what waits for " +
			"what, what leaves the machine, and worst cases.",
		arguments: "old new", fixed: "--format=json", fields: "differences summary",
	}
	simulateTool = &tool{
		about: "Simulate a plan on a virtual clock, with results made up from what its tools declare: the order, " +
			"what runs in parallel, the time and the cost, the final state, what is skipped and why. Nothing is run " +
			"but expressions.",
		arguments: "plan path input state", flags: "concurrency fail branches schedules seed",
		fixed: "--format=json", fields: "scenarios summary",
	}
	runTool = &tool{
		about: "Run a plan of the workspace that people have approved, exactly as it was approved. Anything else " +
			"stops it, and nobody is asked.",
		arguments: "path input state", flags: "concurrency digest",
		fixed:  "--format=json --require-approval",
		fields: "events end",
	}
)

// jsonTypes are the types of JSON, by those of Go and of flags; others are strings.
var jsonTypes = map[string]string{
	"bool": "boolean", "int": "integer", "uint64": "integer", "stringArray": "array", "string": "string",
	"map": "object", "struct": "object",
}

// argumentSchemas describe the arguments of a tool, by name.
func (row *command) argumentSchemas() map[string]any {
	properties := map[string]any{}
	add := func(name, kind, about string) {
		schema := map[string]any{"description": about}
		if is := jsonTypes[kind]; is != "" {
			schema["type"] = is
		} else if strings.Contains(kind, "|") {
			schema["enum"] = slices.DeleteFunc(strings.Split(kind, "|"),
				func(format string) bool { return format == "html" }) // a page is too long for an answer
		}
		properties[name] = schema
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[toolArguments]()) {
		name := field.Tag.Get("json")
		if slices.Contains(strings.Fields(row.tool.arguments), name) {
			add(name, field.Type.Kind().String(), field.Tag.Get("about"))
		}
	}
	cmd := &cobra.Command{Use: row.use}
	row.bind(cmd)
	for _, name := range strings.Fields(row.tool.flags) {
		flag := cmd.Flags().Lookup(name)
		add(name, typeOf(flag), flag.Usage)
	}
	return properties
}

// addTools adds the commands that agents are offered.
func (s *serving) addTools(to *mcp.Server) {
	for _, group := range table() {
		for _, row := range group.rows {
			runs := row.tool == runTool
			if row.tool == nil || runs && !s.AllowRun {
				continue
			}
			arguments := map[string]any{"type": "object", "properties": row.argumentSchemas()}
			arguments["additionalProperties"] = false
			to.AddTool(&mcp.Tool{
				Name: row.name(), Description: row.tool.about,
				InputSchema:  arguments,
				OutputSchema: map[string]any{"type": "object", "required": strings.Fields(row.tool.fields)},
				Annotations: &mcp.ToolAnnotations{
					ReadOnlyHint: !runs, IdempotentHint: !runs, DestructiveHint: &runs, OpenWorldHint: &runs,
				},
			}, func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return s.serve(ctx, &row, call)
			})
		}
	}
}
