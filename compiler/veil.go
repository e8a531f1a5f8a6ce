package compiler

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A veil is what a document holds that is never shown: values under names such as
// "password", and those of which a schema says writeOnly, or format: password. No
// message, excerpt or drawing quotes them, whoever makes it: it is taken out at the end.
type veil struct {
	names   map[string]string // by value: under which name it stands
	isName  map[string]bool   // keys that were asked about
	above   *veil             // of the plan that a solution is for
	once    sync.Once
	secrets []secret // the longest first
}

func newVeil(above *veil) *veil {
	return &veil{names: map[string]string{}, isName: map[string]bool{}, above: above}
}

type secret struct{ text, name string }

// concealNames keeps what stands under the name of a secret out of what is shown. What
// stands there may be a definition, of a tool or a schema, of which only the values are
// kept.
func (c *compilation) concealNames(n *source.Node, name string) {
	switch n.Kind {
	case source.Object:
		if name != "" && slices.ContainsFunc(definingKeys, func(key string) bool { return n.Get(key) != nil }) {
			c.concealDefinition(n, name)
			return
		}
		for _, f := range n.Fields {
			under := name
			known, asked := c.plan.veil.isName[f.Key.Text]
			if !asked {
				known = naming.SecretKey(f.Key.Text)
				c.plan.veil.isName[f.Key.Text] = known
			}
			if known && under == "" {
				under = f.Key.Text
			}
			switch {
			case under == "" && f.Value.Kind == source.Object && saysSecret(f.Value):
				c.concealDefinition(f.Value, f.Key.Text)
			case f.Key.Text != "limits":
				c.concealNames(f.Value, under)
			}
		}
	case source.Array:
		for _, item := range n.Items {
			c.concealNames(item, name)
		}
	case source.String, source.Number:
		if name != "" {
			c.conceal(n, name)
		}
	}
}

// definingKeys are those by one of which a mapping is a schema, a tool or an activity.
var definingKeys = []string{"type", "properties", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "format", "inputSchema", "exec", "expr", "http", "mcp", "plan", "default"}

// saysSecret reports whether a schema says that its values are secret.
func saysSecret(n *source.Node) bool {
	format, writeOnly := n.Get("format"), n.Get("writeOnly")
	return format != nil && format.Text == "password" || writeOnly != nil && writeOnly.Kind == source.Bool && writeOnly.Text == "true"
}

// concealDefinition keeps the values that a schema or a tool names.
func (c *compilation) concealDefinition(n *source.Node, name string) {
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "default", "const", "enum", "examples", "_mock":
			c.concealNames(f.Value, name)
		default:
			if f.Value.Kind == source.Object || f.Value.Kind == source.Array {
				c.concealNames(f.Value, "")
			}
		}
	}
}

// literalText is what a text with expressions says itself: the strings in them, and what
// stands round them.
var literalText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)

// conceal keeps one value.
func (c *compilation) conceal(n *source.Node, name string) {
	pieces := []string{n.Text}
	if n.Kind == source.String && strings.ContainsRune(n.Text, '†') && !strings.HasPrefix(n.Text, "††") {
		pieces = nil
		for _, found := range literalText.FindAllStringSubmatch(n.Text, -1) {
			pieces = append(pieces, found[1]+found[2])
		}
		if !strings.HasPrefix(n.Text, "†") {
			pieces = append(pieces, strings.Split(inBraces.ReplaceAllString(n.Text, "\x00"), "\x00")...)
		}
	}
	for _, piece := range pieces {
		if piece = strings.TrimSpace(piece); piece == "" {
			continue
		}
		n.File.Hide(n.Span())
		if _, known := c.plan.veil.names[piece]; !known {
			c.plan.veil.names[piece] = name
		}
	}
}

var inBraces = regexp.MustCompile(`†\{[^}]*\}`)

// concealFitting keeps the values of which their schema says that they are secret.
func (c *compilation) concealFitting(n *source.Node, s *schema.Schema) {
	if n == nil || !s.SpeaksOfSecrets() {
		return
	}
	s.Secrets(n.Value(), func(path []any) {
		if at := n.Along(path); at.Kind == source.Object || at.Kind == source.Array {
			c.concealNames(at, "secret")
		} else {
			c.conceal(at, "secret")
		}
	})
}

// Veiled is a text for people without the secrets of the plan and of the plans that it
// delegates to. A short one, or one that is an ordinary word, is only taken out where it
// stands by itself.
func (p *Plan) Veiled(text string) string {
	text = p.veil.over(text)
	for _, plan := range p.AllDelegates() {
		text = plan.veil.over(text)
	}
	return text
}

func (v *veil) over(text string) string {
	if v == nil || text == "" {
		return text
	}
	if text = v.above.over(text); len(v.names) == 0 {
		return text
	}
	v.once.Do(func() {
		for value, name := range v.names {
			forms := []string{value}
			for _, quoted := range []string{strconv.Quote(value), strconv.QuoteToGraphic(value), asJSON(value), diag.Escape(value)} {
				if inner := strings.Trim(quoted, `"`); !slices.Contains(forms, inner) && inner != "" {
					forms = append(forms, inner)
				}
			}
			for _, form := range forms {
				v.secrets = append(v.secrets, secret{form, name})
			}
		}
		slices.SortFunc(v.secrets, func(a, b secret) int {
			if len(a.text) != len(b.text) {
				return len(b.text) - len(a.text)
			}
			return strings.Compare(a.text, b.text)
		})
	})
	for _, s := range v.secrets {
		text = s.outOf(text)
	}
	return text
}

func asJSON(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// outOf takes a secret out of a text, also where it was cut short there.
func (s secret) outOf(text string) string {
	hidden := "[hidden " + s.name + "]"
	if strings.Contains(text, "…") {
		var b strings.Builder
		for _, part := range strings.SplitAfter(text, "…") {
			if before, cut := strings.CutSuffix(part, "…"); cut {
				for n := min(len(s.text)-1, len(before)); n >= 4; n-- {
					if strings.HasSuffix(before, s.text[:n]) {
						part = before[:len(before)-n] + hidden
						break
					}
				}
			}
			b.WriteString(part)
		}
		text = b.String()
	}
	if !strings.Contains(text, s.text) {
		return text
	}
	anywhere := len(s.text) >= 16 || len(s.text) >= 8 && strings.ContainsAny(s.text, "0123456789")
	var b strings.Builder
	for {
		at := strings.Index(text, s.text)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := at + len(s.text)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		b.WriteString(text[:at])
		if anywhere || len(s.text) >= 4 && !inWord(before) && !inWord(after) || isQuote(before) && isQuote(after) {
			b.WriteString(hidden)
		} else {
			b.WriteString(s.text)
		}
		text = text[end:]
	}
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func isQuote(r rune) bool { return r == '"' || r == '\'' }

// Veil takes the secrets of the plan out of all that findings say. A fix that would
// write one is left out.
func (p *Plan) Veil(findings []diag.Diagnostic) {
	for i := range findings {
		d := &findings[i]
		d.Message, d.Help = p.Veiled(d.Message), p.Veiled(d.Help)
		if at := d.Span; at.Known() && at.End > at.Start { // of what can't be read nothing is known but where it stands
			if start, end := at.File.HiddenAt(at.Start, at.End)(at.Start); end > 0 {
				bare := secret{at.Text(), "value"}
				whole := secret{source.Span{File: at.File, Start: start, End: end}.Text(), "value"}
				d.Message, d.Help = whole.outOf(bare.outOf(d.Message)), whole.outOf(bare.outOf(d.Help))
			}
		}
		for j := range d.Related {
			d.Related[j].Message = p.Veiled(d.Related[j].Message)
		}
		d.Fixes = slices.DeleteFunc(d.Fixes, func(f diag.Fix) bool {
			return p.Veiled(f.Message) != f.Message || slices.ContainsFunc(f.Edits, func(e diag.Edit) bool { return p.Veiled(e.Text) != e.Text })
		})
		if d.Witness == nil {
			continue
		}
		if text, err := json.Marshal(d.Witness); err == nil && p.Veiled(string(text)) != string(text) {
			if d.Witness = nil; json.Valid([]byte(p.Veiled(string(text)))) {
				d.Witness = json.RawMessage(p.Veiled(string(text)))
			}
		}
	}
}
