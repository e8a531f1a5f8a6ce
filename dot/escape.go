package dot

import (
	"fmt"
	"slices"
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
	maxTitle  = 80
	maxTip    = 400
	maxRows   = 6
	maxLines  = 48 // of the small text of a node
)

// rows splits a text into a few lines, each fit for people and of at most so
// many characters.
func rows(s string, limit int) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	if len(lines) > maxRows {
		lines = append(lines[:maxRows-1:maxRows-1], "…")
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = shorten(diag.Escape(line), limit)
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
		r := []rune(shorten(diag.Escape(line), maxTip))
		for len(r) > limit {
			at := limit
			for at > limit/3 && r[at] != ' ' {
				at--
			}
			if r[at] != ' ' {
				at = limit
			}
			out = append(out, string(r[:at]))
			if r = r[at:]; r[0] == ' ' {
				r = r[1:]
			}
		}
		out = append(out, string(r))
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

// words says a mark in words, so that colour isn't all there is.
func (m Mark) words() string {
	s := string(m.Kind)
	switch m.Kind {
	case Leaves:
		s = "may leave the machine"
	case UnknownEffect:
		s = "effect unknown"
	case Critical:
		s = "on the critical path"
	}
	if m.Code != "" && !strings.ContainsRune(";,:", rune(m.Code[0])) {
		s += " "
	}
	s += m.Code
	if m.Count > 1 {
		s += " ×" + strconv.Itoa(m.Count)
	}
	return s
}

// first is what an edge says of its marks: the gravest of them. What is on the
// critical path is seen by its colour, and said at its ends.
func first(marks []Mark) []Mark {
	if marks = said(marks); len(marks) > 0 && marks[0].Kind != Critical {
		return marks[:1]
	}
	return nil
}

// said lists what a node's marks say in the drawing; infos are left to
// tooltips.
func said(marks []Mark) []Mark {
	var out []Mark
	for _, m := range marks {
		if m.Kind != Info && (len(out) < 6 || slices.Contains(effects, m.Kind)) {
			out = append(out, m)
		}
	}
	return out
}

// effects are the marks that say what carrying a call out may do.
var effects = []MarkKind{Destructive, UnknownEffect, Leaves, Writes}

// outline is what decides the outline of a node: what became of it, or else its effect, less
// those that are trailed, with one of their own around it. Findings are words, so that they
// never take the outline of what destroys, nor give its colour to what only reads.
func outline(marks []Mark, trailed bool) []Mark {
	marks = slices.DeleteFunc(said(marks), func(m Mark) bool {
		return slices.Contains([]MarkKind{Error, Warning, Writes, Leaves}, m.Kind) || trailed && m.Kind == Critical
	})
	return marks[:min(1, len(marks))]
}

// tips is a node's tooltip with what its marks say.
func tips(n *Node) string {
	lines := rows(n.Tooltip, maxTip)
	for _, m := range n.Marks {
		line := m.words()
		if m.Text != "" {
			line += ": " + diag.Escape(m.Text)
		}
		lines = append(lines, shorten(line, maxTip))
	}
	return strings.Join(lines, "\n")
}

// escapeHTML makes text fit for Graphviz's HTML-like labels. These are XML in
// whose text a backslash begins an escape: \N would be the node's name.
func escapeHTML(s string) string { return htmlEscaper.Replace(s) }

var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", `\`, `\\`)

// quoteDOT writes text as a quoted string of DOT's. In tooltips
// entities are read once, and then escapes twice.
func quoteDOT(s string) string { return `"` + dotEscaper.Replace(s) + `"` }

var dotEscaper = strings.NewReplacer(`\`, `\\\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`)

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
		if r == '$' && strings.HasPrefix(rest, "$") || r == ':' && strings.HasPrefix(rest, "fa-") || r == 'ﬂ' && strings.HasPrefix(rest, "°") || r == '¶' && strings.HasPrefix(rest, "ß") {
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
