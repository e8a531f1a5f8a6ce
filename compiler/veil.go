package compiler

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"sort"
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
	secrets []secret // of all plans, as they may stand in a text, sorted
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
	if p.veil == nil {
		return text
	}
	p.veil.once.Do(func() { p.veil.gather(p) })
	return p.veil.over(text)
}

// gather takes in all that is to be hidden.
func (v *veil) gather(p *Plan) {
	known := map[string]string{}
	take := func(from *veil) {
		for ; from != nil; from = from.above {
			for value, name := range from.names {
				if _, there := known[value]; !there {
					known[value] = name
				}
			}
		}
	}
	take(v)
	all := p.AllDelegates()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		take(all[path].veil)
	}
	for value, name := range known {
		forms := []string{value, strconv.Quote(value), strconv.QuoteToGraphic(value), asJSON(value), diag.Escape(value)}
		for i, form := range forms {
			if i > 0 && i < 4 {
				form = form[1 : len(form)-1]
			}
			if i == 0 || form != value {
				v.secrets = append(v.secrets, secret{form, name})
			}
		}
	}
	slices.SortFunc(v.secrets, func(a, b secret) int { return cmp.Or(strings.Compare(a.text, b.text), strings.Compare(a.name, b.name)) })
}

func asJSON(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// leastCut is how many bytes of a secret that was cut short give it away.
const leastCut = 4

// over is a text without the secrets in it. Its cost hangs on the text, and hardly on how
// many secrets there are.
func (v *veil) over(text string) string {
	if len(v.secrets) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for at := 0; at < len(text); {
		size, name := v.at(text, at)
		if size == 0 {
			at++
			continue
		}
		b.WriteString(text[done:at])
		b.WriteString("[hidden " + name + "]")
		at += size
		done = at
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// at is how many bytes of a secret begin at a place of a text, and what it is called.
func (v *veil) at(text string, at int) (size int, name string) {
	among := v.secrets // those that begin as the text does from there on
	for n := 0; ; n++ {
		if n > 0 && len(among[0].text) == n && among[0].standsAlone(text, at) {
			size, name = n, among[0].name
		}
		if at+n >= len(text) {
			return size, name
		}
		next := text[at+n]
		from := sort.Search(len(among), func(i int) bool { return len(among[i].text) > n && among[i].text[n] >= next })
		to := from + sort.Search(len(among)-from, func(i int) bool { return among[from+i].text[n] > next })
		if from == to {
			if n >= leastCut && strings.HasPrefix(text[at+n:], "…") {
				return n, among[0].name
			}
			return size, name
		}
		among = among[from:to]
	}
}

// standsAlone reports whether a secret is one where it stands in a text, and not by chance
// a part of something else.
func (s secret) standsAlone(text string, at int) bool {
	if len(s.text) >= 16 || len(s.text) >= 8 && strings.ContainsAny(s.text, "0123456789") {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+len(s.text):])
	return len(s.text) >= 4 && !inWord(before) && !inWord(after) || isQuote(before) && isQuote(after)
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
				here := veil{secrets: []secret{{at.Text(), "value"}}}
				whole := veil{secrets: []secret{{source.Span{File: at.File, Start: start, End: end}.Text(), "value"}}}
				d.Message, d.Help = whole.over(here.over(d.Message)), whole.over(here.over(d.Help))
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
		if text, err := json.Marshal(d.Witness); err == nil {
			if veiled := p.Veiled(string(text)); veiled != string(text) {
				if d.Witness = nil; json.Valid([]byte(veiled)) {
					d.Witness = json.RawMessage(veiled)
				}
			}
		}
	}
}
