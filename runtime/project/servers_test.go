package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/runtime/project"
)

// LANGUAGE.md#trust: what a server says of its tools counts where a policy trusts what runs or is
// asked, whatever a plan calls it, and as it is recorded; the verdict stands first.
func TestServersAreTrustedForWhatTheyAre(t *testing.T) {
	const (
		trusts = "servers:\n- {command: [python3, docs.py, --stdio], env: {MODE: 'a', LEVEL: '1'}, inherit: [DOCS_HOME, DOCS_KEY]}\n- {command: [docs-mcp], cwd: sub}\n- {url: 'https://mcp.example.com/mcp?v=1'}\n- {url: 'https://mcp.example.com/', headers: {Authorization: 'Bearer {$TOKEN}'}}\n"
		reads  = "{tools: {search: {digest: 'sha256:0', annotations: {readOnlyHint: true}}}}"
		same   = "{command: [python3, docs.py, --stdio], env: {LEVEL: '1', MODE: 'a'}, inherit: [DOCS_KEY, DOCS_HOME], timeout: 5s}"
	)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct {
		want, why, server string
		files             map[string]string
	}{
		{"read-only", "the very program, its variables in another order", same, nil},
		{"read-only", "another folder, which the policy names", "{command: [docs-mcp], cwd: ./sub/}", nil},
		{"read-only", "the very address", "{url: 'https://mcp.example.com/mcp?v=1'}", nil},
		{"read-only", "the very address, with the very headers", "{url: 'https://mcp.example.com/', headers: {Authorization: 'Bearer {$TOKEN}'}}", nil},
		{"unknown", "a header with another secret", "{url: 'https://mcp.example.com/', headers: {Authorization: 'Bearer {$AWS_SECRET}'}}", nil},
		{"unknown", "a header that the policy doesn't have", "{url: 'https://mcp.example.com/mcp?v=1', headers: {X-Mine: '{$AWS_SECRET}'}}", nil},
		{"unknown", "the name is the policy's, the program isn't", "{command: [python3, evil.py, --stdio]}", nil},
		{"unknown", "another argument", strings.Replace(same, "--stdio", "--stdio=1", 1), nil},
		{"unknown", "one argument more", strings.Replace(same, "--stdio", "--stdio, --write", 1), nil},
		{"unknown", "two arguments in one", strings.Replace(same, "docs.py, --stdio", "docs.py --stdio", 1), nil},
		{"unknown", "another PATH, so that what it starts is another", strings.Replace(same, "MODE: 'a'", "MODE: 'a', PATH: ./bin", 1), nil},
		{"unknown", "another value of a variable", strings.Replace(same, "MODE: 'a'", "MODE: 'b'", 1), nil},
		{"unknown", "a variable less", strings.Replace(same, "MODE: 'a'", "", 1), nil},
		{"unknown", "a variable more is inherited", strings.Replace(same, "[DOCS_KEY", "[LD_PRELOAD, DOCS_KEY", 1), nil},
		{"unknown", "another folder, with a file of the same name", strings.Replace(same, "{command", "{cwd: sub, command", 1), nil},
		{"unknown", "the program's name as a path", "{command: [./docs-mcp], cwd: sub}", nil},
		{"unknown", "another program of the name", "{command: [sub/docs-mcp]}", nil},
		{"unknown", "http for https", "{url: 'http://mcp.example.com/mcp?v=1'}", nil},
		{"unknown", "somebody who asks", "{url: 'https://me@mcp.example.com/mcp?v=1'}", nil},
		{"unknown", "the name before an @", "{url: 'https://mcp.example.com@evil.example/mcp?v=1'}", nil},
		{"unknown", "a port", "{url: 'https://mcp.example.com:8443/mcp?v=1'}", nil},
		{"unknown", "letters in another case", "{url: 'https://MCP.example.com/mcp?v=1'}", nil},
		{"unknown", "a dot at the end of the host", "{url: 'https://mcp.example.com./mcp?v=1'}", nil},
		{"unknown", "a way round", "{url: 'https://mcp.example.com/x/../mcp?v=1'}", nil},
		{"unknown", "another path", "{url: 'https://mcp.example.com/MCP?v=1'}", nil},
		{"unknown", "another query", "{url: 'https://mcp.example.com/mcp?v=2'}", nil},
		{"unknown", "an escape for a letter", "{url: 'https://mcp.example.com/%6dcp?v=1'}", nil},
		{"unknown", "a tool of which nothing is recorded", same, map[string]string{"lock": strings.Replace(reads, "search:", "other:", 1)}},
		{"unknown", "nothing is recorded", same, map[string]string{"lock": "{tools: {}}"}},
		{"destructive", "it says that it destroys", same, map[string]string{"lock": strings.Replace(reads, "readOnlyHint", "destructiveHint", 1)}},
		{"destructive", "nobody trusts it, and it says that it destroys", "{command: [x]}", map[string]string{"lock": strings.Replace(reads, "readOnlyHint", "destructiveHint", 1)}},
		{"writes", "it destroys nothing", same, map[string]string{"lock": strings.Replace(reads, "readOnlyHint: true", "destructiveHint: false", 1)}},
		{"unknown", "the plan's own word for another program", "{command: [x]}", map[string]string{"plan.yaml": "tools: {find: {annotations: {readOnlyHint: true}}}\n"}},
		{"unknown", "a policy has more to say against it", same, map[string]string{"obelus.policy.yaml": trusts + "tools: {find: {effects: [read, write]}}\n"}},
		{"unknown", "a policy of the same words in another folder", same, map[string]string{"obelus.policy.yaml": "strict: false", "sub/obelus.policy.yaml": trusts}},
	} {
		folder := t.TempDir()
		write := func(name, text string) {
			t.Helper()
			name = filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{"obelus.yaml": "", "obelus.policy.yaml": trusts, "lock": reads} {
			write(name, text)
		}
		for name, text := range c.files {
			write(name, text)
		}
		lock, err := os.ReadFile(filepath.Join(folder, "lock"))
		if err != nil {
			t.Fatal(err)
		}
		policies := []string{filepath.Join(folder, "obelus.policy.yaml")}
		if c.files["sub/obelus.policy.yaml"] != "" {
			policies = append(policies, filepath.Join(folder, "sub/obelus.policy.yaml"))
		}
		write("plan.yaml", c.files["plan.yaml"]+"servers: {docs: "+strings.TrimSuffix(c.server, "}")+", lock: "+string(lock)+"}}\nactivities: {find: {mcp: {server: docs, tool: search}}}\ncalls: [{_tool: find}]\n")
		effect := func(r project.Reader) string {
			d, err := r.One(filepath.Join(folder, "plan.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			checked := d.Compile()
			if diag.HasErrors(checked.Findings) {
				t.Errorf("%s: %v", c.why, checked.Findings)
			}
			return effects.Of(checked.Plan, checked.Plan.Calls[0], nil).Kind
		}
		if got := effect(project.Reader{Policies: policies}); got != c.want {
			t.Errorf("%s: %s, and it is to be %s", c.why, got, c.want)
		}
		if got := effect(project.Reader{}); got == effects.ReadOnly || got == effects.Writes {
			t.Errorf("%s: %s by the word of a policy that nobody trusts", c.why, got)
		}
	}
}

// LANGUAGE.md#trust: a catalogue that counts speaks of an activity of a server; a plan that has another
// program under the server's name doesn't take the word over, also where the policy or the
// catalogue speaks of the activity itself.
func TestAnotherServerOfTheNameIsntVouchedFor(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"obelus.yaml":        "tools: [tools.yaml]\n",
		"tools.yaml":         "servers: {docs: {command: [docs-mcp]}}\nactivities: {find: {mcp: {server: docs, tool: search}, annotations: {readOnlyHint: true}}}\n",
		"obelus.policy.yaml": "tools: {find: {effects: [read]}}\n",
		"plan.yaml":          "calls: [{_tool: find}]\n",
		"evil.yaml":          "servers: {docs: {command: [evil]}}\ncalls: [{_tool: find}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"plan.yaml": effects.ReadOnly, "evil.yaml": effects.Unknown} {
		d, err := (&project.Reader{Trust: true}).One(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		p := d.Compile().Plan
		if e := effects.Of(p, p.Calls[0], nil); e.Kind != want || want == effects.Unknown && e.Claimed != effects.ReadOnly {
			t.Errorf("%s: %+v, and it is to be %s", name, e, want)
		}
	}
}

// LANGUAGE.md#trust: the word of a policy's servers counts while their files and what PATH finds for their
// programs are those that were trusted.
func TestTrustInServersEndsWithTheirPrograms(t *testing.T) {
	folder, bin, swapped := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("PATH", bin)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"obelus.policy.yaml": "servers: [{command: [docs-mcp, docs.py]}]\n", "docs.py": "1", "other.py": "1",
		"plan.yaml": "servers: {docs: {command: [docs-mcp, docs.py], lock: {tools: {search: {digest: 'sha256:0', annotations: {readOnlyHint: true}}}}}}\nactivities: {find: {mcp: {server: docs, tool: search}}}\ncalls: [{_tool: find}]\n",
	} {
		put(filepath.Join(folder, name), text)
	}
	put(filepath.Join(bin, "docs-mcp"), "#!/bin/sh")
	put(filepath.Join(swapped, "docs-mcp"), "#!/bin/sh")
	counts := func() bool {
		d, err := (&project.Reader{}).One(filepath.Join(folder, "plan.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		p := d.Compile().Plan
		return effects.Of(p, p.Calls[0], nil).Kind == effects.ReadOnly
	}
	all, err := (&project.Reader{}).Vouching(folder)
	if err != nil || len(all) != 1 || counts() {
		t.Fatal(all, err, counts())
	}
	if err := all[0].Trust(); err != nil || !counts() {
		t.Fatal(err, "it doesn't count although it is trusted")
	}
	put(filepath.Join(folder, "other.py"), "2")
	if !counts() {
		t.Error("another file ends the trust")
	}
	put(filepath.Join(folder, "docs.py"), "2")
	if counts() {
		t.Error("another text of the program still counts")
	}
	put(filepath.Join(folder, "docs.py"), "1")
	t.Setenv("PATH", swapped+string(os.PathListSeparator)+bin)
	if counts() {
		t.Error("another program in PATH still counts")
	}
	t.Setenv("PATH", bin)
	if !counts() {
		t.Error("it is as it was, and doesn't count")
	}
}
