package runtime_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
)

// What generated plans call, and what carries it out.

// toolNames are the tools that every generated document declares. Only the
// last two have schemas to speak of.
var toolNames = []string{"fetch", "draft", "refine", "decide", "deliver", "measure", "weigh"}

func toolDefinitions() map[string]any {
	open := func() map[string]any { return map[string]any{"type": "object", "additionalProperties": true} }
	tools := map[string]any{}
	for _, name := range toolNames {
		tools[name] = open()
	}
	measure, weigh := open(), open()
	measure["_output"] = map[string]any{
		"type": "object", "properties": map[string]any{"total": map[string]any{"type": "integer"}},
		"required": []any{"total"}, "additionalProperties": false,
	}
	weigh["properties"] = map[string]any{"load": map[string]any{"type": "object"}}
	weigh["required"] = []any{"load"}
	tools["measure"], tools["weigh"] = measure, weigh
	return tools
}

// perform is what every activity of a generated plan does. Literal parameters
// tell it what to do: `shape` is the kind of result, `choose` the path of the
// alternative to take, and `fails` the number of tries that fail, with `code`.
// Everything else only goes into the digest that the result is made of, so that
// two calls give the same result exactly when they were given the same.
func perform(_ string, attempt int, params map[string]any) (any, string, *failure) {
	if fails, _ := params["fails"].(float64); attempt <= int(fails) {
		f := &failure{Code: "error", Message: "broken on purpose"}
		if code, ok := params["code"].(string); ok {
			f.Code = code
			f.Details = map[string]any{"seed": params["seed"]}
		}
		return nil, "", f
	}
	path := ""
	if choose, ok := params["choose"].(string); ok {
		path = "†state." + choose
	}
	shape, _ := params["shape"].(string)
	wrong, _ := params["wrong"].(float64)
	return shaped(shape, digest(params), attempt <= int(wrong)), path, nil
}

// shaped makes a value of a kind. Objects and lists have what readable paths
// lead to, at times null or too short.
func shaped(shape string, d uint32, wrong bool) any {
	n := float64(d % 1000)
	object := func(n float64) map[string]any {
		return map[string]any{"name": fmt.Sprint("n", n), "price": n, "city": map[string]any{"name": fmt.Sprint("c", n), "zone": n + 1}}
	}
	switch shape {
	case "flag":
		return d%3 != 0
	case "number":
		return n
	case "text":
		return fmt.Sprint("t", n)
	case "nothing":
		return nil
	case "list":
		list := []any{object(n), object(n + 1), object(n + 2)}
		return list[:1+d%3]
	case "total":
		if wrong {
			return map[string]any{"total": "unknown"}
		}
		return map[string]any{"total": n}
	}
	result := object(n)
	result["tags"] = []any{fmt.Sprint("a", n), fmt.Sprint("b", n)}
	if d%4 == 0 {
		result["name"] = nil
	}
	return result
}

// digest is a number that depends on every parameter, but not on the words in
// which a failure was reported: they are an implementation's own.
func digest(params map[string]any) uint32 {
	text, err := json.Marshal(wordless(params))
	if err != nil {
		panic(err)
	}
	h := fnv.New32a()
	h.Write(text)
	return h.Sum32() >> 3
}

// wordless is a value with the messages of failure records taken out.
func wordless(value any) any {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = wordless(item)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		_, hasCode := v["code"]
		_, hasDetails := v["details"]
		for key, item := range v {
			if key != "message" || !hasCode || !hasDetails {
				object[key] = wordless(item)
			}
		}
		return object
	}
	return value
}
