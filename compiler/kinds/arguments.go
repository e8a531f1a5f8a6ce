package kinds

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// variable is how an activity takes a value of the environment: {$NAME}.
var variable = regexp.MustCompile(`\{\$([A-Za-z_][A-Za-z0-9_]*)\}`)

// TakesVariable reports whether a text takes a value of the environment.
func TakesVariable(text string) bool { return variable.MatchString(text) }

// Filled is a text of an activity with what the environment holds in the place of each {$NAME}.
func Filled(text string, lookup func(name string) string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string { return lookup(found[2 : len(found)-1]) })
}

// lazily returns a regular expression that is compiled when it is first used: most plans start no program, and
// compiling all expressions about programs takes longer than checking a small plan.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// placeholder is what is in a text of an argv for something else: {$NAME} for what the environment holds, {name} for a
// parameter, and {{name}} for the text {name}. What stands behind a $, as ${NAME}, is a shell's own and stays.
var placeholder = lazily(`\$\{` + parameterName + `\}|\{\{` + parameterName + `\}\}|\{` + parameterName +
	`\}|` + variable.String())

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
// Where a parameter isn't given, or null, the item of the argv that it is in is left out. Where it is a list, the item
// is repeated for each of its values. An option with a boolean alone in one of its texts is there without that text
// where it is true, and left out where it is false. The error is an [*UnfitArgument].
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
					if !strings.HasPrefix(Text(value[name]), "-") {
						what = fmt.Sprintf("%q begins with \"-\" as %q is empty", text, name)
					}
					return nil, &UnfitArgument{name, what + ", which the program would take for an option",
						fmt.Sprintf("put \"--\" before %q in \"argv\", or join it to the option whose value it is",
							text)}
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
	return len(parametersIn(text)) > 0 && first[0] == 0 && !strings.HasPrefix(text, "$") &&
		!strings.HasPrefix(text, "{{")
}

// AsWritten leaves variables of the environment in [Arguments] as they are written, so that no secret is shown.
func AsWritten(variable string) string { return "{$" + variable + "}" }

// fill puts values in the place of placeholders.
func fill(text string, params map[string]any, lookup func(string) string) string {
	return replace(text, func(name string) string { return Text(params[name]) }, lookup)
}

// replace puts what two functions give in the place of placeholders.
func replace(text string, parameter, lookup func(name string) string) string {
	return placeholder().ReplaceAllStringFunc(text, func(found string) string {
		switch name := named(found); {
		case name != "":
			return parameter(name)
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
					return nil, nil, &UnfitArgument{name,
						fmt.Sprintf("%q and %q are both lists, and stand in one item of \"argv\"", list, name),
						"pass one value for one of them"}
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

// Text is a value as an argument: a text as it is, anything else as JSON.
func Text(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, _ := diag.Encode(value, "") // a JSON value
	return string(text)
}

// FileNames are the names that texts of the argv and of the environment may have for files. One that names a folder, or
// a module, may be for the code in it that Python runs. The packages are folders that a module behind -m may lie in:
// Python runs code of all on the way to it.
func FileNames(a *plan.Activity, lookup func(variable string) string) (names, packages []string) {
	folders := []string{""} // where Python looks for modules
	add := func(before, text string, isProgram bool) {
		if len(parametersIn(text)) > 0 || lookup == nil && variable.MatchString(text) {
			return
		}
		text = fill(text, nil, lookup)
		if isProgram && text == filepath.Base(text) {
			return // looked for in PATH
		}
		all := []string{text}
		if _, value, ok := strings.Cut(text, "="); ok {
			all = append(all, value)
		}
		if len(text) > 2 && text[0] == '-' && text[1] != '-' {
			before, all = text[:2], append(all, text[2:])
		}
		for _, name := range all {
			if name == "" || strings.Contains(name, "\x00") {
				continue
			}
			names = append(names, name, name+"/__main__.py")
			for _, folder := range folders {
				module := filepath.Join(folder, strings.ReplaceAll(name, ".", "/"))
				names = append(names, module+".py", module+"/__main__.py")
				if strings.HasPrefix(before, "-") && strings.HasSuffix(before, "m") {
					packages = append(packages, filepath.Join(folder, strings.Split(name, ".")[0]))
				}
			}
		}
		if before == "PYTHONPATH" {
			folders = append(folders, filepath.SplitList(text)...)
		}
	}
	for _, setting := range a.Env {
		add(setting.Name, setting.Value, false)
	}
	before := ""
	for i, argument := range a.Argv {
		for _, text := range argument.Texts {
			add(before, text, i == 0)
			before = text
		}
	}
	return names, packages
}
