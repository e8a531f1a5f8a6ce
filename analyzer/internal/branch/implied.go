package branch

import (
	"math"
	"regexp"
	"strings"

	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Implied returns a schema that a value fits if a condition comes out as holds says; nil if that says nothing about the
// value. Below reports whether a reference is to the value or a part of it, and to which part.
func Implied(t *expression.Node, holds bool, below func(ref int) (part []schema.Step, ok bool)) *schema.Schema {
	if t.Constant {
		if t.Value != holds {
			return schema.AnyOf()
		}
		return nil
	}
	operands, all := t.Args, false
	switch t.Op {
	case expression.OpNot:
		return Implied(t.Args[0], !holds, below)
	case expression.OpAnd, expression.OpOr:
		all = (t.Op != expression.OpOr) == holds
	case expression.OpFallback:
	case expression.OpGate:
		operands = operands[len(operands)-1:]
	default:
		return impliedByPredicate(t, holds, below)
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

// object is a schema, or a part of one, as JSON.
type object = map[string]any

// impliedByPredicate is Implied for a node that is no combination of others.
func impliedByPredicate(t *expression.Node, holds bool, below func(ref int) ([]schema.Step, bool)) *schema.Schema {
	if op, ok := opposite[t.Op]; ok && !holds {
		t, holds = &expression.Node{Op: op, Args: t.Args}, true
	}
	operand, fits := about(t)
	for operand != nil && operand.Op != expression.OpRef {
		operand, fits = containing(operand, fits)
	}
	if operand == nil || fits == nil {
		return nil
	}
	part, ok := below(operand.Index)
	if !ok {
		return nil
	}
	if !holds {
		fits = object{"not": fits}
	}
	return schema.Containing(part, schema.New(fits, schema.Options{}))
}

// about returns the operand that a predicate is about, and the schema of the values of the
// operand for which the predicate is true; nil if no schema says that.
func about(t *expression.Node) (operand *expression.Node, fits any) {
	if t.Op.Compares() {
		left, right, op := t.Args[0], t.Args[1], t.Op
		if left.Constant {
			left, right, op = right, left, turned[op]
		}
		if !right.Constant {
			return nil, nil
		}
		return compared(left, op, right.Value)
	}
	if len(t.Args) != 2 || t.Op == expression.OpMember {
		return t, object{"const": true}
	}
	operand, other := t.Args[0], t.Args[1]
	if t.Op == expression.OpIn && operand.Constant {
		return other, membership(operand.Value)
	}
	if !other.Constant {
		return nil, nil
	}
	text, isText := other.Value.(string)
	switch quoted := regexp.QuoteMeta(text); t.Name {
	case "in":
		if items, ok := other.Value.([]any); ok && len(items) > 0 {
			return operand, object{"enum": items}
		}
	case "startsWith", "hasPrefix":
		return operand, pattern("^"+quoted, isText)
	case "endsWith", "hasSuffix":
		return operand, pattern(quoted+"$", isText)
	case "contains":
		return operand, pattern(quoted, isText)
	case "matches":
		if !strings.Contains(text, "(?") { // which has another meaning in a schema
			return operand, pattern(text, isText)
		}
	}
	return nil, nil
}

// membership is the schema of the lists and objects in which a value is.
func membership(value any) any {
	in := object{"type": "array", "contains": object{"const": value}}
	if key, ok := value.(string); ok {
		in["type"], in["required"] = []any{"array", "object"}, []any{key}
	}
	return in
}

func pattern(text string, ok bool) any {
	raw := object{"type": "string", "pattern": text}
	if !ok || schema.New(raw, schema.Options{}).Compile() != nil {
		return nil
	}
	return raw
}

// ofType are the schemas of the values for which the function type returns a name.
var ofType = map[string]object{
	"nil": {"type": "null"}, "bool": {"type": "boolean"}, "int": {"type": "integer"},
	"float":  {"type": "number", "not": object{"type": "integer"}},
	"string": {"type": "string"}, "array": {"type": "array"}, "map": {"type": "object"},
}

// bounds are the keywords that compare numbers.
var bounds = map[expression.Op]string{
	expression.OpLess: "exclusiveMaximum", expression.OpLessEqual: "maximum",
	expression.OpMore: "exclusiveMinimum", expression.OpMoreEqual: "minimum",
}

// opposite is the comparison that is true where another is false.
var opposite = map[expression.Op]expression.Op{
	expression.OpEqual: expression.OpUnequal, expression.OpUnequal: expression.OpEqual,
	expression.OpLess: expression.OpMoreEqual, expression.OpMoreEqual: expression.OpLess,
	expression.OpMore: expression.OpLessEqual, expression.OpLessEqual: expression.OpMore,
}

// compared is about for a comparison with a constant.
func compared(t *expression.Node, op expression.Op, with any) (operand *expression.Node, fits any) {
	number, isNumber := with.(float64)
	switch {
	case op == expression.OpUnequal:
		if operand, fits = compared(t, expression.OpEqual, with); fits != nil {
			fits = object{"not": fits}
		}
		return operand, fits
	case t.Op == expression.OpCall && t.Name == "len" && isNumber:
		return t.Args[0], ofLength(op, number)
	case t.Op == expression.OpCall && t.Name == "type" && op == expression.OpEqual:
		name, _ := with.(string)
		if of, known := ofType[name]; known {
			return t.Args[0], of
		}
	case t.Op != expression.OpRef && t.Op != expression.OpMember:
	case op == expression.OpEqual:
		return t, object{"const": with}
	case isNumber:
		return t, object{"type": "number", bounds[op]: number}
	}
	return nil, nil
}

// ofLength is the schema of the values whose length meets a comparison.
func ofLength(op expression.Op, c float64) any {
	low, high := 0.0, math.Inf(1)
	switch op {
	case expression.OpLess:
		high = math.Ceil(c) - 1
	case expression.OpLessEqual:
		high = math.Floor(c)
	case expression.OpMore:
		low = math.Floor(c) + 1
	case expression.OpMoreEqual:
		low = math.Ceil(c)
	default:
		low, high = math.Ceil(c), math.Floor(c)
	}
	if low = max(low, 0); high < low || low > 1<<30 {
		return false
	}
	all := object{"type": []any{"string", "array", "object"}}
	for _, size := range []string{"Length", "Items", "Properties"} { // each is about one kind
		if all["min"+size] = low; high < 1<<30 {
			all["max"+size] = high
		}
	}
	return all
}

// containing returns the container of a node, and the schema of containers whose part fits a schema.
func containing(t *expression.Node, fits any) (container *expression.Node, of any) {
	if t.Op != expression.OpMember || !t.Args[1].Constant || fits == nil {
		return nil, nil
	}
	switch key := t.Args[1].Value.(type) {
	case string:
		return t.Args[0], object{"type": "object", "properties": object{key: fits}, "required": []any{key}}
	case float64:
		if key < 0 || key > 20 || key != math.Trunc(key) {
			return nil, nil
		}
		items := make([]any, int(key)+1)
		for i := range items {
			items[i] = true
		}
		items[int(key)] = fits
		return t.Args[0], object{"type": "array", "prefixItems": items, "minItems": key + 1}
	}
	return nil, nil
}
