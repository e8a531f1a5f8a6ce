package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/catalogues"
	"github.com/obelus-dev/obelus/compiler/catalogue"
)

// LANGUAGE.md#imported-services: what an MCP server lists is imported with its digests, checks clean, and how it
// changes is reported; the server is this program's own.
func TestServersAreImported(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("servers.yaml", fmt.Sprintf("servers:\n  self: {command: [%q, mcp], env: {%s: \"1\"}}\n", program, asCommand))
	if said := printed(t, "tools", "import", "servers.yaml", "-o", "self.tools.yaml"); !strings.Contains(said, "tools of servers.yaml imported") {
		t.Error(said)
	}
	// A tool that several servers have is named after each, whichever others there are.
	server := fmt.Sprintf("{command: [%q, mcp], env: {%s: \"1\"}}", program, asCommand)
	write("two.yaml", "servers: {one: "+server+", two: "+server+"}\n")
	printed(t, "tools", "import", "two.yaml", "--only", "* explain", "-o", "two.tools.yaml")
	two, _ := os.ReadFile("two.tools.yaml")
	for _, name := range []string{"one_explain", "two_explain"} {
		if strings.Count(string(two), "\n  "+name+":\n") != 2 { // the tool and its activity
			t.Errorf("no %s in %s", name, two)
		}
	}
	os.Remove("two.tools.yaml")
	write("obelus.yaml", "tools: [self.tools.yaml]\n")
	write("plan.yaml", "calls:\n  - {_tool: check, plan: 'calls: []', _outputPath: †state.found}\noutput: †state.found\n")
	if said := printed(t, "check", "--min-severity", "info", "self.tools.yaml", "plan.yaml"); !strings.HasPrefix(said, "nothing to report in 2 files") {
		t.Error(said)
	}
	text, err := os.ReadFile("self.tools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// A run ends if a tool that it may need has changed at all (OB610), also where the plan's own
	// calls would do.
	const digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	recorded := func(tool string) *regexp.Regexp {
		return regexp.MustCompile(`(?m)^        ` + tool + `:\n(?:          .*\n)*?          digest: (sha256:[0-9a-f]+)\n`)
	}
	at := recorded("check").FindSubmatchIndex(text)
	changed := string(text[:at[2]]) + digest + string(text[at[3]:])
	changed = strings.Replace(changed, "    inputSchema:\n", "    inputSchema:\n      minProperties: 0\n", 1) // of the first tool, which is check
	changed = recorded("explain").ReplaceAllString(changed, "")
	write("self.tools.yaml", changed)
	write("other.yaml", "calls:\n  - {_tool: graph, plan: 'calls: []', _outputPath: †state.found}\noutput: †state.found\n")
	for plan, want := range map[string]int{"plan.yaml": statusError, "other.yaml": statusOK} {
		_, stderr, status := obelus(strings.NewReader(""), "run", "--trust", "--no-journal", "--confirm", "never", plan)
		if status != want || want != statusOK && !strings.Contains(stderr, `OB610: self.tools.yaml:`) {
			t.Errorf("%s: status %d: %s", plan, status, stderr)
		}
	}
	write("servers.yaml", "servers: {none: {command: [none-of-this-name]}}\n")
	write("self.tools.yaml", "")
	if _, stderr, status := obelus(strings.NewReader(""), "tools", "import", "servers.yaml", "-o", "x.yaml"); status != statusError || !strings.HasPrefix(stderr, "obelus: ") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// EXECUTION.md#reviewers: a plan's servers aren't started, nor reached with their secrets, before a person has
// let a call of theirs through, also to compare them with their record; nothing hinders where nobody
// is asked.
func TestServersWaitForPeople(t *testing.T) {
	folder := t.TempDir()
	asked := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = os.WriteFile(filepath.Join(folder, "asked"), []byte(r.Header.Get("X-Key")), 0o600)
	}))
	defer asked.Close()
	t.Setenv("KEY", "s3cr3t")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for name, server := range map[string]string{
		"started": `{command: [sh, -c, 'echo "$KEY" > started'], env: {KEY: "{$KEY}"}}`,
		"asked":   `{url: "` + asked.URL + `", headers: {X-Key: "{$KEY}"}}`,
	} {
		for file, text := range map[string]string{
			"plan.yaml": "servers: {s: " + strings.TrimSuffix(server, "}") + ", lock: {tools: {note: {digest: 'sha256:0'}}}}}\nactivities: {note: {mcp: {server: s, tool: note}}}\ntools: {note: {properties: {_output: {type: string}}}}\n" +
				"calls: [{_tool: note, _outputPath: †state.n}]\noutput: †state.n\n",
		} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for confirm, there := range map[string]bool{"effects": false, "always": false, "never": true} {
			marker := filepath.Join(folder, name)
			os.Remove(marker)
			stdout, stderr, status := obelus(strings.NewReader(""), "run", "--allow-host", "127.0.0.1", "--confirm", confirm, "--runs", filepath.Join(folder, "runs"), filepath.Join(folder, "plan.yaml"))
			text, _ := os.ReadFile(marker)
			if want := map[bool]int{false: statusStopped, true: statusError}[there]; status != want || strings.Contains(string(text), "s3cr3t") != there {
				t.Errorf("%s, --confirm %s: status %d, %s holds %q\n%s%s", name, confirm, status, name, text, stdout, stderr)
			}
		}
		if kept, _ := filepath.Glob(filepath.Join(folder, "runs", "*.jsonl")); len(kept) != 2 {
			t.Errorf("%s: a run that never began is kept: %v", name, kept)
		}
		os.RemoveAll(filepath.Join(folder, "runs"))
	}
}

// A server's tool can't say of itself what carries it out, where its result goes or what runs
// in its stead, and one that is unsound spoils no catalogue: neither is taken in, and why is
// said. Nothing is fetched.
func TestUnfitToolsAreRefused(t *testing.T) {
	one := func(properties string) catalogue.Tool {
		var schema any
		if err := json.Unmarshal([]byte(`{"type":"object","properties":{`+properties+`}}`), &schema); err != nil {
			t.Fatal(err)
		}
		return catalogue.Tool{Name: "look", Input: schema}
	}
	for _, c := range []struct {
		tool catalogue.Tool
		says string
	}{
		{one(`"q":{"type":"string"}`), ""},
		{catalogue.Tool{Name: "look"}, ""},
		{one(`"_activity":{"const":"wipe"}`), `a plan can't pass its parameter "_activity"`},
		{one(`"_delegate":{"const":"other.yaml"}`), `its parameter "_delegate"`},
		{one(`"_outputPath":{"const":"†state.allowed"}`), `its parameter "_outputPath"`},
		{one(`"_x":{}`), `its parameter "_x"`},
		{one(`"q":{"$ref":"file:///etc/passwd"}`), "/etc/passwd"},
		{catalogue.Tool{Name: "look", Input: map[string]any{"type": "array"}}, "mapping"},
		{catalogue.Tool{Name: "look", Output: map[string]any{"type": "none"}}, "none"},
	} {
		if why := catalogues.Unfit(c.tool); (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%v: %q", c.tool.Input, why)
		}
	}
}

// LANGUAGE.md#imported-services: what is wrong with the catalogue that an import writes anew keeps nothing from being
// imported.
func TestImportsReplaceWhatIsBroken(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	servers := fmt.Sprintf("servers:\n  self: {command: [%q, mcp], env: {%s: \"1\"}}\n", program, asCommand)
	old := "# Written by obelus tools import from servers.yaml.\n"
	bad := "tools: {a: {type: object, properties: {q: {type: strin}}}}\nactivities: {a: {mcp: {server: none, tool: a}}}\n"
	shop := "openapi: 3.1.0\ninfo: {title: a, version: '1'}\nservers: [{url: 'https://a.example'}]\npaths: {/p: {get: {operationId: p, responses: {'200': {description: ok}}}}}\n"
	for name, c := range map[string]struct {
		catalogue, from string
		refused         string
	}{
		"no YAML":      {old + "tools: {a: [\n", "servers.yaml", ""},
		"no catalogue": {old + bad, "servers.yaml", ""},
		"itself":       {old + servers, "api.tools.yaml", ""},
		"not written":  {"tools: {}\n", "shop.yaml", "is there already"},
	} {
		for file, text := range map[string]string{"servers.yaml": servers, "shop.yaml": shop, "obelus.yaml": "tools: [api.tools.yaml]\n", "api.tools.yaml": c.catalogue} {
			os.Remove(file)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		stdout, stderr, status := obelus(strings.NewReader(""), "tools", "import", c.from, "-o", "api.tools.yaml")
		text, _ := os.ReadFile("api.tools.yaml")
		if c.refused != "" {
			if status != statusError || !strings.Contains(stderr, c.refused) || string(text) != c.catalogue {
				t.Errorf("%s: status %d, %s%s\n%s", name, status, stdout, stderr, text)
			}
			continue
		}
		if status != statusOK {
			t.Errorf("%s: status %d, %s%s", name, status, stdout, stderr)
			continue
		}
		if said, _, status := obelus(strings.NewReader(""), "check", "api.tools.yaml"); status != statusOK {
			t.Errorf("%s: %s", name, said)
		}
	}
}
