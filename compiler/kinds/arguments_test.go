package kinds_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

func argv(items ...any) *plan.Activity {
	a := &plan.Activity{Name: "act"}
	for _, item := range items {
		if texts, ok := item.([]string); ok {
			a.Argv = append(a.Argv, plan.Argument{Texts: texts, Option: true})
		} else {
			a.Argv = append(a.Argv, plan.Argument{Texts: []string{item.(string)}})
		}
	}
	return a
}

// LANGUAGE.md#programs: what an argv makes of a call's parameters.
func TestArguments(t *testing.T) {
	params := map[string]any{
		"text": "a b", "empty": "", "number": 3.0, "yes": true, "no": false, "none": nil, "list": []any{"x", nil, 2.0}, "nothing": []any{}, "object": map[string]any{"b": "<", "a": 1.0},
		"dash": "-x", "minus": -1.0, "braces": "{text} {$HOME} {{text}}", "größe": "l", "in-side": "i",
	}
	for _, test := range []struct {
		item any
		want []string // behind "tool"; nil for an error
	}{
		{"plain", []string{"plain"}},
		{"{text}", []string{"a b"}},
		{"--text={text}!", []string{"--text=a b!"}},
		{"{empty}", []string{""}},
		{"{number},{yes},{object}", []string{`3,true,{"a":1,"b":"<"}`}},
		{"{größe}{in-side}", []string{"li"}},
		{"--x={absent}", []string{}},
		{"--x={none}", []string{}},
		{"{list}", []string{"x", "2"}},
		{"-l{list}", []string{"-lx", "-l2"}},
		{"{text}:{list}", []string{"a b:x", "a b:2"}},
		{"{nothing}", []string{}},
		{"{list}{nothing}", nil},
		{"{no}", []string{"false"}},
		{"{braces}", []string{"{text} {$HOME} {{text}}"}},
		{"{{text}} ${text} {text ${HOME} {.text} {{.text}} {{{text}}}", []string{"{text} ${text} {text ${HOME} {.text} {{.text}} {{text}}"}},
		{"{$HOME}/{text}", []string{"/home/a b"}},
		{"{dash}", nil},
		{"{empty}{dash}", nil},
		{"{minus}", nil},
		{"./{dash}", []string{"./-x"}},
		{"-{dash}", []string{"--x"}},
		{[]string{"-o", "{text}"}, []string{"-o", "a b"}},
		{[]string{"-o", "{absent}", "{text}"}, []string{}},
		{[]string{"-o", "{list}"}, []string{"-o", "x", "-o", "2"}},
		{[]string{"-o", "{nothing}"}, []string{}},
		{[]string{"-o", "{dash}"}, nil},
		{[]string{"-v", "{yes}"}, []string{"-v"}},
		{[]string{"-v", "{no}"}, []string{}},
		{[]string{"-v", "{no}", "{list}"}, []string{}},
		{[]string{"--v={yes}"}, []string{"--v=true"}},
		{[]string{"-a", "-b"}, []string{"-a", "-b"}},
	} {
		got, err := kinds.Arguments(argv("tool", test.item), params, func(string) string { return "/home" })
		if want := append([]string{"tool"}, test.want...); test.want == nil && err == nil || test.want != nil && (err != nil || !slices.Equal(got, want)) {
			t.Errorf("%v: got %q, %v, want %q", test.item, got, err, test.want)
		}
	}
	for text, want := range map[string]string{"{minus}{text}": `the value of "minus" begins`, "{empty}{minus}": `"{empty}{minus}" begins with "-" as "empty" is empty`, "{empty}-x": `"{empty}-x" begins with "-" as "empty" is empty`} {
		if _, err := kinds.Arguments(argv("tool", text), params, kinds.AsWritten); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	got, err := kinds.Arguments(argv("tool", "--", "{dash}", []string{"{list}"}), params, kinds.AsWritten)
	if err != nil || !slices.Equal(got, []string{"tool", "--", "-x", "x", "2"}) {
		t.Errorf("behind --: %q, %v", got, err)
	}
}

// LANGUAGE.md#programs: whatever values say, an argv has the options that its definition has and no
// others, no value is split or joined, and none is read as a placeholder.
func TestArgumentsAreNothingElse(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	hostile := []string{"", "-", "--", "-rf", "a b", "{a}", "{$SECRET}", "{{a}}", "${a}", "$(x)", "`x`", "\n-x", "'", "\"", "*", ";", "=", "{", "}", "†state.x"}
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	for range 5000 {
		params := map[string]any{}
		for _, name := range []string{"a", "b", "c"} {
			switch random.IntN(4) {
			case 0:
				params[name] = pick(hostile)
			case 1:
				params[name] = []any{pick(hostile), pick(hostile)}
			case 2:
				params[name] = random.IntN(2) == 0
			}
		}
		var items []any
		for range 1 + random.IntN(4) {
			text := pick([]string{"-x", "--", "{a}", "--o={b}", "{c}", "p{a}", "{a}{b}"})
			if random.IntN(3) == 0 {
				items = append(items, []string{"-g", text})
			} else {
				items = append(items, text)
			}
		}
		a := argv(append([]any{"tool"}, items...)...)
		got, err := kinds.Arguments(a, params, func(string) string { t.Fatal("a value was taken for a variable"); return "" })
		if err != nil {
			continue
		}
		for _, argument := range got {
			if argument == "--" {
				break // it is the definition's own, or this would have been refused
			}
			if strings.HasPrefix(argument, "-") && argument != "-x" && argument != "-g" && !strings.HasPrefix(argument, "--o=") {
				t.Fatalf("%v with %v: %q is an option", items, params, got)
			}
		}
		longest := 1
		for _, item := range items {
			longest += 2 * len(strings.Fields(fmt.Sprint(item)))
		}
		if len(got) > longest {
			t.Fatalf("%v with %v: %q", items, params, got)
		}
	}
}

// LANGUAGE.md#programs: a value is never what a shell runs, wherever the shell stands in an argv and
// however its option is written; behind the code it is an argument.
func TestShellsAreGivenNoValues(t *testing.T) {
	refused := func(argv string) bool {
		_, found := compiler.Compile(source.NewFile("plan.yaml", []byte("activities: {t: {exec: {stdout: text, argv: ["+argv+"]}}}\ncalls: []")), compiler.Options{})
		return slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return strings.Contains(d.Message, "run as code of the shell") })
	}
	before := []string{"", "env, ", "env, A=b, ", "timeout, '5', ", "nice, -n, '5', ", "nohup, setsid, ", "xargs, ", "sudo, -u, me, ", "busybox, ", "find, '{dir}', -exec, ", "[env, -i], "}
	shells := []string{"sh", "/bin/bash", "dash", "zsh", "fish", "ksh", "PowerShell.exe"}
	for _, wrapper := range before {
		for _, shell := range shells {
			if shell == "sh" && strings.HasPrefix(wrapper, "[") {
				continue // no program
			}
			for _, argv := range []string{
				"-c, '{a}'", "-c, 'echo {a}'", "-ec, '{a}'", "-ce, '{a}'", "-o, pipefail, -c, '{a}'", "-c, -o, pipefail, '{a}'", "-c, --, '{a}'", "-c, -e, '{a}'",
				"[-c, '{a}']", "[-c], ['{a}', x]", "[-e, -c], -x, [--, '{a}']", "-c, ['echo', '{a}'], '{b}'", "-c, -o, '{a}', 'echo', '{b}'", "-Command, '{a}'", "'--command={a}'", "'-{o}', '{a}'",
			} {
				if argv = wrapper + shell + ", " + argv; !refused(argv) {
					t.Errorf("[%s] is let through", argv)
				}
			}
			for _, argv := range []string{
				"-c, 'echo \"$1\"', sh, '{a}'", "-c, --, 'echo \"$1\"', me, '{a}', [-c, '{b}']", "[-c, 'echo \"$1\"', sh, '{a}']", "-o, pipefail, -c, echo, sh, '{a}', '{b}'",
				"script.sh, '{a}'", "-e, script.sh, [--file, '{a}']", "-c, 'echo {{a}}'",
			} {
				if argv = wrapper + shell + ", " + argv; refused(argv) {
					t.Errorf("[%s] is refused", argv)
				}
			}
		}
	}
	for argv, want := range map[string]bool{
		"env, -S, 'sh -c {a}'": true, "env, -S, 'bash -e -c \"{a}\"'": true, "cmd, /c, '{a}'": true, "cmd.exe, /k, 'dir {a}'": true, "su, me, -c, '{a}'": true, "'{$SHELL}', -c, '{a}'": true,
		"env, -S, 'sh -c', '{a}'": true, "env, '--split-string=sh -c', '{a}'": true, "env, '-Ssh -c', '{a}'": true, "env, -iS, 'A=b sh -c', '{a}'": true, "flock, lock, -c, '{a}'": true, "script, -c, '{a}'": true,
		"sh": true, "bash, -s": true, "bash, /dev/stdin, '{a}'": true, "sudo, sh, -e": true, "sh, '-'": true, "sh, -o, pipefail, script.sh": false, "env, -S, 'sh script.sh', '{a}'": true, "curl, -sS, '{a}'": false,
		"sh, stub.sh, tar, -c, '--file=/staging/{a}.tar'": false, "sh, -eu, script, -c, '{a}'": false, "sh, script, -c, '{a}'": false, "sh, --, script, -c, '{a}'": false, "env, X=1, bash, -o, pipefail, run, -c, '{a}'": false, "busybox, sh, run, -c, '{a}'": false,
		"sh, -eu, -c, '{a}'": true, "env, X=1, sh, -c, '{a}'": true, "bash, --rcfile, file, -c, '{a}'": true, "ksh, -R, file, -c, '{a}'": true, "fish, -d, '3', -c, '{a}'": true, "sh, '{b}', -c, '{a}'": true, "sh, [x, '{b}'], -c, '{a}'": true,
		"sh, '{$FLAGS}', -c, '{a}'": true, "sudo, -u, sh, run, bash, -c, '{a}'": true, "docker, exec, sh, bash, -c, '{a}'": true, "sh, run, bash, -c, '{a}'": true, "sh, -c, 'exec \"$0\" \"$@\"', bash, -c, '{a}'": true, "su, sh, run, -c, '{a}'": true, "sh, run, '{b}', sh, -c, '{a}'": true,
		"pwsh, -NoLogo, -Command, '{a}'": true, "zsh, -O, -c, '{a}'": true, "pwsh, -ExecutionPolicy, Bypass, -Command, '{a}'": true, "pwsh, -ExecutionPolicy, Bypass, -File, x.ps1, '{a}'": false,
		"go, run, ./cmd, -c, '{a}'": false, "git, -c, 'user.name={a}', commit": false, "echo, 'of sh and {a}'": false, "tar, -cf, '{a}'": false,
	} {
		if refused(argv) != want {
			t.Errorf("[%s]: refused is %v", argv, !want)
		}
	}
}

// LANGUAGE.md#the-graph: of which argvs a shell runs code, or a file that a parameter names, and "files" doesn't say
// what that uses.
func TestUncoveredCode(t *testing.T) {
	for argv, want := range map[string]bool{
		`argv: [sh, -c, "make"]`: true, `argv: [/bin/bash, -ec, "make"]`: true, `argv: [env, A=b, dash, -o, pipefail, -c, x]`: true, `argv: [env, -S, "sh -c 'x'"]`: true,
		`argv: [sudo, sh, "{script}"]`: true, `argv: [sh, "{$SCRIPT}"]`: true, `argv: [timeout, "5", sh, -x, "lib/{name}.sh"]`: true,
		`argv: [sh, -c, "make"], files: [Makefile]`: false, `argv: [sh, "{script}"], files: ["*.sh"]`: false,
		`argv: [sh, build.sh, "{target}"]`: false, `argv: [bash, -e, build.sh, -c, x]`: false, `argv: [make]`: false, `argv: [python3, "{script}"]`: false, `argv: [sh]`: false,
	} {
		text := "tools: {t: {properties: {script: {}, name: {}, target: {}}}}\nactivities: {t: {exec: {stdin: none, " + argv + "}}}\ncalls: []\n"
		p, found := compiler.Compile(source.NewFile("plan.yaml", []byte(text)), compiler.Options{Limits: source.DefaultLimits()})
		if got := kinds.HasUncoveredCode(p.Activities["t"]); got != want || len(found) > 0 {
			t.Errorf("%s: %v, %v", argv, got, found)
		}
	}
}
