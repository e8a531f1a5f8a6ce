package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/pflag"
)

// A tool is what agents are offered of a command: some of its flags as arguments, and what it writes as the answer.
type tool struct {
	arguments string // those of [toolArguments] that replace the command's
	flags     string // the flags that agents set
	fixed     string // flags set before those of agents
}

const asJSON = "--format=json"

func argument(kind, about string) map[string]any {
	return map[string]any{"type": kind, "description": about}
}

// toolArguments describe the arguments that aren't flags, and flags of which agents set all values in one object.
var toolArguments = map[string]map[string]any{
	"plan":  argument("string", "the text of the plan, in YAML or JSON"),
	"path":  argument("string", "a file of the workspace, by its path from the root"),
	"code":  argument("string", "a finding's code or name, such as OB401; without it, all are listed"),
	"input": argument("object", "an object of input values, over the plan's own"),
	"state": argument("object", "an object: a state to start from, over the plan's own"),
	"old":   argument("object", "the plan as it was: plan or path"),
	"new":   argument("object", "the plan as it is now: plan or path"),
}

// What agents are offered.
var (
	checkTool   = &tool{arguments: "plan path", fixed: asJSON}
	explainTool = &tool{arguments: "code"}
	graphTool   = &tool{arguments: "plan path", flags: "format focus between depth detail", fixed: "--format=text"}
	diffTool    = &tool{arguments: "old new", fixed: asJSON}
	simTool     = &tool{arguments: "plan path", fixed: asJSON,
		flags: "input state concurrency fail branches schedules seed"}
)

// flagTypes are the types of JSON of those of flags; others are strings.
var flagTypes = map[string]string{"bool": "boolean", "int": "integer", "uint64": "integer", "stringArray": "array"}

func (row *command) offer() *mcp.Tool {
	properties := map[string]any{}
	for _, name := range strings.Fields(row.tool.arguments + " " + row.tool.flags) {
		properties[name] = toolArguments[name]
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(flags, reflect.ValueOf(row.action).Elem())
	for _, name := range strings.Fields(row.tool.flags) {
		if toolArguments[name] != nil {
			continue
		}
		flag := flags.Lookup(name)
		schema := argument(cmp.Or(flagTypes[flag.Value.(*flagValue).Value.Type()], "string"), flag.Usage)
		if values := strings.Split(flag.Value.Type(), "|"); len(values) > 1 {
			schema["enum"] = values
		}
		properties[name] = schema
	}
	isNo := false
	about, _ := describe("obelus " + row.name())
	return &mcp.Tool{
		Name: row.name(), Description: about,
		InputSchema: map[string]any{"type": "object", "properties": properties, "additionalProperties": false},
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &isNo, OpenWorldHint: &isNo,
		},
	}
}

// A planArgument is the text of a plan, or the path of its file.
type planArgument struct{ Plan, Path string }

// commandLine is what the arguments of a request amount to. Those that a tool doesn't have are refused.
func (row *command) commandLine(c *cli, arguments json.RawMessage) ([]string, error) {
	var given map[string]json.RawMessage
	var values struct {
		planArgument
		Code     string
		Old, New planArgument
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if err := cmp.Or(json.Unmarshal(arguments, &given), json.Unmarshal(arguments, &values)); err != nil {
		return nil, usageErr("the arguments can't be used: %v", err)
	}
	names := slices.Sorted(slices.Values(strings.Fields(row.tool.arguments + " " + row.tool.flags)))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return nil, usageErr("%s has no argument %q; it has %s", row.name(), name, wording.And(names)).
				Suggest(name, names)
		}
	}
	args := append([]string{row.name()}, strings.Fields(row.tool.fixed)...)
	for _, name := range strings.Fields(row.tool.flags) {
		value, isGiven := given[name]
		var list []json.RawMessage
		if isGiven && json.Unmarshal(value, &list) != nil {
			list = []json.RawMessage{value}
		}
		for _, one := range list {
			text := string(one)
			_ = json.Unmarshal(one, &text) // a string; another value is its own text
			args = append(args, "--"+name+"="+text)
		}
	}
	args = append(args, "--")
	var err error
	switch row.tool {
	case explainTool:
		args = append(args, values.Code)
	case diffTool:
		err = cmp.Or(c.document(values.Old, &args), c.document(values.New, &args))
	default:
		err = c.document(values.planArgument, &args)
	}
	return args, err
}

// document adds a plan to the arguments: the name of its file, or - for a text, which is read as standard input.
func (c *cli) document(p planArgument, args *[]string) (err error) {
	path := filepath.FromSlash(p.Path)
	switch {
	case (p.Path == "") == (p.Plan == ""):
		return usageErr("there is no plan, or there are two").
			Advise("name a file of the workspace as \"path\", or give a text as \"plan\"")
	case p.Path == "":
		path = "-"
		c.second = strings.NewReader(p.Plan)
		if c.in == nil {
			c.in = c.second
		}
	case !filepath.IsLocal(path):
		return usageErr("%q isn't a path below the workspace's root", p.Path).
			Advise("name a file by its path from the root, or give its text as \"plan\"")
	default:
		_, err = c.newReading().Text(path) // before anything else is looked at
	}
	*args = append(*args, path)
	return err
}
