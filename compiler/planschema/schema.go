// Package planschema makes the JSON Schema of the documents that the compiler accepts, so that an editor completes
// keys, shows what they mean and marks what has the wrong shape, with no further set-up. What is described comes from a
// file, and which keys there are from the tags by which the compiler reads them. It is looser than the compiler:
// whatever the compiler accepts validates against it, and what only the compiler can judge (references, paths, tools)
// is left to it.
package planschema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/plan"
)

//go:embed schema.json
var described []byte

// JSON is the schema, draft 2020-12, as the text of a JSON document that ends in a line feed. The caller may keep and
// change what it gets.
func JSON() []byte { return bytes.Clone(text()) }

var text = sync.OnceValue(func() []byte {
	tagged := map[string]any{"plan": plan.Plan{}, "advisor": plan.Advisor{}, "hints": plan.Hints{}}
	maps.Copy(tagged, compiler.Keys)
	var schema any
	if err := json.Unmarshal(described, &schema); err != nil {
		panic(err)
	}
	complete(schema, tagged)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(schema); err != nil {
		panic(err)
	}
	return text.Bytes()
})

// complete gives the schemas that "$tags" marks what the tags of a struct declare, and activities their kinds.
func complete(v any, tagged map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			complete(item, tagged)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			complete(v[key], tagged)
		}
		name, _ := v["$tags"].(string)
		if delete(v, "$tags"); name != "" {
			decode.Complete(v, tagged[name])
		}
		if name == "activity" {
			var one []any
			for _, kind := range compiler.KindNames() {
				v["properties"].(map[string]any)[kind] = ofKind(compiler.Kinds[kind], v["properties"].(map[string]any)[kind])
				one = append(one, map[string]any{"required": []string{kind}})
			}
			v["oneOf"] = one
		}
	}
}

// ofKind is the schema of a kind's part of a definition, of which some may be described.
func ofKind(kind *compiler.Kind, described any) map[string]any {
	schema, _ := described.(map[string]any)
	if schema == nil {
		schema = map[string]any{}
	}
	schema["type"], schema["description"] = "string", kind.About
	if kind.Keys != nil {
		decode.Complete(schema, kind.Keys)
	}
	return schema
}
