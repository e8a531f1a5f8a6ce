package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
)

type header struct {
	Plan string `json:"plan"`
}

// event is a body as a run may have it, of a length that differs from event to event.
func event(n int) []byte {
	return fmt.Appendf(nil, `{"kind":"ended","call":%d,"value":{"text":"J@ *%s"}}`, n, strings.Repeat("x ", n%50))
}

// written makes a journal with a write for each number, of so many records.
func written(t testing.TB, batches ...int) (path string, bodies []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run.jsonl")
	w, err := Create(path, header{"refund"})
	if err != nil {
		t.Fatal(err)
	}
	bodies = extend(t, w, batches...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, bodies
}

func extend(t testing.TB, w *Writer, batches ...int) (bodies []string) {
	t.Helper()
	for _, batch := range batches {
		for range batch {
			body := event(w.chain.next)
			bodies = append(bodies, string(body))
			if err := w.Append(body); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}

func bodiesOf(t testing.TB, c *Contents) (bodies []string) {
	t.Helper()
	for body, err := range c.Bodies() {
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

func load(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// EXECUTION.md#journals: the form that the documentation of the package shows, to the byte.
func TestForm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "run.jsonl")
	synctest.Test(t, func(t *testing.T) {
		w, err := Create(path, header{"refund"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		for _, body := range []string{`{"a":1}`, `{"b":"\\,\"hash\":"}`} {
			if err := w.Append([]byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		if err := errors.Join(w.Sync(), w.Sync(), w.Append([]byte(`{}`)), w.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
	})
	const want = `{"obelus-journal":1,"n":0,"synced":0,"time":"2000-01-01T00:00:00.000Z","body":{"plan":"refund"},"hash":"HASH"}
{"n":1,"synced":1,"time":"2000-01-01T00:00:01.500Z","body":{"a":1},"hash":"HASH"}
{"n":2,"synced":1,"time":"2000-01-01T00:00:01.500Z","body":{"b":"\\,\"hash\":"},"hash":"HASH"}
{"n":3,"synced":3,"time":"2000-01-01T01:00:01.500Z","body":{},"hash":"HASH"}
`
	var got strings.Builder
	for line := range strings.Lines(string(load(t, path))) {
		seal := strings.LastIndex(line, `"hash":"`) + len(`"hash":"`)
		got.WriteString(line[:seal] + "HASH" + line[seal+64:])
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others may read the journal: %v, %v", info.Mode(), err)
	}
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	if string(c.Header) != `{"plan":"refund"}` || string(c.Ending) != `{}` || c.Records != 4 || c.Torn > 0 ||
		!c.First.Equal(begun) || !c.Last.Equal(begun.Add(time.Hour+1500*time.Millisecond)) || c.Size != int64(len(load(t, path))) {
		t.Errorf("got %+v", c)
	}
}

// The commands in the documentation of the package do what it says.
func TestByHand(t *testing.T) {
	documentation := string(load(t, "doc.go"))
	_, script, ok := strings.Cut(documentation, "without obelus:\n//\n")
	script, _, ok2 := strings.Cut(script, "\n//\n")
	if !ok || !ok2 {
		t.Fatal("the documentation shows no way to verify a chain")
	}
	script = strings.ReplaceAll(script, "//\t", "")
	for _, tool := range []string{"bash", "sha256sum", "cut", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	path, bodies := written(t, 1, 3, 2)
	run := func(script string) string {
		cmd := exec.Command("bash", "-euc", script)
		cmd.Dir = filepath.Dir(path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if out := run(script); out != "" {
		t.Errorf("an intact journal: %s", out)
	}
	if out, want := run(`jq -c 'select(.n > 0).body' run.jsonl`), strings.Join(bodies, "\n")+"\n"; out != want {
		t.Errorf("got %s, want %s", out, want)
	}
	if out := run(`head -n 1 run.jsonl | jq -c .body; jq -r '[.n, .time, .body.kind] | @tsv' run.jsonl | wc -l`); strings.Fields(out)[0] != `{"plan":"refund"}` || strings.Fields(out)[1] != "7" {
		t.Errorf("got %s", out)
	}
	changed := bytes.Replace(load(t, path), []byte(`"call":3`), []byte(`"call":4`), 1)
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(script); !strings.HasPrefix(out, `changed: {"n":3,`) || strings.Count(out, "changed") < 1 {
		t.Errorf("a changed journal: %q", out)
	}
}

// A file that is no longer what was verified isn't read as if it were.
func TestChangedWhileRead(t *testing.T) {
	path, _ := written(t, 2)
	another, _ := written(t, 2)
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := load(t, path)
	for _, text := range [][]byte{load(t, another), whole[:len(whole)-9], bytes.Replace(whole, []byte("call"), []byte("fall"), 1), nil} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var last error
		for _, last = range c.Bodies() {
		}
		if last == nil || !strings.Contains(last.Error(), "changed while it was read") {
			t.Errorf("got %v", last)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	path, _ := written(t)
	before := load(t, path)
	if _, err := Create(path, header{"other"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if !bytes.Equal(load(t, path), before) {
		t.Error("the journal that was there has changed")
	}
	folder := t.TempDir()
	for _, bad := range []any{nil, 1, []int{1}, func() {}, "{}"} {
		if _, err := Create(filepath.Join(folder, "x.jsonl"), bad); err == nil {
			t.Errorf("%T makes a header", bad)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if _, err := Create(filepath.Join(path, "x.jsonl"), header{}); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestAppendRefuses(t *testing.T) {
	w, err := Begin(&platter{}, nil, header{"refund"})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{", "}", "1", `[{}]`, "{\n}", "{}\n"} {
		if w.Append([]byte(bad)) == nil {
			t.Errorf("%q makes a record", bad)
		}
	}
	large := slices.Concat([]byte(`{"a":"`), bytes.Repeat([]byte{'x'}, MaxRecord), []byte(`"}`))
	if err := w.Append(large); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(w.Append([]byte(`{}`)), w.Sync()); err != nil {
		t.Errorf("after what was refused: %v", err)
	}
	w.Close()
	if w.Append([]byte(`{}`)) == nil || w.Sync() == nil {
		t.Error("a closed journal takes records")
	}
}

// A record of the largest size is written and read, and many of them don't wait in
// memory without bound.
func TestLargest(t *testing.T) {
	if amount.Of(0, 1, 1) == 0 {
		t.Skip("needs half a gigabyte")
	}
	large := slices.Concat([]byte(`{"a":"`), bytes.Repeat([]byte{'x'}, MaxRecord-8), []byte(`"}`))
	p := &platter{}
	w, err := Begin(p, nil, header{"refund"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Append(large); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.pending) > 0 || p.syncs != 3 {
		t.Errorf("%d bytes wait, after %d syncs", len(w.pending), p.syncs)
	}
	_, c, err := Continue(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Records != 3 || !bytes.Equal(c.Ending, large) {
		t.Errorf("got %d records", c.Records)
	}
	var fault *Fault
	p.cache = append(p.cache, `{"n":3,"synced":3,"time":"2026-11-21T09:30:12.000Z","body":{"a":"`...)
	p.cache = append(p.cache, bytes.Repeat([]byte{'x'}, maxLine)...)
	if _, _, err := Continue(p, nil); !errors.As(err, &fault) || !strings.Contains(err.Error(), "isn't a record") {
		t.Errorf("a record that is too large: %v", err)
	}
}

func TestID(t *testing.T) {
	begun := time.Date(2026, 11, 21, 10, 30, 12, 999, time.FixedZone("CET", 3600))
	for _, c := range []struct{ name, suffix, want string }{
		{"refund", "4f2a", "20261121-093012-refund-4f2a"},
		{"Rückerstattung: Été & ÇA…", "4f2a", "20261121-093012-ruckerstattung-ete-ca-4f2a"},
		{"../../etc/passwd", "1", "20261121-093012-etc-passwd-1"},
		{"旅行", "1", "20261121-093012-run-1"},
		{strings.Repeat("long name ", 10), "1", "20261121-093012-long-name-long-name-long-name-long-name-1"},
	} {
		got := ID(begun, c.name, c.suffix)
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.name, got, c.want)
		}
	}
}
