package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/project"
)

// LANGUAGE.md#documents: what keeps a document from being read is an error of a kind, in words that
// name no flag; the zero reader reads what can be read.
func TestReader(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"plan.yaml": "import: [tools.yaml]\ncalls: [{_tool: a, _outputPath: x}]\n", "tools.yaml": "activities: {a: {expr: \"1\"}}\n",
		"two.jsonl": "{\"calls\": []}\n{\"calls\": []}\n", "none.jsonl": "", "obelus.yaml": "tools: []\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	d, err := (&project.Reader{}).One(at("plan.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Check(); p.Verified == nil || p.Opened["tools.yaml"] == "" || p.Config.File == nil {
		t.Errorf("%+v, opened %v", p.Findings, p.Opened)
	}
	if d, err = (&project.Reader{Stdin: strings.NewReader("calls: []"), Root: folder}).One("-"); err != nil || d.Check().Verified == nil {
		t.Errorf("standard input: %v", err)
	}
	small := source.DefaultLimits()
	small.Bytes = 1
	for name, test := range map[string]struct {
		reader project.Reader
		file   string
		kind   error
	}{
		"not there": {project.Reader{}, "gone.yaml", project.ErrRead},
		"no root":   {project.Reader{Root: at("gone")}, "plan.yaml", project.ErrOutside},
		"outside":   {project.Reader{Root: t.TempDir()}, "plan.yaml", project.ErrOutside},
		"two":       {project.Reader{}, "two.jsonl", project.ErrNotOne},
		"none":      {project.Reader{}, "none.jsonl", project.ErrNotOne},
		"too large": {project.Reader{Limits: small}, "two.jsonl", project.ErrTooLarge},
	} {
		if _, err := test.reader.One(at(test.file)); !errors.Is(err, test.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// LANGUAGE.md#documents: a catalogue that obelus.yaml names is read once, however often and under
// however many names it is there, and for all documents: none of them finds it gone.
func TestCataloguesAreReadOnce(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"obelus.yaml": "tools: [c.yaml, d.yaml, c.yaml, ./c.yaml]\n", "c.yaml": "tools: {t: {properties: {x: {type: string}}}}\n", "d.yaml": "tools: {t: {}, u: {}}\n",
		"one.yaml": "calls: [{_tool: t, x: a}]\n", "two.yaml": "calls: [{_tool: t, x: 1}]\n",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &project.Reader{}
	one, err := r.One(at("one.yaml"))
	if err != nil || len(one.Options.Catalogues) != 2 {
		t.Fatalf("%d catalogues, %v", len(one.Options.Catalogues), err)
	}
	for _, name := range []string{"c.yaml", "d.yaml", "obelus.yaml"} {
		if err := os.WriteFile(at(name), []byte("nothing of the kind"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	two, err := r.One(at("two.yaml"))
	if err != nil || two.Config != one.Config || two.Options.Catalogues[1] != one.Options.Catalogues[1] {
		t.Fatalf("another configuration, %v", err)
	}
	if p := one.Check(); p.Verified == nil {
		t.Errorf("the last definition doesn't count: %v", p.Findings[0].Message)
	}
	if p := two.Check(); p.Verified != nil {
		t.Error("a number is taken for a string")
	}
}

// LANGUAGE.md#documents: a reader that is confined reads nothing outside of its workspace, by whatever name,
// and texts that it is given stand in the place of files that documents take in, and never
// in that of what decides what is trusted.
func TestConfined(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(root, "plan.yaml"):        "import: [tools.yaml]\ncalls: [{_tool: a, _outputPath: x}]\n",
		filepath.Join(root, "tools.yaml"):       "activities: {a: {expr: \"1\"}}\n",
		filepath.Join(root, "obelus.yaml"):      "rules: {OB408: warning}\n",
		filepath.Join(elsewhere, "secret.yaml"): "calls: []\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(elsewhere, "secret.yaml"), filepath.Join(root, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	back, err := filepath.Rel(root, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	r := &project.Reader{Root: root, Confined: true}
	d, err := r.One(filepath.Join(root, "plan.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Check(); p.Verified == nil || p.Config.File == nil || len(p.Config.Found) > 0 {
		t.Errorf("%+v", p.Findings)
	}
	for name, kind := range map[string]error{
		filepath.Join(elsewhere, "secret.yaml"):  project.ErrOutside,
		filepath.Join(root, back, "secret.yaml"): project.ErrOutside,
		filepath.Join(root, "link.yaml"):         project.ErrRead,
		filepath.Join(root, "gone.yaml"):         project.ErrRead,
		root:                                     project.ErrRead,
	} {
		if _, err := r.One(name); !errors.Is(err, kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Nor is a policy of the workspace read through a link that leads out of it, and it isn't passed over.
	if err := os.Symlink(filepath.Join(elsewhere, "secret.yaml"), filepath.Join(root, "obelus.policy.yaml")); err != nil {
		t.Fatal(err)
	}
	r.Forget()
	if _, err := r.One(filepath.Join(root, "plan.yaml")); !errors.Is(err, project.ErrRead) {
		t.Errorf("a policy outside: %v", err)
	}
}

// LANGUAGE.md#documents: of the files of a list, what stands over their folders is asked once a folder,
// and each has what it would have by itself: a link has the policies of the house where its
// file really lies too, and after Forget a policy that has come since counts.
func TestListedFiles(t *testing.T) {
	top := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	plan := "calls: []\n"
	first, second := write("own/a.yaml", plan), write("own/b.yaml", plan)
	strict := write("house/plan.yaml", plan)
	write("house/obelus.policy.yaml", "limits: {calls: 1}\n")
	link := filepath.Join(top, "own", "c.yaml")
	if err := os.Symlink(strict, link); err != nil {
		t.Fatal(err)
	}
	var r project.Reader
	policies := func(name string) (names []string) {
		t.Helper()
		d, err := r.One(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range d.Options.Policies {
			names = append(names, filepath.Base(filepath.Dir(one.File.Name)))
		}
		return names
	}
	if _, err := r.Gather([]string{first, second, link, strict}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{first: nil, second: nil, link: {"house"}, strict: {"house"}} {
		if got := policies(name); !slices.Equal(got, want) {
			t.Errorf("%s has the policies %q, want %q", name, got, want)
		}
	}
	write("own/obelus.policy.yaml", "limits: {calls: 2}\n")
	if r.Forget(); !slices.Equal(policies(second), []string{"own"}) {
		t.Errorf("after Forget: %q", policies(second))
	}
}
