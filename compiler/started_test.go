package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// S6.6: which files a call's literals have a program start, and which texts of the argv are
// known only as it runs. Data isn't among them.
func TestWhatAnArgvStarts(t *testing.T) {
	for _, test := range []struct{ argv, params, files, decided string }{
		{`[sh, "{a}", "{b}"]`, "a: x, b: y", "x", ""},
		{`[sh, "{a}", "{b}"]`, "b: y", "y", ""},
		{`[sh, "{a}", "{b}"]`, "a: null, b: y", "y", ""},
		{`[sh, "{a}", "{b}"]`, "a: †input.a, b: y", "y", "{a}"},
		{`[sh, "lib/{a}.sh"]`, "a: [x, y]", "lib/x.sh lib/y.sh", ""},
		{`[bash, [-x, "{f}"], "{a}", "{b}"]`, "f: true, a: x, b: y", "x", ""},
		{`[bash, --rcfile, "{f}", -e, "{a}"]`, "f: x, a: y", "x y", ""},
		{`[sh, s.sh, "{a}"]`, "a: x", "", ""},
		{`[sh, -c, 'echo "$1"', sh, "{a}"]`, "a: x", "", ""},
		{`[sh, -c, 'cd d && . "./$1"', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, 'if true; then "$@"; fi', sh, "{a}", "{b}"]`, "a: x, b: †input.b", "x", "{a} {b}"},
		{`[sh, -c, 'n=$1; test -f "$n" && echo "$(cat "$n")" | wc -l >&2', sh, "{a}"]`, "a: x", "", ""},
		{`[sh, -c, 'for f in "$@"; do . "$f"; done', sh, "{a}", "{b}"]`, "a: x, b: †input.b", "x", "{a} {b}"},
		{`[sh, -c, 'sh < "$1"', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, 'cat "$1" | sh', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, 'make -f "$1"', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, '\\. "$1"', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, 'trap ". $1" EXIT', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, 'sh -c ". $0" "$1"', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, 'echo "$(. "$1")"', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[sh, -c, 'LD_PRELOAD=$1 cat', sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[env, -S, "sh -c 'echo; . $1' sh", "{a}"]`, "a: x", "x", "{a}"},
		{`[python3, -u, tool.py, "{a}"]`, "a: x", "", ""},
		{`[python3.12, -W, ignore, "{a}", "{b}"]`, "a: x, b: y", "x", ""},
		{`[python3, -m, "{a}", "{b}"]`, "a: x, b: y", "x", "{a}"},
		{`[python3, -c, "import sys", "{a}"]`, "a: x", "", ""},
		{`[env, A=b, timeout, -k, "5", "10", node, "{a}"]`, "a: x", "x", ""},
		{`[env, -C, d, sh, "{a}"]`, "a: x", "x", "{a}"},
		{`[env, -S, "sh {a}"]`, "a: x", "sh x", "sh {a}"},
		{`[make, -s, -f, "{a}", "{b}"]`, "a: x, b: y", "x", ""},
		{`[awk, "--file={a}", "{b}"]`, "a: x, b: y", "x", ""},
		{`[sed, -n, 1p, "{a}"]`, "a: x", "", ""},
		{`[git, log, "{a}"]`, "a: x", "", ""},
		{`["{$TOOL}", "{a}"]`, "a: x", "x", "{$TOOL}"},
		{`[sh, "lib/{a}"]`, "_each: [x, y], a: †item", "lib/x lib/y", ""},
		{`[sh, "lib/{a}"]`, "_each: †input.l, a: †item", "", "lib/{a}"},
		{`[sh, "{a}", "{b}"]`, "a: [], b: y", "y", ""},
		{`[sh, "{a}", "{b}"]`, "a: +x, b: y", "y", ""},
		{`[sh, "{a}", "{b}", "{c}"]`, "a: [x, z], b: y", "x z", ""},
		{`[env, "{a}", "{b}", "{c}"]`, "a: A=b, b: sh, c: y", "A=b sh y", ""},
		{`[timeout, "{a}", "{b}", "{c}"]`, "a: 5s, b: y, c: z", "5s y", ""},
		{`[sh, "{$DIR}/{a}"]`, "a: x", "", "{$DIR}/{a}"},
	} {
		text := "tools: {t: {properties: {}}}\nactivities: {t: {exec: {argv: " + test.argv + "}}}\ncalls: [{_tool: t, " + test.params + "}]\n"
		p, _ := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Limits: source.DefaultLimits()})
		files, decided := p.Activities["t"].Starts(p.Calls[0])
		if strings.Join(files, " ") != test.files || strings.Join(decided, " ") != test.decided {
			t.Errorf("%s, %s: files %q, decided %q; expected %q and %q", test.argv, test.params, files, decided, test.files, test.decided)
		}
	}
}

// S6.6: code in code, however deep, is told from data in steps that don't grow with the square of it.
func TestDeepCodeStarts(t *testing.T) {
	for _, one := range []string{"$(", "`", "\"$(", "\\", "'\"", "<(", "x=("} {
		code := "echo ./a.sh; " + strings.Repeat(one, 20_000) + " ./deep.sh $1"
		a := &compiler.Activity{Kind: "exec", Argv: []compiler.Argument{{Texts: []string{"sh"}}, {Texts: []string{"-c"}}, {Texts: []string{code}}, {Texts: []string{"sh"}}, {Texts: []string{"{a}"}}}}
		if _, decided := a.Starts(&compiler.Call{}); len(decided) != 1 || !slices.Contains(a.Files(nil), "a.sh") {
			t.Errorf("%q deep: decided %q", one, decided)
		}
	}
}

// S6.6, S16.1: by which of a shell's code, or argv, files may be run that the digest isn't
// over is told; which files are held to what they were; and neither of what is only data,
// or what the code writes itself.
func TestWhatTheDigestIsntOverIsTold(t *testing.T) {
	sh := func(code string) []string { return []string{"sh", "-c", code} }
	for _, test := range []struct {
		argv       []string
		told, held string
	}{
		{sh("sh prog"), "", ""}, // its copy takes its place
		{sh("cat prog | sh"), "sh", "cat prog sh"},
		{sh(`f=prog; . "$f"`), `"$f"`, "$f f=prog prog"},
		{sh("sh *.sh"), "*.sh", "sh"},
		{sh(". lib; echo data"), "", "lib"},
		{sh("make build"), "make build", ""},
		{sh("env make -s"), "env make -s", "make"},
		{sh("cd sub && sh t"), "", "sub/t t"},
		{sh(`cd "$X"; true`), `cd "$X"`, "$X"},
		{sh("PATH=.:$PATH prog"), "PATH=.:$PATH", ""},
		{sh("echo good > out.txt; cat out.txt"), "out.txt", ""},
		{sh("cp a b; sh b; rm b"), "b", ""},
		{sh("cp a b.txt; wc b.txt"), "b.txt", ""},
		{sh("python3 -c 'import x'"), "python3 -c 'import x'", "import x"},
		{sh("python3 --version; git log main; touch stamp; sh ./s.sh data"), "", ""},
		{sh(`grep x data | sort > out; test -f "$1" && wc -l < out`), "out", ""},
		{[]string{"make", "build"}, "make build", ""},
		{[]string{"python3", "-m", "x"}, "python3 -m x", ""},
		{[]string{"git", "commit", "-m", "fix the build"}, "", ""},
		{[]string{"sh", "s.sh", "make"}, "", ""},
	} {
		a := &compiler.Activity{Kind: "exec"}
		for _, text := range test.argv {
			a.Argv = append(a.Argv, compiler.Argument{Texts: []string{text}})
		}
		held := slices.Sorted(slices.Values(a.Held()))
		if told := strings.Join(a.Unseen(), " "); told != test.told || strings.TrimSpace(strings.Join(slices.Compact(held), " ")) != test.held {
			t.Errorf("%q: told %q, held %q; expected %q and %q", test.argv, told, held, test.told, test.held)
		}
	}
}
