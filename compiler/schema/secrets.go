package schema

import "slices"

// Secrets tells the paths of a value's parts of which the schema says that they are
// secret: writeOnly, or of the format "password".
func (s *Schema) Secrets(v any, found func(path []any)) {
	steps := maxSecretSteps
	s.ready().secrets(v, nil, &steps, found)
}

// SpeaksOfSecrets reports whether the schema says of anything that it is secret.
func (s *Schema) SpeaksOfSecrets() bool {
	if s == nil {
		return false
	}
	s.looked.Do(func() { s.secretive = s.ready().speaksOfSecrets(map[*node]bool{}) })
	return s.secretive
}

// speaksOfSecrets reports whether a schema or one that it leads to says of something that
// it is secret.
func (n *node) speaksOfSecrets(seen map[*node]bool) bool {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	return n.secret() || n.ref.speaksOfSecrets(seen) || slices.ContainsFunc(n.children, func(x *node) bool { return x.speaksOfSecrets(seen) })
}

// maxSecretSteps bounds how many schemas are held against parts of a value.
const maxSecretSteps = 1_000_000

func (n *node) secret() bool {
	raw, _ := n.raw.(map[string]any)
	return raw["writeOnly"] == true || raw["format"] == "password"
}

func (n *node) secrets(v any, path []any, steps *int, found func(path []any)) {
	if *steps--; n == nil || *steps < 0 {
		return
	}
	if n.secret() {
		found(path)
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
