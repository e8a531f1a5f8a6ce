package runtime_test

import (
	"maps"
	"slices"
	"unicode/utf8"
)

func inOnePiece(text string) []string { return []string{text} }

func characterwise(text string) []string {
	pieces := []string{}
	for text != "" {
		_, size := utf8.DecodeRuneInString(text)
		pieces, text = append(pieces, text[:size]), text[size:]
	}
	return pieces
}

// ranFaulty is a call that was started though it settled as failed before its
// first try.
func (r *simulator) ranFaulty() string {
	for _, key := range slices.Sorted(maps.Keys(r.failed)) {
		if r.failed[key].Attempts == 0 && r.begun[key] != "" {
			return r.begun[key]
		}
	}
	return ""
}
