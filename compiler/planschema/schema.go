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

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
)

//go:embed schema.json
var described []byte

// JSON is the schema, draft 2020-12, as the text of a JSON document that ends in a line feed. The caller may keep and
// change what it gets.
func JSON() []byte { return bytes.Clone(text()) }

var text = sync.OnceValue(func() []byte {
	tagged := map[string]any{"plan": plan.Plan{}, "advisor": plan.Advisor{}, "hints": plan.Hints{}}
	maps.Copy(tagged, kinds.Keys)
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
			for _, kind := range kinds.Names() {
				one = append(one, map[string]any{"required": []string{kind}})
				part := decode.Property(v, kind)
				part["type"], part["description"] = "string", kinds.Kinds[kind].About
				if keys := kinds.Kinds[kind].Keys; keys != nil {
					decode.Complete(part, keys)
				}
			}
			v["oneOf"] = one
		}
	}
}
