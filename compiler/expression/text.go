package expression

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
)

func length(c invocation) any {
	switch v := c.args[0].(type) {
	case string:
		return float64(utf8.RuneCountInString(v))
	case []any:
		return float64(len(v))
	}
	return float64(len(c.args[0].(map[string]any)))
}

// typeName gives the library's names; a number without a fraction is an int.
func typeName(c invocation) any {
	switch v := c.args[0].(type) {
	case nil:
		return "nil"
	case bool:
		return "bool"
	case float64:
		if v == math.Trunc(v) {
			return "int"
		}
		return "float"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "map"
	}
	return strings.TrimPrefix(strings.TrimPrefix(kindOf(c.args[0]).String(), "a "), "an ")
}

func numeric(f func(float64) float64) func(invocation) any {
	return func(c invocation) any { return f(c.args[0].(float64)) }
}

func toInteger(c invocation) any {
	if s, ok := c.args[0].(string); ok {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v > maxInteger || v < -maxInteger {
			panic(c.misread(quote(s)+" isn't a whole number", "float(…) reads numbers with a fraction"))
		}
		return float64(v)
	}
	return math.Trunc(c.args[0].(float64))
}

func toNumber(c invocation) any {
	s, ok := c.args[0].(string)
	if !ok {
		return c.args[0]
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		panic(c.misread(quote(s)+" isn't a number", ""))
	}
	return v
}

func toText(c invocation) any {
	if text, ok := c.args[0].(string); ok {
		return text
	}
	if text, ok := AsText(c.args[0]); ok {
		c.grow(textCopies * len(text))
		return text
	}
	return c.m.asJSON(c.n, c.args[0], false)
}

func trim(c invocation) any {
	s := c.text(0)
	if c.given(1) {
		// Trim looks at the whole set for each character of the string.
		c.work((len(s) + 16) * (len(c.text(1)) + 16) / 64)
		return strings.Trim(s, c.text(1))
	}
	return strings.TrimSpace(s)
}

// trimAffix takes a part off one end, a blank where none is given.
func trimAffix(f func(s, part string) string) func(invocation) any {
	return func(c invocation) any {
		if !c.given(1) {
			return f(c.text(0), " ")
		}
		return f(c.text(0), c.text(1))
	}
}

func recase(f func(string) string) func(invocation) any {
	return func(c invocation) any {
		return f(c.text(0))
	}
}

func split(f func(s, separator string, n int) []string) func(invocation) any {
	return func(c invocation) any {
		s, separator, most := c.text(0), c.text(1), -1
		if c.given(2) {
			most = c.integer(2)
		}
		pieces := strings.Count(s, separator) + 1
		if most >= 0 {
			pieces = min(pieces, most)
		}
		c.grow(2 * listItem * pieces)
		parts := f(s, separator, most)
		out := make([]any, len(parts))
		for i, p := range parts {
			out[i] = p
		}
		return out
	}
}

func replace(c invocation) any {
	s, before, after, most := c.text(0), c.text(1), c.text(2), -1
	if c.given(3) {
		most = c.integer(3)
	}
	times := strings.Count(s, before)
	if most >= 0 {
		times = min(times, most)
	}
	c.grow(times * len(after))
	return strings.Replace(s, before, after, most)
}

func repeat(c invocation) any {
	times := c.integer(1)
	if times < 0 {
		panic(c.fail(1, "a string can't be repeated "+itoa(times)+" times", "").of(OfValue))
	}
	s := c.text(0)
	if len(s) > 0 {
		times = min(times, math.MaxInt32) // far beyond any limit, and no overflow
	}
	c.grow(len(s) * times)
	if s == "" {
		return ""
	}
	return strings.Repeat(s, times)
}

func join(c invocation) any {
	glue := ""
	if c.given(1) {
		glue = c.text(1)
	}
	list := c.list(0)
	bytes := 0
	parts := make([]string, 0, min(len(list), 64))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			panic(c.fail(0, "\"join\" wants a list of strings, and item "+itoa(i)+" is "+kindOf(v).String(),
				"map the items first: … | map(string(#)) | join(\", \")"))
		}
		if bytes += len(s) + len(glue); bytes > c.m.most.Memory {
			break
		}
		parts = append(parts, s)
	}
	c.grow(bytes + listItem*len(parts))
	return strings.Join(parts, glue)
}

// index counts characters, as slices and len do.
func index(f func(s, part string) int) func(invocation) any {
	return func(c invocation) any {
		s := c.text(0)
		at := f(s, c.text(1))
		if at > 0 {
			at = utf8.RuneCountInString(s[:at])
		}
		return float64(at)
	}
}

func affix(f func(s, part string) bool) func(invocation) any {
	return func(c invocation) any {
		c.work(len(c.text(1)) / 64)
		return f(c.text(0), c.text(1))
	}
}

func toJSON(c invocation) any {
	return c.m.asJSON(c.n, c.args[0], true)
}

func fromJSON(c invocation) any {
	s := c.text(0)
	var raw json.RawMessage // whose reading says what is wrong
	if err := json.Unmarshal([]byte(s), &raw); err != nil {
		panic(c.misread("the string isn't JSON: "+err.Error(), ""))
	}
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(c.misread("the string isn't JSON: "+err.Error(), ""))
	}
	v, problem := exact(v)
	if problem != "" {
		panic(c.misread(problem, "write it as a string in the JSON"))
	}
	return v
}

// exact is a value with its numbers as float64, or says which of them would lose
// digits.
func exact(v any) (_ any, problem string) {
	switch v := v.(type) {
	case json.Number:
		if problem := source.Inexact(v.String()); problem != "" {
			return nil, problem
		}
		number, _ := v.Float64()
		return number, ""
	case []any:
		for i := range v {
			if v[i], problem = exact(v[i]); problem != "" {
				return nil, problem
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key], problem = exact(v[key]); problem != "" {
				return nil, problem
			}
		}
	}
	return v, ""
}

func toBase64(c invocation) any {
	return base64.StdEncoding.EncodeToString([]byte(c.text(0)))
}

func fromBase64(c invocation) any {
	out, err := base64.StdEncoding.DecodeString(c.text(0))
	if err != nil {
		panic(c.misread("the string isn't base64", ""))
	}
	if !utf8.Valid(out) {
		panic(c.misread("the string holds base64 of bytes that aren't text", ""))
	}
	return string(out)
}

func bits(f func(a, b int64) int64) func(invocation) any {
	return func(c invocation) any {
		a := c.integer(0)
		b := c.integer(1)
		return c.exact(f(int64(a), int64(b)))
	}
}

func shift(f func(a int64, by uint) int64) func(invocation) any {
	return func(c invocation) any {
		a := c.integer(0)
		by := c.integer(1)
		if by < 0 {
			panic(c.fail(1, "bits can't be shifted by "+itoa(by), ""))
		}
		return c.exact(f(int64(a), uint(by)))
	}
}

func bitnot(c invocation) any {
	a := c.integer(0)
	return c.exact(^int64(a))
}

// exact lets a whole number through that a number of JSON holds exactly.
func (c invocation) exact(v int64) any {
	if v > maxInteger || v < -maxInteger {
		message := "the result of " + quote(c.n.Name) + " is larger than a number can be exactly"
		panic(failure(c.n, message, ""))
	}
	return float64(v)
}
