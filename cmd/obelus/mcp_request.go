package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/spf13/pflag"
)

// A request is one invocation of a command, whose output is kept.
type request struct {
	*cli
	toolArguments
	named  map[string]json.RawMessage // all arguments
	server *serving
	row    *command
	status ending
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
	if token := call.Params.GetProgressToken(); token != nil {
		report(ctx, call.Session, mcp.ProgressNotificationParams{ProgressToken: token, Message: row.name() + " runs"})
	}
	r := &request{server: s, row: row}
	r.cli = &cli{
		in: strings.NewReader(""), out: &r.output, err: &r.notes, globals: globals{Runs: s.cli.Runs},
		watch: func(int) bool { return ctx.Err() == nil },
	}
	answer, err := r.answer(ctx, call.Params.Arguments)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		answer.text = r.why(err)
	}
	content := []mcp.Content{&mcp.TextContent{Text: wording.Cut(answer.text, 2*mostAnswer)}}
	result := &mcp.CallToolResult{Content: content, IsError: err != nil}
	if answer.value != nil {
		result.StructuredContent = answer.value
	}
	return result, nil
}

// report tells a client every second that its request is worked on.
func report(ctx context.Context, client *mcp.ServerSession, progress mcp.ProgressNotificationParams) {
	progress.Progress++
	_ = client.NotifyProgress(ctx, &progress) // a client that doesn't listen misses it
	timer := time.AfterFunc(time.Second, func() { report(ctx, client, progress) })
	context.AfterFunc(ctx, func() { timer.Stop() })
}

// answer runs the command with the arguments of the request.
func (r *request) answer(ctx context.Context, arguments json.RawMessage) (answer reply, err error) {
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
	err = errors.Join(json.Unmarshal(arguments, &r.named), json.Unmarshal(arguments, &r.toolArguments))
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return reply{}, usageErr("%q can't be of the type %s: expected %s",
			strings.TrimPrefix(wrong.Field, "planArgument."),
			wrong.Value, jsonTypes[wrong.Type.Kind().String()])
	}
	err = unknownArgument(r.row.name(), r.named, slices.Sorted(maps.Keys(r.row.argumentSchemas())))
	if err == nil && r.row.tool != diffTool {
		err = r.invoke(ctx)
	}
	if err != nil && (!errors.As(err, &r.status) || r.status == statusError) {
		return reply{}, err
	}
	return r.row.tool.answer(r)
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

// invoke runs the command line that the arguments amount to.
func (r *request) invoke(ctx context.Context) (err error) {
	args := append([]string{r.row.name()}, strings.Fields(r.row.tool.fixed)...)
	root := r.rootCommand()
	cmd, _, err := root.Find(args[:1])
	r.server.cli.cmd.Flags().Visit(func(f *pflag.Flag) {
		isGlobal := root.PersistentFlags().Lookup(f.Name) != nil // which applies to the server's reading
		if !isGlobal && cmd.Flags().Lookup(f.Name) != nil {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	for _, name := range strings.Fields(r.row.tool.flags) {
		value, isGiven := r.named[argumentOf(name)]
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
	name := r.Code
	switch r.row.tool {
	case explainTool:
		args = append(args, "--", name)
	default:
		if r.documents, name, err = r.document(r.planArgument); err == nil {
			r.input, err = r.values("input", r.Input)
		}
		if err == nil {
			r.state, err = r.values("state", r.State)
		}
		args = append(args, "--", name)
	}
	if err != nil {
		return err
	}
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// values reads an object as a file of values would be: within their limits, and with whole numbers as such.
func (r *request) values(name string, value json.RawMessage) (map[string]any, error) {
	if value == nil {
		return nil, nil
	}
	return valuesOf("\""+name+"\"", source.NewFile(name+".json", value), r.server.reading.Limits)
}

// document is how the documents of a plan are read, and the plan's name among them.
func (r *request) document(given planArgument) (reading *project.Reader, name string, err error) {
	own := *r.server.reading
	own.Stdin, own.Texts, own.Passed = strings.NewReader(given.Plan), map[string]string{}, r.passed
	for _, named := range slices.Sorted(maps.Keys(given.Files)) {
		clean := path.Clean(filepath.ToSlash(named))
		switch {
		case !filepath.IsLocal(clean) || clean == ".":
			return nil, "", usageErr("\"files\" has %q, which isn't a path below the workspace's root", named).
				Advise("name it as the plan does, from the root")
		case slices.Contains([]string{workspace.Settings, policy.File}, path.Base(clean)):
			return nil, "", usageErr("\"files\" can't have %q: what says who is trusted is the workspace's own", named).
				Advise("leave it out; the workspace's is read")
		}
		own.Texts[clean] = given.Files[named]
	}
	switch {
	case given.Path != "" && given.Plan != "":
		err = usageErr("\"plan\" and \"path\" can't be given together: the one is a text, the other names a file")
	case given.Path != "" && !filepath.IsLocal(filepath.FromSlash(given.Path)):
		err = usageErr("%q isn't a path below the workspace's root", given.Path).
			Advise("name a file by its path from the root, or give its text as \"plan\"")
	case given.Path != "":
		name = filepath.Join(own.Root, filepath.FromSlash(given.Path))
		_, err = own.Text(name) // before anything else is looked at
	case given.Plan == "":
		err = usageErr("there is no plan").
			Advise("name a file of the workspace as \"path\", or, except for run, give a text as \"plan\"")
	default:
		name = "-"
	}
	return &own, name, err
}
