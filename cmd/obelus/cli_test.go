package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"golang.org/x/tools/txtar"
)

// TestMain keeps the journals of runs away from the user's own, and the programs that
// tests start from being deaf to signals where somebody started the tests so, as nohup
// does: what is caught here is as usual again in a child. Temporary folders lie in one
// that everybody may write, where the search for settings ends: what somebody
// left in the system's is nothing to a test.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	temporary, err := os.MkdirTemp("", "obelus-")
	if err == nil {
		err = errors.Join(os.Chmod(temporary, 0o777), os.Setenv("TMPDIR", temporary), os.Setenv("XDG_STATE_HOME", filepath.Join(temporary, "state")))
	}
	if err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(temporary)
	os.Exit(status)
}

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// Each file of testdata is a session at a command line: what it shows, the
// commands behind "$", files, and last what appears, in the section "output".
// Lines on standard error begin with "! ", and an exit status other than 0
// follows in brackets. Commands are obelus (with < and >), cat FILE, and
// link TARGET NAME.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			absolute, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			session, err := txtar.ParseFile(absolute)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			state := t.TempDir()
			t.Setenv("XDG_STATE_HOME", state)
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			t.Setenv("HOME", t.TempDir())
			t.Setenv("SSH_AUTH_SOCK", "")
			var want []byte
			var kept []txtar.File
			for _, f := range session.Files {
				if f.Name == "output" {
					want = f.Data
					continue
				}
				kept = append(kept, f)
				if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
					t.Fatal(err)
				}
				mode := os.FileMode(0o644)
				if bytes.Contains(f.Data, []byte("PRIVATE KEY")) {
					mode = 0o600 // or ssh-keygen doesn't use it
				}
				if err := os.WriteFile(f.Name, f.Data, mode); err != nil {
					t.Fatal(err)
				}
			}
			got := []byte(begunAt.ReplaceAllString(runID.ReplaceAllString(strings.ReplaceAll(play(t, string(session.Comment)), state, "STATE"), "DATE-$1-ID"), "begun DATE"))
			if *update {
				session.Files = append(kept, txtar.File{Name: "output", Data: got})
				if err := os.WriteFile(absolute, txtar.Format(session), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: the output differs (-update accepts it)\n--- got\n%s\n--- want\n%s\n--- first difference: %s",
					file, got, want, firstDifference(string(got), string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n  got  %q\n  want %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// play carries out the commands of a session and writes down what appears.
func play(t *testing.T, script string) string {
	var transcript strings.Builder
	commands := 0
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		commands++
		fmt.Fprintf(&transcript, "$ %s\n", command)
		stdout, stderr, status := carryOut(t, words(command))
		stdout, stderr = timeless(stdout), timeless(stderr)
		transcript.WriteString(stdout)
		if stdout != "" && !strings.HasSuffix(stdout, "\n") {
			transcript.WriteString("\n[no line end]\n")
		}
		for line := range strings.Lines(stderr) {
			transcript.WriteString("! " + line)
		}
		if status != 0 {
			fmt.Fprintf(&transcript, "[exit status %d]\n", status)
		}
	}
	if commands == 0 {
		t.Fatal("the session has no command")
	}
	return transcript.String()
}

// timeless takes real time out of what a run prints: it is never the same.
// Simulations keep theirs, which is virtual.
func timeless(text string) string {
	if strings.Contains(text, "virtual time") || strings.Contains(text, `"kind":"scenario"`) {
		return text
	}
	text = stampAt.ReplaceAllString(text, "TIME")
	text = elapsed.ReplaceAllString(text, " 0 ms")
	text = keptAt.ReplaceAllString(text, "; journal …")
	return eventTime.ReplaceAllString(text, `"at":0}`)
}

var (
	begunAt   = regexp.MustCompile(`begun (?:on )?[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}`)
	runID     = regexp.MustCompile(`\b[0-9]{8}-[0-9]{6}-([a-z0-9-]+)-[0-9a-f]{4}\b`)
	keptAt    = regexp.MustCompile(`; journal \S+`)
	elapsed   = regexp.MustCompile(` *\b[0-9]+(\.[0-9])? (µs|ms|s)\b`)
	stampAt   = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(Z|[+-][0-9:]{5})`)
	eventTime = regexp.MustCompile(`"at":[0-9.]+}`)
)

func carryOut(t *testing.T, args []string) (stdout, stderr string, status int) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch args[0] {
	case "cat":
		text, err := os.ReadFile(args[1])
		must(err)
		return string(text), "", 0
	case "sort": // lines of which only a clock says which is first
		text, err := os.ReadFile(args[1])
		must(err)
		lines := slices.Sorted(strings.Lines(timeless(string(text))))
		return strings.Join(lines, ""), "", 0
	case "cp":
		text, err := os.ReadFile(args[1])
		must(err)
		must(os.WriteFile(args[2], text, 0o644))
		return "", "", 0
	case "mode": // of a file
		info, err := os.Stat(args[1])
		must(err)
		return info.Mode().String(), "", 0
	case "link":
		must(os.Symlink(args[1], args[2]))
		return "", "", 0
	case "obelus":
		var in io.Reader = strings.NewReader("")
		var rest []string
		into := ""
		for i := 1; i < len(args); i++ {
			switch args[i] {
			case "<":
				i++
				text, err := os.ReadFile(args[i])
				must(err)
				in = bytes.NewReader(text)
			case ">":
				i++
				into = args[i]
			default:
				rest = append(rest, args[i])
			}
		}
		stdout, stderr, status = obelus(in, rest...)
		if into != "" {
			must(os.WriteFile(into, []byte(stdout), 0o644))
			stdout = ""
		}
		return stdout, stderr, status
	}
	t.Fatalf("sessions know no command %q", args[0])
	return "", "", 0
}

func obelus(in io.Reader, args ...string) (stdout, stderr string, status int) {
	var out, err strings.Builder
	status = run(context.Background(), args, in, &out, &err)
	return out.String(), err.String(), status
}

// words splits a command as a shell would, with ' and " as the only quotes.
func words(command string) []string {
	var all []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open {
				all = append(all, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		all = append(all, word.String())
	}
	return all
}

// EXECUTION.md#running: help names only commands that exist, and each explains itself.
func TestEveryCommandHasHelp(t *testing.T) {
	c := &cli{in: strings.NewReader(""), out: terminal.NewScreen(io.Discard), err: terminal.NewScreen(io.Discard)}
	for _, cmd := range c.rootCommand().Commands() {
		if cmd.Hidden { // a command that is gone
			continue
		}
		stdout, stderr, status := obelus(nil, cmd.Name(), "--help")
		if status != statusOK || stderr != "" || !strings.Contains(stdout, "usage:\n  obelus "+cmd.Name()) {
			t.Errorf("obelus %s --help: status %d, stderr %q, stdout\n%s", cmd.Name(), status, stderr, stdout)
		}
		for line := range strings.Lines(stdout) {
			if n := len([]rune(line)); n > 100 {
				t.Errorf("obelus %s --help has a line of %d characters: %s", cmd.Name(), n, line)
			}
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || cmd.Short != strings.ToLower(cmd.Short[:1])+cmd.Short[1:] {
			t.Errorf("the short text of %s isn't in the house style: %q", cmd.Name(), cmd.Short)
		}
	}
}

// LANGUAGE.md#findings: every code that check may print can be explained.
func TestEveryRuleIsExplained(t *testing.T) {
	listed, _, _ := obelus(nil, "explain")
	for _, rule := range rules.Registered {
		for _, name := range []string{rule.Code, strings.ToLower(rule.Code), rule.Name} {
			stdout, stderr, status := obelus(nil, "explain", name)
			if status != statusOK || !strings.Contains(stdout, rule.Code) {
				t.Errorf("obelus explain %s: status %d, %s%s", name, status, stdout, stderr)
			}
		}
		if !strings.Contains(listed, rule.Code+"  ") {
			t.Errorf("obelus explain doesn't list %s", rule.Code)
		}
	}
}

// EXECUTION.md#running: colours are for terminals alone.
func TestNoColoursElsewhere(t *testing.T) {
	for _, args := range [][]string{{}, {"check", "--help"}, {"chek"}, {"check", "-"}} {
		stdout, stderr, _ := obelus(strings.NewReader("calls: [{_tool: a, b: †state.c}]"), args...)
		if strings.Contains(stdout+stderr, "\x1b") {
			t.Errorf("obelus %q writes escape sequences where there is no terminal", args)
		}
	}
}

// EXECUTION.md#running: trouble with input or output is said in words, with status 2.
func TestTroubleWithStreams(t *testing.T) {
	_, stderr, status := obelus(iotest.ErrReader(io.ErrUnexpectedEOF), "check", "-")
	if status != statusError || !strings.Contains(stderr, `can't read "-"`) {
		t.Errorf("a broken standard input: status %d, %q", status, stderr)
	}
	var words strings.Builder
	status = run(context.Background(), []string{"schema"}, nil, brokenWriter{}, &words)
	if status != statusError || !strings.Contains(words.String(), "no space left") {
		t.Errorf("a broken standard output: status %d, %q", status, words.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left") }

// A fault of our own is a report with its stack, and status 2.
func TestPanicsAreConfessed(t *testing.T) {
	var words strings.Builder
	status := run(context.Background(), []string{"check", "-"}, panickyReader{}, io.Discard, &words)
	said := words.String()
	if status != statusError || !strings.Contains(said, "internal error: out of luck") || !strings.Contains(said, "panickyReader.Read") {
		t.Errorf("status %d, %s", status, said)
	}
}

type panickyReader struct{}

func (panickyReader) Read([]byte) (int, error) { panic("out of luck") }

// LANGUAGE.md#tools-and-activities: nothing that a user or a plan wrote acts on the terminal.
func TestMessagesAreEscaped(t *testing.T) {
	for _, args := range [][]string{{"\x1b[31mred"}, {"check", "\x1b]0;title\a"}, {"explain", "a\nobelus: done"}, {"check", "--format", "\x1b[2J"}, {"check", "--\x1b[2J"}} {
		_, stderr, status := obelus(nil, args...)
		if status != statusError || strings.ContainsAny(stderr, "\x1b\a") || strings.Contains(stderr, "\nobelus: done") {
			t.Errorf("obelus %q: status %d, stderr %q", args, status, stderr)
		}
	}
}
