//go:build unix

package session_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goos "runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// LANGUAGE.md#compiled-plans-and-digests: a file of the workspace that an activity of a run under a digest names is compared
// right before each start. Whoever puts something else in its place meanwhile, the program
// isn't started; other files may change.
func TestFilesAreComparedBeforeEachStart(t *testing.T) {
	for _, test := range []struct {
		name, change, argv, files string
		runs                      bool
	}{
		{"nothing", ":", "sh, prog.sh", "", true},
		{"written", "echo echo evil > prog.sh", "sh, prog.sh", "", false},
		{"moved over", "echo echo evil > new; mv new prog.sh", "sh, prog.sh", "", false},
		{"the program itself", "printf '#!/bin/sh\necho evil' > prog.sh", "./prog.sh", "", false},
		{"gone", "rm prog.sh; mkdir prog.sh", "sh, prog.sh", "", false},
		{"a link retargeted", "ln -sf lib/evil.sh link", "sh, link", "", false},
		{"what a link leads to", "cp lib/evil.sh prog.sh", "sh, link", "", false},
		{"a link out", "ln -sf $(readlink out)2 out", "sh, prog.sh, out", "", false},
		{"what a link out leads to", "echo evil > $(readlink out)", "sh, prog.sh, out", "", false},
		{"a program that a link out leads to", ":", "./out.sh", "", true},
		{"another program that a link out leads to", "printf '#!/bin/sh\\necho evil' > $(readlink out.sh)", "./out.sh", "", false},
		{"code in a folder", "echo evil > pack/__main__.py", "sh, prog.sh, pack", "", false},
		{"a module", "echo evil > pack/mod.py", "sh, prog.sh, -m, pack.mod", "", false},
		{"a package before its module", "echo evil > pack/__init__.py", "sh, prog.sh, -m, pack.mod", "", false},
		{"a new package in a module's place", "mkdir mod; echo evil > mod/__init__.py", "sh, prog.sh, -Im, mod", "", false},
		{"what a package imports", "mkdir pack/sub; echo evil > pack/sub/x.py", "sh, prog.sh, -mpack", "", false},
		{"what code of a folder imports", "echo evil > pack/mod.py", "sh, prog.sh, ./pack", "", false},
		{"a package of the environment", "echo evil > lib/more/__init__.py", "sh, prog.sh, -m, more], env: {PYTHONPATH: 'pack:lib'}, inherit: [", "", false},
		{"beside a package", "echo > pack/data; echo > mod.py", "sh, prog.sh, -m, pack.mod", "", true},
		{"code in a folder that isn't run", "echo > lib/new.py", "sh, prog.sh, lib", "", true},
		{"a file of the environment", "echo evil > data", "sh, prog.sh], env: {BASH_ENV: data}, inherit: [", "", false},
		{"come", "echo echo evil > late.sh", "sh, -c, 'if [ -f late.sh ]; then . ./late.sh; else sh prog.sh; fi', late.sh", "", false},
		{"a joined option", "echo echo evil > prog.sh", "sh, lib/arg.sh, --of=prog.sh, -fdata", "", false},
		{"another joined option", "echo x > data", "sh, lib/arg.sh, -fdata", "", false},
		{"of a pattern", "echo echo evil > lib/more/deep.sh", `sh, -c, ". lib/more/deep.sh"`, "lib/**/*.sh", false},
		{"new for a pattern", "echo > lib/more/new.sh", `sh, -c, ". lib/more/deep.sh"`, "lib/**/*.sh", false},
		{"gone for a pattern", "rm lib/evil.sh", `sh, -c, ". lib/more/deep.sh"`, "lib/*.sh, lib/more/*", false},
		{"beside a pattern", "echo > lib/more/new.txt", `sh, -c, ". lib/more/deep.sh"`, "lib/**/*.sh", true},
		{"what nobody names", "echo > data", "sh, prog.sh", "", true},
		{"what code names", "echo x > data", `sh, -c, "cat data > /dev/null; sh prog.sh"`, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder, elsewhere := t.TempDir(), t.TempDir()
			for name, text := range map[string]string{
				filepath.Join(elsewhere, "one"): "", filepath.Join(elsewhere, "out.sh"): "#!/bin/sh\necho good", filepath.Join(elsewhere, "one2"): "",
				"first.sh": test.change, "prog.sh": "#!/bin/sh\necho good", "data": "", "pack/__main__.py": "", "pack/mod.py": "", "lib/evil.sh": "echo evil", "lib/arg.sh": "echo good", "lib/more/deep.sh": "echo good",
			} {
				if !filepath.IsAbs(name) {
					name = filepath.Join(folder, name)
				}
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text+"\n"), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Symlink(filepath.Join(folder, "prog.sh"), filepath.Join(folder, "link")), os.Symlink(filepath.Join(elsewhere, "one"), filepath.Join(folder, "out")),
				os.Symlink(filepath.Join(elsewhere, "out.sh"), filepath.Join(folder, "out.sh"))); err != nil {
				t.Fatal(err)
			}
			p := programIn(t, folder, `tools: {t: {properties: {_output: {type: string}}}}
activities:
  first: {exec: {argv: [sh, first.sh], stdout: text, stdin: none}}
  prog: {exec: {argv: [`+test.argv+`], files: [`+test.files+`], stdout: text, stdin: none}}
calls:
- {_tool: t, _id: first, _activity: first, _outputPath: a}
- {_tool: t, _activity: prog, _after: first, _outputPath: b}
output: †state.b
`)
			digest, err := canonical.Digest(p.Plan)
			if err != nil {
				t.Fatal(err)
			}
			got, err := session.Run(t.Context(), p, session.Options{Digest: digest})
			switch {
			case err != nil:
				t.Fatal(err)
			case test.runs && got.Output != "good":
				t.Errorf("it came to %+v", got)
			case !test.runs && (got.Status == runtime.RunDone || !strings.Contains(fmt.Sprint(got.Errors), "not what was approved")):
				t.Errorf("it came to %+v", got)
			}
		})
	}
}

// LANGUAGE.md#compiled-plans-and-digests: while a second process keeps putting another program in the place of one, by
// renaming, a run under a digest starts the program that it is over, or none.
func TestProgramsStartFromWhatWasCompared(t *testing.T) {
	folder := t.TempDir()
	for name, program := range map[string]string{"a": "echo", "prog": "echo", "b": "false"} {
		if path, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		} else if out, err := exec.Command("cp", path, filepath.Join(folder, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	p := programIn(t, folder, "tools: {t: {_output: {type: string}}}\nactivities: {t: {exec: {argv: [./prog, good], stdout: text, stdin: none}}}\ncalls: [{_tool: t, _outputPath: r}]\noutput: †state.r\n")
	digest, err := canonical.Digest(p.Plan)
	if err != nil {
		t.Fatal(err)
	}
	swap := exec.Command("sh", "-c", "while :; do cp b new; mv new prog; cp a new; mv new prog; done")
	swap.Dir, swap.SysProcAttr = folder, &syscall.SysProcAttr{Setpgid: true}
	if err := swap.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { syscall.Kill(-swap.Process.Pid, syscall.SIGKILL); swap.Wait() }()
	done := 0
	for range amount.Of(20, 50, 2000) {
		got, err := session.Run(t.Context(), p, session.Options{Digest: digest})
		switch {
		case err != nil && !errors.Is(err, project.ErrOther):
			t.Fatal(err)
		case err == nil && got.Status == runtime.RunDone && got.Output == "good":
			done++
		case err == nil && (goos.GOOS == "linux") && !strings.Contains(fmt.Sprint(got.Errors), "not what was approved"):
			t.Fatalf("it came to %+v", got)
		}
	}
	t.Logf("%d runs were done", done)
}

// LANGUAGE.md#compiled-plans-and-digests: what the digest doesn't cover of the files that a program is started with isn't run
// under it: what a variable names, what PATH finds, and what has come since.
func TestWhatNobodyDemandedDoesntRun(t *testing.T) {
	for _, test := range []struct{ argv, says string }{
		{`sh, "{$SCRIPT_OF_IT}"`, `"s.sh"`},
		{"found-by-path", `found-by-path"`},
		{"sh, new.sh", `"new.sh"`},
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
		p := programIn(t, folder, "tools: {t: {properties: {}}}\nactivities: {t: {exec: {argv: ["+test.argv+"], stdin: none}}}\ncalls: [{_tool: t}]\n")
		digest, err := canonical.Digest(p.Plan)
		if err != nil {
			t.Fatal(err)
		}
		put("new.sh")
		got, err := session.Run(t.Context(), p, session.Options{Digest: digest})
		if _, ran := os.Stat(filepath.Join(folder, "ran")); !errors.Is(err, project.ErrOther) || ran == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %+v, %v", test.argv, got, err)
		}
	}
}

// LANGUAGE.md#compiled-plans-and-digests: a run that demanded a digest goes on with the files that it was over, or
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
		sum, err := canonical.Digest(programIn(t, folder, plan).Plan)
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
	resume := func() (*session.Result, error) {
		return session.Resume(t.Context(), got.Journal, session.ResumeOptions{Confirm: &never})
	}
	put("s.sh", "echo two\n")
	if _, err := resume(); !errors.Is(err, project.ErrOther) || !strings.Contains(err.Error(), `"s.sh"`) {
		t.Errorf("after the program has changed: %v", err)
	}
	put("s.sh", ". \"$(dirname \"$0\")/lib.sh\"; echo one\n")
	if again, err := resume(); err != nil || again.Output != "from lib\none" {
		t.Errorf("with the program as it was: %+v, %v", again, err)
	}
}
