package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/pflag"
)

// A request is one invocation of a command, whose output is kept.
type request struct {
	*cli
	toolArguments
	named  map[string]json.RawMessage // all arguments
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
	if token := call.Params.GetProgressToken(); token != nil {
		report(ctx, call.Session, mcp.ProgressNotificationParams{ProgressToken: token, Message: row.name() + " runs"})
	}
	r := &request{server: s, row: row}
	r.cli = &cli{
		in: strings.NewReader(""), out: terminal.NewScreen(&r.output), err: terminal.NewScreen(&r.notes),
		globals: globals{Runs: s.cli.Runs},
		watch:   func(int) bool { return ctx.Err() == nil },
	}
	answer, text, failed := r.reply(r.invoke(ctx, cmp.Or(string(call.Params.Arguments), "{}")))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	content := []mcp.Content{&mcp.TextContent{Text: wording.Cut(text, 2*mostAnswer)}}
	result := &mcp.CallToolResult{Content: content, IsError: failed}
	if answer != nil {
		value, err := diag.Encode(answer, "")
		if err != nil {
			return nil, err
		}
		result.StructuredContent = json.RawMessage(diag.EscapeJSON(value))
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
func (r *request) invoke(ctx context.Context, arguments string) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			r.notes.Reset()
			r.reportPanic(bug)
			err = ending(statusError)
		}
	}()
	err = errors.Join(json.Unmarshal([]byte(arguments), &r.named), json.Unmarshal([]byte(arguments), &r.toolArguments))
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return usageErr("%q can't be of the type %s: expected %s", strings.TrimPrefix(wrong.Field, "planArgument."),
			wrong.Value, jsonTypes[wrong.Type.Kind().String()])
	}
	args := append([]string{r.row.name()}, strings.Fields(r.row.tool.fixed)...)
	err = unknownArgument(args[0], r.named, slices.Sorted(maps.Keys(r.row.argumentSchemas())))
	if err != nil {
		return err
	}
	root := r.rootCommand()
	cmd, _, err := root.Find(args[:1])
	r.server.cli.cmd.Flags().Visit(func(f *pflag.Flag) {
		isGlobal := root.PersistentFlags().Lookup(f.Name) != nil // which applies to the server's reading
		if !isGlobal && cmd.Flags().Lookup(f.Name) != nil {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	for _, name := range strings.Fields(r.row.tool.flags) {
		value, isGiven := r.named[name]
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
	switch r.row.tool {
	case explainTool:
		args = append(args, r.Code)
	case diffTool:
		for _, name := range []string{"old", "new"} {
			var given map[string]json.RawMessage
			_ = json.Unmarshal(r.named[name], &given) // it is read as a plan, too
			err = cmp.Or(err, unknownArgument(name, given, []string{"plan", "path"}))
		}
		for _, given := range []planArgument{r.Old, r.New} {
			if err == nil {
				err = r.document(given, &args)
			}
		}
	default:
		if err = r.document(r.planArgument, &args); err == nil {
			r.input, err = r.values("input", r.Input)
		}
		if err == nil {
			r.state, err = r.values("state", r.State)
		}
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
	return valuesOf("\""+name+"\"", source.NewFile(name+".json", value))
}

// document adds how the documents of a plan are read, and the plan's name among them.
func (r *request) document(given planArgument, args *[]string) (err error) {
	own, name := *r.server.reading, "-"
	own.Stdin, own.Passed = strings.NewReader(given.Plan), r.passed
	switch {
	case given.Path != "" && given.Plan != "":
		return usageErr("\"plan\" and \"path\" can't be given together: the one is a text, the other names a file")
	case given.Path != "" && !filepath.IsLocal(filepath.FromSlash(given.Path)):
		return usageErr("%q isn't a path below the workspace's root", given.Path).
			Advise("name a file by its path from the root, or give its text as \"plan\"")
	case given.Path != "":
		name = filepath.Join(own.Root, filepath.FromSlash(given.Path))
		_, err = own.Text(name) // before anything else is looked at
	case given.Plan == "":
		return usageErr("there is no plan").
			Advise("name a file of the workspace as \"path\", or, except for run, give a text as \"plan\"")
	}
	r.documents, *args = append(r.documents, &own), append(*args, name)
	return err
}
