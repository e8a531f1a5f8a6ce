package dot

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
)

// How much of a text a drawing shows, in characters.
const (
	maxLabel  = 48
	maxDetail = 56
	maxNote   = 160
	// Conditions on edges are broken into narrow lines: those are read beside the edge.
	maxCondition = 34
	maxTitle     = 80
	maxTip       = 400
	maxLines     = 48 // of the small text of a node
)

// rows are the lines of a text, each fit for people and of at most so many characters.
func rows(s string, limit int) (out []string) {
	for line := range strings.Lines(s) {
		out = append(out, shorten(diag.Escape(strings.TrimSuffix(line, "\n")), limit))
	}
	return out
}

// wrapped are the lines of a longer text, each fit for people and broken between words, or
// within a word that is longer than a line: the text of a command, and a condition,
// may depend on any of it. Of very many lines it reports how many are left out.
func wrapped(s string, limit int) (out []string) {
	if s == "" {
		return nil
	}
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, diag.Wrap(shorten(diag.Escape(line), maxTip), limit, "")...)
	}
	if more := len(out) - maxLines; more > 1 {
		out = append(out[:maxLines-1], fmt.Sprintf("… and %d more lines", more+1))
	}
	return out
}

// shorten cuts a text in its middle: the ends of paths tell them apart.
func shorten(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	r := []rune(s)
	tail := (limit - 1) / 2
	return string(r[:limit-1-tail]) + "…" + string(r[n-tail:])
}

// labelDOT makes text fit for a quoted label of DOT's, and tipDOT for a tooltip, whose escapes are read twice. Entities
// are read once in both.
var (
	labelDOT = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`)
	tipDOT   = strings.NewReplacer(`\`, `\\\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`)
)

// escapeMermaid makes text fit for a quoted label of Mermaid's. Everything but
// letters, digits and harmless marks becomes #N;, Mermaid's own escape: quotes
// and arrows, what begins a directive (%%{), and the colon, since a line with
// "style", a colon and an escape loses its last semicolon there. What Mermaid
// still replaces after it has read its escapes (formulas, icons, its own signs
// for escapes) is held apart by an element that draws nothing.
func escapeMermaid(s string) string {
	var b strings.Builder
	for i, r := range s {
		if harmless(r) {
			b.WriteRune(r)
		} else {
			b.WriteString("#" + strconv.Itoa(int(r)) + ";")
		}
		rest := s[i+utf8.RuneLen(r):]
		if r == '$' && strings.HasPrefix(rest, "$") || r == ':' && strings.HasPrefix(rest, "fa-") ||
			r == 'ﬂ' && strings.HasPrefix(rest, "°") || r == '¶' && strings.HasPrefix(rest, "ß") {
			b.WriteString("<wbr/>")
		}
	}
	return b.String()
}

func harmless(r rune) bool {
	switch r {
	case ' ', '.', ',', '-', '_', '†', '×', '…', '→', '(', ')', '/', '?', '=', '+', '!', '\'':
		return true
	case 'ﬂ', 'ß':
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
