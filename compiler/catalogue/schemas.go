// Package catalogue is about files of tools that a configuration gives to every plan, and that imports write. It writes
// them as YAML, reads what they record of an MCP server's tools, and keeps their schemas apart from others of the same
// name. It opens no file and knows no plan.
package catalogue

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Schemas are the named schemas of a document, those of its imports and catalogues
// included, with the places where they are defined.
type Schemas struct {
	Values map[string]any
	Nodes  map[string]*source.Node
}

// Separate returns the catalogues with unambiguous references to the schemas of a document. A catalogue refers to its
// own schemas, then to those of the last catalogue that has the name, and never to those of a plan or import: what a
// trusted tool accepts must not depend on them. A schema that isn't the one that the document has under its name gets
// another name, which depends on the contents of the catalogues alone.
func Separate(files []*source.Node, all Schemas, found *diag.Findings) []*source.Node {
	named := make([]map[string]*source.Node, len(files))
	last, clash := map[string]int{}, false
	for i, root := range files {
		named[i] = map[string]*source.Node{}
		if schemas := root.Get("schemas"); schemas != nil {
			for _, f := range schemas.Fields {
				named[i][f.Key.Text], last[f.Key.Text] = f.Value, i
				clash = clash || all.Nodes[f.Key.Text] != f.Value
			}
		}
	}
	if !clash && len(all.Values) == len(last) {
		return files
	}
	owner := func(from int, name string) (int, bool) {
		if named[from][name] != nil {
			return from, true
		}
		at, ok := last[name]
		return at, ok
	}
	renamed := make([]map[string]string, len(files))
	for i, root := range files {
		renamed[i] = map[string]string{}
		for name, n := range named[i] {
			refers := false
			replaceNamed(n, func(_ source.Field, name string) string { refers = true; return name })
			if clash && (refers || !reflect.DeepEqual(n.Value(), all.Values[name])) {
				text, _ := json.Marshal([]any{root.Get("schemas").Value(), valuesOf(files)}) // whose keys it sorts
				renamed[i][name] = fmt.Sprintf("%s-%.4x", name, sha256.Sum256(text))
			}
		}
	}
	out := make([]*source.Node, len(files))
	for i, root := range files {
		out[i] = replaceNamed(root, func(f source.Field, name string) string {
			at, ok := owner(i, name)
			if _, other := all.Values[name]; !ok && other {
				found.Report(diag.BadSchema, f.Value.Span(),
					"no catalogue has the schema %q, and a catalogue can't refer to a schema of a plan", name).
					Advise("define it under \"schemas\" in this file")
			}
			if to := renamed[at][name]; ok && to != "" {
				return to
			}
			return name
		})
		if len(renamed[i]) == 0 {
			continue
		}
		schemas := *out[i].Get("schemas")
		schemas.Fields = slices.Clone(schemas.Fields)
		for at, f := range schemas.Fields {
			to := renamed[i][f.Key.Text]
			if to == "" {
				continue
			}
			if other, taken := all.Values[to]; taken && !reflect.DeepEqual(other, f.Value.Value()) {
				found.Report(diag.BadSchema, f.Key.Span(),
					"the schema %q of this catalogue would be called %q, and the document has another schema of "+
						"that name", f.Key.Text, to).
					Advise("rename one of the two schemas called %q", f.Key.Text)
			}
			key := *f.Key
			key.Text = to
			schemas.Fields[at].Key = &key
			all.Values[to], all.Nodes[to] = f.Value.Value(), f.Value
		}
		top := *out[i]
		top.Fields = slices.Clone(top.Fields)
		top.Field("schemas").Value = &schemas
		out[i] = &top
	}
	return out
}

// valuesOf are the schemas that files name, file by file.
func valuesOf(files []*source.Node) (all []any) {
	for _, root := range files {
		if n := root.Get("schemas"); n != nil {
			all = append(all, n.Value())
		}
	}
	return all
}

// replaceNamed is a tree with other names in its references to named schemas; the tree itself where nothing changes.
func replaceNamed(n *source.Node, to func(f source.Field, name string) string) *source.Node {
	copied, changed := *n, false
	copied.Items, copied.Fields = slices.Clone(n.Items), slices.Clone(n.Fields)
	for i, item := range n.Items {
		copied.Items[i] = replaceNamed(item, to)
		changed = changed || copied.Items[i] != item
	}
	for i, f := range n.Fields {
		if name, rest, is := Named(f); !is {
			copied.Fields[i].Value = replaceNamed(f.Value, to)
		} else if instead := to(f, name); instead != name {
			ref := *f.Value
			ref.Text = "#/schemas/" +
				strings.ReplaceAll(strings.NewReplacer("~", "~0", "/", "~1").Replace(instead)+rest, "%", "%25")
			copied.Fields[i].Value = &ref
		}
		changed = changed || copied.Fields[i].Value != f.Value
	}
	if changed {
		return &copied
	}
	return n
}

// Named is the named schema that a field of a schema refers to, and the pointer into it.
func Named(f source.Field) (name, rest string, is bool) {
	if f.Value.Kind != source.String || f.Key.Text != "$ref" && f.Key.Text != "$dynamicRef" {
		return "", "", false
	}
	fragment, ok := strings.CutPrefix(f.Value.Text, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	fragment, is = strings.CutPrefix(fragment, "/schemas/")
	name, rest, more := strings.Cut(fragment, "/")
	if more {
		rest = "/" + rest
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name), rest, ok && is
}

// Open makes every named schema that a file refers to one that accepts everything: nothing
// is known of it until it is met.
func Open(n *source.Node, schemas map[string]any) {
	replaceNamed(n, func(_ source.Field, name string) string { schemas[name] = true; return name })
}

// Reach visits the names of the schemas that a schema refers to as "#/schemas/NAME", those
// inside others first. What is in seen isn't visited, and is then.
func Reach(raw any, named map[string]any, seen map[string]bool, visit func(name string)) {
	switch v := raw.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			ref, ok := v[key].(string)
			name := strings.TrimPrefix(ref, "#/schemas/")
			if _, known := named[name]; ok && key == "$ref" && known && !seen[name] {
				seen[name] = true
				Reach(named[name], named, seen, visit)
				visit(name)
			}
			Reach(v[key], named, seen, visit)
		}
	case []any:
		for _, item := range v {
			Reach(item, named, seen, visit)
		}
	}
}
