package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// A record keeps what was written to it, by anybody at any time.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(text)
}

// taken is what was written since the last time.
func (r *record) taken() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.text.Reset()
	return r.text.String()
}

// LANGUAGE.md#documents: whatever text a model gives, the answer is small and has nothing in it
// that would act on what shows it.
func TestMCPHostileText(t *testing.T) {
	t.Parallel()
	var sent record
	s := servedTo(t, t.TempDir(), nil, &sent)
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), c-1)
	}
	escapes := "\"\\e]0;owned\\a\\e[2J\\u202e\\u2066\\x9b31m\""
	many := "calls:\n" + strings.Repeat("- {_tool: t, p: †state.nowhere, _outputPath: "+strings.Repeat("x", 200)+"}\n", 300)
	for name, text := range map[string]string{
		"bomb": bomb + "calls: []\n", "deep": strings.Repeat("[", 100_000), "deep keys": "calls: " + strings.Repeat("{a: ", 5_000), "large": "calls: []\nx-y: \"" + strings.Repeat("y", 8<<20) + "\"\n",
		"escapes": "plan: " + escapes + "\ncalls:\n- {_tool: " + escapes + ", " + escapes + ": " + escapes + ", _outputPath: " + escapes + "}\n", "raw": "calls: [{_tool: \x1b[31m\u202e}]", "many": many,
		"long name": "calls: [{_tool: " + strings.Repeat("n", 1<<20) + "}]", "parentheses": "calls: [{_tool: t, p: '†(" + strings.Repeat("(", 100_000) + "'}]", "not UTF-8": "calls: [\xff]", "NUL": "calls: \x00",
	} {
		for tool, in := range map[string]map[string]any{
			"check": {"plan": text}, "simulate": {"plan": text, "branches": true}, "graph": {"plan": text, "detail": true}, "diff": {"old": map[string]any{"plan": text}, "new": map[string]any{"plan": goodPlan}},
		} {
			if name == "large" && tool != "check" {
				continue // which reads as much
			}
			if tool != "check" && (len(name)+len(tool))%amount.Of(3, 1, 1) != 0 {
				continue
			}
			said, _, _ := called(t, s, tool, in)
			if said == "" || strings.Contains(said, "internal error") {
				t.Errorf("%s: %s: %.500s", name, tool, said)
			}
			wire := sent.taken()
			if len(wire) > 4*mostAnswer {
				t.Errorf("%s: %s: the answer has %d bytes", name, tool, len(wire))
			}
			if clean := string(diag.EscapeJSON([]byte(strings.ReplaceAll(wire, "\n", "")))); clean != strings.ReplaceAll(wire, "\n", "") || !utf8.ValidString(wire) {
				t.Errorf("%s: %s: what is sent acts on a terminal: %.300q", name, tool, wire)
			}
			for _, r := range said {
				if r < ' ' && r != '\n' || r == '\u202e' || r == '\u009b' {
					t.Errorf("%s: %s: %q in %.300q", name, tool, r, said)
					break
				}
			}
		}
	}
	deep := json.RawMessage(strings.Repeat("[", 400) + strings.Repeat("]", 400))
	for tool, in := range map[string]map[string]any{
		"simulate": {"plan": goodPlan, "input": map[string]any{"city": deep}},
	} {
		if said, _, failed := called(t, s, tool, in); !failed || !strings.Contains(said, "100") {
			t.Errorf("%s: %s", tool, said)
		}
	}
	if said, _, failed := called(t, s, "check", map[string]any{"plan": goodPlan}); failed {
		t.Error(said)
	}
}

// LANGUAGE.md#documents: text of a model starts no program and reads nothing outside of the workspace,
// nor does what it names: not by a path, an import, a delegate or a link.
func TestMCPStaysInside(t *testing.T) {
	elsewhere := put(t, map[string]string{"secret.yaml": "calls: [{_tool: s3cret}]\n"})
	marker := filepath.Join(t.TempDir(), "started")
	root := put(t, map[string]string{
		"plan.yaml": goodPlan, "start.sh": "touch '" + marker + "'\n", "obelus.yaml": "tools: [tools.yaml]\n",
		"tools.yaml": "tools: {send: {properties: {_output: {}}}}\nactivities: {send: {exec: {argv: [sh, start.sh]}}}\n",
	})
	if err := os.Symlink(filepath.Join(elsewhere, "secret.yaml"), filepath.Join(root, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	back, err := filepath.Rel(root, filepath.Join(elsewhere, "secret.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := served(t, root, nil)
	starting := "tools: {go: {properties: {_output: {}}}}\nactivities: {go: {exec: {argv: [touch, " + marker + "]}}}\ncalls:\n- {_tool: go, _outputPath: a}\n- {_tool: send, _outputPath: b}\n"
	var in []map[string]any
	for _, name := range []string{"link.yaml", back, filepath.ToSlash(filepath.Join(elsewhere, "secret.yaml")), "./../x.yaml", "/etc/passwd", "", ".", "a/../../x"} {
		in = append(in, map[string]any{"path": name})
		for _, of := range []string{"import: [%q]\ncalls: []\n", "calls: [{_tool: a, _delegate: %q}]\n", "tools: {a: {$ref: %q}}\ncalls: [{_tool: a}]\n"} {
			in = append(in, map[string]any{"plan": fmt.Sprintf(of, name)})
		}
	}
	in = append(in, map[string]any{"plan": starting})
	for _, given := range in {
		for _, tool := range []string{"check", "simulate", "graph", "diff"} {
			arguments := given
			if tool == "diff" {
				arguments = map[string]any{"old": given, "new": map[string]any{"plan": goodPlan}}
			}
			said, value, _ := called(t, s, tool, arguments)
			whole, _ := json.Marshal(value)
			if strings.Contains(said+string(whole), "s3cret") || strings.Contains(said+string(whole), "root:x:") {
				t.Errorf("%s %v reads what lies outside: %s", tool, given, said)
			}
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program was started")
	}
	text, _, _ := called(t, s, "graph", map[string]any{"plan": starting, "focus": "send#2"})
	if !strings.Contains(text, "effect unknown") {
		t.Errorf("a client vouches for a tool: %s", text)
	}
}

// A client that cancels a simulation isn't answered any more, while others are.
func TestMCPCancel(t *testing.T) {
	s := served(t, t.TempDir(), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "simulate", Arguments: map[string]any{"plan": ladder(800), "schedules": 100}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if said, _, failed := called(t, s, "check", map[string]any{"plan": goodPlan}); failed {
		t.Error(said)
	}
}

// Whatever comes over the wire, what is sent back are lines of JSON, and the server ends
// with its input, in words where it didn't understand it.
func FuzzMCPWire(f *testing.F) {
	const begun = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check","arguments":{"plan":"calls: []"},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"simulate","arguments":{"plan":"calls: []","seed":1e99}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"resources/read","params":{"uri":"obelus://language"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`[]`, `{`, `null`, "\x00", strings.Repeat("[", 2000),
	} {
		f.Add(line + "\n")
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, lines string) {
		var out record
		var said bytes.Buffer
		if status := run(t.Context(), []string{"mcp", "--root", root}, strings.NewReader(begun+lines), &out, &said); status != statusOK && status != statusError {
			t.Errorf("exit status %d", status)
		}
		for line := range strings.Lines(out.taken()) {
			if !json.Valid([]byte(line)) || string(diag.EscapeJSON([]byte(strings.TrimSuffix(line, "\n"))))+"\n" != line {
				t.Errorf("%q is sent", line)
			}
		}
		if text := said.String(); strings.Contains(text, "internal error") || strings.Contains(text, "goroutine 1") || strings.Count(text, "\n") > 2 {
			t.Error(text)
		}
	})
}
