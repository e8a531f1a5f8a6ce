package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	random "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/sshkey"
)

// A workspace is the texts of a plan with all that it takes in, by their names.
type workspace map[string]string

// workspaceOf makes one up: a plan with calls of tools of its own, of an import, of a
// catalogue and of a file of activities, and of a delegate with a program of its own.
func workspaceOf(r *random.Rand) workspace {
	word := func() string { return fmt.Sprintf("w%d", r.IntN(1000)) }
	var calls strings.Builder
	paths := []string{"†input.start"}
	for i := range 5 + r.IntN(4) {
		tool := []string{"own", "imported", "listed", "named", "deep"}[r.IntN(5)]
		if i < 5 {
			tool = []string{"own", "imported", "listed", "named", "deep"}[i]
		}
		when := ""
		if i != 3 && r.IntN(3) == 0 {
			when = `, _when: "†input.start != 'no'"`
		}
		fmt.Fprintf(&calls, "- {_tool: %s, a: %s, b: literal %s%s, _outputPath: p%d}\n", tool, paths[0], word(), when, i)
		if when == "" && r.IntN(2) == 0 {
			paths[0] = fmt.Sprintf("†state.p%d", i)
		}
	}
	tool := func(name string) string {
		return fmt.Sprintf("  %s: {properties: {a: {type: string}, b: {type: string, maxLength: %d}, _output: {type: string}}, description: %s}\n", name, 20+r.IntN(50), word())
	}
	activity := func(name, program string) string {
		return fmt.Sprintf("  %s: {exec: {argv: [sh, %s, \"{a}\", %s]}}\n", name, program, word())
	}
	program := func() string { return fmt.Sprintf("echo '\"%s\"'\n", word()) }
	return workspace{
		"obelus.yaml":        "tools: catalogue.yaml\n",
		"obelus.policy.yaml": fmt.Sprintf("policy: %s\nrules:\n- {rule: few, bounds: {own: {b: {maxLength: %d}}}, allows: {own: {b: x}}, denies: {own: {b: \"%s\"}}}\n", word(), 80+r.IntN(10), strings.Repeat("y", 100)),
		"catalogue.yaml":     "tools:\n" + tool("listed") + "activities:\n" + activity("listed", "listed.sh"),
		"listed.sh":          program(),
		"plans/main.yaml": fmt.Sprintf("plan: main\nimport: [defs.yaml]\ninputSchema: {type: object, properties: {start: {$ref: \"#/schemas/start\"}}, required: [start]}\nschemas:\n  start: {type: string, maxLength: %d}\nlimits: {parallel: %d}\ntools:\n", 5+r.IntN(10), 1+r.IntN(5)) +
			tool("own") + tool("named") + strings.Replace(tool("deep"), "description", "_delegate: sub.yaml, description", 1) + "activities:\n" + activity("own", "own.sh") + "calls:\n" + calls.String() + "output: {last: †state.p0}\n",
		"plans/own.sh":      program(),
		"plans/defs.yaml":   "tools:\n" + tool("imported") + "activities:\n" + activity("imported", "imported.sh"),
		"plans/imported.sh": program(),
		"plans/sub.yaml":    "inputSchema: {type: object, properties: {a: {type: string}, b: {type: string}}}\ntools:\n" + tool("below") + "activities:\n" + activity("below", "below.sh") + "calls: [{_tool: below, a: †input.a, b: " + word() + ", _outputPath: x}]\noutput: †state.x\n",
		"plans/below.sh":    program(),
		"named.yaml":        "activities:\n" + activity("named", "named.sh"),
		"named.sh":          program(),
	}
}

// An edit changes one thing, and says in whose name that is told; nil texts change nothing
// that counts.
type edit struct {
	name, file, from, to string
	tells                []string
}

// edits are ways to change what decides what runs, one each.
var edits = []edit{
	{"a literal", "plans/main.yaml", "b: literal ", "b: Literal ", []string{"the plan is another"}},
	{"a call more", "plans/main.yaml", "calls:\n", "calls:\n- {_tool: own, a: x, b: y, _outputPath: more}\n", []string{"the plan is another"}},
	{"a condition", "plans/main.yaml", "{_tool: named,", "{_tool: named, _when: \"†input.start != 'never'\",", []string{"the plan is another"}},
	{"a limit", "plans/main.yaml", "limits: {", "limits: {calls: 900, ", []string{"the plan is another"}},
	{"the output", "plans/main.yaml", "output: {last:", "output: {first: †state.p1, last:", []string{"the plan is another"}},
	{"a named schema", "plans/main.yaml", "start: {type: string", "start: {minLength: 1, type: string", []string{`the schema "start" is another`}},
	{"a tool's schema", "plans/main.yaml", "own: {properties: {a: {type: string}", "own: {properties: {a: {type: [string, \"null\"]}", []string{`the tool "own" is another`}},
	{"a tool's annotations", "plans/main.yaml", "own: {properties:", "own: {annotations: {idempotentHint: true}, properties:", []string{`the tool "own" is another`}},
	{"an activity", "plans/main.yaml", `"{a}"`, `"{b}"`, []string{`the activity "own" is another`}},
	{"another program", "plans/main.yaml", "own.sh", "imported.sh", []string{`the activity "own" is another`}},
	{"an activity's environment", "plans/main.yaml", "exec: {argv", "exec: {env: {X: y}, argv", []string{`the activity "own" is another`}},
	{"a program", "plans/own.sh", "echo", "echo ", []string{`the program "own.sh" is another`}},
	{"an imported tool", "plans/defs.yaml", "type: string, maxLength", "minLength: 1, type: string, maxLength", []string{`the tool "imported" is another`}},
	{"an imported activity", "plans/defs.yaml", `"{a}"`, `"{b}"`, []string{`the activity "imported" is another`}},
	{"an imported program", "plans/imported.sh", "echo", "echo ", []string{`the program "imported.sh" is another`}},
	{"a delegate", "plans/sub.yaml", "a: †input.a", "a: †input.b", []string{`the plan of the delegate "sub.yaml" is another`}},
	{"a delegate's tool", "plans/sub.yaml", "maxLength: ", "minLength: 1, maxLength: ", []string{`the tool "below" of the delegate "sub.yaml" is another`}},
	{"a delegate's program", "plans/below.sh", "echo", "echo ", []string{`the program "below.sh"`, "is another"}},
	{"a catalogue's tool", "catalogue.yaml", "maxLength: ", "minLength: 1, maxLength: ", []string{`the tool "listed" is another`}},
	{"a catalogue's activity", "catalogue.yaml", `"{a}"`, `"{b}"`, []string{`the activity "listed" is another`}},
	{"a catalogue's program", "listed.sh", "echo", "echo ", []string{`the program "../listed.sh" is another`}},
	{"a named activity", "named.yaml", `"{a}"`, `"{b}"`, []string{`the activity "named" is another`}},
	{"a named activity's program", "named.sh", "echo", "echo ", []string{`the program "../named.sh" is another`}},
	{"the policy", "obelus.policy.yaml", "maxLength: 8", "maxLength: 7", []string{"the policy ", "is another"}},
	{"the policy is gone", "obelus.policy.yaml", "", "", []string{"the policy ", "is gone"}},
	{"a comment", "plans/main.yaml", "calls:\n", "# nothing\ncalls:\n\n", nil},
	{"a comment of an import", "plans/defs.yaml", "tools:\n", "# nothing\ntools:\n", nil},
	{"the order of keys", "plans/main.yaml", "properties: {a: {type: string}, b: {", "properties: {b: {", nil},
	{"JSON", "plans/main.yaml", "", "", nil},
}

// apply makes an edit; false where it doesn't apply.
func (e *edit) apply(w workspace) (workspace, bool) {
	changed := maps.Clone(w)
	text := w[e.file]
	switch {
	case e.name == "JSON":
		root, _ := source.Parse(source.NewFile("main.yaml", []byte(text)), source.DefaultLimits())
		written, err := json.MarshalIndent(root.Value(), "", " ")
		changed["plans/main.yaml"] = string(written) // JSON is YAML
		return changed, err == nil
	case e.name == "the order of keys":
		at := strings.Index(text, "a: {type: string}, ")
		end := strings.Index(text[at:], "}, _output")
		changed[e.file] = text[:at] + text[at+len("a: {type: string}, "):at+end+1] + ", a: {type: string}" + text[at+end+1:]
	case e.from == "":
		delete(changed, e.file)
	default:
		changed[e.file] = strings.Replace(text, e.from, e.to, 1)
	}
	return changed, changed[e.file] != text
}

// prepare writes a workspace and reads its plan.
func (w workspace) prepare(t *testing.T, folder string) *project.Program {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	for name, text := range w {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	reader := &project.Reader{Activities: []string{filepath.Join(folder, "named.yaml")}}
	d, err := reader.One(filepath.Join(folder, "plans", "main.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := d.Check()
	if p.Verified == nil {
		t.Fatalf("%s\n%s", p.Findings[0].Message, w["plans/main.yaml"])
	}
	return p
}

// EXECUTION.md#approved-runs: whatever of what decides what runs becomes another, a run under the old
// approval refuses before anything starts and names it; what is only layout, and another
// input, is no reason to.
func TestTamperedPlansAreRefused(t *testing.T) {
	key := sshkey.Of(t, "alice")
	signers, err := approval.ReadSigners("signers", []byte(key.Line("alice")))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "workspace")
	counts := map[string]int{}
	for seed := range amount.Of(4, 25, 300) {
		r := random.New(random.NewPCG(uint64(seed), 16))
		w := workspaceOf(r)
		parts, err := approval.Parts(w.prepare(t, folder).Plan)
		if err != nil {
			t.Fatal(err)
		}
		a, err := approval.New(parts, approval.Predicate{Signer: "alice", Made: time.Now()})
		if err == nil {
			err = a.Sign(key)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := a.Text()
		if err != nil {
			t.Fatal(err)
		}
		begin := func(p *project.Program) error {
			s, err := session.Begin(p, session.Options{
				Options:  runtime.Options{Input: map[string]any{"start": fmt.Sprint("s", seed)}},
				Approval: &session.Approval{Text: text, Judge: approval.Judge{Signers: signers, Now: time.Now()}},
			})
			if err == nil {
				err = s.Close()
			}
			return err
		}
		for i := range edits {
			e := &edits[i]
			changed, ok := e.apply(w)
			if !ok {
				continue
			}
			counts[e.name]++
			switch err := begin(changed.prepare(t, folder)); {
			case e.tells == nil:
				if err != nil {
					t.Errorf("seed %d, %s: %v", seed, e.name, err)
				}
			case !errors.Is(err, session.ErrUnapproved):
				t.Errorf("seed %d, %s: it isn't refused: %v", seed, e.name, err)
			case slices.ContainsFunc(e.tells, func(text string) bool { return !strings.Contains(err.Error(), text) }):
				t.Errorf("seed %d, %s: %v", seed, e.name, err)
			}
		}
		if t.Failed() {
			t.Fatalf("the workspace of seed %d:\n%s", seed, w["plans/main.yaml"])
		}
	}
	for i := range edits {
		if counts[edits[i].name] == 0 {
			t.Errorf("%s: never tried", edits[i].name)
		}
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%d %s; ", counts[name], name)
	}
	t.Log(b.String())
}
