//go:build unix

package activity

import (
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// npmServer is how a server of the protocol's makers, in TypeScript, is started.
func npmServer(t *testing.T, name string, args ...string) []string {
	t.Helper()
	folder, err := filepath.Abs(cmp.Or(os.Getenv("OBELUS_MCP_SERVERS"), filepath.Join("..", "..", ".tools", "mcp-servers")))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(folder, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	if _, err := os.Stat(script); err != nil {
		t.Skipf("%s isn't there; .ci/install fetches it", script)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node")
	}
	return append([]string{"node", script}, args...)
}

// LANGUAGE.md#mcp-servers: servers in another language, by their makers: listed, recorded, called, failed and
// cancelled.
func TestServersOfTheProtocolsMakers(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		tool   string
		params map[string]any
		want   string // in the result, or the failure where fails
		fails  bool
	}{
		{"server-filesystem", []string{folder}, "read_text_file", map[string]any{"path": filepath.Join(folder, "a.txt")}, "hello", false},
		{"server-everything", nil, "echo", map[string]any{"massage": 1.0}, "message", true},
		{"server-filesystem", []string{folder}, "read_text_file", map[string]any{"path": "/etc/passwd"}, "Access denied", true},
		{"server-memory", nil, "read_graph", nil, "entities", false},
		{"server-everything", nil, "echo", map[string]any{"message": "over there"}, "over there", false},
	}[:amount.Of(1, 5, 5)] {
		t.Run(c.name+"/"+c.tool, func(t *testing.T) {
			def := remoteDef(c.tool, npmServer(t, c.name, c.args...))
			def.Env = []plan.EnvSetting{{Name: "MEMORY_FILE_PATH", Value: filepath.Join(folder, "memory.json")}}
			def.Server.Env = def.Env
			listed, err := Tools(t.Context(), def.Server, Options{})
			if err != nil {
				t.Fatal(err)
			}
			record := &catalogue.Record{}
			for _, name := range slices.Sorted(maps.Keys(listed)) {
				record.Tools = append(record.Tools, listed[name].Tool)
			}
			if len(record.Tools) == 0 || record.Tools[0].Input == nil {
				t.Errorf("%d tools", len(listed))
			}
			def.Server.Lock = record
			s, err := Open(map[string]*plan.Activity{"x": def}, nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Hold(t.Context(), func(*plan.Server) bool { return true }, func(*plan.Server) {}); err != nil {
				t.Errorf("compared with its own record: %v", err)
			}
			r, err := s.Run(t.Context(), "x", Request{Params: c.params})
			text, _ := encode(r.Value)
			if c.fails {
				text = []byte(failure(t, err, CodeError).Message)
			} else if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), c.want) {
				t.Errorf("it gives %s", text)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		argv := npmServer(t, "server-everything")
		def := func(tool string) *plan.Activity { return remoteDef(tool, argv) }
		s := openTools(t, Options{}, def, "trigger-long-running-operation", "echo")
		if _, err := s.Run(t.Context(), "echo", Request{Params: map[string]any{"message": "x"}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := s.Run(ctx, "trigger-long-running-operation", Request{Params: map[string]any{"duration": 600.0, "steps": 6.0}})
		failure(t, err, CodeTimeout)
		if _, err := s.Run(t.Context(), "echo", Request{Params: map[string]any{"message": "x"}}); err != nil {
			t.Errorf("after a call that was given up: %v", err)
		}
	})
}
