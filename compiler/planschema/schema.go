// Package planschema holds the JSON Schema of the documents that the compiler
// accepts, so that an editor completes keys, shows what they mean and
// marks what has the wrong shape, with no further set-up. It is looser than the
// compiler: whatever the compiler accepts validates against it, and what only
// the compiler can judge (references, paths, tools) is left to it.
package planschema

import _ "embed"

//go:embed schema.json
var text []byte

// JSON is the schema, draft 2020-12, as the text of a JSON document that ends
// in a line feed. The caller may keep and change what it gets.
func JSON() []byte { return append([]byte(nil), text...) }
