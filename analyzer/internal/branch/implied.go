package branch

import (
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
	operand, fits := about(t)
	if operand == nil || fits == nil || operand.Op != expression.OpRef {
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
	if len(t.Args) != 2 {
		return t, object{"const": true}
	}
	operand, other, op := t.Args[0], t.Args[1], t.Op
	if operand.Constant && op.Compares() {
		operand, other, op = other, operand, turned[op]
	}
	if !other.Constant {
		return nil, nil
	}
	text, isText := other.Value.(string)
	items, isList := other.Value.([]any)
	_, isNumber := other.Value.(float64)
	switch quoted := regexp.QuoteMeta(text); {
	case op == expression.OpEqual:
		return operand, object{"const": other.Value}
	case op == expression.OpUnequal:
		return operand, object{"not": object{"const": other.Value}}
	case op.Compares() && isNumber:
		return operand, object{"type": "number", bounds[op]: other.Value}
	case t.Name == "in" && isList && len(items) > 0:
		return operand, object{"enum": items}
	case !isText:
	case t.Name == "startsWith", t.Name == "hasPrefix":
		return operand, pattern("^" + quoted)
	case t.Name == "endsWith", t.Name == "hasSuffix":
		return operand, pattern(quoted + "$")
	case t.Name == "contains":
		return operand, pattern(quoted)
	case t.Name == "matches" && !strings.Contains(text, "(?"): // which has another meaning in a schema
		return operand, pattern(text)
	}
	return nil, nil
}

func pattern(text string) any {
	raw := object{"type": "string", "pattern": text}
	if schema.New(raw, schema.Options{}).Compile() != nil {
		return nil
	}
	return raw
}

// bounds are the keywords that compare numbers.
var bounds = map[expression.Op]string{
	expression.OpLess: "exclusiveMaximum", expression.OpLessEqual: "maximum",
	expression.OpMore: "exclusiveMinimum", expression.OpMoreEqual: "minimum",
}
