// Package wording has the phrases that messages are made of: how many there are of
// something, which of several are meant, the beginning of a long text.
package wording

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Count is a number of things of one kind: "1 call", "2 calls".
func Count(n int, what string) string { return Counted(n, what, what+"s") }

// Counted is a number of things whose plural has a word of its own.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Or is a list with one item to choose: "a, b or c".
func Or(list []string) string { return joined(list, " or ") }

// And is a list with all items included: "a, b and c".
func And(list []string) string { return joined(list, " and ") }

func joined(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + last + list[len(list)-1]
}

// Names are the first of some names, in quotes.
func Names(names []string, most int) string {
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, `"`+name+`"`)
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

// Cut is a text, or of one of more characters than so many the beginning.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// Quote is the beginning of a piece of the user's text in quotes.
func Quote(s string) string { return "\"" + Cut(s, 40) + "\"" }

// Duration spells a length of time as plans do, without what is 0 at its end.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// ShellWord is a word as a shell reads it.
func ShellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plainWord is a word that a shell reads as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,…-]+$`)

// PasswordsIn are the places of the passwords in the addresses of a text, but for what stands
// there for one: {$NAME}, a parameter, an expression.
func PasswordsIn(text string) (all [][2]int) {
	if !strings.Contains(text, "://") {
		return nil
	}
	for _, at := range addressPassword.FindAllStringSubmatchIndex(text, -1) {
		all = append(all, [2]int{at[2], at[3]})
	}
	return all
}

var addressPassword = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^/?#@:\s"'<>]*:([^/?#@\s"'<>{}†]+)@`)

// WithoutPasswords is a text without those in its addresses.
func WithoutPasswords(text string) string {
	for _, at := range slices.Backward(PasswordsIn(text)) {
		text = text[:at[0]] + "[hidden password]" + text[at[1]:]
	}
	return text
}
