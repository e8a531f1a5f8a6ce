package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// placeholder is what is in a text of an argv for something else: {$NAME} for what
// the environment holds, {name} for a parameter, and {{name}} for the text {name}. What
// stands behind a $, as ${NAME}, is a shell's own and stays.
var placeholder = lazily(`\$\{` + parameterName + `\}|\{\{` + parameterName + `\}\}|\{` + parameterName + `\}|` + variable.String())

const parameterName = `[\pL_](?:[\pL\pN_-]*[\pL\pN_])?`

// named is the parameter that a placeholder represents, or "".
func named(found string) string {
	if found[0] == '$' || found[1] == '{' || found[1] == '$' {
		return ""
	}
	return found[1 : len(found)-1]
}

// IsParameter reports whether a text is the place of a parameter in an argv, {name}.
func IsParameter(text string) bool {
	return placeholder().FindString(text) == text && named(text) != ""
}

// parametersIn are the parameters whose values are in a text of an argv.
func parametersIn(text string) (names []string) {
	for _, found := range placeholder().FindAllString(text, -1) {
		if name := named(found); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Arguments is the argv of a call with these parameters, which hold values and never
// what is read as a placeholder; lookup gives what a variable of the environment holds.
//
// Where a parameter isn't given, or null, the item of the argv that it is in is left
// out. Where it is a list, the item is repeated for each of its values. An option with a
// boolean alone in one of its texts is there without that text where it is true, and
// left out where it is false. The error is an [*UnfitArgument].
func Arguments(a *plan.Activity, params map[string]any, lookup func(variable string) string) ([]string, error) {
	var argv []string
	guarded := false // everything behind -- is no option
	for _, item := range a.Argv {
		texts, values, err := given(item, params)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			for _, text := range texts {
				argument := fill(text, value, lookup)
				if !guarded && strings.HasPrefix(argument, "-") && beginsWithValue(text) {
					name := parametersIn(text)[0]
					what := fmt.Sprintf("the value of %q begins with \"-\"", name)
					if !strings.HasPrefix(argumentText(value[name]), "-") {
						what = fmt.Sprintf("%q begins with \"-\" as %q is empty", text, name)
					}
					return nil, &UnfitArgument{name, what + ", which the program would take for an option",
						fmt.Sprintf("put \"--\" before %q in \"argv\", or join it to the option whose value it is", text)}
				}
				argv = append(argv, argument)
				guarded = guarded || text == "--"
			}
		}
	}
	return argv, nil
}

// An UnfitArgument is why a value can't be an argument of a program.
type UnfitArgument struct{ Parameter, Message, Help string }

func (u *UnfitArgument) Error() string { return u.Message + ": " + u.Help }

// beginsWithValue reports whether a text with parameters begins with what fills it in.
func beginsWithValue(text string) bool {
	first := placeholder().FindStringIndex(text)
	return len(parametersIn(text)) > 0 && first[0] == 0 && !strings.HasPrefix(text, "$") && !strings.HasPrefix(text, "{{")
}

// AsWritten leaves variables of the environment in [Arguments] as they are
// written, so that no secret is shown.
func AsWritten(variable string) string { return "{$" + variable + "}" }

// fill puts values in the place of placeholders.
func fill(text string, params map[string]any, lookup func(string) string) string {
	return placeholder().ReplaceAllStringFunc(text, func(found string) string {
		switch name := named(found); {
		case name != "":
			return argumentText(params[name])
		case found[0] == '$':
			return found
		case found[1] == '$':
			return lookup(found[2 : len(found)-1])
		}
		return found[1 : len(found)-1]
	})
}

// given is what is left of an item's texts with a call's parameters, and the values to
// fill in, once for each time that it is in the argv.
func given(g plan.Argument, params map[string]any) (texts []string, values []map[string]any, err error) {
	list := ""
	for _, text := range g.Texts {
		names, flag := parametersIn(text), false
		for _, name := range names {
			switch value := params[name].(type) {
			case nil:
				return nil, nil, nil
			case []any:
				if list != "" && list != name {
					return nil, nil, &UnfitArgument{name, fmt.Sprintf("%q and %q are both lists, and stand in one item of \"argv\"", list, name), "pass one value for one of them"}
				}
				list = name
			case bool:
				if flag = g.Option && text == "{"+name+"}"; flag && !value {
					return nil, nil, nil
				}
			}
		}
		if !flag {
			texts = append(texts, text)
		}
	}
	if list == "" {
		return texts, []map[string]any{params}, nil
	}
	for _, value := range params[list].([]any) {
		if value != nil {
			one := maps.Clone(params)
			one[list] = value
			values = append(values, one)
		}
	}
	return texts, values, nil
}

// argumentText is a value as an argument: a text as it is, anything else as JSON.
func argumentText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a JSON value
	return strings.TrimSuffix(b.String(), "\n")
}

// argv reads a program and its arguments.
func (c *compilation) argv(a *plan.Activity, n *source.Node, key string) {
	if n.Kind != source.Array || len(n.Items) == 0 {
		c.Report(diag.WrongType, n.Span(), "%q must be a list that begins with the program", key).Advise("write [program, argument, …]; there is no shell")
		return
	}
	for _, item := range n.Items {
		texts := []*source.Node{item}
		if item.Kind == source.Array && len(a.Argv) > 0 {
			texts = item.Items
		}
		arg := plan.Argument{Option: item.Kind == source.Array}
		for _, text := range texts {
			arg.Texts = append(arg.Texts, c.Text(text, "an item of \""+key+"\""))
			takes(a, text)
			for _, name := range parametersIn(text.Text) {
				a.Parameters = append(a.Parameters, plan.Variable{Name: name, Node: text})
			}
		}
		a.Argv = append(a.Argv, arg)
	}
	c.shellCode(n)
	if names := parametersIn(a.Argv[0].Texts[0]); len(names) > 0 {
		c.Report(diag.WrongType, n.Items[0].Span(), "the program can't come from a parameter").Advise("name it; a text in braces is written {{%s}}", names[0])
	}
}

var shells = []string{"ash", "bash", "csh", "dash", "fish", "flock", "ksh", "mksh", "rbash", "script", "sh", "tcsh", "yash", "zsh", "su", "runuser", "cmd", "powershell", "pwsh", "{$shell}"}

var (
	// shellOption is an option behind which a shell takes code, and one of which a
	// parameter decides it.
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
	inOneText = lazily(`(^|[\s/;&|])(` + strings.Join(shells[:len(shells)-1], "|") + `)(\.exe)?\s(.*\s)?(-[A-Za-z]*c[A-Za-z]*|/[cCkK])\s`)
)

// isShell reports whether a program is one that takes code, by its name.
func isShell(program string) bool {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	if name == "cmd" && name != program {
		return false // a folder of sources
	}
	return slices.Contains(shells, strings.TrimSuffix(name, ".exe"))
}

// shellCode refuses parameters in what a shell takes for code, wherever in the argv it is
// named: what is in a value must never be run. That is all from its option to the first
// argument that is none itself and that no parameter leaves out. Behind a script that surely
// is one, options are the script's own.
func (c *compilation) shellCode(argv *source.Node) {
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
			case hasParameter(text) && (split || option >= 0 && script < 0 || shell && strings.HasSuffix(named, "=") || inOneText().MatchString(text.Text)):
				name := parametersIn(text.Text)[0]
				c.Report(diag.WrongType, text.Span(), "the value of %q would be run as code of the shell", name).
					Advise("pass it as an argument: [sh, -c, 'echo \"$1\"', sh, \"{%s}\"]; a text in braces is written {{%s}}", name, name)
				return
			case script >= 0: // an argument of it
			case scripted && option < 0 && !value && !strings.ContainsAny(text.Text[:min(1, len(text.Text))], "-+") && !strings.Contains(text.Text, "{") && !hasParameter(item):
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
	return len(a.Files) == 0 && shell && from != "" && (shellOption().MatchString(from) || placeholder().MatchString(from))
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

// What a program reads and writes on its standard streams.
const (
	StreamJSON  = "json"
	StreamText  = "text"  // less the end of its last line
	StreamLines = "lines" // a list of texts
	StreamNone  = "none"
)

// stdin reads what a program is given on its standard input.
func (c *compilation) stdin(a *plan.Activity, n *source.Node) {
	if n.Kind != source.String || !expression.IsExpression(n.Text) {
		a.Stdin = c.OneOf(n, "\"stdin\"", StreamJSON, StreamNone, "†parameter")
		return
	}
	ref, err := expression.ParsePath(n.Text)
	if err != nil {
		c.Report(diag.BadExpression, n.Within(err.Start, err.End), "%s", err.Message).Advise("a parameter is written †name")
		return
	}
	a.Stdin, a.StdinPath = n.Text, append([]expression.Segment{{Key: ref.Kind}}, ref.Path...)
	a.Parameters = append(a.Parameters, plan.Variable{Name: ref.Kind, Node: n})
}

// cwd reads the folder in which a program is started.
func (c *compilation) cwd(a *plan.Activity, n *source.Node) {
	if dir := c.Text(n, "\"cwd\""); path.IsAbs(dir) || filepath.IsAbs(dir) {
		a.Dir = dir
	} else {
		a.Dir = path.Join(a.Dir, filepath.ToSlash(dir))
	}
}

// workerTakes refuses what makes no sense for a worker, which is started once for all
// calls and is asked a line at a time.
func (c *compilation) workerTakes(a *plan.Activity, n *source.Node, what string) {
	for _, p := range a.Parameters {
		if p.Node == n.Get("stdin") {
			continue
		}
		c.Report(diag.WrongType, p.Node.Span(), "%s is a worker, which is started once for all calls and finds parameters in what it reads", what).
			Advise("leave {%s} out; a text in braces is written {{%s}}", p.Name, p.Name)
	}
	for _, key := range []string{"stdin", "stdout"} {
		if f := n.Get(key); f != nil {
			c.Report(diag.WrongType, f.Span(), "%s is a worker, which reads and writes a JSON object a line", what).Advise("leave %q out", key)
		}
	}
}

// Ignores reports whether nothing that a call passes under a name reaches the program that
// is run, or the request that is sent.
func Ignores(a *plan.Activity, parameter string) bool {
	if slices.ContainsFunc(a.Parameters, func(p plan.Variable) bool { return p.Name == parameter }) {
		return false
	}
	if h := a.HTTP; h != nil {
		return h.Host != "" && (h.Sends == StreamNone || h.Body != nil)
	}
	return len(a.Argv) > 0 && !a.Worker && a.Stdin != "" && a.Stdin != StreamJSON
}

// CheckArguments is why an activity can't be given these parameters: an [*UnfitArgument], or nil.
func CheckArguments(a *plan.Activity, params map[string]any) (err error) {
	switch {
	case a.HTTP != nil:
		_, err = ShownRequest(a.HTTP, params)
	case len(a.Parameters) == 0:
	default:
		_, err = Arguments(a, params, AsWritten)
	}
	return err
}
