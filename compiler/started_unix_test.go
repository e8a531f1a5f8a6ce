//go:build unix

package compiler_test

import (
	"context"
	"encoding/json"
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
