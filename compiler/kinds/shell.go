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
	// codeOption is an option behind which a shell takes code, or one that a parameter decides.
	codeOption = lazily(`^(?i:-[a-z]*c[a-z]*|/[ck]|--(init-)?command)(=|$)|^-[a-zA-Z]*\{`)
	// takesValue is an option that the next argument belongs to, and mayTake one that it may belong to.
	takesValue = lazily(`^[-+][a-zA-Z]*[oO]$`)
	mayTake    = lazily(`^([-+][a-zA-Z]*[oORT]|--[^=]+)$`)
	// ofPOSIX is a shell that takes no option any more behind the name of a script.
	ofPOSIX = lazily(`^(.*/)?(ash|bash|dash|ksh|mksh|rbash|sh|yash|zsh)(\.exe)?$`)
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

// A shellUse is what shells do with an argv, wherever in it they are named.
type shellUse struct {
	isUsed bool
	from   string // by which the first finds its code: an option, or a file; "" where it reads its input
	item   int    // of the argv, and the text of it, in which a parameter would be run as code; -1 for none
	text   int
}

// useOfShells reads an argv. Code is all from a shell's option for it to the first argument that is none itself and
// that no parameter leaves out. Behind a script that surely is one, options are the script's own.
func useOfShells(argv []plan.Argument) shellUse {
	use := shellUse{item: -1}
	isOpen, onlyPOSIX := false, true // a shell's options go on; every shell so far is one of POSIX
	value, mayBe := false, false     // the next text is, or may be, an option's value
	option := -1                     // the item with the option for code
	env, split := false, false       // so far, and that it makes words of what follows
	for i, argument := range argv {
		isFirm := !slices.ContainsFunc(argument.Texts, hasParameter)
		for j, text := range argument.Texts {
			env = env || path.Base(text) == "env"
			split = split || env && splitOption().MatchString(text)
			isCode := isOpen && codeOption().MatchString(text)
			inText, isOption := inOneText().MatchString(text), strings.ContainsAny(text[:min(1, len(text))], "-+")
			if inText && !use.isUsed {
				use.isUsed, use.from = true, "-c"
			}
			if isOpen && use.from == "" && (isCode || !value && (!isOption || text == "-s" || text == "-")) {
				use.from = text
			}
			switch {
			case hasParameter(text) && (split || inText || option >= 0 ||
				isCode && strings.HasSuffix(codeOption().FindString(text), "=")):
				use.item, use.text = i, j
				return use
			case option < 0 && isShell(text) && !(isOpen && onlyPOSIX && text == "script"):
				isOpen, value, mayBe, use.isUsed = true, false, false, true
				onlyPOSIX = onlyPOSIX && ofPOSIX().MatchString(text)
			case !isOpen:
			case (value || mayBe) && !isCode:
				value, mayBe = false, false
			case option < 0 && isCode && !strings.EqualFold(text, "-ExecutionPolicy"):
				option, value, mayBe = i, false, false
			case isOption:
				value = takesValue().MatchString(text)
				mayBe = onlyPOSIX && option < 0 && mayTake().MatchString(text)
			case option >= 0 && (isFirm || option == i), onlyPOSIX && isFirm && !strings.Contains(text, "{"):
				isOpen, option = false, -1
			}
		}
	}
	return use
}

// shellCode refuses parameters in what a shell takes for code: what is in a value must never be run.
func (r *Reader) shellCode(a *plan.Activity, argv *source.Node) {
	use := useOfShells(a.Argv)
	if use.item < 0 {
		return
	}
	name := parametersIn(a.Argv[use.item].Texts[use.text])[0]
	r.Report(diag.WrongType, argv.Items[use.item].Several()[use.text].Span(),
		"the value of %q would be run as code of the shell", name).
		Advise("pass it as an argument: [sh, -c, 'echo \"$1\"', sh, \"{%s}\"]; a text in braces is written {{%s}}",
			name, name)
}

// readsCode reports whether a program is a shell that takes what it reads for code.
func readsCode(a *plan.Activity) bool {
	use := useOfShells(a.Argv)
	return use.isUsed &&
		slices.Contains([]string{"", "-s", "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, use.from)
}

// HasUncoveredCode reports whether a shell of the argv runs code, or a file that a parameter
// names, and "files" doesn't say which files of the workspace that uses.
func HasUncoveredCode(a *plan.Activity) bool {
	use := useOfShells(a.Argv)
	return len(a.Files) == 0 && use.isUsed && use.from != "" &&
		(codeOption().MatchString(use.from) || placeholder().MatchString(use.from))
}

func hasParameter(text string) bool { return len(parametersIn(text)) > 0 }
