//go:build unix

package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// S6.6: while a second process keeps swapping what programs are started with, by renaming
// and by writing in place, a run that demands a digest runs what has that digest, every
// time that a program starts, or nothing.
func TestWhatWasApprovedRuns(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const ran = "#!/bin/sh\necho %s >> ran\necho %[1]s\n"
	for _, name := range []string{"a", "b"} {
		put(name, fmt.Sprintf(ran, name))
	}
	for _, name := range []string{"one.sh", "with space/two", "tools/three.sh", "tools/four.sh", "five"} {
		put(name, fmt.Sprintf(ran, "a"))
	}
	plan := `plan: swapped
tools: {one: {_output: {type: string}}, two: {_output: {type: string}}, three: {_output: {type: string}}, four: {properties: {script: {type: string}, _output: {type: string}}}}
activities:
  four: {exec: {argv: [sh, "./tools/{script}"], stdout: text, stdin: none}}
  one: {exec: {argv: [sh, one.sh], stdout: text, stdin: none}}
  two: {exec: {argv: [./with space/two], stdout: text, stdin: none}}
  three: {exec: {argv: [sh, -c, ": && ./tools/three.sh"], stdout: text, stdin: none}}
  five: {exec: {argv: [sh, -c, "if sh five | cat; then :; fi"], stdout: text, stdin: none}}
calls:
- {_tool: one, _id: first, _outputPath: a}
- {_tool: two, _id: second, _after: first, _outputPath: b}
- {_tool: three, _after: second, _outputPath: c}
- {_tool: four, script: four.sh, _after: second, _outputPath: d}
- {_tool: one, _activity: five, _after: second, _outputPath: e}
output: [†state.a, †state.b, †state.c, †state.d, †state.e]
`
	approved, err := programIn(t, folder, plan).Plan.Digest()
	if err != nil {
		t.Fatal(err)
	}
	swap := `while :; do for f in one.sh "with space/two" tools/three.sh tools/four.sh five; do
		cp b "$f.new"; mv "$f.new" "$f"; sleep 0.002; cp a "$f.new"; mv "$f.new" "$f"; cat b > "$f"; cp a "$f.new"; mv "$f.new" "$f"
	done; sleep 0.03; done`
	cmd := exec.Command("sh", "-c", swap)
	cmd.Dir, cmd.SysProcAttr = folder, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() }()
	done, refused := 0, 0
	for range amount.Of(10, 50, 1000) {
		p := programIn(t, folder, plan)
		got, err := session.Run(t.Context(), p, session.Options{Digest: approved})
		switch {
		case errors.Is(err, project.ErrOther) && got == nil:
			refused++
		case err != nil || got.Status != runtime.RunDone || fmt.Sprint(got.Output) != "[a a a a a]":
			t.Fatalf("it came to %+v, %v", got, err)
		default:
			done++
		}
	}
	text, _ := os.ReadFile(filepath.Join(folder, "ran"))
	if lines := strings.Fields(string(text)); len(lines) != 5*done || strings.Contains(string(text), "b") {
		t.Errorf("%d runs were done and %d refused, and programs ran: %q", done, refused, lines)
	}
	t.Logf("%d runs were done, %d refused", done, refused)
}

// S6.6: what the digest doesn't see of the files that a program is started with isn't run
// under it: what a variable names, what PATH finds, and what has come since, be it named by
// the argv or by a call's literal. It is said which of these it is.
func TestWhatNobodyDemandedDoesntRun(t *testing.T) {
	for _, test := range []struct {
		argv, says string
		changed    bool
	}{
		{`sh, "{$SCRIPT_OF_IT}"`, "a variable of the environment", false},
		{"found-by-path", "PATH finds", false},
		{"sh, new.sh", `"new.sh"`, true},
		{`sh, -e, "{x}"`, `"new.sh"`, true},
	} {
		folder := t.TempDir()
		t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
		t.Setenv("SCRIPT_OF_IT", "s.sh")
		put := func(name string) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\necho ran > ran\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		put("s.sh")
		put("found-by-path")
		p := programIn(t, folder, `tools: {t: {properties: {x: {}}}}
activities: {t: {exec: {argv: [`+test.argv+`], stdin: none}}}
calls: [{_tool: t, x: new.sh}]
`)
		digest, err := p.Plan.Digest()
		if err != nil {
			t.Fatal(err)
		}
		put("new.sh")
		got, err := session.Run(t.Context(), p, session.Options{Digest: digest})
		if _, ran := os.Stat(filepath.Join(folder, "ran")); err == nil || errors.Is(err, project.ErrOther) != test.changed || ran == nil || !strings.Contains(strings.ReplaceAll(err.Error(), folder+"/", ""), test.says) {
			t.Errorf("%s: %+v, %v", test.argv, got, err)
		}
	}
}

// S6.6: what a program of the run puts in the place of the copy that is started isn't
// started.
func TestCopiesArentReplaced(t *testing.T) {
	for name, with := range map[string]string{
		"moved over":           `cp evil.sh "$0.new"; mv -f "$0.new" "$1"`,
		"copied over":          `cp -f evil.sh "$1"`,
		"written in its place": `chmod u+w "$1"; cat evil.sh > "$1"; chmod u-w "$1"`,
		"its folder opened":    `chmod u+w "$(dirname "$1")"; rm -f "$1"; cp evil.sh "$1"; chmod u-w "$(dirname "$1")"`,
		"a link":               `chmod u+w "$(dirname "$1")"; ln -sf "$PWD/evil.sh" "$1"`,
		"its age kept":         `chmod u+w "$1"; touch -r "$1" "$PWD/age"; printf 'echo evil' > "$1"; touch -r "$PWD/age" "$1"; chmod u-w "$1"`,
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range map[string]string{"good.sh": "echo good", "evil.sh": "echo evil", "swap.sh": with} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p := programIn(t, folder, `tools: {t: {properties: {_output: {type: string}}}}
activities:
  swap: {exec: {argv: [sh, swap.sh, good.sh], stdout: text, stdin: none}}
  good: {exec: {argv: [sh, good.sh], stdout: text, stdin: none}}
calls:
- {_tool: t, _activity: swap, _id: swap, _outputPath: a}
- {_tool: t, _activity: good, _after: {settled: [swap]}, _outputPath: b}
output: †state.b
`)
			digest, err := p.Plan.Digest()
			if err != nil {
				t.Fatal(err)
			}
			got, err := session.Run(t.Context(), p, session.Options{Digest: digest})
			if err != nil || strings.Contains(fmt.Sprint(got.Output, got.State), "evil") {
				t.Fatalf("it came to %+v, %v", got, err)
			}
		})
	}
}

// S6.6: a file that a shell's code names so that no copy can take its place is in the
// digest. Whoever touches it while the run works, and be it to put back what was there, the
// code isn't run with it any more; what the code itself writes it may read.
func TestHeldFilesStay(t *testing.T) {
	for _, test := range []struct{ first, code, want string }{
		{":", "cat prog | sh", "good"},
		{"echo echo evil > prog", "cat prog | sh", ""},
		{"cp prog old; echo echo evil > prog; mv old prog", "cat prog | sh", ""},
		{"echo echo evil > prog", `PATH=.:$PATH; . prog`, ""},
		{"echo echo evil > prog", `f=prog; sh "$f"`, ""},
		{"echo echo evil > prog", `cd sub; cd ..; sh prog`, ""},
		{"echo echo evil > sub/prog", `cd sub && sh ./prog`, ""},
		{"echo x > sub/prog", "sh prog", "good"}, // its copy
		{"echo echo evil > prog", "sh prog", "good"},
		{"echo x > data", "sh prog data", "good"},
		{"echo x > data", "cat data > /dev/null; sh prog", "good"},
		{":", "echo good > out.txt; cat out.txt", "good"},
		{"echo x > out.txt", "echo good | tee out.txt > /dev/null && cat out.txt", "good"},
		{"echo echo evil > prog", `xargs sh < sub/../made.sh | cat - prog | sh`, ""},
		{":", "cp build kept.txt; echo good | tee kept.txt; cp kept.txt k2.txt; rm -f k2.txt", "good"},
		{"touch build", "test -f build && sh prog", "good"},
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{"first.sh": test.first, "prog": "echo good", "sub/prog": "echo good", "build": "", "data": "", "made.sh": "echo made"} {
			if err := errors.Join(os.MkdirAll(filepath.Join(folder, "sub"), 0o755), os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		p := programIn(t, folder, `tools: {t: {properties: {_output: {type: string}}}}
activities:
  first: {exec: {argv: [sh, first.sh], stdout: text, stdin: none}}
  code: {exec: {argv: [sh, -c, '`+test.code+`'], stdout: text, stdin: none}}
calls:
- {_tool: t, _id: first, _activity: first, _outputPath: a}
- {_tool: t, _activity: code, _after: first, _outputPath: b}
output: †state.b
`)
		digest, err := p.Plan.Digest()
		if err != nil {
			t.Fatal(err)
		}
		got, err := session.Run(t.Context(), p, session.Options{Digest: digest})
		if err != nil || test.want != "" && got.Output != test.want || test.want == "" && (got.Status == runtime.RunDone || !strings.Contains(fmt.Sprint(got.Errors), "has been touched")) {
			t.Errorf("%q after %q: %+v, %v", test.code, test.first, got, err)
		}
		if test.want == "" { // and the digest is over it
			p := programIn(t, folder, string(p.File.Text))
			if now, err := p.Plan.Digest(); now == digest && !strings.Contains(test.first, "old") || err != nil {
				t.Errorf("%q after %q: the digest stays %s, %v", test.code, test.first, now, err)
			}
		}
	}
}

// S6.6: a file that comes while a run under a digest works, and that a program's argv, a
// literal of its call or PATH would name, isn't run by a program that starts from then on;
// and what a program gives that had started isn't taken. Whenever a second process puts the
// files there, the run isn't done with what they hold.
func TestWhatComesLateIsntTaken(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("PATH", folder+"/bin:"+elsewhere+":"+os.Getenv("PATH"))
	put := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(elsewhere, "tool-of-it"), "echo good\n")
	put(filepath.Join(folder, "bin", "other"), "")
	put(filepath.Join(folder, "first.sh"), "echo good\n")
	const plan = `tools: {t: {properties: {x: {}, _output: {type: string}}}}
activities:
  first: {exec: {argv: [sh, first.sh], stdout: text, stdin: none}}
  code: {exec: {argv: [sh, -c, "if [ -f ./late.sh ]; then . ./late.sh; else echo good; fi"], stdout: text, stdin: none}}
  named: {exec: {argv: [sh, -c, 'if [ -f "$1" ]; then . "$1"; else echo good; fi', sh, "{x}"], stdout: text, stdin: none}}
  found: {exec: {argv: [tool-of-it], stdout: text, stdin: none}}
  worker: {exec: {argv: [sh, -c, 'while read -r line; do if [ -f ./late.sh ]; then . ./late.sh; fi; id="${line#*:}"; echo "{\"id\": ${id%%,*}, \"result\": \"$(cat told 2>/dev/null || echo good)\"}"; done'], worker: true}}
calls:
- {_tool: t, _id: first, _activity: first, _outputPath: a}
- {_tool: t, _activity: code, _after: first, _outputPath: b}
- {_tool: t, _activity: named, x: ./late.sh, _after: first, _outputPath: c}
- {_tool: t, _activity: found, _after: first, _outputPath: d}
- {_tool: t, _activity: worker, _after: first, _outputPath: e}
output: [†state.a, †state.b, †state.c, †state.d, †state.e]
`
	chance := rand.New(rand.NewPCG(6, 6))
	late := []string{filepath.Join(folder, "late.sh"), filepath.Join(folder, "bin", "tool-of-it")}
	done, refused, failed := 0, 0, 0
	for i := range amount.Of(10, 50, 1000) {
		for _, name := range append(late, filepath.Join(folder, "told")) {
			os.Remove(name)
		}
		p := programIn(t, folder, plan)
		digest, err := p.Plan.Digest()
		if err != nil {
			t.Fatal(err)
		}
		come := exec.Command("sh", "-c", `sleep "$1"; printf 'echo evil | tee told\n' > .new; chmod +x .new; cp -p .new .two; mv .two bin/tool-of-it; mv .new late.sh`, "sh", fmt.Sprint(chance.Float64()*0.05))
		come.Dir = folder
		if i == 0 { // a call of the run itself does it
			put(filepath.Join(folder, "first.sh"), "echo 'echo evil' > late.sh; echo good\n")
			p = programIn(t, folder, plan)
			digest, _ = p.Plan.Digest()
		} else if err := come.Start(); err != nil {
			t.Fatal(err)
		}
		got, err := session.Run(t.Context(), p, session.Options{Digest: digest})
		switch {
		case errors.Is(err, project.ErrOther), errors.Is(err, session.ErrUnrunnable):
			refused++
		case err != nil || strings.Contains(fmt.Sprint(got.Output, got.State), "evil"):
			t.Fatalf("it came to %+v, %v", got, err)
		case got.Status == runtime.RunDone && i > 0:
			done++
		default:
			failed++
		}
		if i == 0 {
			put(filepath.Join(folder, "first.sh"), "echo good\n")
			if failed != 1 || strings.Contains(fmt.Sprint(got.Errors), "evil") {
				t.Fatalf("a file that a call makes was run: %+v, %v", got, err)
			}
			continue
		}
		come.Wait()
	}
	t.Logf("%d runs were done, %d refused, and %d failed", done, refused, failed)
}

// S6.6, S8.6: a run that demanded a digest goes on with the files that it was over, or
// with others where those are demanded; what lies beside a program is found there.
func TestDemandedRunsGoOn(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("s.sh", ". \"$(dirname \"$0\")/lib.sh\"; echo one\n")
	put("lib.sh", "echo from lib\n")
	const plan = `tools: {t: {_output: {type: string}}}
activities: {t: {exec: {argv: [sh, s.sh], stdin: none, stdout: text}}}
calls: [{_tool: t, _outputPath: r}]
output: †state.r
`
	digest := func() string {
		sum, err := programIn(t, folder, plan).Plan.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	first := digest()
	asking := runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Always}}
	got, err := session.Run(t.Context(), programIn(t, folder, plan), session.Options{Options: asking, Runs: t.TempDir(), Digest: first})
	if err != nil || len(got.Asked) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	never := runtime.Confirm{}
	resume := func(digest string) (*session.Result, error) {
		return session.Resume(t.Context(), got.Journal, session.ResumeOptions{Confirm: &never, Digest: digest})
	}
	put("s.sh", "echo two\n")
	if _, err := resume(""); !errors.Is(err, project.ErrOther) || !strings.Contains(err.Error(), `"s.sh"`) {
		t.Errorf("after the program has changed: %v", err)
	}
	if _, err := resume(first); !errors.Is(err, project.ErrOther) {
		t.Errorf("after the program has changed, and the same is demanded: %v", err)
	}
	second := digest()
	put("s.sh", ". \"$(dirname \"$0\")/lib.sh\"; echo one\n")
	if _, err := resume(second); !errors.Is(err, project.ErrOther) || !strings.Contains(err.Error(), first) {
		t.Errorf("what is demanded isn't there: %v", err)
	}
	if again, err := resume(""); err != nil || again.Output != "from lib\none" {
		t.Errorf("with the program as it was: %+v, %v", again, err)
	}
}
