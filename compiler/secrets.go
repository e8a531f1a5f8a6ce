package compiler

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// LearnSecrets adds to a set what is secret in the value at a path: what is under the name
// of a secret, such as "password", passwords in addresses, and what the value's schema, nil
// is none, declares writeOnly or of the format password.
func LearnSecrets(set *redact.Set, path []expression.Segment, value any, s *schema.Schema) {
	name := ""
	if at := slices.IndexFunc(path,
		func(s expression.Segment) bool { return !s.IsIndex && naming.SecretKey(s.Key) }); at >= 0 {
		name = path[at].Key
	}
	learnSecrets(set, name, value)
	s.Secrets(value, func(path []schema.Step, secret any) {
		under := "secret"
		for _, step := range path {
			if !step.IsIndex {
				under = step.Key
			}
		}
		learnSecrets(set, under, secret)
	})
}

func learnSecrets(set *redact.Set, name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			under := name
			if under == "" && naming.SecretKey(key) {
				under = key
			}
			learnSecrets(set, under, below)
		}
	case []any:
		for _, item := range value {
			learnSecrets(set, name, item)
		}
	case nil, bool:
	case string:
		if name != "" {
			set.Learn(name, value)
			return
		}
		for _, at := range wording.PasswordsIn(value) {
			set.Learn("password", value[at[0]:at[1]])
		}
	default:
		if name != "" {
			set.Learn(name, kinds.Text(value))
		}
	}
}

// definingKeys are those that make a mapping a schema or a tool, as by a kind an activity, and valueKeys those
// of their keys that have values.
var (
	definingKeys = []string{"type", "properties", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "format",
		"writeOnly", "inputSchema", "default"}
	valueKeys = []string{"enum", "default", "const", "examples", "_mock"}
)

// secretsIn learns the secrets that are written in a part of the document under a name, and
// hides them in excerpts. Of a definition only the values are secret.
func (c *compilation) secretsIn(n *source.Node, name string) {
	switch n.Kind {
	case source.Object:
		defines := name != "" && slices.ContainsFunc(n.Fields, func(f source.Field) bool {
			return kinds.Kinds[f.Key.Text].Name != "" || slices.Contains(definingKeys, f.Key.Text)
		})
		for _, f := range n.Fields {
			under := name
			switch {
			case f.Key.Text == "limits":
				continue
			case defines && slices.Contains(valueKeys, f.Key.Text):
			case defines && f.Value.Kind < source.Array:
				continue
			case (defines || name == "") && (naming.SecretKey(f.Key.Text) ||
				f.Value.Get("format").AsText() == "password" || f.Value.Get("writeOnly").IsTrue()):
				under = f.Key.Text
			case defines:
				under = ""
			}
			c.secretsIn(f.Value, under)
		}
	case source.Array:
		for _, item := range n.Items {
			c.secretsIn(item, name)
		}
	case source.String, source.Number:
		if name != "" {
			c.secret(n, name)
			return
		}
		for _, at := range wording.PasswordsIn(n.Text) {
			n.File.Hide(n.Within(at[0], at[1]))
			c.plan.Secrets.Learn("password", n.Text[at[0]:at[1]])
		}
	}
}

var (
	quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)
	inBraces   = regexp.MustCompile(`†\{[^}]*\}`)
)

// secret learns one scalar: of a text with expressions the literal parts. One that takes a
// variable of the environment, {$NAME}, has no secret in it.
func (c *compilation) secret(n *source.Node, name string) {
	literals := []string{n.Text}
	if n.Kind == source.String && strings.Contains(n.Text, "†") && !strings.HasPrefix(n.Text, "††") {
		literals = nil
		for _, found := range quotedText.FindAllStringSubmatch(n.Text, -1) {
			literals = append(literals, found[1]+found[2])
		}
		if !strings.HasPrefix(n.Text, "†") {
			literals = append(literals, inBraces.Split(n.Text, -1)...)
		}
	}
	for _, literal := range literals {
		if strings.TrimSpace(literal) != "" && !kinds.TakesVariable(literal) {
			n.File.Hide(n.Span())
			c.plan.Secrets.Learn(name, literal)
		}
	}
}

// secretsOf learns the values in a part of the document that their schema declares secret.
func (c *compilation) secretsOf(n *source.Node, s *schema.Schema) {
	if n != nil && s.HasSecrets() {
		s.Secrets(n.Value(), func(path []schema.Step, _ any) { c.secretsIn(n.Along(path), "secret") })
	}
}

// Redact is a text for people without the secrets of the plan and of the plans that it delegates to.
func Redact(p *plan.Plan, text string) string { return p.Secrets.Text(text) }

// RedactFindings hides the secrets of the plan in all texts of findings, and in excerpts of
// their files. A fix that would write a secret is removed.
func RedactFindings(p *plan.Plan, findings []diag.Diagnostic) {
	seen := map[*source.File]bool{}
	hide := func(at source.Span) {
		if at.Known() && !seen[at.File] {
			seen[at.File] = true
			text := string(at.File.Text)
			p.Secrets.Find(text, func(from, to int, _ string) {
				if redact.IsDistinctive(text[from:to]) {
					at.File.Hide(source.Span{File: at.File, Start: from, End: to})
				}
			})
		}
	}
	for i := range findings {
		d := &findings[i]
		hide(d.Span)
		d.Message, d.Help = Redact(p, d.Message), Redact(p, d.Help)
		if at := d.Span; at.Known() && at.End > at.Start { // the file may be none that can be parsed
			if start, end := at.File.HiddenAt(at.Start, at.End)(at.Start); end > 0 {
				here := &redact.Set{}
				here.Learn("value", at.Text())
				here.Learn("value", source.Span{File: at.File, Start: start, End: end}.Text())
				d.Message, d.Help = here.Text(d.Message), here.Text(d.Help)
			}
		}
		for j := range d.Related {
			hide(d.Related[j].Span)
			d.Related[j].Message = Redact(p, d.Related[j].Message)
		}
		d.Fixes = slices.DeleteFunc(d.Fixes, func(f diag.Fix) bool {
			return Redact(p, f.Message) != f.Message ||
				slices.ContainsFunc(f.Edits, func(e diag.Edit) bool { return Redact(p, e.Text) != e.Text })
		})
		if d.Witness == nil {
			continue
		}
		if text := kinds.Text(d.Witness); Redact(p, text) != text {
			if d.Witness = nil; json.Valid([]byte(Redact(p, text))) {
				d.Witness = json.RawMessage(Redact(p, text))
			}
		}
	}
}
