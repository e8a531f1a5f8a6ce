package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/runtime/project"
)

// The arguments of the tools. The descriptions are what a model reads.
type (
	planGiven struct {
		Plan  string            `json:"plan,omitempty" jsonschema:"the text of the plan, in YAML or JSON"`
		Path  string            `json:"path,omitempty" jsonschema:"in place of plan: a file of the workspace, by its path from the root"`
		Files map[string]string `json:"files,omitempty" jsonschema:"texts of files that the plan imports, by their paths from the root; they exist for this request alone and replace files of these names"`
	}
	pageGiven struct {
		First int `json:"first,omitempty" jsonschema:"how many entries to skip, to see what was left out before"`
		Most  int `json:"most,omitempty" jsonschema:"how many entries to show, 20 unless given, 200 at most"`
	}
	checkGiven struct {
		planGiven
		pageGiven
		strictFlag
	}
	explainGiven struct {
		Code string `json:"code,omitempty" jsonschema:"a finding's code or name, such as OB401; without it all findings are listed"`
	}
	graphGiven struct {
		planGiven
		drawnFlags
		Format string `json:"format,omitempty" jsonschema:"text, which is the default, or mermaid"`
	}
	// valuesGiven are input and state of a run or a simulation.
	valuesGiven struct {
		Input map[string]any `json:"input,omitempty" jsonschema:"input values, over the plan's own"`
		State map[string]any `json:"state,omitempty" jsonschema:"a state to start from, over the plan's own"`
		concurrencyFlag
	}
	simulateGiven struct {
		planGiven
		pageGiven
		valuesGiven
		chancesFlags
		Seed *int `json:"seed,omitempty" jsonschema:"decides what is left to chance; 1 unless given"`
	}
	compatGiven struct {
		Producer any `json:"producer" jsonschema:"a JSON Schema"`
		Consumer any `json:"consumer" jsonschema:"the JSON Schema that is to accept every value of the producer's"`
	}
	diffGiven struct {
		pageGiven
		Old planGiven `json:"old" jsonschema:"the plan as it was"`
		New planGiven `json:"new" jsonschema:"the plan as it is now"`
	}
	runGiven struct {
		pageGiven
		valuesGiven
		Path   string `json:"path" jsonschema:"a file of the workspace, by its path from the root; its approval is beside it"`
		Digest string `json:"digest,omitempty" jsonschema:"run only the plan with this digest"`
	}
)

// A reply is what a tool says: the structured form, and the same for who reads text.
type reply struct {
	value map[string]any
	text  string
}

// An asked is one request, carried out as a command of its own whose output is kept.
type asked struct {
	*cli
	ctx     context.Context
	server  *mcpServer
	said    bytes.Buffer         // what the command writes
	notes   bytes.Buffer         // and what it says of its work
	advance func(message string) // reports progress to the client
}

// What agents are offered.
var (
	checkTool = offered("Find faults in a plan before it runs: what it can't mean, reads that nobody writes, values "+
		"that don't fit, calls that write over each other. Nothing is run.", findingsSchema, (*asked).mcpCheck)
	explainTool = offered("Print what a finding means, with a failing and a fixed plan.", explainedSchema, (*asked).mcpExplain)
	graphTool   = offered("Draw which call of a plan waits for which, and the paths that data takes, as text or Mermaid. "+
		"Plans with errors are drawn, too.", drawnSchema, (*asked).mcpGraph)
	diffTool = offered("Compare what two plans do, whatever their layout: calls, where values come from, what waits for "+
		"what, what leaves the machine, and worst cases.", differencesSchema, (*asked).mcpDiff)
	compatTool = offered("Report whether every value of one JSON Schema fits another: fits, never, may-not-fit (with a "+
		"value that shows it) or unknown (with the reason).", comparedSchema, (*asked).mcpCompat)
	simulateTool = offered("Simulate a plan on a virtual clock, with results made up from what its tools declare: the order, "+
		"what runs in parallel, the time and the cost, the final state, what is skipped and why. Nothing is run but "+
		"expressions.", simulatedSchema, (*asked).mcpSimulate)
	runTool = offered("Run a plan of the workspace that people have approved, exactly as it was approved. Anything else "+
		"stops it, and nobody is asked.", ranSchema, (*asked).mcpRun)
)

// An offer adds a command to the tools of a server.
type offer func(s *mcpServer, to *mcp.Server, name string)

// addTools adds the commands that agents are offered.
func (s *mcpServer) addTools(to *mcp.Server) {
	for _, group := range table() {
		for _, row := range group.rows {
			if name, _, _ := strings.Cut(row.use, " "); row.tool != nil && (name != "run" || s.allowRun) {
				row.tool(s, to, name)
			}
		}
	}
}

// offered describes a command to agents, with the schema of what it answers.
func offered[In any](about, schema string, do func(*asked, In) (reply, error)) offer {
	return func(s *mcpServer, to *mcp.Server, name string) {
		runs := name == "run"
		open, room := runs, s.busy
		if runs {
			room = s.runs
		}
		tool := &mcp.Tool{Name: name, Description: about, OutputSchema: json.RawMessage(schema),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !runs, IdempotentHint: !runs, DestructiveHint: &runs, OpenWorldHint: &open}}
		mcp.AddTool(to, tool, func(ctx context.Context, request *mcp.CallToolRequest, in In) (result *mcp.CallToolResult, value any, err error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.ctx, cancel)()
			select {
			case room <- struct{}{}:
				defer func() { <-room }()
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
			a := s.asked(ctx, request)
			defer func() {
				if bug := recover(); bug != nil {
					a.notes.Reset()
					a.reportPanic(bug)
					result, value, err = refused(a.notes.String()), nil, nil
				}
			}()
			said, err := do(a, in)
			switch {
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case err != nil:
				return refused(a.why(err)), nil, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said.text}}}, said.value, nil
		})
	}
}

// asked begins a request.
func (s *mcpServer) asked(ctx context.Context, request *mcp.CallToolRequest) *asked {
	a := &asked{ctx: ctx, server: s, advance: func(string) {}}
	a.cli = &cli{in: strings.NewReader(""), out: &a.said, err: &a.notes, globals: globals{Runs: s.cli.Runs}}
	token := request.Params.GetProgressToken()
	if token == nil {
		return a
	}
	done, sent := 0, time.Time{}
	a.advance = func(message string) {
		if done++; time.Since(sent) < pause {
			return
		}
		sent = time.Now()
		_ = request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(done), Message: message}) // who doesn't listen misses it
	}
	return a
}

func refused(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// why words what kept a request from being answered: the findings that were shown of a plan
// that has errors, or trouble and what to do about it.
func (a *asked) why(err error) string {
	var ended ending
	if errors.As(err, &ended) {
		lines, _ := a.lines()
		if text, left := shownFindings(lines, pageGiven{}); text != "" {
			return "there are errors:\n" + text + left.words("check shows them")
		}
		return "there is no answer"
	}
	text, help := err.Error(), ""
	var t *diag.UserError
	if errors.As(err, &t) {
		text, help = t.Message, t.Help
	}
	if help != "" {
		help = "\n  help: " + diag.Escape(help)
	}
	return a.server.named(diag.Escape(text) + help)
}

// below is what the names of the workspace's files begin with here, and not for clients.
func (s *mcpServer) below() string {
	return strings.TrimSuffix(s.reading.Root, string(filepath.Separator)) + string(filepath.Separator)
}

// named is a text in which the workspace's files are named as clients do.
func (s *mcpServer) named(text string) string { return strings.ReplaceAll(text, s.below(), "") }

// lines are what a command wrote for programs, an object a line, the summary apart. Of objects that
// are too large for an answer of several there is the beginning.
func (a *asked) lines() (all []map[string]any, summary map[string]any) {
	below, _ := json.Marshal(a.server.below())
	from := append([]byte(`"file":`), below[:len(below)-1]...)
	for line := range bytes.Lines(bytes.ReplaceAll(a.said.Bytes(), from, []byte(`"file":"`))) {
		var object map[string]any
		if json.Unmarshal(line, &object) != nil {
			continue
		}
		if object["kind"] == "summary" {
			summary = object
			continue
		}
		if len(line) > mostAnswer/4 {
			reduced(object)
		}
		all = append(all, object)
	}
	return all, summary
}

// What one answer holds.
const (
	usualEntries = 20
	mostEntries  = 200
	mostAnswer   = 64 << 10 // bytes of entries
)

// leftOut is how many entries an answer hasn't, and from which on to ask for them.
type leftOut struct{ count, next int }

func (l leftOut) words(how string) string {
	if l.count == 0 {
		return ""
	}
	return fmt.Sprintf("… and %d more: %s\n", l.count, cmp.Or(how, fmt.Sprintf("ask again with first: %d", l.next)))
}

// in notes in an answer what it hasn't.
func (l leftOut) in(value map[string]any) map[string]any {
	if l.count > 0 {
		value["leftOut"], value["next"] = l.count, l.next
	}
	return value
}

// portion is the part of a list that is asked for, as much as an answer holds.
func portion[T any](all []T, p pageGiven) ([]T, leftOut) {
	from := min(max(0, p.First), len(all))
	most := min(mostEntries, cmp.Or(max(0, p.Most), usualEntries))
	to := from
	for size := 0; to < len(all) && to-from < most; to++ {
		text, _ := json.Marshal(all[to]) // all of it is JSON
		if size += len(text); size > mostAnswer && to > from {
			break
		}
	}
	return diag.Listed(all[from:to]), leftOut{len(all) - to, to}
}

// reads says how the documents of a request are read, and under which name the plan stands.
func (a *asked) reads(given planGiven) (r *project.Reader, name string, err error) {
	r = a.newReading()
	passed := r.Passed
	*r = *a.server.reading
	r.Passed, r.Stdin, r.Texts = passed, strings.NewReader(given.Plan), map[string]string{}
	for _, named := range slices.Sorted(maps.Keys(given.Files)) {
		clean := path.Clean(filepath.ToSlash(named))
		if !filepath.IsLocal(clean) || clean == "." {
			return nil, "", diag.NewError(project.ErrOutside, "\"files\" has %q, which isn't a path below the workspace's root", named).Advise("name it as the plan does, from the root")
		}
		if slices.Contains([]string{workspace.Settings, policy.File}, path.Base(clean)) {
			return nil, "", usageErr("\"files\" can't have %q: what says who is trusted is the workspace's own", named).Advise("leave it out; the workspace's is read")
		}
		r.Texts[clean] = given.Files[named]
	}
	switch {
	case given.Path != "" && given.Plan != "":
		return nil, "", usageErr("\"plan\" and \"path\" can't be given together: the one is a text, the other names a file")
	case given.Path != "" && !filepath.IsLocal(filepath.FromSlash(given.Path)):
		return nil, "", diag.NewError(project.ErrOutside, "%q isn't a path below the workspace's root", given.Path).Advise("name a file by its path from the root, or give its text as \"plan\"")
	case given.Path != "":
		name = filepath.Join(r.Root, filepath.FromSlash(given.Path))
		_, err = r.Text(name) // before anything else is looked at
		return r, name, err
	case given.Plan == "":
		return nil, "", usageErr("there is no plan").Advise("give its text as \"plan\", or a file of the workspace as \"path\"")
	}
	return r, "-", nil
}

func (a *asked) mcpCheck(in checkGiven) (reply, error) {
	r, name, err := a.reads(in.planGiven)
	if err != nil {
		return reply{}, err
	}
	r.Strict = in.Strict
	var ended ending
	if err := a.checkFiles(&checking{reading: r, Format: "json"}, []project.Named{{Name: name}}); err != nil && !errors.As(err, &ended) {
		return reply{}, err
	}
	lines, summary := a.lines()
	text, left := shownFindings(lines, in.pageGiven)
	shown, _ := portion(lines, in.pageGiven)
	counts, _ := json.Marshal(summary)
	text += left.words("") + diag.Escape(string(counts))
	return reply{left.in(map[string]any{"findings": shown, "summary": summary}), text}, nil
}

// shownFindings are findings as text, a line each and their help.
func shownFindings(lines []map[string]any, p pageGiven) (string, leftOut) {
	shown, left := portion(lines, p)
	var text strings.Builder
	for _, line := range shown {
		file, _ := line["file"].(string)
		if start, ok := line["start"].(map[string]any); ok && file != "" {
			fmt.Fprintf(&text, "%s:%v:%v: ", diag.Escape(file), start["line"], start["column"])
		}
		message, _ := line["message"].(string)
		fmt.Fprintf(&text, "%s %s: %s\n", line["severity"], line["code"], diag.Escape(message))
		if help, ok := line["help"].(string); ok {
			fmt.Fprintf(&text, "  help: %s\n", diag.Escape(help))
		}
	}
	return text.String(), left
}

func (a *asked) mcpExplain(in explainGiven) (reply, error) {
	err := explain(a.ctx, a.cli, []string{in.Code})
	return reply{map[string]any{"page": a.said.String()}, a.said.String()}, err
}

func (a *asked) mcpGraph(in graphGiven) (reply, error) {
	form := cmp.Or(in.Format, "text")
	if form != "text" && form != "mermaid" {
		return reply{}, usageErr("\"format\" can't be %q: expected text or mermaid", in.Format)
	}
	r, name, err := a.reads(in.planGiven)
	if err != nil {
		return reply{}, err
	}
	p, err := a.prepared(name, r)
	if err == nil && p.Plan.Root == nil {
		err = a.faultyPlan(p, "json", statusFound)
	}
	if err != nil {
		return reply{}, err
	}
	view, err := viewOf(p, in.options(), in.Labels)
	if err != nil {
		return reply{}, err
	}
	drawing := dot.Formats[form](view)
	if len(drawing) > mostAnswer {
		return reply{}, usageErr("the drawing is too large for an answer: %d bytes", len(drawing)).Advise("draw what is near one call (\"focus\")")
	}
	return reply{map[string]any{"format": form, "drawing": drawing}, drawing}, nil
}

func (a *asked) mcpCompat(in compatGiven) (reply, error) {
	pair, err := json.Marshal(map[string]any{"sub": in.Producer, "super": in.Consumer})
	if err != nil {
		return reply{}, err
	}
	r := a.newReading()
	r.Limits = a.server.reading.Limits
	file := source.NewFile("schemas.json", pair)
	j := judge{cli: a.cli, reading: r, json: true}
	ruling, found := j.line(file)
	if diag.HasErrors(found) {
		if err := diag.JSON(&a.said, found); err != nil {
			return reply{}, err
		}
		return reply{}, ending(statusError)
	}
	var text bytes.Buffer
	if err := errors.Join(ruling.writeJSON(&a.said), ruling.writeText(&text, terminal.StyleFor(&text))); err != nil {
		return reply{}, err
	}
	var verdict map[string]any
	if err := json.Unmarshal(a.said.Bytes(), &verdict); err != nil {
		return reply{}, err
	}
	verdict["witness"] = shortened(verdict["witness"])
	return reply{verdict, wording.Cut(text.String(), mostAnswer)}, nil
}

func (a *asked) mcpDiff(in diffGiven) (reply, error) {
	var sides [2]side
	for i, given := range []planGiven{in.Old, in.New} {
		r, name, err := a.reads(given)
		if err != nil {
			return reply{}, err
		}
		if sides[i], err = a.compared(name, r, "json"); err != nil {
			return reply{}, err
		}
	}
	differs := facts.Compare(sides[0].facts, sides[1].facts)
	a.said.Write(renderDiff(differs, sides, "json"))
	lines, summary := a.lines()
	shown, left := portion(lines, in.pageGiven)
	return reply{left.in(map[string]any{"differences": shown, "summary": summary}), a.server.named(wording.Cut(string(renderDiff(differs, sides, "text")), mostAnswer)) + left.words("")}, nil
}
