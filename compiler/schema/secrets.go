package schema

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
	"github.com/obelus-dev/obelus/compiler/schema/regex"
)

// Secrets gives the parts of a value that the schema declares secret, writeOnly or of the
// format "password", with their paths.
func (s *Schema) Secrets(v any, found func(path []Step, secret any)) {
	if s.HasSecrets() {
		steps := maxSecretSteps
		secrets(s.ready(), v, nil, &steps, found)
	}
}

// HasSecrets reports whether the schema declares anything secret.
func (s *Schema) HasSecrets() bool {
	if s == nil {
		return false
	}
	s.secretsOnce.Do(func() { s.hasSecrets = hasSecrets(s.ready(), map[*ast.Node]bool{}) })
	return s.hasSecrets
}

func hasSecrets(n *ast.Node, seen map[*ast.Node]bool) bool {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	return n.Secret() || hasSecrets(n.Ref, seen) ||
		slices.ContainsFunc(n.Children, func(x *ast.Node) bool { return hasSecrets(x, seen) })
}

// maxSecretSteps bounds how many schemas are held against parts of a value.
const maxSecretSteps = 1_000_000

func secrets(n *ast.Node, v any, path []Step, steps *int, found func(path []Step, secret any)) {
	if *steps--; n == nil || *steps < 0 {
		return
	}
	if n.Secret() {
		found(path, v)
		return
	}
	n.InPlace(func(x *ast.Node) {
		if x != n.Not && x != n.Cond {
			secrets(x, v, path, steps, found)
		}
	})
	below := func(x *ast.Node, step Step, v any) {
		secrets(x, v, append(path[:len(path):len(path)], step), steps, found)
	}
	switch v := v.(type) {
	case map[string]any:
		if n.Objects == nil {
			return
		}
		for name, value := range v {
			for _, x := range n.Objects.Judges(n.Objects.Properties[name],
				func(p *regex.Pattern) bool { return p.Match(name) }) {
				below(x, Key(name), value)
			}
		}
	case []any:
		if n.Arrays == nil {
			return
		}
		for i, value := range v {
			below(n.Arrays.Item(i), Index(i), value)
		}
	}
}
