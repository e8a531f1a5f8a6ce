package schema

import "slices"

// Secrets gives the parts of a value that the schema declares secret, writeOnly or of the
// format "password", with their paths.
func (s *Schema) Secrets(v any, found func(path []any, secret any)) {
	if s.HasSecrets() {
		steps := maxSecretSteps
		s.ready().secrets(v, nil, &steps, found)
	}
}

// HasSecrets reports whether the schema declares anything secret.
func (s *Schema) HasSecrets() bool {
	if s == nil {
		return false
	}
	s.secretsOnce.Do(func() { s.hasSecrets = s.ready().hasSecrets(map[*node]bool{}) })
	return s.hasSecrets
}

func (n *node) hasSecrets(seen map[*node]bool) bool {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	return n.secret() || n.ref.hasSecrets(seen) || slices.ContainsFunc(n.children, func(x *node) bool { return x.hasSecrets(seen) })
}

// maxSecretSteps bounds how many schemas are held against parts of a value.
const maxSecretSteps = 1_000_000

func (n *node) secret() bool {
	raw, _ := n.raw.(map[string]any)
	return raw["writeOnly"] == true || raw["format"] == "password"
}

func (n *node) secrets(v any, path []any, steps *int, found func(path []any, secret any)) {
	if *steps--; n == nil || *steps < 0 {
		return
	}
	if n.secret() {
		found(path, v)
		return
	}
	alike := []*node{n.ref, n.then, n.other}
	alike = append(append(append(alike, n.allOf...), n.anyOf...), n.oneOf...)
	for _, x := range alike {
		x.secrets(v, path, steps, found)
	}
	below := func(x *node, step, v any) { x.secrets(v, append(path[:len(path):len(path)], step), steps, found) }
	switch v := v.(type) {
	case map[string]any:
		if n.objects == nil {
			return
		}
		for name, value := range v {
			known := n.objects.properties[name]
			below(known, name, value)
			for _, p := range n.objects.patterns {
				if p.pattern.Match(name) {
					known = p.node
					below(p.node, name, value)
				}
			}
			if known == nil {
				below(n.objects.additional, name, value)
			}
		}
	case []any:
		if n.arrays == nil {
			return
		}
		for i, value := range v {
			below(n.arrays.item(i), i, value)
		}
	}
}
