package branch

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// What an atom asks of a text, a list or an object can mostly be said as a JSON Schema:
// the values for which it is true. Whether several such questions can have certain
// answers together is then a question about schemas.

// object is a schema, or a part of one, as JSON.
type object = map[string]any

// isHole reports whether a term is the value itself that an atom is about. A fallback
// for it is: null and absence are looked at apart.
func isHole(t *expression.Term) bool {
	return t.Op == expression.TermReference || t.Op == expression.TermFallback && len(t.Args) == 2 && t.Args[0].Op == expression.TermReference && t.Args[1].Op == expression.TermLiteral
}

func holeRef(t *expression.Term) int {
	if t.Op == expression.TermFallback {
		t = t.Args[0]
	}
	return t.Ref
}

// pieceOf is the schema of the values for which an atom about one value is true, nil
// where that can't be said. Where it hangs on nothing but whether the value is one of
// some constants it gives these.
func pieceOf(t *expression.Term) (piece any, constants []any) {
	switch {
	case isHole(t):
		return object{"const": true}, []any{true}
	case (t.Op == expression.TermEqual || t.Op == expression.TermUnequal) && len(t.Args) == 2:
		for i, a := range t.Args {
			if other := t.Args[1-i]; isHole(a) && other.Op == expression.TermLiteral {
				return object{"const": other.Value}, []any{other.Value}
			}
		}
	case t.Name == "in" && isHole(t.Args[0]) && t.Args[1].Op == expression.TermLiteral:
		if items, ok := t.Args[1].Value.([]any); ok && len(items) > 0 {
			return object{"enum": items}, items
		}
	}
	return piecer{isHole}.yes(t), nil
}

// mentionsNumbers are the kinds of number that a piece looks at by size.
func mentionsNumbers(t *expression.Term) schema.Kinds {
	if t.Op > expression.TermUnequal && (isHole(t.Args[0]) || isHole(t.Args[1])) || t.Name == "%" {
		return schema.Number
	}
	for _, a := range t.Args {
		if !isHole(a) && mentionsNumbers(a) != 0 {
			return schema.Number
		}
	}
	return 0
}

// A piecer makes schemas of terms about one value: that of an atom, or the item of a
// loop.
type piecer struct{ hole func(*expression.Term) bool }

func isItem(t *expression.Term) bool { return t.Op == expression.TermOther && t.Name == "#" }

// yes is the schema of the values for which a term is true.
func (p piecer) yes(t *expression.Term) any {
	switch t.Op {
	case expression.TermLiteral:
		if yes, ok := t.Value.(bool); ok {
			return yes
		}
	case expression.TermNot:
		if one := p.yes(t.Args[0]); one != nil {
			return object{"not": one}
		}
	case expression.TermAnd, expression.TermOr:
		var all []any
		for _, a := range t.Args {
			one := p.yes(a)
			if one == nil {
				return nil
			}
			all = append(all, one)
		}
		if t.Op == expression.TermAnd {
			return object{"allOf": all}
		}
		return object{"anyOf": all}
	case expression.TermOther:
		if p.hole(t) {
			return object{"const": true}
		}
		return p.asked(t)
	default:
		if p.hole(t) {
			return object{"const": true}
		}
		if t.Op < expression.TermEqual {
			return nil
		}
		a, b, op := t.Args[0], t.Args[1], t.Op
		if a.Op == expression.TermLiteral {
			a, b, op = b, a, turned(op)
		}
		if b.Op == expression.TermLiteral {
			return p.compared(a, op, b.Value)
		}
	}
	return nil
}

// asked is the schema for a question that is true or false by itself.
func (p piecer) asked(t *expression.Term) any {
	text := func(i int) (string, bool) {
		if i >= len(t.Args) || t.Args[i].Op != expression.TermLiteral {
			return "", false
		}
		s, ok := t.Args[i].Value.(string)
		return s, ok
	}
	switch t.Name {
	case "in":
		if items, ok := t.Args[1].Value.([]any); ok && t.Args[1].Op == expression.TermLiteral && len(items) > 0 {
			if len(items) <= fewNumbers && p.isMeasured(t.Args[0]) {
				return p.oneOf(t.Args[0], items)
			}
			return p.such(t.Args[0], object{"enum": items})
		}
		if t.Args[1].Name == ".." {
			return p.ranged(t.Args[0], t.Args[1])
		}
		if t.Args[0].Op == expression.TermLiteral {
			list := object{"type": "array", "contains": object{"const": t.Args[0].Value}}
			if key, ok := text(0); ok {
				return p.such(t.Args[1], object{"anyOf": []any{list, object{"type": "object", "required": []any{key}}}})
			}
			return p.such(t.Args[1], list)
		}
	case "startsWith", "endsWith", "contains", "hasPrefix", "hasSuffix":
		if piece, ok := text(1); ok {
			piece = regexp.QuoteMeta(piece)
			switch t.Name {
			case "startsWith", "hasPrefix":
				piece = "^" + piece
			case "endsWith", "hasSuffix":
				piece += "$"
			}
			return p.such(t.Args[0], pattern(piece))
		}
	case "matches":
		if piece, ok := text(1); ok && !strings.Contains(piece, "(?") { // which means something else in a schema
			if schema.New(pattern(piece), schema.Options{}).Compile() == nil {
				return p.such(t.Args[0], pattern(piece))
			}
		}
	case "any", "none", "one", "all":
		body := p.body(t)
		if body == nil {
			return nil
		}
		switch t.Name {
		case "any":
			return p.such(t.Args[0], object{"type": "array", "contains": body})
		case "none":
			return p.such(t.Args[0], object{"type": "array", "items": object{"not": body}})
		case "one":
			return p.such(t.Args[0], object{"type": "array", "contains": body, "minContains": 1.0, "maxContains": 1.0})
		}
		return p.such(t.Args[0], object{"type": "array", "items": body})
	case ".":
		return p.such(t, object{"const": true})
	}
	return nil
}

func pattern(text string) object { return object{"type": "string", "pattern": text} }

// body is the schema of the items for which what a loop asks of each is true.
func (p piecer) body(t *expression.Term) any {
	if len(t.Args) != 2 {
		return nil
	}
	return piecer{isItem}.yes(t.Args[1])
}

// such is the schema of the values of which a part, or something that is made of
// them, fits a schema.
func (p piecer) such(t *expression.Term, fits any) any {
	switch {
	case p.hole(t):
		return fits
	case t.Op != expression.TermOther || t.Name != "." || len(t.Args) != 2 || t.Args[1].Op != expression.TermLiteral:
		return nil
	}
	switch key := t.Args[1].Value.(type) {
	case string:
		return p.such(t.Args[0], object{"type": "object", "properties": object{key: fits}, "required": []any{key}})
	case float64:
		if key < 0 || key > 20 || key != math.Trunc(key) {
			return nil
		}
		items := make([]any, int(key)+1)
		for i := range items {
			items[i] = true
		}
		items[int(key)] = fits
		return p.such(t.Args[0], object{"type": "array", "prefixItems": items, "minItems": key + 1})
	}
	return nil
}

// compared is the schema for a comparison of a term with a constant.
func (p piecer) compared(t *expression.Term, op expression.TermOp, with any) any {
	if op == expression.TermUnequal {
		if one := p.compared(t, expression.TermEqual, with); one != nil {
			return object{"not": one}
		}
		return nil
	}
	if t.Op == expression.TermOther && t.Name == "type" && len(t.Args) == 1 {
		kind, isText := with.(string)
		if op != expression.TermEqual || !isText {
			return nil
		}
		of, known := ofType[kind]
		if !known {
			return false
		}
		return p.such(t.Args[0], of)
	}
	if p.isMeasured(t) {
		return p.measured(t, op, with)
	}
	switch v := with.(type) {
	case float64:
		key := map[expression.TermOp]string{expression.TermLess: "exclusiveMaximum", expression.TermLessEqual: "maximum", expression.TermMore: "exclusiveMinimum", expression.TermMoreEqual: "minimum"}[op]
		if key != "" {
			return p.such(t, object{"type": "number", key: v})
		}
	case string:
		below := object{"type": "string", "pattern": "^(?:" + below(v) + ")"}
		same := object{"const": v}
		switch op {
		case expression.TermLess:
			return p.such(t, below)
		case expression.TermLessEqual:
			return p.such(t, object{"anyOf": []any{below, same}})
		case expression.TermMore:
			return p.such(t, object{"type": "string", "not": object{"anyOf": []any{below, same}}})
		case expression.TermMoreEqual:
			return p.such(t, object{"type": "string", "not": below})
		}
	}
	if op != expression.TermEqual {
		return nil
	}
	return p.such(t, object{"const": with})
}

// ofType are the schemas of the values of which the function type gives a name.
var ofType = map[string]object{
	"nil": {"type": "null"}, "bool": {"type": "boolean"}, "int": {"type": "integer"}, "float": {"type": "number", "not": object{"type": "integer"}},
	"string": {"type": "string"}, "array": {"type": "array"}, "map": {"type": "object"},
}

// asksWhole reports whether a term asks whether a number is whole.
func asksWhole(t *expression.Term) bool {
	return t.Name == "type" || slices.ContainsFunc(t.Args, asksWhole)
}

// below is a pattern for the beginnings of the texts that come before one.
func below(text string) string {
	if text == "" {
		return "[^\\u{0}-\\u{10FFFF}]"
	}
	first := []rune(text)[0]
	var ways []string
	ways = append(ways, "$")
	if first > 0 {
		ways = append(ways, "[\\u{0}-"+runeText(first-1)+"]")
	}
	if rest := text[len(string(first)):]; rest != "" {
		ways = append(ways, runeText(first)+"(?:"+below(rest)+")")
	}
	return strings.Join(ways, "|")
}

func runeText(r rune) string { return "\\u{" + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + "}" }

// isMeasured reports whether a term is worked out of a value.
func (p piecer) isMeasured(t *expression.Term) bool {
	return t.Op == expression.TermOther && !p.hole(t) && t.Name != "."
}

// oneOf is the schema for a term that is one of some constants.
func (p piecer) oneOf(t *expression.Term, items []any) any {
	all := make([]any, len(items))
	for i, item := range items {
		if all[i] = p.compared(t, expression.TermEqual, item); all[i] == nil {
			return nil
		}
	}
	return object{"anyOf": all}
}

// ranged is the schema for a term that is one of the integers of a range.
func (p piecer) ranged(t, within *expression.Term) any {
	from, ok := within.Args[0].Value.(float64)
	to, both := within.Args[1].Value.(float64)
	switch {
	case !ok || !both:
		return nil
	case !p.isMeasured(t):
		return p.such(t, object{"type": "integer", "minimum": from, "maximum": to})
	case t.Name != "len" && t.Name != "count":
		return nil
	}
	low, high := p.measured(t, expression.TermMoreEqual, from), p.measured(t, expression.TermLessEqual, to)
	if low == nil || high == nil {
		return nil
	}
	return object{"allOf": []any{low, high}}
}

// measured is the schema for a comparison of something that is worked out of a value.
func (p piecer) measured(t *expression.Term, op expression.TermOp, with any) any {
	switch t.Name {
	case "lower", "upper", "trim":
		if text, ok := with.(string); ok && op == expression.TermEqual && len(t.Args) == 1 {
			return p.such(t.Args[0], pattern("^"+unfolded(t.Name, text)+"$"))
		}
	case "%":
		if m, ok := t.Args[1].Value.(float64); ok && m > 0 && with == 0.0 && op == expression.TermEqual {
			return p.such(t.Args[0], object{"type": "number", "multipleOf": m})
		}
	case "len", "count":
		c, ok := with.(float64)
		if !ok {
			return nil
		}
		low, high := lengthRange(op, c)
		of := t
		if t.Name == "len" {
			if of = t.Args[0]; of.Name != "filter" {
				return p.such(of, lengths(low, high))
			}
		}
		body := p.body(of)
		if body == nil {
			return nil
		}
		if high < low && high >= 0 || high == -2 {
			return false
		}
		list := object{"type": "array", "contains": body, "minContains": float64(low)}
		if high >= 0 {
			list["maxContains"] = float64(high)
		}
		return p.such(of.Args[0], list)
	}
	return nil
}

// lengthRange are the lengths that meet a comparison; high is -1 for any number, and
// -2 where there is none.
func lengthRange(op expression.TermOp, c float64) (low, high int) {
	c = max(-2, min(c, 1<<30))
	switch op {
	case expression.TermLess:
		return 0, max(-2, ended(math.Ceil(c)-1))
	case expression.TermLessEqual:
		return 0, ended(math.Floor(c))
	case expression.TermMore:
		return max(0, int(math.Floor(c))+1), -1
	case expression.TermMoreEqual:
		return max(0, int(math.Ceil(c))), -1
	}
	if c != math.Trunc(c) || c < 0 {
		return 0, -2
	}
	return int(c), int(c)
}

func ended(high float64) int {
	if high < 0 {
		return -2
	}
	return int(high)
}

// lengths is the schema of what is so long.
func lengths(low, high int) any {
	if high == -2 {
		return false
	}
	var all []any
	for _, kind := range [][2]string{{"string", "Length"}, {"array", "Items"}, {"object", "Properties"}} {
		one := object{"type": kind[0], "min" + kind[1]: float64(low)}
		if high >= 0 {
			one["max"+kind[1]] = float64(high)
		}
		all = append(all, one)
	}
	return object{"anyOf": all}
}

func lengthOf(value any) int {
	switch v := value.(type) {
	case string:
		return len([]rune(v))
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// unfolded is a pattern for the texts of which a function makes one.
func unfolded(function, text string) string {
	const blank = "[\\t-\\r \\u{85}\\u{A0}\\u{1680}\\u{2000}-\\u{200A}\\u{2028}\\u{2029}\\u{202F}\\u{205F}\\u{3000}]*"
	if function == "trim" {
		if strings.TrimSpace(text) != text {
			return "[^\\u{0}-\\u{10FFFF}]"
		}
		return blank + regexp.QuoteMeta(text) + blank
	}
	change := unicode.ToLower
	if function == "upper" {
		change = unicode.ToUpper
	}
	var b strings.Builder
	for _, want := range text {
		b.WriteString("[")
		if change(want) == want {
			b.WriteString(runeText(want))
		}
		for r := unicode.SimpleFold(want); r != want; r = unicode.SimpleFold(r) {
			if change(r) == want {
				b.WriteString(runeText(r))
			}
		}
		if b.String()[b.Len()-1] == '[' {
			b.WriteString("^\\u{0}-\\u{10FFFF}") // nothing comes out as it
		}
		b.WriteString("]")
	}
	return b.String()
}

// Implied is a schema that a value fits if a condition comes out as said; nil where that
// says nothing of it. Below reports of a reference whether it is to the value or a part of
// it, and to which.
func Implied(t *expression.Term, holds bool, below func(ref int) (part []schema.Step, ok bool)) *schema.Schema {
	operands, all := t.Args, false
	switch t.Op {
	case expression.TermNot:
		return Implied(t.Args[0], !holds, below)
	case expression.TermAnd, expression.TermOr:
		all = (t.Op == expression.TermAnd) == holds
	case expression.TermFallback:
	case expression.TermGate:
		operands = operands[len(operands)-1:]
	case expression.TermLiteral:
		if t.Value != holds {
			return schema.AnyOf()
		}
		return nil
	default:
		var part []schema.Step
		piece := piecer{func(x *expression.Term) (is bool) {
			if x.Op == expression.TermReference {
				part, is = below(x.Ref)
			}
			return is
		}}.yes(t)
		if piece == nil {
			return nil
		}
		if !holds {
			piece = object{"not": piece}
		}
		return schema.Containing(part, schema.New(piece, schema.Options{}))
	}
	var known []*schema.Schema
	for _, operand := range operands {
		if one := Implied(operand, holds, below); one != nil {
			known = append(known, one)
		} else if !all {
			return nil
		}
	}
	switch {
	case len(known) == 0:
		return nil
	case all:
		return schema.AllOf(known...)
	}
	return schema.AnyOf(known...)
}
