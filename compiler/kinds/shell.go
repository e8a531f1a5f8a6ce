package kinds

import (
	"path"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

var shells = []string{"ash", "bash", "csh", "dash", "fish", "flock", "ksh", "mksh", "rbash", "script", "sh", "tcsh",
	"yash", "zsh", "su", "runuser", "cmd", "powershell", "pwsh", "{$shell}"}

var (
	// shellOption is an option behind which a shell takes code, or one that a parameter decides.
	shellOption = lazily(`^(?i:-[a-z]*c[a-z]*|/[ck]|--(init-)?command)(=|$)|^-[a-zA-Z]*\{`)
	// takesValue is an option of a shell that what follows belongs to.
	takesValue = lazily(`^[-+][a-zA-Z]*[oO]$`)
	// ofPOSIX is a shell that takes no option any more behind the name of a script, and
	// mayTake one of its options that the next argument may belong to.
	ofPOSIX = lazily(`^(.*/)?(ash|bash|dash|ksh|mksh|rbash|sh|yash|zsh)(\.exe)?$`)
	mayTake = lazily(`^([-+][a-zA-Z]*[oORT]|--[^=]+)$`)
	// beforeShell is what may stand before a shell's name without being another program's argument.
	beforeShell = lazily(`^((.*/)?(busybox|env)|[A-Za-z_]\w*=.*)$`)
	// splitOption is that of env which makes words of a text.
	splitOption = lazily(`^(-[a-zA-Z]*S|-{2}split-string)`)
	// inOneText is a shell with its code in one text, as "env -S" takes it.
	inOneText = lazily(`(^|[\s/;&|])(` + strings.Join(shells[:len(shells)-1], "|") +
		`)(\.exe)?\s(.*\s)?(-[A-Za-z]*c[A-Za-z]*|/[cCkK])\s`)
)

// isShell reports whether a program is one that takes code, by its name.
func isShell(program string) bool {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	if name == "cmd" && name != program {
		return false // a folder of sources
	}
	return slices.Contains(shells, strings.TrimSuffix(name, ".exe"))
}

// shellCode refuses parameters in what a shell takes for code, wherever in the argv it is named: what is in a value
// must never be run. That is all from its option to the first argument that is none itself and that no parameter leaves
// out. Behind a script that surely is one, options are the script's own.
func (r *Reader) shellCode(argv *source.Node) {
	shell, value := false, false
	first, scripted := true, false // nothing but the shell is started so far, and a script may stand next
	option, script := -1, -1       // the items that they are in
	env, split := false, false     // so far, and that it makes words of what follows
	for i, item := range argv.Items {
		if script >= 0 && (script == option || !hasParameter(argv.Items[script])) {
			shell, option = false, -1
		}
		script = -1
		for _, text := range item.Several() {
			env = env || path.Base(text.Text) == "env"
			split = split || env && splitOption().MatchString(text.Text)
			switch named := shellOption().FindString(text.Text); {
			case hasParameter(text) && (split || option >= 0 && script < 0 || shell && strings.HasSuffix(named, "=") ||
				inOneText().MatchString(text.Text)):
				name := parametersIn(text.Text)[0]
				r.Report(diag.WrongType, text.Span(), "the value of %q would be run as code of the shell", name).
					Advise(
						"pass it as an argument: [sh, -c, 'echo \"$1\"', sh, \"{%s}\"]; a text in braces is "+
							"written {{%s}}", name, name)
				return
			case script >= 0: // an argument of it
			case scripted && option < 0 && !value && !strings.ContainsAny(text.Text[:min(1, len(text.Text))], "-+") &&
				!strings.Contains(text.Text, "{") && !hasParameter(item):
				shell, scripted = false, false
			case option < 0 && isShell(text.Text):
				shell, scripted = true, first && ofPOSIX().MatchString(text.Text)
				first = false
			case option < 0:
				first = first && beforeShell().MatchString(text.Text)
				if value = scripted && !value && mayTake().MatchString(text.Text); shell && named != "" {
					option, value, scripted = i, false, false
				}
			case value:
				value = false
			case strings.HasPrefix(text.Text, "-"), strings.HasPrefix(text.Text, "+"):
				value = takesValue().MatchString(text.Text)
			default:
				script = i
			}
		}
	}
}

// readsCode reports whether a program is a shell that takes what it reads for code.
func readsCode(a *plan.Activity) bool {
	shell, from := shellCodeFrom(a)
	return shell && slices.Contains([]string{"", "-s", "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, from)
}

// HasUncoveredCode reports whether a shell of the argv runs code, or a file that a parameter
// names, and "files" doesn't say which files of the workspace that uses.
func HasUncoveredCode(a *plan.Activity) bool {
	shell, from := shellCodeFrom(a)
	return len(a.Files) == 0 && shell && from != "" &&
		(shellOption().MatchString(from) || placeholder().MatchString(from))
}

// shellCodeFrom reports whether a shell is in the argv, and the text behind it by which it
// finds its code: an option, or a file; "" where it reads its input.
func shellCodeFrom(a *plan.Activity) (shell bool, text string) {
	value := false
	for _, argument := range a.Argv {
		for _, text := range argument.Texts {
			switch {
			case !shell && inOneText().MatchString(text):
				return true, "-c"
			case !shell:
				shell = isShell(text)
			case value:
				value = false
			case text == "-s", text == "-", shellOption().MatchString(text):
				return true, text
			case strings.HasPrefix(text, "-"), strings.HasPrefix(text, "+"):
				value = takesValue().MatchString(text)
			default:
				return true, text
			}
		}
	}
	return shell, ""
}

// hasParameter reports whether a parameter is in an item of an argv.
func hasParameter(item *source.Node) bool {
	return len(parametersIn(item.Text)) > 0 || slices.ContainsFunc(item.Items, hasParameter)
}
