package lock

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

const head = "# What the tools of servers and OpenAPI files were when they were taken in.\n" +
	"# Written by obelus tools; a run is held to it.\n"

// Text is the lock as a file. It was read back: what it says is the lock.
func (l *Lock) Text() ([]byte, error) {
	written := yaml.MapSlice{}
	if list := mapping(l.Servers, Server.key, serverOut); len(list) > 0 {
		written = append(written, yaml.MapItem{Key: veiled("servers"), Value: list})
	}
	if list := mapping(l.OpenAPI, File.key, fileOut); len(list) > 0 {
		written = append(written, yaml.MapItem{Key: veiled("openapi"), Value: list})
	}
	text, err := encoded(head, written)
	if err != nil {
		return nil, fmt.Errorf("the lock file can't be written as YAML: %w", err)
	}
	back, found := Read(source.NewFile(Name, text), source.DefaultLimits())
	if diag.HasErrors(found) {
		at := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return diag.HasErrors([]diag.Diagnostic{d}) })
		return nil, fmt.Errorf("the lock file can't be read back: %s: %s", found[at].Span.Where(), found[at].Message)
	}
	if !l.equal(back) {
		return nil, fmt.Errorf("the lock file says something else when it is read back")
	}
	return text, nil
}

func mapping[T any](list []T, key func(T) string, value func(T) yaml.MapSlice) yaml.MapSlice {
	out := yaml.MapSlice{}
	for _, one := range sorted(list, key) {
		out = append(out, yaml.MapItem{Key: veiled(key(one)), Value: value(one)})
	}
	return out
}

// Value is the server as a JSON value, as [ReadServer] reads it.
func (s Server) Value() map[string]any { return unveiled(serverOut(s)).(map[string]any) }

// unveiled is what was made for goccy as a JSON value.
func unveiled(v any) any {
	switch v := v.(type) {
	case yaml.MapSlice:
		all := map[string]any{}
		for _, item := range v {
			all[unveiled(item.Key).(string)] = unveiled(item.Value)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = unveiled(v[i])
		}
		return all
	case string:
		text, _ := hex.DecodeString(v[1:])
		return string(text)
	case int64:
		return float64(v)
	}
	return v
}

func serverOut(s Server) yaml.MapSlice {
	return append(s.Choice.out(), yaml.MapItem{Key: veiled("tools"), Value: mapping(s.Tools, Tool.key, toolOut)})
}

func (c Choice) out() (out yaml.MapSlice) {
	for _, one := range []struct {
		key  string
		list []string
	}{{"only", c.Only}, {"tags", c.Tags}, {"names", c.Names}} {
		list := make([]any, len(one.list))
		for i, pattern := range one.list {
			list[i] = veiled(pattern)
		}
		if len(list) > 0 {
			out = append(out, yaml.MapItem{Key: veiled(one.key), Value: list})
		}
	}
	return out
}

func (c Choice) equal(o Choice) bool {
	return slices.Equal(c.Only, o.Only) && slices.Equal(c.Tags, o.Tags) && slices.Equal(c.Names, o.Names)
}

func fileOut(f File) yaml.MapSlice {
	out := append(yaml.MapSlice{{Key: veiled("digest"), Value: plain(f.Digest)}}, f.Choice.out()...)
	out = append(out, yaml.MapItem{Key: veiled("operations"), Value: mapping(f.Operations, Tool.key, toolOut)})
	if len(f.Schemas) > 0 {
		out = append(out, yaml.MapItem{Key: veiled("schemas"), Value: plain(f.Schemas)})
	}
	return out
}

func toolOut(t Tool) yaml.MapSlice {
	out := yaml.MapSlice{}
	add := func(key string, there bool, value any) {
		if there {
			out = append(out, yaml.MapItem{Key: veiled(key), Value: plain(value)})
		}
	}
	add("operation", t.Operation != "", t.Operation)
	add("request", t.Request != nil, t.Request)
	add("description", t.Description != "", t.Description)
	hints := map[string]any{}
	for name, yes := range t.Annotations {
		hints[name] = yes
	}
	add("annotations", len(hints) > 0, hints)
	add("inputSchema", t.Input != nil, t.Input)
	add("outputSchema", t.Output != nil, t.Output)
	return out
}

// plain is a JSON value in the form in which every encoder writes the same bytes.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := yaml.MapSlice{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, yaml.MapItem{Key: veiled(key), Value: plain(v[key])})
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case string:
		return veiled(v)
	}
	return v
}

// veiled hides a text from goccy's own judgement of what needs quotes, which lets texts
// pass that read as something else; see spelling.
func veiled(text string) string { return "x" + hex.EncodeToString([]byte(text)) }

// spelling gives the texts of a tree back, in quotes unless they read as themselves to
// everybody.
type spelling struct{}

var (
	bare  = regexp.MustCompile(`^[A-Za-z$][A-Za-z0-9_./$-]*(:[A-Za-z0-9_./$-]+)*( [A-Za-z0-9_./$-]+)*$`)
	taken = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n)$`)
)

func (s spelling) Visit(n ast.Node) ast.Visitor {
	if text, ok := n.(*ast.StringNode); ok {
		if was, err := hex.DecodeString(text.Value[1:]); err == nil {
			text.Value, text.Token.Type = string(was), token.DoubleQuoteType
			if bare.Match(was) && !taken.Match(was) {
				text.Token.Type = token.StringType
			}
		}
	}
	return s
}

func (l *Lock) equal(other *Lock) bool {
	return slices.EqualFunc(l.Servers, other.Servers, func(a, b Server) bool {
		return a.Name == b.Name && a.Choice.equal(b.Choice) && sameTools(a.Tools, b.Tools)
	}) &&
		slices.EqualFunc(l.OpenAPI, other.OpenAPI, func(a, b File) bool {
			return a.Path == b.Path && a.Digest == b.Digest && a.Choice.equal(b.Choice) && sameTools(a.Operations, b.Operations) && len(a.Schemas) == len(b.Schemas) && (len(a.Schemas) == 0 || sameSchema(a.Schemas, b.Schemas))
		})
}

func sameTools(a, b []Tool) bool { return slices.EqualFunc(a, b, Tool.same) }

func (t Tool) same(o Tool) bool {
	return t.Name == o.Name && t.Operation == o.Operation && t.Description == o.Description && maps.Equal(t.Annotations, o.Annotations) &&
		sameSchema(t.Request, o.Request) && sameSchema(t.Input, o.Input) && sameSchema(t.Output, o.Output)
}

func sameSchema(a, b any) bool { return reflect.DeepEqual(a, b) || schema.Equal(a, b) }
