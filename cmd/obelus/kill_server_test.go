//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/catalogue"
)

// killingServer is an MCP server whose tool, called for the first time, kills the run and
// goes on as if nothing were, without reading on. What it does leaves a line.
const killingServer = `
say() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
  *'"initialize"'*) say '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}';;
  *'"tools/list"'*) say "{\"tools\":[{\"name\":\"act\",\"annotations\":$(cat hints)}]}";;
  *'"tools/call"'*)
    echo called >> effects
    test -e calm || { : > calm; kill -9 $PPID; exec sleep 1000; }
    say '{"content":[],"structuredContent":"done"}';;
  esac
done
`

// EXECUTION.md#resuming: a run that is killed while a tool of an MCP server is at work takes the server
// along. The call is in doubt, and becomes what is said of it, unless a trusted catalogue says that the call may be
// done again.
func TestKilledWhileAServerWorks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to be a server")
	}
	const calls = "calls: [{_tool: act, _outputPath: a}]\noutput: †state.a\n"
	newKilled := func(trusted bool, recorded, hints string) *victim {
		act := catalogue.Tool{}
		if err := json.Unmarshal([]byte(hints), &act.Hints); err != nil {
			t.Fatal(err)
		}
		act.SetDigest()
		v := &victim{folder: hauntedFolder(t)}
		v.runs = filepath.Join(v.folder, "runs")
		defines := "servers: {docs: {command: [sh, server.sh], lock: {tools: {act: {digest: '" + act.Digest + "', annotations: " + recorded + "}}}}}\nactivities: {act: {mcp: {server: docs, tool: act}, annotations: " + recorded + "}}\n"
		files := map[string]string{"obelus.yaml": "tools: [act.tools.yaml]\n", "act.tools.yaml": defines, "plan.yaml": calls, "server.sh": killingServer, "hints": hints}
		if !trusted {
			files["act.tools.yaml"], files["plan.yaml"] = "", defines+calls
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(v.folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return v
	}
	for _, c := range []struct {
		name                 string
		trusted              bool
		hints, doubt, status string
	}{
		{"run again", true, `{"destructiveHint": false}`, "retry", "done"},
		{"failed", true, `{}`, "fail", "failed"},
		{"nobody trusts its word", false, `{"readOnlyHint": true}`, "retry", "done"},
		{"it only reads", true, `{"readOnlyHint": true}`, "", "done"},
		{"it may be done twice", true, `{"idempotentHint": true}`, "", "done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newKilled(c.trusted, c.hints, c.hints)
			if out, killed, status := v.begin(t, 0); !killed || v.effects(t)["called"] != 1 {
				t.Fatalf("the run wasn't killed at its call: status %d, %s", status, out)
			}
			out, _, status := v.goOn(t, 0)
			end, _ := ended(out)
			if c.doubt != "" {
				if status != statusStopped || end["reason"] != "in-flight" || v.effects(t)["called"] != 1 {
					t.Fatalf("nobody was asked: status %d, %s", status, out)
				}
				out, _, _ = v.goOn(t, 0, "--in-flight", c.doubt)
				end, _ = ended(out)
			}
			want := map[string]int{"done": 2, "failed": 1}[c.status]
			if n := v.effects(t)["called"]; end["status"] != c.status || n != want {
				t.Errorf("it ended as %v after %d calls, and was to be %s after %d: %s", end["status"], n, c.status, want, out)
			}
		})
	}
	v := newKilled(true, `{"readOnlyHint": true}`, `{}`)
	said, err := v.command(t, 0, "run", "plan.yaml", "--runs", v.runs).CombinedOutput()
	if err == nil || !strings.Contains(string(said), `OB610: act.tools.yaml:1:`) || !strings.Contains(string(said), "its description, hints or schemas have changed") || len(v.effects(t)) > 0 {
		t.Errorf("a record that says more than the server: %v, %s", err, said)
	}
}
