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
// along. The call is in doubt, and becomes what is said of it, unless a server that a policy
// trusts has said, as it is recorded, that the call may be done again.
func TestKilledWhileAServerWorks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to be a server")
	}
	const trusts = "servers: [{command: [sh, server.sh]}]\n"
	newKilled := func(policy, recorded, hints string) *victim {
		act := catalogue.Tool{}
		if err := json.Unmarshal([]byte(hints), &act.Hints); err != nil {
			t.Fatal(err)
		}
		act.SetDigest()
		v := &victim{folder: hauntedFolder(t)}
		v.runs = filepath.Join(v.folder, "runs")
		for file, text := range map[string]string{
			"obelus.yaml": "", "obelus.policy.yaml": policy, "server.sh": killingServer, "hints": hints,
			"plan.yaml": "servers: {docs: {command: [sh, server.sh], lock: {tools: {act: {digest: '" + act.Digest + "', annotations: " + recorded + "}}}}}\nactivities: {act: {mcp: {server: docs, tool: act}}}\ncalls: [{_tool: act, _outputPath: a}]\noutput: †state.a\n",
		} {
			if err := os.WriteFile(filepath.Join(v.folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return v
	}
	for _, c := range []struct{ name, policy, hints, doubt, status string }{
		{"run again", trusts, `{"destructiveHint": false}`, "retry", "done"},
		{"failed", trusts, `{}`, "fail", "failed"},
		{"nobody trusts its word", "strict: false\n", `{"readOnlyHint": true}`, "retry", "done"},
		{"it only reads", trusts, `{"readOnlyHint": true}`, "", "done"},
		{"it may be done twice", trusts, `{"idempotentHint": true}`, "", "done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newKilled(c.policy, c.hints, c.hints)
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
	v := newKilled(trusts, `{"readOnlyHint": true}`, `{}`)
	said, err := v.command(t, 0, "run", "plan.yaml", "--runs", v.runs).CombinedOutput()
	if err == nil || !strings.Contains(string(said), `OB610: plan.yaml:1:`) || !strings.Contains(string(said), "its description, hints or schemas have changed") || len(v.effects(t)) > 0 {
		t.Errorf("a record that says more than the server: %v, %s", err, said)
	}
}
