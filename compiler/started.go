package compiler

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// What in an argv has another program started, or the text of one run.
var (
	// starter is a program that runs what the next argument names which is no option.
	starter = regexp.MustCompile(`^(env|sudo|doas|nice|ionice|nohup|timeout|time|xargs|stdbuf|setsid|chroot|unshare|strace|(python|pypy|ruby|perl|php|lua)[0-9.]*|node|nodejs|deno|bun|npx|java|luajit|rscript|tclsh|wish|osascript|groovy|scala|ansible-playbook)$`)
	// reader is a program that runs what the option names behind which its code stands.
	reader = regexp.MustCompile(`^(awk|gawk|mawk|sed|make|gmake|jq|psql|gdb|gnuplot)$`)
	// codeFile is an option of these two that names a file of code, or a module of it.
	codeFile = regexp.MustCompile(`^(-[fmrx]|--(file|from-file|require|import|module|jar)(=|$)|-jar$)`)
	// codeOption is one behind which the code itself stands, of what isn't a shell.
	codeOption = regexp.MustCompile(`^(-[a-zA-Z]*[ceE]|--(eval|print))$`)
	// notByName is an option that has what is started looked for elsewhere than in the
	// program's folder, or under another name.
	notByName = regexp.MustCompile(`^(-[Cm]|--(chdir|directory|module))`)
	// valueOrSetting is an argument between such a program and what it starts.
	valueOrSetting = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*=.*|[0-9]+(\.[0-9]+)?[a-z]?|run)$`)
)

// starting are the texts of the argv, as they stand there, that parameters or variables
// decide and that name a program or what holds the text of one: the argument of a shell,
// an interpreter or a program that starts another. param gives the value of a parameter,
// nil where it is left out, and says whether that is known. Where a program's options
// can't be told from what it starts there are rather too many. sure reports whether each
// of them names its file from the program's folder.
func (a *Activity) starting(param func(name string) (value any, known bool)) (texts []string, sure bool) {
	sure = true
	// What comes next may be started, is the value of an option for it, or of another one;
	// any argument may.
	open, next, behind, any := true, false, false, false
	shell, reads, code := false, false, false
	var split splitting
	for i, argument := range a.Argv {
		for _, given := range argument.words(param) {
			for _, word := range split.words([]*source.Node{{Text: given.word}}) {
				w := word.Text
				option := len(w) > 1 && (w[0] == '-' || w[0] == '+')
				if given.decided && (any || next || open && !option || (open || reads) && codeFile.MatchString(w)) {
					sure = sure && w == given.word && !any
					if !slices.Contains(texts, given.text) {
						texts = append(texts, given.text)
					}
				}
				name := strings.ToLower(strings.TrimSuffix(path.Base(filepath.ToSlash(w)), ".exe"))
				switch {
				case any:
				case given.decided && !given.known:
					next, behind, shell = false, false, shell || open && isShell(w)
				case next:
					next, open = false, false
				case code && !option:
					// What env has made words of is only a part of the code.
					if any = shell && (w != given.word || !onlyData(w)); !any {
						return texts, sure
					}
				case isShell(w) || starter.MatchString(name):
					open, shell, behind = true, isShell(w), false
				case reader.MatchString(name):
					open, reads = false, true
				case option:
					sure = sure && !notByName.MatchString(w)
					code = code || open && (shell && shellOption.MatchString(w) || !shell && codeOption.MatchString(w))
					next = (open || reads) && !shell && codeFile.FindString(w) == w
					behind = !shell || takesValue.MatchString(w) || strings.HasPrefix(w, "--")
				default:
					open = open && i > 0 && (valueOrSetting.MatchString(w) || behind && !strings.ContainsAny(w, "./ "))
					behind = false
				}
			}
		}
	}
	return texts, sure
}

// A givenWord is an argument that a text of an argv gives, as far as its parameters are
// known.
type givenWord struct {
	text, word     string
	decided, known bool // by a parameter or a variable; and what it says
}

// words are the arguments that an item of an argv gives.
func (g Argument) words(param func(name string) (any, bool)) (words []givenWord) {
	params, known := map[string]any{}, true
	for _, text := range g.Texts {
		for _, name := range parametersIn(text) {
			value, is := param(name)
			if is && value == nil {
				return nil
			}
			params[name], known = value, known && is
		}
	}
	texts, values, err := g.Texts, []map[string]any{nil}, error(nil)
	if known {
		if texts, values, err = g.given(params); err != nil {
			return nil // so that nothing is started
		}
	}
	for _, one := range values {
		for _, text := range texts {
			w := givenWord{text: text, word: text, decided: len(parametersIn(text)) > 0 || variable.MatchString(text), known: known && !variable.MatchString(text)}
			if w.known {
				w.word = fill(text, one, AsWritten)
			}
			words = append(words, w)
		}
	}
	return words
}

// literal gives the values of a call's parameters, as far as the plan's text says them: of
// one that is the item of a list, all of them.
func (c *Call) literal(name string) (value any, known bool) {
	for _, field := range c.Params.Fields {
		if field.Key == name {
			if of := field.Value.Expr; of != nil && c.Each != nil && of.String() == "†item" && !c.Each.List.Live() {
				return c.Each.List.Value, true
			}
			return field.Value.Value, !field.Value.Live()
		}
	}
	return nil, true
}

// Starts are what a call's argv starts programs by, or the text of a program, where the
// plan's text says it: the names of files as the argv has them; and where it doesn't, the
// texts of the argv that the run fills in, or that may name another file than it seems. Of a call without parameters none is known.
func (a *Activity) Starts(c *Call) (files, decided []string) {
	param := func(string) (any, bool) { return nil, false }
	if c.Params != nil {
		param = c.literal
	}
	texts, sure := a.starting(param)
	for _, text := range texts {
		params, known := map[string]any{}, !variable.MatchString(text)
		for _, name := range parametersIn(text) {
			value, is := param(name)
			params[name], known = value, known && is
		}
		if _, values, err := (Argument{Texts: []string{text}}).given(params); known && err == nil {
			for _, one := range values {
				_, file := optionValue(fill(text, one, nil))
				files = append(files, file)
			}
		}
		if (!known || !sure) && !slices.Contains(decided, text) {
			decided = append(decided, text)
		}
	}
	return files, decided
}

// optionValue is what an argument names that may begin with its option.
func optionValue(argument string) (option, value string) {
	if at := codeFile.FindString(argument); strings.HasSuffix(at, "=") || len(at) == 2 {
		return at, argument[len(at):]
	}
	return "", argument
}

// Naming is an activity with the files that calls of the plan have it start ([Activity.Starts]),
// so that they are among its [Activity.Files].
func (p *Plan) Naming(a *Activity) *Activity {
	with := *a
	_, some := a.Starts(&Call{})
	for _, c := range p.Calls {
		if len(some) > 0 && c.Activity == a.Name {
			files, _ := a.Starts(c)
			with.started = append(with.started, files...)
		}
	}
	slices.Sort(with.started)
	with.started = slices.Compact(with.started)
	return &with
}
