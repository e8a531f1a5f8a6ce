// Package naming says of names what a reader makes of them: which one was meant, which
// look alike, and which hold what can't be seen.
package naming

import (
	"cmp"
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
		drawn.WriteString(drawnLike(r))
	}
	return norm.NFD.String(drawn.String())
}

// drawnLike is what the eye takes a character for. One may have a compatibility form that nobody would mistake it for:
// ① isn't 1, ² isn't 2, ½ isn't 1⁄2, ™ isn't TM, º isn't o.
func drawnLike(r rune) string {
	if duplicate, ok := lookalikes()[r]; ok {
		return string(duplicate)
	}
	if unicode.In(r, unicode.No, unicode.So, unicode.Lm) || r == 'º' || r == 'ª' {
		return string(r)
	}
	return strings.Map(func(part rune) rune {
		if isInvisible(part) {
			return -1
		}
		return cmp.Or(lookalikes()[part], part)
	}, norm.NFKD.String(string(r)))
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
		case isInvisible(r) && !(strings.ContainsRune(emojiMarks, r) &&
			(unicode.IsSymbol(previous) || previous == emojiStyle)):
			return r, at, "an invisible character", true
		}
		previous = r
	}
	return 0, 0, "", false
}

// What chooses how an emoji is drawn, and joins two.
const (
	emojiStyle = '\uFE0F'
	emojiMarks = "\uFE0E\uFE0F\u200D"
)

// IsMixed reports whether a name has letters of ASCII, and letters of another script that are drawn like such.
func IsMixed(id string) bool {
	return strings.ContainsFunc(id, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }) &&
		strings.ContainsFunc(id, func(r rune) bool { return isDrawnAsASCII(r) && !unicode.Is(unicode.Latin, r) })
}

// isDrawnAsASCII reports whether a letter that isn't one of ASCII is drawn like one.
func isDrawnAsASCII(r rune) bool {
	return r >= utf8.RuneSelf && unicode.IsLetter(r) && IsASCII(drawnLike(r))
}

// Deceptive lists the words of a text that a reader may take for others: that are mixed, or are drawn like words in
// ASCII although they aren't, in a text that shows no other letters of another script.
func Deceptive(text string) []string {
	if IsASCII(text) {
		return nil
	}
	isForeign := strings.ContainsFunc(text, func(r rune) bool {
		return r >= utf8.RuneSelf && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) && !isDrawnAsASCII(r)
	})
	var found []string
	for word := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '_' && r != '-' }) {
		drawnAsASCII := IsASCII(Skeleton(word)) && strings.ContainsFunc(word, func(r rune) bool {
			return isDrawnAsASCII(r) && (!isForeign || unicode.Is(unicode.Latin, r))
		})
		if (drawnAsASCII || IsMixed(word)) && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}

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
