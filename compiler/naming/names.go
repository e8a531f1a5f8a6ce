// Package naming says of names what a reader makes of them: which one was meant, which
// look alike, and which hold what can't be seen.
package naming

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Skeleton reduces a name to what the eye takes from it: two names that look
// alike when drawn have the same skeleton (OB106). It is meant for
// comparing, never for showing. A name in ASCII is its own skeleton, so that
// pairs such as l and 1 or O and 0, which every reader knows, never count.
func Skeleton(id string) string {
	if IsASCII(id) {
		return id
	}
	var drawn strings.Builder
	drawn.Grow(len(id))
	for _, r := range id {
		if drawnApart(r) {
			drawn.WriteRune(r)
			continue
		}
		for _, part := range norm.NFKD.String(string(r)) {
			if isInvisible(part) {
				continue
			}
			if duplicate, ok := lookalikes()[part]; ok {
				part = duplicate
			}
			drawn.WriteRune(part)
		}
	}
	return norm.NFD.String(drawn.String())
}

// BadCharacter finds the first character of a name that a reader can't see or
// that changes how its neighbours are drawn. It gives the character, its
// byte offset in id, and what it is, with its article: "a control character".
// The selectors and joiners inside an emoji are part of a visible sign and fine.
func BadCharacter(id string) (r rune, at int, what string, ok bool) {
	previous := rune(-1)
	for at, r := range id {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(id[at:], "\uFFFD"):
			return r, at, "a byte that isn't UTF-8", true
		case unicode.Is(unicode.Cc, r):
			return r, at, "a control character", true
		case r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069:
			return r, at, "a character that turns the direction of the text", true
		case isInvisible(r) && !insideEmoji(previous, r, id[at+utf8.RuneLen(r):]):
			return r, at, "an invisible character", true
		}
		previous = r
	}
	return 0, 0, "", false
}

// MixedScripts reports whether a name mixes writing systems that don't belong
// together, and names the first two, in the order of the text. Digits, marks,
// punctuation, signs such as ① and emoji belong to all; Latin letters stand
// beside Chinese, Japanese and Korean as they do in ordinary writing there.
func MixedScripts(id string) (a, b string, ok bool) {
	if IsASCII(id) {
		return "", "", false
	}
	var seen []string
	for _, r := range id {
		script := scriptOf(r)
		if script == "" || slices.Contains(seen, script) {
			continue
		}
		seen = append(seen, script)
		if len(seen) > 1 && !slices.ContainsFunc(writtenTogether, func(system []string) bool {
			return !slices.ContainsFunc(seen, func(s string) bool { return !slices.Contains(system, s) })
		}) {
			return seen[0], script, true
		}
	}
	return "", "", false
}

// Deceptive lists the words of a text that a reader may take for others: that mix
// writing systems, or are drawn like words in ASCII although they aren't, in a text
// that has no other letters of their script.
func Deceptive(text string) []string {
	if IsASCII(text) {
		return nil
	}
	plainly := map[string]bool{} // the scripts that the text shows openly
	for _, r := range text {
		if r >= utf8.RuneSelf && !IsASCII(Skeleton(string(r))) {
			plainly[scriptOf(r)] = true
		}
	}
	var found []string
	for word := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '_' && r != '-' }) {
		if IsASCII(word) || slices.Contains(found, word) {
			continue
		}
		_, _, mixed := MixedScripts(word)
		drawnAsASCII := IsASCII(Skeleton(word)) && strings.ContainsFunc(word, func(r rune) bool {
			return r >= utf8.RuneSelf && scriptOf(r) != "" && (scriptOf(r) == "Latin" || !plainly[scriptOf(r)])
		})
		if mixed || drawnAsASCII {
			found = append(found, word)
		}
	}
	return found
}

// writtenTogether lists the scripts that one writing system uses side by side.
var writtenTogether = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Hangul"},
	{"Latin", "Han", "Bopomofo"},
}

// scriptOf names a character's script; "" is one that all scripts share, or
// none that is known.
func scriptOf(r rune) string {
	if r < utf8.RuneSelf {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return "Latin"
		}
		return ""
	}
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	for _, name := range commonScripts {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	for name, table := range unicode.Scripts { // no character is in two
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

// commonScripts are looked at first.
var commonScripts = strings.Fields("Latin Cyrillic Greek Han Hiragana Katakana Hangul Arabic Hebrew Devanagari")

// IsASCII reports whether a text has no character beyond ASCII.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isInvisible reports whether a character is drawn as nothing, or as a blank that
// isn't a space: Unicode's default ignorables and those like them.
func isInvisible(r rune) bool {
	return r == '\u2800' || r >= 0x00AD && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Variation_Selector)
}

// insideEmoji reports whether an invisible r only shapes the sign before it:
// a presentation selector after a symbol (or in a keycap), or the joiner
// between two symbols.
func insideEmoji(previous, r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case 0xFE0F, 0xFE0E:
		keycap := strings.ContainsRune("0123456789#*", previous) && next == 0x20E3
		return isPictured(previous) || keycap
	case 0x200D:
		return (isPictured(previous) || previous == 0xFE0F) && isPictured(next)
	}
	return false
}

func isPictured(r rune) bool {
	skinTone := r >= 0x1F3FB && r <= 0x1F3FF
	return r >= 0x2000 && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sm) || skinTone
}

// drawnApart reports whether a character has a compatibility form that nobody
// would mistake it for: ① isn't 1, ² isn't 2, ½ isn't 1⁄2, ™ isn't TM.
func drawnApart(r rune) bool {
	switch {
	case r == 0xAA || r == 0xBA || r == 0xB2 || r == 0xB3 || r == 0xB9, // ª º ² ³ ¹
		r >= 0xBC && r <= 0xBE, r >= 0x2150 && r <= 0x215F, r == 0x2189, // fractions
		r >= 0x02B0 && r <= 0x02B8, r >= 0x02E0 && r <= 0x02E4, // raised letters
		r >= 0x1D2C && r <= 0x1D6A, r == 0x1D78, r >= 0x1D9B && r <= 0x1DBF,
		r >= 0x2070 && r <= 0x209F,                               // raised and lowered
		r == 0x2100 || r == 0x2101 || r == 0x2105 || r == 0x2106, // ℀ ℁ ℅ ℆
		r == 0x2116 || r >= 0x2120 && r <= 0x2122,                // № ℠ ℡ ™
		r >= 0x2460 && r <= 0x24FF, r >= 0x3200 && r <= 0x33FF,   // in circles and squares
		r >= 0x1F100 && r <= 0x1F2FF, r >= 0x3192 && r <= 0x319F, r == 0x303C: //
		return true
	}
	return false
}

// lookalikes maps a letter to the one that it is taken for. Only letters that
// common fonts draw (nearly) alike are here: an alarm over two names that
// anyone can tell apart would be worse than none. What compatibility
// decomposition already unites (fullwidth forms, mathematical alphabets, Roman
// numerals, ligatures) is left out.
var lookalikes = sync.OnceValue(func() map[rune]rune {
	table := map[rune]rune{}
	for _, pairs := range []string{
		// Cyrillic
		"аaеeоoрpсcуyхxѕsіiјjԁdԛqԝwһhӏlѵvгrьbүy",
		"АAВBЕEКKМMНHОOРPСCТTУYХXЅSІIЈJԌGԚQԜWӀIҮYЗ3ԞKѴVЬb",
		// Greek
		"αaγyιiνvοoρpυuϲcϳj",
		"ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϹCͿJ",
		// Armenian
		"օoոnսuհhցgզqյjԼLՕOՏSՍU",
		// Coptic
		"ⲟoⲣpⲥcⲞOⲢPⲤCⲦTⲬXⲎHⲔKⲘMⲚNⲂBⲒI",
		// Cherokee
		"ᎪAᏴBᏟCᎬEᏀGᎻHᎫJᏦKᏞLᎷMᏢPᏒRᏚSᎢTᏙVᎳWᏃZ",
		// Lisu
		"ꓐBꓑPꓓDꓔTꓖGꓗKꓙJꓚCꓜZꓝFꓟMꓠNꓡLꓢSꓣRꓦVꓧHꓪWꓫXꓬYꓮAꓰEꓲIꓳOꓴU",
		// Latin beyond ASCII
		"ıiȷjɑaɡgɩiᴄcᴏoᴠvᴡwᴢzꜱsǀlƽsꓸ.",
		// zeros of other scripts
		"०o০o੦o૦o൦o๐o໐o၀o",
		// dashes, quotes and other signs
		"‐-‑-‒-–-−-˗-’'‘'ʼ'ʻ'′'⁄/∕/∶:꞉:ː:‚,ǃ!ߺ_",
	} {
		letters := []rune(pairs)
		for i := 0; i+1 < len(letters); i += 2 {
			table[letters[i]] = letters[i+1]
		}
	}
	return table
})

// Spelled writes a name with its characters beyond ASCII spelt out, so that two
// that look alike don't in the message.
func Spelled(name string) string {
	out := ""
	for _, r := range name {
		if r < 0x80 || r == '†' {
			out += string(r)
		} else {
			out += fmt.Sprintf("U+%04X", r)
		}
	}
	return out
}

// IDs are ids of one sort that come one after the other from outside a document,
// and that a reader must be able to see and to tell apart. The zero value
// holds none. It is not safe for concurrent use.
type IDs struct{ drawn map[string]string } // by skeleton

// Add takes a further id; the error says why a reader would be at a loss with it.
func (ids *IDs) Add(id string) error {
	if r, _, what, bad := BadCharacter(id); bad {
		return fmt.Errorf("the id \"%s\" holds U+%04X, %s; remove it: a reader can't see it", id, r, what)
	}
	skeleton := Skeleton(id)
	other, taken := ids.drawn[skeleton]
	switch {
	case taken && other == id:
		return fmt.Errorf("the id \"%s\" is there twice", id)
	case taken:
		return fmt.Errorf("two ids look alike: %q and %q; choose names that differ to the eye", Spelled(id),
			Spelled(other))
	}
	if ids.drawn == nil {
		ids.drawn = map[string]string{}
	}
	ids.drawn[skeleton] = id
	return nil
}
