package project_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/testdata/amount"
)

type (
	object = map[string]any
	list   = []any
)

// A tampering is a workspace that is made up: a plan with imports, delegates, a catalogue,
// a file of activities, and the programs that they start.
type tampering struct {
	chance   *rand.Rand
	files    map[string]any    // documents, by their paths
	programs map[string]string // texts, by their paths
}

func (w *tampering) word() string { return fmt.Sprintf("w%d", w.chance.IntN(1_000_000)) }

func (w *tampering) tool() object {
	return object{"properties": object{"x": object{"type": "string"}}, "description": w.word(), "_output": object{"$ref": "#/schemas/S"}}
}

// program is an activity that starts a program beside the file that defines it, which
// its argv names in one of the ways that argvs do.
func (w *tampering) program(folder, name string) object {
	file := name + ".sh"
	w.programs[filepath.Join(folder, file)] = "#!/bin/sh\n# " + w.word() + "\necho '\"ok\"'\n"
	w.programs[filepath.Join(folder, "data.txt")] = w.word()
	exec := object{"argv": list{"sh", "-c", ": && ./" + file + " > data.txt; :"}, "env": object{"MODE": w.word()}}
	if n := w.chance.IntN(5); n == 4 {
		exec["files"] = list{[]string{folder + "/" + file, "**/" + file, folder + "/" + name + ".s?"}[w.chance.IntN(3)]}
	} else {
		exec["argv"] = []list{{"sh", file}, {"./" + file}, {"env", "X=" + file, "sh", file}, {"sh", "./x/../" + file, "{x}"}}[n]
	}
	return object{"exec": exec, "annotations": object{"readOnlyHint": true}}
}

func newTampering(seed uint64) *tampering {
	w := &tampering{chance: rand.New(rand.NewPCG(seed, 66)), programs: map[string]string{}}
	call := func(tool string) object {
		return object{"_tool": tool, "x": w.word(), "_outputPath": "†state." + w.word()}
	}
	schemas := object{"S": object{"type": "string"}}
	plan := func(folder, imports string, tools ...string) object {
		p := object{"plan": w.word(), "calls": list{}, "import": list{imports}, "state": object{"held": w.word()}}
		for _, tool := range tools {
			for range 1 + w.chance.IntN(2) {
				p["calls"] = append(p["calls"].(list), call(tool))
			}
		}
		w.chance.Shuffle(len(p["calls"].(list)), func(i, j int) {
			calls := p["calls"].(list)
			calls[i], calls[j] = calls[j], calls[i]
		})
		return p
	}
	w.files = map[string]any{
		"plans/plan.yaml":     plan("plans", "../lib/tools.yaml", "own", "imported", "listed", "run", "overlaid"),
		"lib/tools.yaml":      object{"tools": object{"imported": w.tool()}, "activities": object{"imported": w.program("lib", "imported")}, "schemas": schemas},
		"plans/sub/one.yaml":  plan("plans/sub", "more.yaml", "more", "deeper", "listed"),
		"plans/sub/more.yaml": object{"tools": object{"more": w.tool()}, "activities": object{"more": w.program("plans/sub", "more")}, "schemas": schemas},
		"deep/two.yaml":       object{"calls": list{call("inner")}, "tools": object{"inner": w.tool()}, "schemas": schemas, "activities": object{"inner": w.program("deep", "inner")}, "output": w.word()},
		"obelus.yaml":         object{"tools": list{"cat/catalogue.yaml"}},
		"cat/catalogue.yaml":  object{"tools": object{"listed": w.tool()}, "activities": object{"listed": w.program("cat", "listed")}, "schemas": object{"S": object{"type": "string"}, "T": object{"const": w.word()}}},
		"ops/prod.yaml":       object{"activities": object{"overlaid": w.program("ops", "overlaid")}},
	}
	top := w.at("plans/plan.yaml")
	top["tools"], top["schemas"] = object{"own": w.tool(), "overlaid": w.tool()}, object{"S": object{"type": "string"}, "Mine": object{"enum": list{w.word()}}}
	top["activities"] = object{"own": w.program("plans", "own"), "run": object{"plan": "sub/one.yaml"}, "overlaid": w.program("plans", "unused")}
	w.at("plans/sub/one.yaml")["activities"] = object{"deeper": object{"plan": "../../deep/two.yaml"}}
	return w
}

func (w *tampering) at(path ...string) object {
	at := w.files[path[0]].(object)
	for _, key := range path[1:] {
		at = at[key].(object)
	}
	return at
}

// A change is one thing that decides what runs, or doesn't, and what is said to be
// another then.
type change struct {
	what string
	do   func(w *tampering)
	part string
}

func changes(w *tampering) []change {
	set := func(key string, value any, path ...string) func(*tampering) {
		return func(w *tampering) { w.at(path...)[key] = value }
	}
	program := func(path string) func(*tampering) {
		return func(w *tampering) { w.programs[path] += "exit\n" }
	}
	calls := w.at("plans/plan.yaml")["calls"].(list)
	one := w.chance.IntN(len(calls))
	return []change{
		{"a value of a call", func(w *tampering) { w.at("plans/plan.yaml")["calls"].(list)[one].(object)["x"] = "another" }, "the plan is another"},
		{"a condition of a call", func(w *tampering) { w.at("plans/plan.yaml")["calls"].(list)[one].(object)["_when"] = "†state.held" }, "the plan is another"},
		{"a call more", func(w *tampering) {
			w.at("plans/plan.yaml")["calls"] = append(w.at("plans/plan.yaml")["calls"].(list), object{"_tool": "own", "x": "y", "_outputPath": "z"})
		}, "the plan is another"},
		{"the plan's state", set("held", "another", "plans/plan.yaml", "state"), "the plan is another"},
		{"the plan's limits", set("limits", object{"calls": 7.0}, "plans/plan.yaml"), "the plan is another"},
		{"a tool of the plan", set("description", "another", "plans/plan.yaml", "tools", "own"), `the tool "own" is another`},
		{"a schema of the plan", set("Mine", object{"enum": list{"another"}}, "plans/plan.yaml", "schemas"), `the schema "Mine" is another`},
		{"an activity of the plan", set("stdout", "text", "plans/plan.yaml", "activities", "own", "exec"), `the activity "own" is another`},
		{"an activity's folder", func(w *tampering) {
			set("cwd", "sub", "plans/plan.yaml", "activities", "own", "exec")(w)
		}, `the activity "own" is another`},
		{"a tool of an import", set("description", "another", "lib/tools.yaml", "tools", "imported"), `the tool "imported" is another`},
		{"a schema of an import", set("Theirs", object{"enum": list{"new"}}, "lib/tools.yaml", "schemas"), `the schema "Theirs" is new`},
		{"an activity of an import", set("env", object{"MODE": "other"}, "lib/tools.yaml", "activities", "imported", "exec"), `the activity "imported" is another`},
		{"a tool of a catalogue", set("description", "another", "cat/catalogue.yaml", "tools", "listed"), `the tool "listed" is another`},
		{"a tool more of a catalogue", set("further", w.tool(), "cat/catalogue.yaml", "tools"), `the tool "further" is new`},
		{"a schema of a catalogue", set("T", object{"const": "another"}, "cat/catalogue.yaml", "schemas"), `the schema "T" is another`},
		{"an activity of a catalogue", set("timeout", "7s", "cat/catalogue.yaml", "activities", "listed", "exec"), `the activity "listed" is another`},
		{"no catalogue", set("tools", list{}, "obelus.yaml"), `the tool "listed" is gone`},
		{"a file of activities", set("stdin", "none", "ops/prod.yaml", "activities", "overlaid", "exec"), `the activity "overlaid" is another`},
		{"a value of a delegate", func(w *tampering) { w.at("plans/sub/one.yaml")["calls"].(list)[0].(object)["x"] = "another" }, `the plan of the delegate "sub/one.yaml" is another`},
		{"a tool of a delegate's import", set("description", "another", "plans/sub/more.yaml", "tools", "more"), `the tool "more" of the delegate "sub/one.yaml" is another`},
		{"a delegate's delegate", set("output", "another", "deep/two.yaml"), `the plan of the delegate "../deep/two.yaml" is another`},
		{"another delegate", set("plan", "../deep/two.yaml", "plans/plan.yaml", "activities", "run"), `the delegate "sub/one.yaml" is gone`},
		{"a program of the plan", program("plans/own.sh"), `the program "own.sh" is another`},
		{"a program of an import", program("lib/imported.sh"), `the program "../lib/imported.sh" is another`},
		{"a program of a catalogue", program("cat/listed.sh"), `the program "../cat/listed.sh" is another`},
		{"a program of a file of activities", program("ops/overlaid.sh"), `the program "../ops/overlaid.sh" is another`},
		{"a program of a delegate", program("plans/sub/more.sh"), `the program "more.sh" of the delegate "sub/one.yaml" is another`},
		{"a program of a delegate's delegate", program("deep/inner.sh"), `the program "inner.sh" of the delegate "../deep/two.yaml" is another`},
		{"a program that is gone", func(w *tampering) { delete(w.programs, "cat/listed.sh") }, `the program "../cat/listed.sh" is gone`},

		{"a file that is data", program("lib/data.txt"), ""},
		{"layout", func(*tampering) {}, ""},
		{"settings that decide nothing", set("rules", object{"OB608": "off"}, "obelus.yaml"), ""},
		{"a file that nobody names", func(w *tampering) { w.programs["lib/other.sh"] = w.word() }, ""},
		{"an activity that another takes the place of", set("stdout", "text", "plans/plan.yaml", "activities", "overlaid", "exec"), ""},
	}
}

// written writes a value as YAML in blocks, in a flow or as JSON, with the keys in any
// order, and with comments where there may be some.
func (w *tampering) written(chance *rand.Rand, v any) string {
	if chance.IntN(3) == 0 {
		text, _ := json.MarshalIndent(v, "", strings.Repeat(" ", chance.IntN(4)))
		return string(text) + "\n"
	}
	var b strings.Builder
	var write func(v any, indent string)
	write = func(v any, indent string) {
		scalar := func(v any) string { text, _ := json.Marshal(v); return string(text) }
		below := func(v any) {
			switch v := v.(type) {
			case object:
				if len(v) > 0 && chance.IntN(4) > 0 {
					b.WriteString("\n")
					write(v, indent+"  ")
					return
				}
			case list:
				if len(v) > 0 && chance.IntN(4) > 0 {
					b.WriteString("\n")
					write(v, indent+"  ")
					return
				}
			}
			b.WriteString(" " + scalar(v) + "\n")
		}
		if chance.IntN(3) == 0 {
			b.WriteString(indent + "# " + w.word() + "\n")
		}
		switch v := v.(type) {
		case object:
			keys := slices.Sorted(maps.Keys(v))
			chance.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for _, key := range keys {
				b.WriteString(indent + scalar(key) + ":")
				below(v[key])
			}
		case list:
			for _, item := range v {
				b.WriteString(indent + "-")
				below(item)
			}
		}
	}
	write(v, "")
	return b.String()
}

// put writes the workspace into a folder, laid out anew.
func (w *tampering) put(t *testing.T, folder string, chance *rand.Rand) {
	t.Helper()
	texts := maps.Clone(w.programs)
	for name, file := range w.files {
		texts[name] = w.written(chance, file)
	}
	for name, text := range texts {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func checkedIn(t *testing.T, folder, plan string, activities ...string) *project.Program {
	t.Helper()
	r := &project.Reader{Root: folder, Activities: activities}
	d, err := r.One(filepath.Join(folder, plan))
	if err != nil {
		t.Fatal(err)
	}
	p := d.Check()
	if p.Verified == nil {
		text, _ := os.ReadFile(filepath.Join(folder, plan))
		t.Fatalf("%s\n%s", p.Findings[0].Message, text)
	}
	return p
}

// LANGUAGE.md#compiled-plans-and-digests: whatever one changes that decides what runs, wherever it stands, the digest is
// another, the parts say which of them it is, and the digest that was demanded is
// refused; whatever else one changes, it isn't. The compiled plan has the same digest,
// compiles to the same bytes, and does so elsewhere with nothing but its programs.
func TestWhatDecidesIsInTheDigest(t *testing.T) {
	tried := map[string]int{}
	for seed := range uint64(amount.Of(4, 15, 300)) {
		top := t.TempDir()
		w := newTampering(seed)
		before := filepath.Join(top, "before")
		w.put(t, before, w.chance)
		p := checkedIn(t, before, "plans/plan.yaml", filepath.Join(before, "ops/prod.yaml"))
		digest, err := canonical.Digest(p.Plan)
		if err != nil {
			t.Fatal(err)
		}
		parts, _ := p.Plan.Parts()
		w.compiled(t, p, digest, top)
		for i, change := range changes(w) {
			var copied tampering
			copied.chance, copied.programs = w.chance, maps.Clone(w.programs)
			text, _ := json.Marshal(w.files)
			if err := json.Unmarshal(text, &copied.files); err != nil {
				t.Fatal(err)
			}
			change.do(&copied)
			after := filepath.Join(top, fmt.Sprint(i))
			copied.put(t, after, w.chance)
			if err := os.MkdirAll(filepath.Join(after, "plans/sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			r := &project.Reader{Root: after, Activities: []string{filepath.Join(after, "ops/prod.yaml")}}
			d, err := r.One(filepath.Join(after, "plans/plan.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			now := d.Compile()
			is, err := canonical.Digest(now.Plan)
			if err != nil {
				t.Fatal(err)
			}
			those, _ := now.Plan.Parts()
			changed := canonical.Changed(parts, those)
			switch refused := now.Demand(digest); {
			case change.part == "" && (is != digest || len(changed) > 0 || refused != nil):
				t.Errorf("seed %d: %s: it is another: %q, %v", seed, change.what, changed, refused)
			case change.part != "" && (is == digest || refused == nil || !strings.Contains(refused.Error(), is)):
				t.Errorf("seed %d: %s: the digest is the same: %v", seed, change.what, refused)
			case change.part != "" && !slices.Contains(changed, change.part):
				t.Errorf("seed %d: %s: it is said that %q", seed, change.what, changed)
			}
			tried[change.what]++
			os.RemoveAll(after)
		}
	}
	if amount.Long() {
		for what, times := range tried {
			if times < 50 {
				t.Errorf("%s was tried %d times", what, times)
			}
		}
	}
}

// compiled looks at the compiled plan.
func (w *tampering) compiled(t *testing.T, p *project.Program, digest, top string) {
	t.Helper()
	text, err := canonical.Plan(p.Plan)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := tampering{programs: maps.Clone(w.programs)}
	elsewhere.programs["plans/compiled.json"] = string(text)
	folder := filepath.Join(top, "elsewhere")
	elsewhere.put(t, folder, nil)
	again := checkedIn(t, folder, "plans/compiled.json")
	if is, err := canonical.Digest(again.Plan); err != nil || is != digest {
		was, _ := p.Plan.Parts()
		parts, _ := again.Plan.Parts()
		t.Fatalf("compiled, %q, %v", canonical.Changed(was, parts), err)
	}
	if same, err := canonical.Plan(again.Plan); err != nil || string(same) != string(text) {
		t.Fatalf("it compiles to\n%s\nand again to\n%s\n%v", text, same, err)
	}
	for range 8 {
		at := w.chance.IntN(len(text))
		other := slices.Clone(text)
		if other[at] = "ab019"[w.chance.IntN(5)]; string(other) == string(text) {
			continue
		}
		d, err := (&project.Reader{Root: folder}).Parse(filepath.Join(folder, "plans/compiled.json"), other)
		if err != nil {
			t.Fatal(err)
		}
		if p := d.Check(); p.Verified != nil {
			t.Errorf("it is taken with another byte at %d: %.60q in the place of %.60q", at, other[max(at-20, 0):], text[max(at-20, 0):])
		}
	}
	// A byte of a program that it names, and it is refused.
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(w.programs)), func(name string) bool {
		return strings.HasSuffix(name, "unused.sh") || strings.HasSuffix(name, "data.txt") // an activity has another in its place, or it is no program
	})
	name := filepath.Join(folder, names[w.chance.IntN(len(names))])
	if err := os.WriteFile(name, []byte("exit 1"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := (&project.Reader{Root: folder}).One(filepath.Join(folder, "plans/compiled.json"))
	if err != nil {
		t.Fatal(err)
	}
	refused := d.Check()
	if refused.Verified != nil || !slices.ContainsFunc(refused.Findings, func(f diag.Diagnostic) bool {
		return f.Rule.Code == "OB101" && strings.Contains(f.Message, filepath.Base(name))
	}) {
		t.Fatalf("with another %s: %+v", name, refused.Findings)
	}
}

// LANGUAGE.md#trust: what a workspace vouches for counts while its obelus.yaml, the catalogues that it
// names and the files that their programs are started with are those that were trusted,
// to the byte, and no longer; another folder with the same isn't trusted with it.
func TestTrustEndsWithWhatWasTrusted(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for seed := range uint64(amount.Of(2, 20, 100)) {
		folder, other := filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "there")
		w := newTampering(seed)
		layout := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
		counts := func(folder string, o project.Reader) bool {
			d, err := o.One(filepath.Join(folder, "plans/plan.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			p := d.Compile().Plan
			for _, call := range p.Calls {
				if call.ToolName == "listed" && call.Activity != "" {
					e := effects.Of(p, call, nil)
					if trusted := e.Kind == effects.ReadOnly; trusted != (d.Config.Trusted && !e.Untrusted) || !trusted && e.Claimed != effects.ReadOnly {
						t.Errorf("seed %d: trusted %v, and %+v", seed, d.Config.Trusted, e)
					}
				}
			}
			return d.Config.Trusted
		}
		w.put(t, folder, layout())
		w.put(t, other, layout())
		if counts(folder, project.Reader{}) {
			t.Fatalf("seed %d: it is trusted before anybody said so", seed)
		}
		all, err := (&project.Reader{}).Vouching(folder)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		if err := all[0].Trust(); err != nil {
			t.Fatal(err)
		}
		if !counts(folder, project.Reader{}) || counts(other, project.Reader{}) || !counts(other, project.Reader{Trust: true}) ||
			!counts(other, project.Reader{Trusted: []string{filepath.Dir(other)}}) || counts(other, project.Reader{Trusted: []string{folder}}) {
			t.Errorf("seed %d: trust counts where it shouldn't, or doesn't where it should", seed)
		}
		link := filepath.Join(folder, "link")
		if err := os.Symlink(other, link); err != nil {
			t.Fatal(err)
		}
		if counts(link, project.Reader{Trusted: []string{folder}}) {
			t.Errorf("seed %d: trust counts through a link", seed)
		}
		if err := os.Remove(link); err != nil { // "files" of the workspace don't lead out of it
			t.Fatal(err)
		}
		for _, change := range []struct {
			name string
			ends bool
		}{
			{"obelus.yaml", true}, {"cat/catalogue.yaml", true}, {"cat/listed.sh", true}, {"lib/imported.sh", false}, {"plans/plan.yaml", false}, {"ops/prod.yaml", false},
		} {
			name := filepath.Join(folder, change.name)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, append(text, '\n'), 0o755); err != nil {
				t.Fatal(err)
			}
			if counts(folder, project.Reader{}) == change.ends {
				t.Errorf("seed %d: after %s has changed, trusted: %v", seed, change.name, change.ends)
			}
			all, err := (&project.Reader{}).Vouching(folder)
			if err != nil || all[0].IsTrusted() == change.ends {
				t.Errorf("seed %d: after %s has changed it is trusted: %v, %v", seed, change.name, all[0].IsTrusted(), err)
			}
			if err := os.WriteFile(name, text, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := all[0].Revoke(); err != nil || counts(folder, project.Reader{}) {
			t.Errorf("seed %d: it is trusted after that was taken back: %v", seed, err)
		}
	}
}
