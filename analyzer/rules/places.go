package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// placeLike is what looks like a place for a parameter or a variable of the environment: {name}, { name }, {{name}},
// ${name}, †{name}, †name or $name; {$NAME} is the variable.
var placeLike = regexp.MustCompile(
	`\{\$[^{}]*\}|([$†{]?)\{\s*([^{}$\s][^{}$]*?)\s*\}\}?|(†)([\pL_][^\s{}"',;&]*)|(\$)([\pL_][\pL\pN_]*)`)

// unboundPlaces reports parameters and references in a text of a program's arguments or a request that
// nothing replaces. Only some texts may contain parameters, in braces.
func unboundPlaces(p *Pass, known *parameters, a *plan.Activity, n *source.Node, places bool) {
	for _, m := range placeLike.FindAllStringSubmatchIndex(n.Text, -1) {
		group := 2 // the alternative that matches
		for group < len(m) && m[group] < 0 {
			group += 4
		}
		if group >= len(m) {
			continue // {$NAME} is right
		}
		start, end := m[0], m[1]
		mark, name := n.Text[m[group]:m[group+1]], n.Text[m[group+2]:m[group+3]]
		if mark != "{" && strings.HasSuffix(n.Text[start:end], "}}") {
			end--
		}
		name = strings.Trim(name, "*?&#/+.;") // the operators of RFC 6570's other levels
		text := n.Text[start:end]
		foreign := mark == "$" || mark == "{" || strings.Contains(text, "{ ") // somebody else's templates
		of, _, isPart := strings.Cut(name, ".")
		isReference := isPart && isKind(of) && (!foreign || a.HTTP != nil)
		isVariable := a.HTTP != nil && foreign && mark != "" && upperCase.MatchString(name) && !known.Declares(name)
		isPlain := mark == "$" && text == "$"+name // a shell's variable, if there is one
		switch {
		case isPlain && n.Text != text && a.HTTP == nil:
			continue
		case isPlain && !known.Declares(name) && !naming.Secret(name) && !strings.Contains(name, "_"):
			continue
		case isVariable, isReference, isPart && !foreign && known.Declares(of):
		case !known.Declares(name), foreign && !(places && kinds.Ignores(a, name)), places && kinds.IsParameter(text):
			continue // it means something else
		}
		f := p.Report(n.Within(start, end), "this is passed as text, but %q looks like a value", text).
			Advise("write a whole parameter as {name} in \"argv\", \"url\", \"query\", \"headers\" or \"body\", and " +
				"an environment variable as {$NAME}; pass any other value as a parameter")
		if isVariable {
			f.Offer("make it a variable", n, start, end, "{$"+name+"}", false)
		} else if places && kinds.IsParameter("{"+name+"}") {
			f.Offer("make it a parameter", n, start, end, "{"+name+"}", false)
		}
	}
}

// isKind reports whether references begin with a word that an activity knows nothing of.
func isKind(word string) bool {
	return slices.Contains([]string{"input", "state", "data", "item"}, word)
}
