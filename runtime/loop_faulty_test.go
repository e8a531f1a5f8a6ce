package runtime_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

func inOnePiece(text string) []string { return []string{text} }

func characterwise(text string) []string {
	pieces := []string{}
	for text != "" {
		_, size := utf8.DecodeRuneInString(text)
		pieces, text = append(pieces, text[:size]), text[size:]
	}
	return pieces
}

// ranFaulty is a call that was started though it settled as failed before its
// first try.
func (r *simulator) ranFaulty() string {
	for _, key := range slices.Sorted(maps.Keys(r.failed)) {
		if r.failed[key].Attempts == 0 && r.begun[key] != "" {
			return r.begun[key]
		}
	}
	return ""
}

// spoil puts an error or several into a solution, and tells of which kind.
func spoil(r *rand.Rand, solution string) (spoilt, how string) {
	if r.IntN(5) < 2 {
		return spoilText(r, solution)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(solution), &doc); err != nil {
		panic(err)
	}
	for range 1 + r.IntN(3) {
		how = spoilCalls(r, doc)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	if spoilt = string(text); r.IntN(6) == 0 {
		spoilt, _ = spoilText(r, spoilt)
	}
	return spoilt, how
}

// spoilCalls puts an error into a solution that remains JSON.
func spoilCalls(r *rand.Rand, doc map[string]any) string {
	list := doc["calls"].([]any)
	at := r.IntN(len(list))
	call, isCall := list[at].(map[string]any)
	other, isOther := list[r.IntN(len(list))].(map[string]any)
	if !isCall || !isOther {
		return "no call"
	}
	path := func(c map[string]any) string {
		text, _ := c["_outputPath"].(string)
		first, _, _ := strings.Cut(text, " ")
		return "†state." + strings.TrimPrefix(first, "†state.")
	}
	kinds := []struct {
		name string
		do   func()
	}{
		{"dangling", func() { call["extra"] = "†state.nowhere.at.all" }},
		{"dangling output", func() { doc["output"] = map[string]any{"x": "†state.nowhere"} }},
		{"own cycle", func() { call["_outputPath"], call["extra"] = "circle", "†state.circle" }},
		{"cycle", func() {
			call["_outputPath"], call["extra"] = "here", "†state.there"
			other["_outputPath"], other["extra"] = "there", "†state.here"
		}},
		{"cycle of order", func() { call["_id"], call["_after"] = "itself", []any{"itself"} }},
		{"unknown tool", func() { call["_tool"] = "conjure" }},
		{"bad parameter", func() { call["_tool"], call["load"] = "weigh", 5.0 }},
		{"missing parameter", func() { call["_tool"] = "weigh"; delete(call, "load") }},
		{"unknown key", func() { call["_outptPath"] = "x" }},
		{"unknown key of the solution", func() { doc["policy"] = "none" }},
		{"conflict", func() { call["_outputPath"] = path(other) }},
		{"conflict below", func() { call["_outputPath"] = path(other) + ".below" }},
		{"unknown call", func() { call["_after"] = []any{"nobody"} }},
		{"one id", func() { call["_id"], other["_id"] = "same", "same" }},
		{"bad expression", func() { call["extra"] = []any{"†state..x", "†foo.bar", "†(", "†1 +"}[r.IntN(4)] }},
		{"writes the input", func() { call["_outputPath"] = "†input.size" }},
		{"bad path", func() { call["_outputPath"] = []any{"", "a..b", "a ||", 7.0, nil}[r.IntN(5)] }},
		{"bad method", func() { call["_outputMethod"] = []any{"shove", 3.0, "push"}[r.IntN(3)] }},
		{"bad condition", func() { call["_when"] = []any{"†1 + 1", 7.0, "yes", "†state.nowhere"}[r.IntN(4)] }},
		{"no call", func() { list[at] = []any{7.0, nil, "text", []any{}, map[string]any{}}[r.IntN(5)] }},
		{"no tool", func() { delete(call, "_tool") }},
		{"instance", func() { call["_instance"] = "①" }},
		{"activity", func() { call["_activity"] = "nothing" }},
		{"calls that are none", func() { doc["calls"] = []any{map[string]any{"_tool": "fetch"}, 1.0} }},
		{"look-alike id", func() { call["_id"], other["_id"] = "paypal", "p\u0430ypal" }},
		{"retry", func() { call["_retry"] = []any{"often", map[string]any{"attempts": -1.0}}[r.IntN(2)] }},
		{"reversed", func() { slices.Reverse(list) }},
	}
	kind := kinds[r.IntN(len(kinds))]
	kind.do()
	return kind.name
}

var junk = []string{
	"}", "]", "{", "[", ",", ":", `"`, `\`, "\n", "\t", "null", "7", "†", "\u0000", "\u202e", "```", "]}", `"}`, "// no\n", `\ud800`, `{"_tool":"deliver"}`, "\ufeff", "1e999", "tru",
	`"calls":[],`, `"output":null,`, `,"calls":[{"_tool":"deliver"}]`,
}

// spoilText cuts a text, or puts something into it that doesn't belong there.
func spoilText(r *rand.Rand, text string) (spoilt, how string) {
	place := func() int {
		at := r.IntN(len(text) + 1)
		for at < len(text) && !utf8.RuneStart(text[at]) {
			at++
		}
		return at
	}
	word := junk[r.IntN(len(junk))]
	switch r.IntN(8) {
	case 0, 1:
		return text[:place()], "cut"
	case 2, 3:
		at := place()
		return text[:at] + word + text[at:], "junk"
	case 4:
		a, b := place(), place()
		return text[:min(a, b)] + text[max(a, b):], "gap"
	case 5:
		return text + word, "junk behind"
	case 6:
		return fmt.Sprintf("%s\n%s", word, text), "junk before"
	}
	a, b := place(), place()
	return text[:max(a, b)] + text[min(a, b):], "twice"
}
