package kinds

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// programKeys are the keys of an exec and of a server that is started.
type programKeys struct {
	Dir     string           `key:"cwd"`
	Env     []decode.Setting `key:"env" pattern:"^[A-Za-z_][A-Za-z0-9_]*$"`
	Inherit []string         `key:"inherit" pattern:"^[A-Za-z_][A-Za-z0-9_]*$"`
	Timeout time.Duration    `key:"timeout"`
}

type execKeys struct {
	programKeys
	Argv   *source.Node `key:"argv" schema:"argv" need:"write exec: {argv: [program, argument, …]}"`
	Stdin  *source.Node `key:"stdin"`
	Stdout string       `key:"stdout" words:"json,text,lines,none"`
	Files  *source.Node `key:"files"`
	Worker bool         `key:"worker"`
}

var _ = register(Kind{
	Name: "exec", Keys: execKeys{}, About: "A program and how it is given parameters and gives its result.",
	read: func(r *Reader, a *plan.Activity, n *source.Node, what string) {
		var keys execKeys
		if !r.Mapping(n, what, &keys, nil) {
			return
		}
		a.Stdout, a.Worker = keys.Stdout, keys.Worker
		r.argv(a, keys.Argv, "argv")
		r.program(a, n, keys.programKeys)
		if worker := "the worker \"" + a.Name + "\""; a.Worker {
			r.startedOnce(a, worker)
			r.onlyWith(n, worker, "a program that is started for each call", "stdin", "stdout")
		}
		r.stdin(a, keys.Stdin)
		r.filesOf(a, keys.Files)
		if a.Stdin != plan.StreamNone && readsCode(a) {
			r.Report(diag.WrongType, cmp.Or(keys.Stdin, keys.Argv).Span(),
				"%s: what it is given would be run as code of the shell, which reads it", what).
				Advise("name a script: [sh, script.sh], or say stdin: none")
		}
	},
})

// program reads what of a program every definition of one has, but for its arguments.
func (r *Reader) program(a *plan.Activity, n *source.Node, keys programKeys) {
	a.Env, a.Inherit, a.Timeout = keys.Env, keys.Inherit, keys.Timeout
	if path.IsAbs(keys.Dir) || filepath.IsAbs(keys.Dir) {
		a.Dir = keys.Dir
	} else {
		a.Dir = path.Join(a.Dir, filepath.ToSlash(keys.Dir))
	}
	r.note(a, n.Get("env"), false, false)
}

// argv reads a program and its arguments.
func (r *Reader) argv(a *plan.Activity, n *source.Node, key string) {
	if n == nil {
		return
	}
	if n.Kind != source.Array || len(n.Items) == 0 {
		r.Report(diag.WrongType, n.Span(), "%q must be a list that begins with the program", key).
			Advise("write [program, argument, …]; there is no shell")
		return
	}
	for _, item := range n.Items {
		texts := []*source.Node{item}
		if item.Kind == source.Array && len(a.Argv) > 0 {
			texts = item.Items
		}
		arg := plan.Argument{Option: item.Kind == source.Array}
		for _, text := range texts {
			if text.Kind == source.Object && len(text.Fields) > 0 {
				r.Expects(text, "an item of \""+key+"\"", "a string").
					Advise("put it in quotes: \"{%s}\"", text.Fields[0].Key.Text)
				return
			}
			arg.Texts = append(arg.Texts, r.Text(text, "an item of \""+key+"\""))
			r.note(a, text, true, false)
		}
		a.Argv = append(a.Argv, arg)
	}
	r.shellCode(a, n)
	for i, item := range n.Items[1:] {
		isValue := strings.HasPrefix(n.Items[i].Text, "-") || comparing().MatchString(n.Items[0].Text)
		if slices.Contains(operators, item.Text) && i+2 < len(n.Items) && !isValue {
			r.Report(diag.WrongType, item.Span(), "the program is given %q as a word: there is no shell", item.Text).
				As(diag.Warning).Advise("let a shell read it: [sh, -c, \"…\"], or leave it out")
		}
	}
	if names := parametersIn(a.Argv[0].Texts[0]); len(names) > 0 {
		r.Report(diag.WrongType, n.Items[0].Span(), "the program can't come from a parameter").
			Advise("name it, as in [echo, \"{%s}\"]; a text in braces is written {{%s}}", names[0], names[0])
	}
}

// operators are what a shell would read, and comparing are programs to which some of it means something.
var (
	operators = []string{"|", ">", ">>", "<", "&&", "||"}
	comparing = lazily(`(^|/)(expr|test|\[)$`)
)

// stdin reads what a program is given on its standard input.
func (r *Reader) stdin(a *plan.Activity, n *source.Node) {
	switch {
	case n == nil:
	case n.Kind != source.String || !reference.IsExpression(n.Text):
		a.Stdin = r.OneOf(n, "\"stdin\"", plan.StreamJSON, plan.StreamNone, "†parameter")
	default:
		if ref := r.reference(a, n); ref != nil {
			a.Stdin, a.StdinPath = n.Text, append([]reference.Segment{{Key: ref.Kind}}, ref.Path...)
		}
	}
}

// filesOf reads patterns of the files that a program uses.
func (r *Reader) filesOf(a *plan.Activity, n *source.Node) {
	for _, item := range r.Items(n, "\"files\"", "a list of patterns of the workspace's files, such as [lib/**/*.py]") {
		text := r.Text(item, "an item of \"files\"")
		switch _, problem, help := workspace.Path("pattern", ".", text); {
		case text == "":
		case problem != "":
			r.Report(diag.WrongType, item.Span(), "%s", problem).Advise("%s", help)
		default:
			a.Files = append(a.Files, item)
		}
	}
}

// startedOnce refuses parameters of a program that is started once for all calls.
func (r *Reader) startedOnce(a *plan.Activity, what string) {
	for _, p := range a.Parameters {
		r.Report(diag.WrongType, p.Node.Span(), "%s is started once for all calls, and has no parameter %q",
			what, p.Name).
			Advise("leave {%s} out; a text in braces is written {{%s}}", p.Name, p.Name)
	}
}

// note notes what the texts of a template take: variables of the environment, and parameters, written as {name} where
// that is one's place in them, and as †name where a text may be one.
func (r *Reader) note(a *plan.Activity, n *source.Node, places, references bool) {
	if n == nil {
		return
	}
	for _, item := range n.Items {
		r.note(a, item, places, references)
	}
	for _, f := range n.Fields {
		r.note(a, f.Value, places, references)
	}
	switch {
	case n.Kind != source.String:
	case references && reference.IsExpression(n.Text):
		r.reference(a, n)
	default:
		for _, found := range variable.FindAllStringSubmatch(n.Text, -1) {
			a.Variables = append(a.Variables, plan.Variable{Name: found[1], Node: n})
		}
		for _, name := range parametersIn(n.Text) {
			if places {
				a.Parameters = append(a.Parameters, plan.Variable{Name: name, Node: n})
			}
		}
	}
}

// reference notes the parameter of a text that is one, †name; it is nil where the text can't be read.
func (r *Reader) reference(a *plan.Activity, n *source.Node) *reference.Reference {
	ref, err := reference.Parse(n.Text)
	if err != nil {
		r.Report(diag.BadExpression, n.Within(err.Start, err.End), "%s", err.Message).
			Advise("a parameter is written †name, and a text that begins with † ††")
		return nil
	}
	a.Parameters = append(a.Parameters, plan.Variable{Name: ref.Kind, Node: n})
	return &ref
}
