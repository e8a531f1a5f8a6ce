package compiler

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// What in an argv has another program started, or the text of one run.
var (
	// launcher is a program that starts the one which the next argument names that is no
	// option, and interpreter one that runs the code in it.
	launcher    = lazily(`^(env|sudo|doas|nice|ionice|nohup|timeout|time|xargs|stdbuf|setsid|chroot|unshare|strace|ltrace|ld(-[a-z0-9_-]*)?\.so[0-9.]*|npx|ansible-playbook)$`)
	interpreter = lazily(`^((python|pypy|ruby|perl|php|lua)[0-9.]*|node|nodejs|deno|bun|java|luajit|rscript|tclsh|wish|osascript|groovy|scala)$`)
	// reader is a program that runs what the option names behind which its code stands.
	reader = lazily(`^(awk|gawk|mawk|sed|make|gmake|jq|psql|gdb|gnuplot)$`)
	// codeFile is an option of these two that names a file of code, or a module of it.
	codeFile = lazily(`^(-[fmrx]|--(file|from-file|require|import|module|jar)(=|$)|-jar$)`)
	// codeOption is one behind which the code itself stands, of what isn't a shell.
	codeOption = lazily(`^(-[a-zA-Z]*[ceE]|--(eval|print))$`)
	// notByName is an option that has what is started looked for elsewhere than in the
	// program's folder, or under another name.
	notByName = lazily(`^(-[Cm]|--(chdir|directory|module))`)
	// valueOrSetting is an argument between such a program and what it starts.
	valueOrSetting = lazily(`^([A-Za-z_][A-Za-z0-9_]*=.*|[0-9]+(\.[0-9]+)?[a-z]?|run)$`)
	// withValue is such a program with an option that what follows is the value of,
	// whatever it looks like.
	withValue = lazily(`^(env -[uC]|(perl|ruby)[0-9.]* -I)$`)
	// otherShell is a shell that what is named first behind it isn't a file for.
	otherShell = lazily(`^(flock|script|su|runuser|cmd|\{\$shell\})$`)
	// asksOnly is an option of one that has it run nothing.
	asksOnly = lazily(`^-(-(version|help)|V)$`)
	// finder is a program that finds what it runs by itself.
	finder = lazily(`^(make|gmake|ninja|cmake|meson|bazel|just|task|rake|npm|npx|pnpm|yarn|cargo|go|gradlew?|mvnw?|ant|tox|nox|pytest|uv|poetry|docker|docker-compose|podman|terraform|ansible-playbook|vagrant|dotnet)$`)
)

// starting are the texts of the argv, as they stand there, that parameters or variables
// decide and that name a program or what holds the text of one: the argument of a shell,
// an interpreter or a program that starts another. param gives the value of a parameter,
// nil where it is left out, and says whether that is known. Where a program's options
// can't be told from what it starts there are rather too many. sure reports whether each
// of them names its file from the program's folder.
func (a *Activity) starting(param func(name string) (value any, known bool)) (texts []string, sure bool) {
	f := a.followed(param, func(given givenWord) {
		if !slices.Contains(texts, given.text) {
			texts = append(texts, given.text)
		}
	})
	return texts, !f.unsure
}

func (a *Activity) followed(param func(name string) (value any, known bool), start func(givenWord)) *following {
	f := following{start: start, open: true}
	for _, argument := range a.Argv {
		for _, given := range argument.words(param) {
			if !f.next(given) {
				return &f
			}
		}
	}
	return &f
}

// A following goes over an argv, from word to word, for those of it that name a program or
// what holds the text of one.
type following struct {
	start func(givenWord) // is given those that something decides
	// unsure says that one may name its file from elsewhere than the program's folder, and
	// finds that a program finds by itself what it runs.
	unsure, finds bool

	split splitting
	words int
	name  string // of the last program that starts what is named behind it
	// What comes next may be started, is the value of an option for it, or of another one;
	// any argument may.
	open, value, behind, valued, any bool
	shell, reads, code, input, stdin bool
	started                          bool
}

// next takes a word, and reports whether there may be more.
func (f *following) next(given givenWord) bool {
	for _, word := range f.split.words([]*source.Node{{Text: given.word}}) {
		if w := word.Text; !f.word(w, given) {
			return false
		}
		f.words++
	}
	return true
}

func (f *following) word(w string, given givenWord) bool {
	option := len(w) > 1 && (w[0] == '-' || w[0] == '+')
	if given.decided && (f.any || f.value || f.open && !option || (f.open || f.reads) && codeFile.MatchString(w)) {
		f.unsure, f.started = f.unsure || w != given.word || f.any, true
		f.start(given)
	}
	name := strings.ToLower(strings.TrimSuffix(path.Base(filepath.ToSlash(w)), ".exe"))
	f.stdin = f.stdin || f.open && f.input && (w == "-" || f.shell && w == "-s")
	first := f.words == 0 || f.open && launcher.MatchString(f.name)
	f.finds = f.finds || first && !option && finder.MatchString(name)
	switch {
	case f.any:
	case given.decided && !given.known:
		f.value, f.behind, f.shell = false, false, f.shell || f.open && isShell(w)
	case f.value:
		f.value, f.open = false, false
	case f.code && !option:
		// What env has made words of is only a part of the code.
		f.any = f.shell && (w != given.word || !onlyData(w))
		f.finds = f.finds || !f.shell // modules, and whatever it reads
		f.open = f.any
		return f.any
	case isShell(w) || launcher.MatchString(name) || interpreter.MatchString(name):
		f.open, f.shell, f.behind, f.started, f.name, f.input = true, isShell(w), false, false, name, isShell(w) || interpreter.MatchString(name)
	case reader.MatchString(name):
		f.open, f.reads = false, true
	case option:
		elsewhere := notByName.MatchString(w)
		f.unsure, f.finds = f.unsure || elsewhere, f.finds || elsewhere && (f.open || f.reads)
		f.code = f.code || f.open && (f.shell && shellOption.MatchString(w) || !f.shell && codeOption.MatchString(w))
		f.value = (f.open && f.input || f.reads) && !f.shell && codeFile.FindString(w) == w
		f.behind = !f.shell || takesValue.MatchString(w) || strings.HasPrefix(w, "--")
		f.valued = withValue.MatchString(f.name + " " + w)
		f.input = f.input && !asksOnly.MatchString(w)
	default:
		f.open = f.open && f.words > 0 && (valueOrSetting.MatchString(w) || f.behind && (f.valued || !strings.ContainsAny(w, "./ ")))
		f.behind = false
	}
	return true
}

// takesInput reports whether a shell or an interpreter of the argv takes code from its
// input.
func (f *following) takesInput() bool {
	return f.stdin || f.open && f.input && !f.any && !f.code && !f.started
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

// Unseen are the parts of a program's code, or its argv, by which it may run files of the
// workspace that the digest isn't over besides what those name that it is over: what only
// the run tells, what it writes itself, or what a program finds by itself.
func (a *Activity) Unseen() []string {
	var all, words []string
	for _, argument := range a.Argv {
		for _, text := range argument.Texts {
			words = append(words, text)
			if inCode(text) {
				told, _ := surveyed(text, 0)
				all = append(all, told...)
			}
		}
	}
	f := a.followed(func(string) (any, bool) { return nil, false }, func(givenWord) {})
	if f.finds || f.takesInput() {
		all = append(all, strings.Join(words, " "))
	}
	a.filesIn(nil, codeReading{file: func(string) string { return "" }, own: func(name string) { all = append(all, name) }})
	slices.Sort(all)
	return slices.Compact(all)
}

// runs reports whether the shell or interpreter that is followed surely runs the file that
// a word names, from the folder that it is in.
func (f *following) runs(w string) bool {
	return f.open && f.input && !f.behind && !f.value && !f.code && !f.any && !f.unsure && !otherShell.MatchString(f.name) && !valueOrSetting.MatchString(w)
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
