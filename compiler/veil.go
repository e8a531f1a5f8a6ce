package compiler

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A Veil is what is never shown: values under names such as "password", passwords in
// addresses, and those of which a schema says writeOnly, or format: password. No message, excerpt or drawing quotes them,
// whoever makes it: it is taken out at the end. It is not safe for concurrent use while it
// learns.
type Veil struct {
	under   *Veil             // which is taken to what this one leaves
	names   map[string]string // by value: under which name it stands
	asked   [64]askedKey      // those of the keys asked about, each in its place
	secrets []secret          // as they may stand in a text, sorted
	fresh   []secret          // that aren't among them yet
}

// NewVeil hides what another does, nil is none, and what it learns.
func NewVeil(under *Veil) *Veil {
	return &Veil{under: under, names: map[string]string{}}
}

// planVeil is what a document holds that is never shown.
type planVeil struct {
	*Veil
	above *planVeil // of the plan that a solution is for
	mutex sync.Mutex
	all   *Veil // of this plan, those above and its delegates; nil before it is asked for
	taken int   // how many values of its own that holds: a plan whose calls arrive has more
}

func newVeil(above *planVeil) *planVeil { return &planVeil{Veil: NewVeil(nil), above: above} }

// A secret is one of the forms in which a value may stand in a text.
type secret struct{ text, value string }

func (s secret) compare(t secret) int {
	return cmp.Or(strings.Compare(s.text, t.text), strings.Compare(s.value, t.value))
}

// isSecret reports whether a key is the name of a secret. A document has few keys, many times
// each, and they are remembered.
func (v *Veil) isSecret(key string) bool {
	if key == "" {
		return false
	}
	at := &v.asked[(uint(len(key))+uint(key[0])*5+uint(key[len(key)-1])*3)%64]
	if at.key != key {
		*at = askedKey{key, naming.SecretKey(key)}
	}
	return at.secret
}

type askedKey struct {
	key    string
	secret bool
}

// keep hides a value that stands under a name; of several names it is the first in the
// order of the alphabet.
func (v *Veil) keep(value, name string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if known, there := v.names[value]; there {
		v.names[value] = min(known, name)
		return
	}
	v.names[value] = name
	bare := func(quoted string) string { return quoted[1 : len(quoted)-1] }
	inJSON := bare(asJSON(value))
	for i, form := range []string{value, inJSON, bare(asJSON(inJSON)), url.QueryEscape(value)} { // a message may quote text that quotes it
		if i == 0 || form != value {
			v.fresh = append(v.fresh, secret{form, value})
		}
	}
}

// Learn hides what of the value of a path stands under the name of a secret, all of it
// where the path leads through one, and what its schema, nil is none, says is secret.
func (v *Veil) Learn(path []expression.Segment, value any, s *schema.Schema) {
	name := ""
	if at := slices.IndexFunc(path, func(s expression.Segment) bool { return !s.IsIndex && v.isSecret(s.Key) }); at >= 0 {
		name = path[at].Key
	}
	v.learn(name, value)
	if s.SpeaksOfSecrets() {
		s.Secrets(value, func(path []any) {
			at, under := value, "secret"
			for _, step := range path {
				switch step := step.(type) {
				case string:
					at, under = at.(map[string]any)[step], step
				case int:
					at = at.([]any)[step]
				}
			}
			v.learn(under, at)
		})
	}
}

func (v *Veil) learn(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			under := name
			if under == "" && v.isSecret(key) {
				under = key
			}
			v.learn(under, below)
		}
	case []any:
		for _, item := range value {
			v.learn(name, item)
		}
	case nil, bool:
	case string:
		if name != "" {
			v.keep(value, name)
			return
		}
		for _, at := range wording.PasswordsIn(value) {
			v.keep(value[at[0]:at[1]], "password")
		}
	default:
		if name != "" {
			v.keep(asJSON(value), name)
		}
	}
}

// sort takes in what was kept since.
func (v *Veil) sort() {
	if len(v.fresh) > 16 {
		v.secrets = append(v.secrets, v.fresh...)
		slices.SortFunc(v.secrets, secret.compare)
		v.secrets = slices.Compact(v.secrets)
	} else {
		for _, s := range v.fresh {
			if at, there := slices.BinarySearchFunc(v.secrets, s, secret.compare); !there {
				v.secrets = slices.Insert(v.secrets, at, s)
			}
		}
	}
	v.fresh = nil
}

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
			if under == "" && c.plan.veil.isSecret(f.Key.Text) {
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
			return
		}
		for _, at := range wording.PasswordsIn(n.Text) { // of addresses
			n.File.Hide(n.Within(at[0], at[1]))
			c.plan.veil.keep(n.Text[at[0]:at[1]], "password")
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
		case "enum":
			for _, item := range f.Value.Items {
				if len(f.Value.Items) == 1 || !c.names(item) {
					c.concealNames(item, name)
				}
			}
		case "default", "const", "examples", "_mock":
			c.concealNames(f.Value, name)
		default:
			if f.Value.Kind == source.Object || f.Value.Kind == source.Array {
				c.concealNames(f.Value, "")
			}
		}
	}
}

// names reports whether one of the words that a secret is chosen from is also a key, a call
// or a tool of the document: as such it is shown, and it doesn't tell which was chosen.
func (c *compilation) names(word *source.Node) bool {
	if c.words == nil {
		c.words = map[string]bool{}
		c.gatherWords(c.top)
	}
	return word.Kind == source.String && c.words[word.Text]
}

func (c *compilation) gatherWords(n *source.Node) {
	for _, item := range n.Items {
		c.gatherWords(item)
	}
	for _, f := range n.Fields {
		c.words[f.Key.Text] = true
		if key := f.Key.Text; key == "_id" || key == "_tool" {
			c.words[f.Value.Text] = true
		}
		c.gatherWords(f.Value)
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
		if named := byName.ReplaceAllString(piece, ""); named != piece && authScheme.MatchString(named) {
			continue // who reads it learns which variable holds the secret
		}
		if piece = strings.TrimSpace(piece); piece == "" {
			continue
		}
		n.File.Hide(n.Span())
		c.plan.veil.keep(piece, name)
	}
}

// A secret by its name, as definitions of activities have it, and what may stand before it in
// a header (RFC 9110 11.4).
var (
	byName     = regexp.MustCompile(`\{\$\w+\}`)
	authScheme = regexp.MustCompile(`(?i)^\s*(basic|bearer|token|apikey)?\s*$`)
)

var inBraces = regexp.MustCompile(`†\{[^}]*\}`)

// concealFitting keeps the values of which their schema says that they are secret.
func (c *compilation) concealFitting(n *source.Node, s *schema.Schema) {
	if n == nil || !s.SpeaksOfSecrets() {
		return
	}
	s.Secrets(n.Value(), func(path []any) {
		switch at := n.Along(path); {
		case at.Kind == source.Object || at.Kind == source.Array:
			c.concealNames(at, "secret")
		case c.names(at) && !telling(at.Text): // it is shown where it is a name, and not here
			at.File.Hide(at.Span())
		default:
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
	return p.veil.gathered(p).Over(text)
}

// gathered is all that is to be hidden. It is only read, by many at once.
func (v *planVeil) gathered(p *Plan) *Veil {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.all != nil && v.taken == len(v.names) {
		return v.all
	}
	v.all, v.taken = NewVeil(nil), len(v.names)
	take := func(from *planVeil) {
		for ; from != nil; from = from.above {
			for value, name := range from.names {
				v.all.keep(value, name)
			}
		}
	}
	take(v)
	for _, below := range p.AllDelegates() {
		take(below.veil)
	}
	v.all.sort()
	return v.all
}

func asJSON(value any) string {
	out, _ := json.Marshal(value)
	return string(out)
}

// leastCut is how many bytes of a secret that was cut short give it away.
const leastCut = 4

// Over is a text without the secrets in it. Its cost hangs on the text, and hardly on how
// many secrets there are.
func (v *Veil) Over(text string) string {
	for ; v != nil; v = v.under {
		var b strings.Builder
		done := 0
		v.each(text, func(from, to int, name string) {
			b.WriteString(text[done:from] + "[hidden " + name + "]")
			done = to
		})
		if done > 0 {
			text = b.String() + text[done:]
		}
	}
	return text
}

// each tells where the secrets stand in a text, and what they are called. What stands in
// the place of one already is passed over.
func (v *Veil) each(text string, found func(from, to int, name string)) {
	if len(v.fresh) > 0 {
		v.sort()
	}
	if len(v.secrets) == 0 {
		return
	}
	for at := 0; at < len(text); {
		if text[at] == '[' {
			if mark := hiddenMark.FindString(text[at:min(len(text), at+100)]); mark != "" {
				at += len(mark)
				continue
			}
		}
		size, value := v.at(text, at)
		if size == 0 {
			at++
			continue
		}
		found(at, at+size, v.names[value])
		at += size
	}
}

var hiddenMark = regexp.MustCompile(`^\[hidden( [\w.-]+)?\]`)

// at is how many bytes of a secret begin at a place of a text, and which it is.
func (v *Veil) at(text string, at int) (size int, value string) {
	among := v.secrets // those that begin as the text does from there on
	for n := 0; ; n++ {
		if n > 0 && len(among[0].text) == n && among[0].standsAlone(text, at) {
			size, value = n, among[0].value
		}
		if at+n >= len(text) {
			return size, value
		}
		next := text[at+n]
		from := sort.Search(len(among), func(i int) bool { return len(among[i].text) > n && among[i].text[n] >= next })
		to := from + sort.Search(len(among)-from, func(i int) bool { return among[from+i].text[n] > next })
		if from == to {
			if n >= leastCut && strings.HasPrefix(text[at+n:], "…") {
				return n, among[0].value
			}
			return size, value
		}
		among = among[from:to]
	}
}

// standsAlone reports whether a secret is one where it stands in a text, and not by chance
// a part of something else.
func (s secret) standsAlone(text string, at int) bool {
	if telling(s.text) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+len(s.text):])
	return len(s.text) >= 4 && !inWord(before) && !inWord(after) || isQuote(before) && isQuote(after) || before == ':' && after == '@'
}

// telling reports whether a text is no word that may stand somewhere by chance.
func telling(text string) bool {
	return len(text) >= 16 || len(text) >= 8 && strings.ContainsAny(text, "0123456789")
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func isQuote(r rune) bool { return r == '"' || r == '\'' }

// Shroud keeps secrets of the plan out of excerpts of the findings' files also where they
// stand under no name, unless they are words that may stand there by chance.
func (p *Plan) Shroud(findings []diag.Diagnostic) {
	if p.veil == nil {
		return
	}
	all := p.veil.gathered(p)
	if len(all.secrets) == 0 {
		return
	}
	seen := map[*source.File]bool{}
	hide := func(at source.Span) {
		if !at.Known() || seen[at.File] {
			return
		}
		seen[at.File] = true
		text := string(at.File.Text)
		all.each(text, func(from, to int, _ string) {
			if telling(text[from:to]) {
				at.File.Hide(source.Span{File: at.File, Start: from, End: to})
			}
		})
	}
	for _, d := range findings {
		hide(d.Span)
		for _, related := range d.Related {
			hide(related.Span)
		}
	}
}

// Veil takes the secrets of the plan out of all that findings say. A fix that would
// write one is left out.
func (p *Plan) Veil(findings []diag.Diagnostic) {
	for i := range findings {
		d := &findings[i]
		d.Message, d.Help = p.Veiled(d.Message), p.Veiled(d.Help)
		if at := d.Span; at.Known() && at.End > at.Start { // of what can't be read nothing is known but where it stands
			if start, end := at.File.HiddenAt(at.Start, at.End)(at.Start); end > 0 {
				here := NewVeil(nil)
				here.keep(at.Text(), "value")
				here.keep(source.Span{File: at.File, Start: start, End: end}.Text(), "value")
				d.Message, d.Help = here.Over(d.Message), here.Over(d.Help)
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
