package wording

import (
	"regexp"
	"slices"
	"strings"
)

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
