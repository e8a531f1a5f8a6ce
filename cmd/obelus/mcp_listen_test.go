package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/agents"
)

// listening begins "obelus mcp --listen", in this process, and gives its address.
func listening(t *testing.T, root string) (address string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, said := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"mcp", "--root", root, "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, said)
		said.Close()
	}()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		rest, _ := io.ReadAll(lines)
		if status := <-ended; status != statusOK || len(rest) > 0 {
			t.Errorf("exit status %d: %s", status, rest)
		}
	})
	return strings.Fields(first)[5]
}

func connected(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	s, err := client(nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Streamable HTTP answers as standard input and output do, several clients side by side, and
// ends with the server.
func TestMCPListens(t *testing.T) {
	t.Parallel()
	address := listening(t, put(t, map[string]string{"plan.yaml": goodPlan}))
	for range 3 {
		s := connected(t, &mcp.StreamableClientTransport{Endpoint: address})
		if text, _, failed := called(t, s, "check", map[string]any{"plan": badPlan}); failed || !strings.Contains(text, nowhere) {
			t.Error(text)
		}
		if text, _, failed := called(t, s, "simulate", map[string]any{"path": "plan.yaml", "branches": true}); failed || !strings.Contains(text, `"status":"done"`) {
			t.Error(text)
		}
	}
	s := connected(t, &mcp.StreamableClientTransport{Endpoint: address})
	if text, _, failed := called(t, s, "check", map[string]any{"plan": goodPlan, "files": map[string]any{"large": strings.Repeat("y", 8<<20)}}); failed {
		t.Error(text)
	}
}

// Over HTTP only those are let in who know the address or its token, and name this very
// computer: no page of the web, and no name that leads here.
func TestMCPDoor(t *testing.T) {
	address := listening(t, t.TempDir())
	host, token := strings.Split(address, "/")[2], strings.Split(address, "/")[3]
	bare, port := "http://"+host+"/", host[strings.LastIndex(host, ":"):]
	for _, one := range []struct {
		name, url string
		headers   map[string]string
		in        bool
	}{
		{"the address", address, nil, true},
		{"the token", bare, map[string]string{"Authorization": "Bearer " + token}, true},
		{"localhost", address, map[string]string{"Host": "localhost" + port}, true},
		{"its own origin", address, map[string]string{"Origin": "http://" + host}, true},
		{"nothing", bare, nil, false},
		{"another token", bare, map[string]string{"Authorization": "Bearer " + strings.Repeat("A", len(token))}, false},
		{"a shorter token", bare, map[string]string{"Authorization": "Bearer " + token[1:]}, false},
		{"a token that begins so", bare, map[string]string{"Authorization": "Bearer " + token + "A"}, false},
		{"another scheme", bare, map[string]string{"Authorization": "Basic " + token}, false},
		{"another path", bare + token, nil, false},
		{"a name that leads here", address, map[string]string{"Host": "evil.example.com" + port}, false},
		{"another port", address, map[string]string{"Host": "127.0.0.1:1"}, false},
		{"a page of the web", address, map[string]string{"Origin": "https://evil.example.com"}, false},
		{"a page without an origin", address, map[string]string{"Origin": "null"}, false},
		{"another page of this computer", address, map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		{"a page with the token", bare, map[string]string{"Authorization": "Bearer " + token, "Origin": "http://localhost:1"}, false},
	} {
		request, err := http.NewRequest("POST", one.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		for key, value := range one.headers {
			if request.Header.Set(key, value); key == "Host" {
				request.Host = value
			}
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if in := response.StatusCode == http.StatusOK && bytes.Contains(text, []byte(`"serverInfo"`)); in != one.in || !in && response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d: %s", one.name, response.StatusCode, text)
		}
	}
}

// No more than so many sessions are open at once. A client that begins one may have a second
// for a moment, by which it asks what the server speaks.
func TestMCPSessionsAreBounded(t *testing.T) {
	address := listening(t, t.TempDir())
	for open := range agents.MostSessions + 1 {
		s, err := client(nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: address, DisableStandaloneSSE: true}, nil)
		if err != nil {
			if open < agents.MostSessions/2 {
				t.Errorf("only %d are open: %v", open, err)
			}
			return
		}
		t.Cleanup(func() { s.Close() })
	}
	t.Error("one more is open")
}

// A signal ends a server that listens, and the token that its user sets isn't printed.
func TestMCPListensUntilASignal(t *testing.T) {
	const token = "a-token-of-the-users-own"
	cmd := exec.Command(os.Args[0], "mcp", "--root", t.TempDir(), "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asCommand+"=1", "OBELUS_MCP_TOKEN="+token)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || strings.Contains(first, token) {
		t.Errorf("%v: %s", err, first)
	}
	s, err := client(nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: strings.Fields(first)[5] + token + "/", DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	called(t, s, "check", map[string]any{"plan": goodPlan})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A client in another language, the protocol's own in TypeScript, over both transports.
func TestMCPOtherClient(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("OBELUS_MCP_CLIENT")
	if folder == "" {
		folder = filepath.Join("..", "..", ".tools", "mcp")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "@modelcontextprotocol", "sdk")); err != nil {
		t.Skip("@modelcontextprotocol/sdk isn't installed: .ci/install installs it, or OBELUS_MCP_CLIENT names the folder that has its node_modules")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the other client needs node, which isn't installed")
	}
	root := put(t, map[string]string{"plan.yaml": goodPlan})
	jobs, err := json.Marshal(map[string]any{"address": listening(t, root), "command": os.Args[0], "args": []string{"mcp", "--root", root}, "env": asCommand, "good": goodPlan, "bad": badPlan, "long": ladder(800)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join("testdata", "mcp", "client.mjs"), folder)
	cmd.Stdin = bytes.NewReader(jobs)
	out, err := cmd.CombinedOutput()
	if want := "stdio: all is well\nhttp: all is well\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
