package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A tool is what agents are offered of a command: some of its flags as arguments, and what it writes as
// the answer.
type tool struct {
	about     string // what a model reads
	arguments string // those of [toolArguments] that replace the command's
	flags     string // the flags that agents set
	fixed     string // flags with a value that agents can't change
	progress  string // what a client is told while the command writes; "" for nothing
	fields    string // that every answer has
	answer    func(r *request, status ending) (reply, error)
}

// A reply is what a tool answers: the structured form, and the same for who reads text.
type reply struct {
	value any
	text  string
}

// planArgument is a plan, as text or as a file.
type planArgument struct {
	Plan  string            `json:"plan" about:"the text of the plan, in YAML or JSON"`
	Path  string            `json:"path" about:"a file of the workspace, by its path from the root"`
	Files map[string]string `json:"files" about:"texts of files that the plan imports, by their paths from the root"`
}

// toolArguments are the arguments that aren't flags, with descriptions that a model reads.
type toolArguments struct {
	planArgument
	First    int             `json:"first" about:"how many entries to skip, to see what was left out before"`
	Most     int             `json:"most" about:"how many entries to show, 20 unless given, 200 at most"`
	Code     string          `json:"code" about:"a finding's code or name, such as OB401; without it, all are listed"`
	Input    json.RawMessage `json:"input" about:"an object of input values, over the plan's own"`
	State    json.RawMessage `json:"state" about:"an object: a state to start from, over the plan's own"`
	Producer json.RawMessage `json:"producer" about:"a JSON Schema"`
	Consumer json.RawMessage `json:"consumer" about:"the JSON Schema that is to accept every value of the producer's"`
	Old      planArgument    `json:"old" about:"the plan as it was: plan or path, and files"`
	New      planArgument    `json:"new" about:"the plan as it is now: plan or path, and files"`
}

// What agents are offered.
var (
	checkTool = &tool{
		about: "Find faults in a plan before it runs: what it can't mean, reads that nobody writes, values that " +
			"don't fit, calls that write over each other. Nothing is run.",
		arguments: "plan path files first most", flags: "strict-protocol", fixed: "format=json",
		fields: "findings summary", answer: (*request).checked,
	}
	explainTool = &tool{
		about:     "Print what a finding means, with a failing and a fixed plan.",
		arguments: "code", fields: "page", answer: (*request).explained,
	}
	graphTool = &tool{
		about: "Draw which call of a plan waits for which, and the paths that data takes, as text, Mermaid or " +
			"another format. Plans with errors are drawn, too.",
		arguments: "plan path files", flags: "format focus between depth paths detail labels", fixed: "format=text",
		fields: "format drawing", answer: (*request).drawn,
	}
	diffTool = &tool{
		about: "Compare what two plans do, whatever their layout: calls, where values come from, what waits for " +
			"what, what leaves the machine, and worst cases.",
		arguments: "old new first most", fields: "differences summary", answer: (*request).compared,
	}
	compatTool = &tool{
		about: "Report whether every value of one JSON Schema fits another: fits, never, may-not-fit (with a value " +
			"that shows it) or unknown (with the reason).",
		arguments: "producer consumer", fixed: "batch=-", fields: "verdict", answer: (*request).ruled,
	}
	simulateTool = &tool{
		about: "Simulate a plan on a virtual clock, with results made up from what its tools declare: the order, " +
			"what runs in parallel, the time and the cost, the final state, what is skipped and why. Nothing is run " +
			"but expressions.",
		arguments: "plan path files first most input state", flags: "parallel fail branches schedules seed",
		fixed: "format=json", progress: "simulating", fields: "scenario summary",
		answer: (*request).simulated,
	}
	runTool = &tool{
		about: "Run a plan of the workspace that people have approved, exactly as it was approved. Anything else " +
			"stops it, and nobody is asked.",
		arguments: "path first most input state", flags: "parallel digest", fixed: "format=json require-approval=true",
		progress: "running", fields: "events end", answer: (*request).ran,
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
			schema["enum"] = strings.Split(kind, "|")
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
		add(argumentOf(name), typeOf(flag), flag.Usage)
	}
	return properties
}

// argumentOf is the name of a flag as an argument: strictProtocol for strict-protocol.
func argumentOf(flag string) string {
	return capital.ReplaceAllStringFunc(flag, func(text string) string { return strings.ToUpper(text[1:]) })
}

var capital = regexp.MustCompile("-[a-z]")

// addTools adds the commands that agents are offered.
func (s *serving) addTools(to *mcp.Server) {
	for _, group := range table() {
		for _, row := range group.rows {
			name, _, _ := strings.Cut(row.use, " ")
			runs := name == "run"
			if row.tool == nil || runs && !s.AllowRun {
				continue
			}
			arguments := map[string]any{"type": "object", "properties": row.argumentSchemas()}
			arguments["additionalProperties"] = false
			to.AddTool(&mcp.Tool{
				Name: name, Description: row.tool.about,
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

// A request is one invocation of a command, whose output is kept.
type request struct {
	*cli
	toolArguments
	flags  map[string]json.RawMessage // and all other arguments
	ctx    context.Context
	server *serving
	row    *command
	output bytes.Buffer // what the command writes
	notes  bytes.Buffer // and what it says of its work
}

// serve answers one request.
func (s *serving) serve(ctx context.Context, row *command, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	room := s.busy
	if row.tool == runTool {
		room = s.runs
	}
	select {
	case room <- struct{}{}:
		defer func() { <-room }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := &request{ctx: ctx, server: s, row: row}
	advance := r.progress(call)
	r.cli = &cli{
		in: strings.NewReader(""), out: written{&r.output, advance}, err: &r.notes, globals: globals{Runs: s.cli.Runs},
		watch: func(int) bool {
			advance()
			return ctx.Err() == nil
		},
	}
	answer, err := r.answer(call.Params.Arguments)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		answer.text = r.why(err)
	}
	content := []mcp.Content{&mcp.TextContent{Text: answer.text}}
	return &mcp.CallToolResult{Content: content, StructuredContent: answer.value, IsError: err != nil}, nil
}

// answer runs the command with the arguments of the request.
func (r *request) answer(arguments json.RawMessage) (answer reply, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			r.notes.Reset()
			r.reportPanic(bug)
			answer, err = reply{}, ending(statusError)
		}
	}()
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	err = errors.Join(json.Unmarshal(arguments, &r.flags), json.Unmarshal(arguments, &r.toolArguments))
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return reply{}, usageErr("%q can't be of the type %s: expected %s", strings.TrimPrefix(wrong.Field, "planArgument."),
			wrong.Value, jsonTypes[wrong.Type.Kind().String()])
	}
	tool, _, _ := strings.Cut(r.row.use, " ")
	if err = unknownArgument(tool, r.flags, slices.Sorted(maps.Keys(r.row.argumentSchemas()))); err != nil {
		return reply{}, err
	}
	status := ending(statusOK)
	if r.row.tool != diffTool {
		err = r.invoke()
	}
	if err != nil && (!errors.As(err, &status) || status == statusError) {
		return reply{}, err
	}
	return r.row.tool.answer(r, status)
}

// unknownArgument refuses an argument that a tool, or a plan among its arguments, doesn't have.
func unknownArgument(owner string, given map[string]json.RawMessage, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return usageErr("%s has no argument %q; it has %s", owner, name, wording.And(known)).Suggest(name, known)
		}
	}
	return nil
}

// invoke runs the command as its command line would.
func (r *request) invoke() (err error) {
	args := []string{r.Code}
	switch {
	case r.row.tool == compatTool:
		pair, err := json.Marshal(map[string]json.RawMessage{"sub": r.Producer, "super": r.Consumer})
		if err != nil {
			return err
		}
		r.in, args = bytes.NewReader(pair), nil
	case r.row.tool != explainTool:
		if args[0], err = r.document(r.planArgument); err != nil {
			return err
		}
	}
	r.cmd = &cobra.Command{Use: r.row.use}
	act := r.row.bind(r.cmd)
	if err := r.setFlags(); err != nil {
		return err
	}
	if values, ok := act.(interface {
		give(input, state map[string]any)
	}); ok {
		input, wrong := r.values("input", r.Input)
		state, bad := r.values("state", r.State)
		if err := errors.Join(wrong, bad); err != nil {
			return err
		}
		values.give(input, state)
	}
	return act.run(r.ctx, r.cli, args)
}

// setFlags gives the command the flags of the server that it has, those that are fixed, and those
// of the request.
func (r *request) setFlags() (err error) {
	flags := r.cmd.Flags()
	set := func(name, value string) {
		if wrong := flags.Set(name, value); wrong != nil && err == nil {
			err = flagError(r.cmd, wrong)
		}
	}
	r.server.cli.cmd.Flags().Visit(func(f *pflag.Flag) {
		if flags.Lookup(f.Name) != nil {
			set(f.Name, f.Value.String())
		}
	})
	for _, field := range strings.Fields(r.row.tool.fixed) {
		name, value, _ := strings.Cut(field, "=")
		set(name, value)
	}
	for _, name := range strings.Fields(r.row.tool.flags) {
		value := r.flags[argumentOf(name)]
		texts := []string{string(value)}
		if value == nil || json.Unmarshal(value, &texts[0]) != nil {
			_ = json.Unmarshal(value, &texts) // a list, or what is its own text
		}
		for _, text := range texts {
			if value != nil {
				set(name, text)
			}
		}
	}
	return cmp.Or(err, r.cmd.ValidateFlagGroups())
}

// values reads an object as a file of values would be: within their limits, and with whole numbers as such.
func (r *request) values(name string, value json.RawMessage) (map[string]any, error) {
	if value == nil {
		return nil, nil
	}
	return valuesOf("\""+name+"\"", source.NewFile(name+".json", value), r.server.reading.Limits)
}

// document sets how the documents of a request are read, and names the plan among them.
func (r *request) document(given planArgument) (name string, err error) {
	r.documents = nil
	reading := r.newReading()
	passed := reading.Passed
	*reading = *r.server.reading
	reading.Passed, reading.Stdin, reading.Texts = passed, strings.NewReader(given.Plan), map[string]string{}
	r.documents = reading
	for _, named := range slices.Sorted(maps.Keys(given.Files)) {
		clean := path.Clean(filepath.ToSlash(named))
		if !filepath.IsLocal(clean) || clean == "." {
			return "", usageErr("\"files\" has %q, which isn't a path below the workspace's root", named).
				Advise("name it as the plan does, from the root")
		}
		if slices.Contains([]string{workspace.Settings, policy.File}, path.Base(clean)) {
			return "", usageErr("\"files\" can't have %q: what says who is trusted is the workspace's own", named).
				Advise("leave it out; the workspace's is read")
		}
		reading.Texts[clean] = given.Files[named]
	}
	switch {
	case given.Path != "" && given.Plan != "":
		return "", usageErr("\"plan\" and \"path\" can't be given together: the one is a text, the other names a file")
	case given.Path != "" && !filepath.IsLocal(filepath.FromSlash(given.Path)):
		return "", usageErr("%q isn't a path below the workspace's root", given.Path).
			Advise("name a file by its path from the root, or give its text as \"plan\"")
	case given.Path != "":
		name = filepath.Join(reading.Root, filepath.FromSlash(given.Path))
		_, err = reading.Text(name) // before anything else is looked at
		return name, err
	case given.Plan == "":
		return "", usageErr("there is no plan").
			Advise("name a file of the workspace as \"path\", or, except for run, give a text as \"plan\"")
	}
	return "-", nil
}

// written reports progress with all that a command writes.
type written struct {
	*bytes.Buffer
	advance func()
}

func (w written) Write(text []byte) (int, error) {
	w.advance()
	return w.Buffer.Write(text)
}

// progress is how progress is reported to the client, if it wants to know it.
func (r *request) progress(call *mcp.CallToolRequest) func() {
	token, done, sent := call.Params.GetProgressToken(), 0, time.Time{}
	return func() {
		if done++; token == nil || r.row.tool.progress == "" || time.Since(sent) < pause {
			return
		}
		sent = time.Now()
		params := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(done)}
		params.Message = r.row.tool.progress
		_ = call.Session.NotifyProgress(r.ctx, params) // who doesn't listen misses it
	}
}

// why is what kept a request from being answered: the findings that were shown of a plan that has
// errors, or the error and what to do about it.
func (r *request) why(err error) string {
	var ended ending
	if !errors.As(err, &ended) {
		r.showError(err)
	}
	lines, _ := r.lines()
	r.First, r.Most = 0, 0
	text, left := r.findingsText(lines)
	if text == "" {
		text = r.notes.String() + r.output.String()
	}
	return wording.Cut(r.named(text)+left.words("check shows them"), mostAnswer)
}
