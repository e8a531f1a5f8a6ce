//go:build unix

package compiler_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// S6.6: whatever real shells, interpreters and programs that start others run of the files
// that a call's literals name is among what the call is said to start. Each argv is made up
// and carried out; a file that is run says so.
func TestWhatRunsIsAmongWhatStarts(t *testing.T) {
	folder := t.TempDir()
	ran := func(file, text string) {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, n := range []string{"1", "2", "3"} {
		ran("p"+n+".sh", "#!/bin/sh\necho p"+n+".sh >> ran\n")
		ran("p"+n+".pl", "open(my $f, '>>', 'ran'); print $f \"p"+n+".pl\\n\";\n")
		ran("p"+n+".awk", "BEGIN { print \"p"+n+".awk\" >> \"ran\" }\n")
		ran("p"+n+".mk", "all:\n\t@echo p"+n+".mk >> ran\n")
		ran("p"+n, "#!/bin/sh\necho p"+n+" >> ran\n")
		names = append(names, "p"+n+".sh", "./p"+n+".sh", "p"+n+".pl", "p"+n+".awk", "p"+n+".mk", "./p"+n, "p"+n)
	}
	ran("own.sh", "exit 0\n")
	heads := [][]string{
		{"sh"}, {"bash"}, {"dash"}, {"sh", "-e"}, {"bash", "-o", "pipefail"}, {"bash", "--norc"}, {"sh", "-c", `. "$1"`, "sh"}, {"sh", "-c", `exec "$@"`, "sh"}, {"sh", "-c", `echo "$1"`, "sh"},
		{"bash", "-c", `if true; then ./"$1"; fi`, "sh"}, {"sh", "-c", `sh "./$2"`, "sh"}, {"perl"}, {"perl", "-w"}, {"perl", "-I", "lib"}, {"perl", "-e", "0"}, {"awk", "-f"}, {"make", "-s", "-f"}, {"sed", "-n", "1p"}, {"cat"}, {"sh", "own.sh"},
	}
	// What shells may do with their arguments: each way runs them, or nothing of them.
	for _, code := range []string{`for f in "$@"; do . "$f"; done`, `for f do sh "$f"; done`, `sh < "$1"`, `cat "$1" | sh`, `make -s -f "$1"`, `\. "./$1"`, `trap ". ./$1" EXIT`, `sh -c ". $0" "./$1"`, `eval "n=\$$#"; sh "$n"`, `echo "$(sh "$1")"`, "echo `\"./$1\"`",
		`f() { "$@"; }; f sh "$2"`, `while test $# != 0; do <"$1" sh; shift; done`, `case $1 in *) sh "$1";; esac`, `n=$1; test -f "$n" && cat "$n" >&2`, `wc -l < "$1"; printf '%s' "$(head -1 "$1")"`} {
		heads = append(heads, []string{"sh", "-c", code, "sh"})
	}
	before := [][]string{nil, nil, nil, {"env"}, {"env", "A=b"}, {"env", "-u", "HOME"}, {"timeout", "5"}, {"timeout", "-s", "KILL", "5"}, {"nice"}, {"nice", "-n", "5"}, {"nohup"}, {"setsid", "-w"}, {"stdbuf", "-o", "L"}, {"env", "timeout", "5"}}
	values := []any{nil, []any{}, "+e", "A=b", "5", "sh", "env", "own.sh", "word", true, false}
	started := 0
	for seed := range uint64(amount.Of(150, 1500, 30_000)) {
		r := rand.New(rand.NewPCG(seed, 66))
		argv := slices.Concat(before[r.IntN(len(before))], heads[r.IntN(len(heads))])
		params := map[string]any{}
		var items []any
		at := 1 + r.IntN(len(argv))                        // where parameters begin to stand among what is there
		if r.IntN(3) > 0 || slices.Contains(argv, "sed") { // whose first argument is code, and no file
			at = len(argv)
		}
		for i, word := range argv {
			items = append(items, word)
			if i+1 < at {
				continue
			}
			for range 1 + r.IntN(2) {
				name := string(rune('a' + len(params)))
				if params[name] = values[r.IntN(len(values))]; r.IntN(3) > 0 {
					params[name] = names[r.IntN(len(names))]
				} else if r.IntN(4) == 0 {
					params[name] = []any{names[r.IntN(len(names))], values[2+r.IntN(5)]}
				}
				var item any = "{" + name + "}"
				if r.IntN(4) == 0 {
					item = []any{item}
				}
				items = append(items, item)
			}
		}
		call := map[string]any{"_tool": "t"}
		for name, value := range params {
			call[name] = value
		}
		text, _ := json.Marshal(map[string]any{"tools": map[string]any{"t": map[string]any{"properties": map[string]any{}}}, "calls": []any{call},
			"activities": map[string]any{"t": map[string]any{"exec": map[string]any{"argv": items, "stdin": "none"}}}})
		p, found := compiler.Compile(source.NewFile("plan.json", text), compiler.Options{Limits: source.DefaultLimits()})
		a := p.Activities["t"]
		words, err := a.Arguments(params, os.Getenv)
		if err != nil || len(found) > 0 || len(words) == 0 { // refused: code of a shell, or an option
			continue
		}
		os.Remove(filepath.Join(folder, "ran"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir = folder
		_ = cmd.Run() // most of them fail
		cancel()
		files, _ := a.Starts(p.Calls[0])
		done, _ := os.ReadFile(filepath.Join(folder, "ran"))
		if _, some := a.Starts(&compiler.Call{}); len(done) > 0 && len(some) == 0 {
			t.Errorf("seed %d: %q runs %s, and no call is said to start anything\n%s", seed, words, done, text)
		}
		for _, one := range strings.Fields(string(done)) {
			if started++; !slices.ContainsFunc(files, func(file string) bool { return filepath.Clean(file) == one }) {
				t.Errorf("seed %d: %q runs %s, and is said to start %q\n%s", seed, words, one, files, text)
			}
		}
	}
	t.Logf("%d files were run", started)
	if started < 20 {
		t.Errorf("only %d files were run", started)
	}
}

// S6.6: whatever a real shell's code names of files, in whatever quotes, is among what is
// named, and with copies in their place it runs these. The code is made up: each byte of a
// name is quoted in one of the ways there are.
func TestWhatCodeRunsIsNamed(t *testing.T) {
	folder := t.TempDir()
	names := []string{"a.sh", "my tool.sh", "it's.sh", "sub/in it.sh", `q"$x.sh`, "back`\\.sh", "prog", "my tool", "it's"}
	var runs []string
	held := 0
	for _, in := range []string{"", "of $run 'it'/"} {
		for _, name := range names {
			path := filepath.Join(folder, in, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("#!/bin/sh\necho '"+strings.ReplaceAll(in+name, "'", `'\''`)+"'\n"), 0o700)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ways := []string{"%", "sh %", ". % && :", "x=1 sh %;", "echo $(sh %)", "echo \"$(sh %)\"", "x=`sh %`; echo \"$x\"", "echo \"`sh %`\"", "if %; then :; fi", "(sh %)", "sh < %", "cat %|sh", "f=%; sh \"$f\"", "for f in %; do sh \"$f\"; done", "echo no > out.txt; %", "sh -e -- %\n"}
	// Those that take a name for a file, and find it in their own folder.
	bare := append(slices.Clone(ways[1:2]), ways[3:8]...)
	bare = append(append(bare, ways[9:14]...), "sh -e -- %\n", "env sh %", "timeout 9 sh %|cat", "exec sh -u %", "head -n 9 % | sh -s x", "set -- %; sh \"$1\"", "cat <%| nice sh", "{ sh %; } 2>&1", "find a.sh -exec sh % \\;", "sh - %", "test -f % && sh %", "n=1; while test $n = 1; do sh %; n=2; done")
	ways = append(ways, "cd . && sh %", "cd \"$PWD\"; sh %", "mkdir -p new/it; rmdir new/it; cd new; cd ..; sh %")
	for seed := range uint64(amount.Of(150, 1500, 30_000)) {
		r := rand.New(rand.NewPCG(seed, 13))
		name := names[r.IntN(len(names))]
		way := ways[r.IntN(len(ways))]
		word := shellQuoted(r, "./"+name)
		if !strings.ContainsAny(name, "./") {
			way, word = bare[r.IntN(len(bare))], shellQuoted(r, name)
		}
		if strings.Contains(way, "`") {
			word = strings.NewReplacer(`\`, `\\`, "$", `\$`, "`", "\\`").Replace(word)
			if strings.Contains(way, "\"`") {
				word = strings.ReplaceAll(word, `"`, `\"`)
			}
		}
		code := strings.ReplaceAll(way, "%", word)
		if r.IntN(6) == 0 && !strings.Contains(code, "'") {
			code = "eval '" + code + "'"
		}
		a := &compiler.Activity{Kind: "exec", Argv: []compiler.Argument{{Texts: []string{"sh"}}, {Texts: []string{"-c"}}, {Texts: []string{code}}}}
		run := func(a *compiler.Activity) string {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", a.Argv[2].Texts[0])
			cmd.Dir = folder
			out, err := cmd.CombinedOutput()
			if err != nil {
				return string(out) + err.Error()
			}
			return strings.TrimSpace(string(out))
		}
		if done := run(a); done != name {
			t.Fatalf("seed %d: %q runs %q", seed, code, done)
		}
		if !slices.Contains(a.Files(nil), name) {
			t.Errorf("seed %d: %q runs %q, and is said to name %q", seed, code, name, a.Files(nil))
			continue
		}
		if slices.Contains(a.Held(), name) { // then it is compared itself
			held++
			continue
		}
		with, err := a.WithFiles(func(file string) string {
			if file != name {
				return ""
			}
			return "./of $run 'it'/" + name
		})
		if err != nil { // then nothing runs
			continue
		}
		if runs = append(runs, code); run(with) != "of $run 'it'/"+name {
			t.Errorf("seed %d: %q with a copy is %q, which runs %q", seed, code, with.Argv[2].Texts[0], run(with))
		}
	}
	if t.Logf("%d were run with copies", len(runs)); len(runs) < 50 || held < 10 {
		t.Errorf("only %d were run with copies, and %d held", len(runs), held)
	}
}

// shellQuoted is a text as a word of a shell, quoted in one of many ways.
func shellQuoted(r *rand.Rand, text string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	single := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch r.IntN(3) {
	case 0:
		return single(text)
	case 1:
		return `"` + escaped.Replace(text) + `"`
	}
	var b strings.Builder
	for _, c := range text {
		switch one := string(c); {
		case r.IntN(3) == 0:
			b.WriteString(single(one))
		case r.IntN(3) == 0:
			b.WriteString(`"` + escaped.Replace(one) + `"`)
		case strings.ContainsAny(one, " '\"$`\\") || r.IntN(4) == 0:
			b.WriteString(`\` + one)
		default:
			b.WriteString(one)
		}
	}
	return b.String()
}
