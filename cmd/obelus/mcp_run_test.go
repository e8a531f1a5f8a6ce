package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"
)

// approvedPlan is a workspace with a plan that runs a shell's script, approved by alice,
// and the file of whose approval counts.
func approvedPlan(t *testing.T, script string) (root, signers string) {
	t.Helper()
	keys, err := txtar.ParseFile(filepath.Join("testdata", "approved.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"plans/pay.yaml": "plan: pay\ninput: {amount: 5}\ntools:\n  pay: {properties: {amount: {type: number}, _output: {}}, annotations: {destructiveHint: true}}\n" +
			"activities:\n  pay: {exec: {argv: [sh, pay.sh, \"{amount}\"]}}\ncalls:\n- {_tool: pay, amount: †input.amount, _outputPath: paid}\noutput: {paid: †state.paid}\n",
		"plans/pay.sh": script, "plans/other.yaml": "calls: []\n", "plans/bad.yaml": badPlan,
	}
	for _, f := range keys.Files {
		if f.Name == "keys/alice" || f.Name == "keys/alice.pub" || f.Name == "signers" {
			files[f.Name] = string(f.Data)
		}
	}
	root = put(t, files)
	signers = filepath.Join(root, "signers")
	if _, stderr, status := obelus(strings.NewReader(""), "approve", filepath.Join(root, "plans", "pay.yaml"), "--key", filepath.Join(root, "keys", "alice"), "--yes", "--as", "alice@example.com"); status != statusOK {
		t.Fatal(stderr)
	}
	return root, signers
}

// EXECUTION.md#approved-runs: a server that may run runs what was approved, as it was, and nothing else;
// who gives the plan can't give the approval.
func TestMCPRunsWhatWasApproved(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	root, signers := approvedPlan(t, "echo \"\\\"paid $1 in $PWD/a.txt\\\"\"\n")
	s := served(t, root, nil, "--allow-run", "--signers", signers)
	text, value, failed := called(t, s, "run", map[string]any{"path": "plans/pay.yaml"})
	end, _ := value["end"].(map[string]any)
	if failed || end["status"] != "done" || !strings.Contains(text, `"output":{"paid":"paid 5 in `+filepath.Join(root, "plans", "a.txt")+`"}`) {
		t.Errorf("%s\n%v", text, value)
	}
	if id, _ := end["run"].(string); id == "" || filepath.Base(fmt.Sprint(end["journal"])) != id+".jsonl" {
		t.Errorf("the run is %v: %s", end["run"], text)
	}
	for _, one := range []struct {
		in   map[string]any
		text string
	}{
		{map[string]any{"path": "plans/other.yaml"}, "the run isn't approved"},
		{map[string]any{"path": "plans/bad.yaml"}, "OB203"},
		{map[string]any{"path": "plans/pay.yaml", "input": map[string]any{"amuont": 1}}, "did you mean \"amount\"?"},
		{map[string]any{"path": "plans/pay.yaml", "state": map[string]any{"paid": 1}}, "approve the plan with that state"},
		{map[string]any{"path": "plans/pay.yaml", "digest": "sha256:" + strings.Repeat("0", 64)}, "this isn't the plan that is demanded"},
		{map[string]any{"path": "../plans/pay.yaml"}, "isn't a path below"},
		{map[string]any{"plan": goodPlan}, `run has no argument "plan"`},
	} {
		if text, _, failed := called(t, s, "run", one.in); !failed || !strings.Contains(text, one.text) {
			t.Errorf("%v: %s", one.in, text)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "plans", "pay.sh"), []byte("echo 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, _, failed := called(t, s, "run", map[string]any{"path": "plans/pay.yaml"}); !failed || !strings.Contains(text, "the run isn't approved") {
		t.Errorf("another program was run: %s", text)
	}
	nobody := served(t, root, nil, "--allow-run")
	if text, _, failed := called(t, nobody, "run", map[string]any{"path": "plans/pay.yaml"}); !failed || !strings.Contains(text, "whose approval counts") {
		t.Errorf("%s", text)
	}
}

// A client is told how a run goes on, and one that cancels stops it: it can be resumed.
func TestMCPRunIsCancelled(t *testing.T) {
	runs := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	root, signers := approvedPlan(t, "exec sleep 1000\n")
	t.Cleanup(func() { // the server has ended by then, and the run before it
		if stdout, stderr, status := obelus(strings.NewReader(""), "runs", "--runs", runs); status != statusOK || !strings.Contains(stdout, "stopped") {
			t.Errorf("%s%s", stdout, stderr)
		}
	})
	told := make(chan string, 100)
	s := served(t, root, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message }},
		"--allow-run", "--signers", signers, "--runs", runs)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		params := &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"path": "plans/pay.yaml"}}
		params.SetProgressToken("run")
		_, err := s.CallTool(ctx, params)
		ended <- err
	}()
	if got := <-told; got != "run runs" {
		t.Error(got)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("it was answered")
	}
}
