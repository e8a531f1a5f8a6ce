package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/cobra"
)

// A tool is what agents are offered of a command, with its help as the description: some of its flags as arguments,
// and what it writes as the answer.
type tool struct {
	arguments string // those of [toolArguments] that replace the command's
	flags     string // the flags that agents set
	fixed     string // flags set before those of agents
	fields    string // of an answer: a text, or the command's lines and what is the last of them
}

func argument(kind, about string) map[string]any {
	return map[string]any{"type": kind, "description": about}
}

// toolArguments describe the arguments that aren't flags.
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
	checkTool   = &tool{arguments: "plan path", fixed: "--format=json", fields: "findings summary"}
	explainTool = &tool{arguments: "code", fields: "page"}
	graphTool   = &tool{arguments: "plan path", flags: "format focus between depth detail", fixed: "--format=text",
		fields: "drawing"}
	diffTool     = &tool{arguments: "old new", fixed: "--format=json", fields: "differences summary"}
	simulateTool = &tool{arguments: "plan path input state", flags: "concurrency fail branches schedules seed",
		fixed: "--format=json", fields: "scenarios summary"}
)

// flagTypes are the types of JSON of those of flags; others are strings.
var flagTypes = map[string]string{"bool": "boolean", "int": "integer", "uint64": "integer", "stringArray": "array"}

// offer is the tool of a command.
func (row *command) offer() *mcp.Tool {
	cmd, properties := &cobra.Command{Use: row.use}, map[string]any{}
	row.bind(cmd)
	for _, name := range strings.Fields(row.tool.arguments) {
		properties[name] = toolArguments[name]
	}
	for _, name := range strings.Fields(row.tool.flags) {
		flag := cmd.Flags().Lookup(name)
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
		OutputSchema: map[string]any{"type": "object", "required": strings.Fields(row.tool.fields)},
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &isNo, OpenWorldHint: &isNo,
		},
	}
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

// invoke runs the command line that the arguments amount to.
func (r *request) invoke(ctx context.Context, arguments json.RawMessage) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			r.notes.Reset()
			r.reportPanic(bug)
			err = ending(statusError)
		}
	}()
	var given values
	_ = json.Unmarshal(arguments, &given) // the protocol has objects only
	of := r.row.tool
	if err := known(r.row.name(), of.arguments+" "+of.flags, given); err != nil {
		return err
	}
	args := append([]string{r.row.name()}, strings.Fields(of.fixed)...)
	for _, name := range strings.Fields(of.flags) {
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
	switch of {
	case explainTool:
		var code string
		code, err = text(given, "code")
		args = append(args, code)
	case diffTool:
		for _, name := range []string{"old", "new"} {
			var one values
			_ = json.Unmarshal(given[name], &one) // what isn't an object has no plan
			if err = cmp.Or(err, known(name, "plan path", one)); err == nil {
				err = r.document(one, &args)
			}
		}
	default:
		err = r.document(given, &args)
		for name, to := range map[string]*map[string]any{"input": &r.input, "state": &r.state} {
			if value := given[name]; value != nil && err == nil {
				*to, err = terminal.ObjectOf("\""+name+"\"", source.NewFile(name+".json", value))
			}
		}
	}
	if err != nil {
		return err
	}
	root := r.rootCommand()
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// document adds how a plan is read, and its name among the arguments.
func (r *request) document(given values, args *[]string) error {
	plan, wrong := text(given, "plan")
	path, err := text(given, "path")
	own, name := *r.server.reading, "-"
	own.Stdin, own.Passed = strings.NewReader(plan), r.passed
	switch {
	case cmp.Or(wrong, err) != nil:
		return cmp.Or(wrong, err)
	case path != "" && plan != "":
		return usageErr("\"plan\" and \"path\" can't be given together: the one is a text, the other names a file")
	case path != "" && !filepath.IsLocal(filepath.FromSlash(path)):
		return usageErr("%q isn't a path below the workspace's root", path).
			Advise("name a file by its path from the root, or give its text as \"plan\"")
	case path != "":
		name = filepath.Join(own.Root, filepath.FromSlash(path))
		_, err = own.Text(name) // before anything else is looked at
	case plan == "":
		return usageErr("there is no plan").
			Advise("name a file of the workspace as \"path\", or give a text as \"plan\"")
	}
	r.readers, *args = append(r.readers, &own), append(*args, name)
	return err
}

// What one answer contains.
const (
	mostAnswer = 64 << 10 // bytes of entries
	mostText   = 4 << 10  // bytes of a value, of an entry that is too long
)

// An object is an answer, or a line of one.
type object = map[string]any

// reply is the answer, and a text about it: what the command wrote, or why it did nothing.
func (r *request) reply(err error) (answer object, text string, failed bool) {
	fields, status := strings.Fields(r.row.tool.fields), ending(statusOK)
	isText := len(fields) == 1
	if err == nil && isText && r.output.Len() > mostAnswer {
		r.output.Reset()
		err = usageErr("the drawing is too large for an answer").
			Advise("draw it as text, or what is near one call (\"focus\")")
	}
	if err != nil && !errors.As(err, &status) {
		r.showError(err)
		status = statusError
	}
	notes, written := r.fromRoot(r.notes.String(), ""), r.output.String()
	failed = status == statusError || isText && status != statusOK
	switch {
	case failed && written == "":
		return nil, notes, true
	case isText:
		if written = r.fromRoot(written, `"file":"`); !failed { // where pages name files
			answer = object{fields[0]: written}
		}
		return answer, notes + written, failed
	}
	var entries []json.RawMessage
	for line := range strings.Lines(written) {
		if r.row.tool == diffTool || strings.HasPrefix(line, `{"kind":"finding"`) { // others have values of runs
			line = r.fromRoot(line, `"file":"`)
		}
		entries = append(entries, shortened(line))
	}
	answer = object{}
	if n := len(entries) - 1; n >= 0 { // the last is about all of them
		answer[fields[1]], entries = entries[n], entries[:n]
	}
	fit := 0
	for size := 0; fit < len(entries); fit++ {
		if size += len(entries[fit]); size > mostAnswer && fit > 0 {
			answer["leftOut"] = len(entries) - fit
			break
		}
	}
	answer[fields[0]] = diag.Listed(entries[:fit])
	text = string(diag.EscapeJSON([]byte(terminal.JSON(answer, ""))))
	if failed {
		answer = nil
	}
	return answer, notes + text, failed
}

// fromRoot is a text in which the workspace's files are named from its root, where they follow another text: clients
// don't see where it is.
func (r *request) fromRoot(text, before string) string {
	separator := string(filepath.Separator)
	root := strings.TrimSuffix(r.server.reading.Root, separator)
	if root == "" { // of all files: any separator would be taken for it
		return text
	}
	return strings.ReplaceAll(text, before+root+separator, before)
}

// shortened is a line, or if it is long one with the beginnings of its longest values.
func shortened(line string) json.RawMessage {
	one := object{}
	if len(line) <= mostAnswer/4 || json.Unmarshal([]byte(line), &one) != nil {
		return json.RawMessage(line)
	}
	for key, value := range one {
		if text := terminal.JSON(value, ""); len(text) > mostText {
			one[key] = wording.Cut(text, mostText)
		}
	}
	return json.RawMessage(terminal.JSON(one, ""))
}
