package ast

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Violation says where and why a value isn't accepted.
type Violation struct {
	Path []Step // into the value
	// SchemaPath leads to the keyword that refuses, into the schema's raw value,
	// or into Defs[Def] when Def isn't "".
	SchemaPath []string
	Def        string
	Keyword    string
	// Message is in plain words: lower case, no full stop.
	Message string
	Lacks   string // the missing key, of the keyword required
}

// Where is the path in the notation of expressions: .items[0]["odd key"].
func (v *Violation) Where() string { return reference.Below("", v.Path) }

// Error is the place and the message.
func (v *Violation) Error() string {
	if len(v.Path) == 0 {
		return v.Message
	}
	return v.Where() + ": " + v.Message
}

// Limit is the keyword of a violation that says that the value couldn't be judged.
const Limit = "limit"

// maxExplained is how many steps may go into finding the violation of a value that isn't accepted.
const maxExplained = 100_000

// A shown value is a part of the checked value in a message, which leaves it out if it is secret.
type shown string

// fail keeps a violation of the node at the current path, and returns false.
func (c *Checker) fail(n *Node, keyword string, format string, args ...any) bool {
	c.found = c.violation(n, keyword, format, args...)
	return false
}

func (c *Checker) violation(n *Node, keyword string, format string, args ...any) *Violation {
	v := &Violation{Keyword: keyword, Def: n.Unit.name}
	secret := n.Secret()
	for _, step := range c.path {
		if step.IsIndex {
			step = Index(step.Index) // it has no text so far
		}
		v.Path = append(v.Path, step)
		secret = secret || !step.IsIndex && naming.SecretKey(step.Key)
	}
	for i, arg := range args {
		if _, ok := arg.(shown); ok && secret {
			args[i] = "a value that isn't shown"
		}
	}
	v.Message = fmt.Sprintf(format, args...)
	if n.Unit != Detached {
		v.SchemaPath = n.path()
		if keyword != "" {
			v.SchemaPath = append(v.SchemaPath, keyword)
		}
	}
	return v
}

// closest is the violation of the alternative that the value fits best: when all
// refuse its kind, it names the kinds or values that are accepted; else it is the one deepest in the value.
func (c *Checker) closest(n *Node, keyword string, list []*Node, refusals []*Violation, v any) *Violation {
	kinds, kind := Kinds(0), KindOf(v)
	var values []any
	onlyValues := true
	var best *Violation
	rank := -1
	for i, x := range list {
		kinds |= x.Possible()
		if x.Values == nil {
			onlyValues = false
		}
		values = append(values, x.Values...)
		found := refusals[i]
		if x.Possible()&kind == 0 || found == nil {
			continue
		}
		r := 2 * len(found.Path)
		if found.Keyword != "const" && found.Keyword != "enum" {
			r++ // a variant with another tag is unlikely to be the intended one
		}
		if r > rank {
			best, rank = found, r
		}
	}
	switch {
	case onlyValues:
		return c.violation(n, keyword, "expected %s, got %s", shown(listed(values)), describe(v))
	case best != nil:
		return best
	}
	return c.violation(n, keyword, "expected %s, got %s", kinds, describe(v))
}

func knownNames(names []string) string {
	if len(names) == 0 || len(names) > 8 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "; known are " + strings.Join(quoted, ", ")
}

// listed names the values of an enum, the first of a long one.
func listed(values []any) string {
	var words []string
	for i, v := range values {
		if i == 8 && len(values) > 9 {
			words = append(words, fmt.Sprintf("one of %d others", len(values)-i))
			break
		}
		words = append(words, quote(v))
	}
	return wording.Or(words)
}

// describe names a value in few words: scalars as they are, containers by kind.
func describe(v any) shown {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return "an empty array"
		}
		return "an array"
	case map[string]any:
		if len(v) == 0 {
			return "an empty object"
		}
		return "an object"
	}
	if KindOf(v) == 0 {
		return shown(fmt.Sprintf("%T", v))
	}
	return shown(quote(v))
}

// quote writes a value as JSON, cut short, with nothing in it that could act on
// a terminal.
func quote(v any) string {
	const most = 60
	text, ok := v.(string)
	if ok {
		return strconv.QuoteToGraphic(wording.Cut(text, most))
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(data) > most {
		return string(describe(v))
	}
	return string(data)
}

// Validate is nil when the node accepts the value. What its regular patterns cost it takes off an allowance; nil is
// none.
func Validate(n *Node, v any, a *Allowance) *Violation {
	c := Checker{allowance: a}
	defer func() { a.draw(c.effort) }()
	if c.Accepts(n, v) && !c.Spent {
		if n.Verdict == Always && KindOf(v) == 0 {
			return &Violation{Keyword: "type", Message: "expected a JSON value, got " + string(describe(v))}
		}
		return nil
	}
	if c.Spent {
		return &Violation{Keyword: Limit,
			Message: "a value can't be held against its schema: it is too deep or too large, or the patterns of " +
				"this schema and of those before take too long"}
	}
	e := Checker{explains: true}
	if !e.Accepts(n, v) && e.found != nil {
		return e.found
	}
	return &Violation{Message: "the schema doesn't accept " + string(describe(v))}
}
