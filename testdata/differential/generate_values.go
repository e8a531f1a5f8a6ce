package main

import (
	"fmt"
	"iter"
	"maps"
	"strings"
)

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

var kinds = []string{"number", "integer", "text", "choice", "flag", "numbers", "record", "records"}

var typeNames = map[string]string{
	"text": "string", "choice": "string", "flag": "boolean", "numbers": "array", "record": "object", "records": "array",
}

// schema is one of a kind, at times narrower than the kind.
func (a *author) schema(kind string) map[string]any {
	s := map[string]any{
		"type": typeNames[kind],
	}
	switch kind {
	case "number", "integer":
		s["type"] = kind
		if a.chance(40) {
			s["minimum"], s["maximum"] = -a.IntN(20), 20+a.IntN(200)
		}
	case "text":
		if a.chance(20) {
			s["maxLength"] = 3 + a.IntN(30)
		}
	case "choice":
		s["enum"] = []string{"low", "mid", "high"}
	case "numbers":
		s["items"] = map[string]any{"type": "number"}
		if a.chance(40) {
			s["minItems"], s["maxItems"] = 1, 4
		}
	case "record":
		s["properties"] = map[string]any{
			"id":    a.schema("text"),
			"size":  a.schema("integer"),
			"level": a.schema("choice"),
			"note":  map[string]any{"type": []string{"string", "null"}},
		}
		s["required"] = []string{"id", "size", "level"}
		if a.chance(30) {
			s["additionalProperties"] = false
		}
	case "records":
		s["items"] = a.schema("record")
	}
	return s
}

func (a *author) literal(kind string) any {
	switch kind {
	case "number":
		return []any{a.IntN(30), float64(a.IntN(300)) / 8}[a.IntN(2)]
	case "integer":
		return a.IntN(20)
	case "text":
		return choose(a, "ann", "berlin", "x", "a b", "Zoe", "")
	case "choice":
		return choose(a, "low", "mid", "high")
	case "flag":
		return a.chance(50)
	case "numbers":
		return []any{a.IntN(9), a.IntN(9), a.IntN(9)}[:1+a.IntN(3)]
	case "record":
		return map[string]any{"id": "r1", "size": a.IntN(9), "level": "mid"}
	}
	return []any{a.literal("record"), a.literal("record")}
}

// fieldOf is the field of a record that has a kind.
var fieldOf = map[string]string{"text": "id", "integer": "size", "number": "size", "choice": "level"}

// at is a path to a value of a kind, or of any.
func (a *author) at(kind string) string {
	if a.repeat != "" && a.chance(50) {
		if a.repeat == kind || kind == "" {
			return "†item"
		}
		if name := fieldOf[kind]; a.repeat == "record" &&
			name != "" {
			return "†item." + name
		}
	}
	for range 30 {
		p := a.places[a.IntN(len(a.places))]
		switch {
		case kind == "" || p.kind == kind:
			return p.path
		case kind == "number" && p.kind == "integer", kind == "text" && p.kind == "choice":
			return p.path
		case p.kind == "record" && kind == "text":
			return p.path + ".id"
		case p.kind == "record" && kind == "number":
			return p.path + ".size"
		case p.kind == "records" && kind == "record":
			return p.path + "[0]"
		case p.kind == "numbers" && kind == "number":
			return p.path + "[0]"
		}
	}
	return "†input.n"
}

// value is a parameter: a literal, a reference or an expression.
func (a *author) value(kind string) any {
	if a.chance(25) {
		return a.literal(kind)
	}
	one := a.at(kind)
	if a.chance(55) {
		return one
	}
	if a.chance(30) {
		return one + " || " + a.at(kind)
	}
	switch kind {
	case "number":
		return choose(
			a, "†("+one+" * 2 + "+a.at("number")+")", "†(max("+one+", "+a.at("number")+"))",
			"†(len("+a.at("text")+"))", "†(sum("+a.at("numbers")+"))", "†(round("+one+" / 3))",
		)
	case "text":
		return choose(
			a, "Dear †{"+strings.TrimPrefix(one, "†")+"}, †{"+strings.TrimPrefix(a.at("number"), "†")+"}",
			"†(upper("+one+"))", "†("+one+` + "!")`, one+` || "nobody"`,
		)
	case "numbers":
		return choose(a, one+" | filter(# > 2)", "†(sort("+one+"))", "†["+a.at("number")+", 2]")
	case "flag":
		return a.condition(1)
	case "records":
		return choose(a, one+" | filter(.size > 1)", one+" | sortBy(.size)")
	}
	return one + " || null"
}

// condition is one over one value or several, joined with others.
func (a *author) condition(depth int) string {
	return "†(" + a.test(depth) + ")"
}

func (a *author) test(depth int) string {
	if depth > 0 && a.chance(45) {
		return "(" + a.test(depth-1) + ") " + choose(a, "and", "or") + " (" + a.test(depth-1) + ")"
	}
	if a.chance(15) {
		return "not (" + a.test(0) + ")"
	}
	n, s, number := a.at("number"), a.at("text"), fmt.Sprint(a.IntN(25))
	compare := choose(a, ">", "<", ">=", "<=", "==", "!=")
	return choose(
		a,
		n+" "+compare+" "+number,
		n+" "+compare+" "+number,
		n+" "+compare+" "+a.at("number"),
		n+" + "+a.at("number")+" "+compare+" "+number,
		n+" * 3 - "+a.at("number")+" "+compare+" "+number,
		a.at("integer")+" % 3 == "+fmt.Sprint(a.IntN(4)),
		"round("+n+") "+compare+" "+number,
		s+` == "`+fmt.Sprint(a.literal("text"))+`"`,
		s+` startsWith "a"`,
		s+` matches "^[a-z]+$"`,
		`upper(`+s+`) in ["ANN", "X"]`,
		a.at("choice")+` == "high"`,
		a.at("choice")+` in ["low", "mid"]`,
		"len("+s+") "+compare+" 4",
		"len("+a.at("numbers")+") "+compare+" 2",
		"any("+a.at("numbers")+", # > 3)",
		a.at("flag"),
		"("+a.at("")+" || null) != null",
		"abs("+n+") > "+number,
		a.at("records")+`[0].level == "mid"`,
	)
}
