package main

import (
	"bytes"
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

// A tool is what agents are offered of a command, with its help as the description: some of its flags as arguments,
// and what it writes as the answer.
type tool struct {
	arguments string   // those of [toolArguments] that replace the command's
	flags     string   // the flags that agents set
	fixed     string   // flags set before those of agents
	fields    []string // of an answer: a text, or the command's lines and what is the last of them
}

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
	checkTool   = &tool{arguments: "plan path", fixed: "--format=json", fields: []string{"findings", "summary"}}
	explainTool = &tool{arguments: "code", fields: []string{"page"}}
	graphTool   = &tool{arguments: "plan path", flags: "format focus between depth detail", fixed: "--format=text",
		fields: []string{"drawing"}}
	diffTool = &tool{arguments: "old new", fixed: "--format=json", fields: []string{"differences", "summary"}}
	simTool  = &tool{arguments: "plan path", flags: "input state concurrency fail branches schedules seed",
		fixed: "--format=json", fields: []string{"scenarios", "summary"}}
)

// flagTypes are the types of JSON of those of flags; others are strings.
var flagTypes = map[string]string{"bool": "boolean", "int": "integer", "uint64": "integer", "stringArray": "array"}

// offer is the tool of a command.
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
			// which is too long
			schema["enum"] = slices.DeleteFunc(values, func(one string) bool { return one == "html" })
		}
		properties[name] = schema
	}
	isNo := false
	about, _ := describe("obelus " + row.name())
	return &mcp.Tool{
		Name: row.name(), Description: about,
		InputSchema:  map[string]any{"type": "object", "properties": properties, "additionalProperties": false},
		OutputSchema: map[string]any{"type": "object", "required": row.tool.fields},
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &isNo, OpenWorldHint: &isNo,
		},
	}
}

// structured is an answer of lines, of which the last is about all of them.
func structured(fields []string, output []byte) map[string]any {
	lines := []json.RawMessage{}
	for line := range bytes.Lines(output) {
		lines = append(lines, json.RawMessage(line))
	}
	last := len(lines) - 1
	return map[string]any{fields[0]: lines[:last], fields[1]: lines[last]}
}

type values = map[string]json.RawMessage

// text is a text among values; "" if there is none.
func text(given values, name string) (text string, err error) {
	if value, ok := given[name]; ok && json.Unmarshal(value, &text) != nil {
		err = usageErr("%q can't be %s: expected a string", name, wording.Cut(string(value), 100))
	}
	return text, err
}

// known refuses values that a tool, or a plan among its arguments, doesn't have.
func known(owner, names string, given values) error {
	list := slices.Sorted(slices.Values(strings.Fields(names)))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(list, name) {
			return usageErr("%s has no argument %q; it has %s", owner, name, wording.And(list)).Suggest(name, list)
		}
	}
	return nil
}

// commandLine is what the arguments of a request amount to.
func (row *command) commandLine(c *cli, arguments json.RawMessage) ([]string, error) {
	var given values
	_ = json.Unmarshal(arguments, &given) // the protocol has objects only
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
	err := known(row.name(), row.tool.arguments+" "+row.tool.flags, given)
	if err != nil {
		return nil, err
	}
	switch row.tool {
	case explainTool:
		var code string
		code, err = text(given, "code")
		args = append(args, code)
	case diffTool:
		for _, name := range []string{"old", "new"} {
			var one values
			_ = json.Unmarshal(given[name], &one) // what isn't an object has no plan
			if err = cmp.Or(err, known(name, "plan path", one)); err == nil {
				err = c.document(one, &args)
			}
		}
	default:
		err = c.document(given, &args)
	}
	return args, err
}

// document adds a plan to the arguments: the name of its file, or - for a text, which is read as standard input.
func (c *cli) document(given values, args *[]string) error {
	plan, wrong := text(given, "plan")
	path, err := text(given, "path")
	switch {
	case cmp.Or(wrong, err) != nil:
		return cmp.Or(wrong, err)
	case path != "" && plan != "":
		return usageErr("\"plan\" and \"path\" can't be given together: the one is a text, the other names a file")
	case path == "" && plan == "":
		return usageErr("there is no plan").
			Advise("name a file of the workspace as \"path\", or give a text as \"plan\"")
	case path == "":
		path = "-"
		c.second = strings.NewReader(plan)
		if c.in == nil {
			c.in = c.second
		}
	case !filepath.IsLocal(filepath.FromSlash(path)):
		return usageErr("%q isn't a path below the workspace's root", path).
			Advise("name a file by its path from the root, or give its text as \"plan\"")
	default:
		path = filepath.FromSlash(path)
		_, err = c.newReading().Text(path) // before anything else is looked at
	}
	*args = append(*args, path)
	return err
}
