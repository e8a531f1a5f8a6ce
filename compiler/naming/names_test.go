package naming

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/testdata/cputime"
)

// LANGUAGE.md#tools: OB106: names that are drawn alike share a skeleton.
func TestSkeletonUnitesLookalikes(t *testing.T) {
	for _, pair := range [][2]string{
		{"sendMail", "sеndMail"},              // Cyrillic е
		{"paypal", "раураl"},                  // Cyrillic а, р, у
		{"score", "ѕсоrе"},                    // Cyrillic but for the r
		{"OPEN", "ΟΡΕΝ"},                      // Greek capitals
		{"voice", "νοιce"},                    // Greek
		{"search", "ｓｅａｒｃｈ"},                  // fullwidth
		{"search", "𝓼𝓮𝓪𝓻𝓬𝓱"},                  // mathematical script
		{"search", "𝚜𝚎𝚊𝚛𝚌𝚑"},                  // mathematical monospace
		{"hour", "հօսr"},                      // Armenian
		{"file", "ﬁle"},                       // ligature
		{"IV", "Ⅳ"},                           // Roman numeral
		{"name", "na\u200bme"},                // zero width space
		{"name", "n\u202eame"},                // a turn of direction
		{"café", "cafe\u0301"},                // composed and decomposed
		{"ärzte", "ӓrzte"},                    // a mark above a Cyrillic letter
		{"a-b", "a‑b"},                        // another hyphen
		{"two words", "two\u00a0words"},       // another space
		{"list", "ӏist"},                      // palochka
		{"imei", "ımeı"},                      // dotless i
		{"ТОР", "TOP"},                        // all of it in another script
		{strings.Repeat("o", 9), "oооοօ०๐ｏ𝚘"}, // everyone's o
	} {
		if a, b := Skeleton(pair[0]), Skeleton(pair[1]); a != b {
			t.Errorf("%+q and %+q look alike, but their skeletons are %+q and %+q", pair[0], pair[1], a, b)
		}
	}
}

// LANGUAGE.md#tools: OB106: what a reader tells apart stays apart, and ASCII never counts.
func TestSkeletonKeepsApart(t *testing.T) {
	for _, group := range [][]string{
		{"l", "1", "I", "|"},
		{"O", "0", "o"},
		{"rn", "m"},
		{"vv", "w"},
		{"step1", "step①", "step²", "step½", "stepⅢ", "step", "step①①"},
		{"①", "②", "③", "1", "2", "(1)", "⑴", "❶"},
		{"TM", "™", "tm"},
		{"user", "User", "usér", "üser"},
		{"東京", "東", "东京"},
		{"получить", "послать"},
		{"🚀", "🛸", "🚗"},
		{"🇩🇪", "🇫🇷"},
		{"の", "ノ", "0"},
		{"x_y", "x-y", "xy", "x.y"},
		{"α1", "β1", "γ1"},
		{"No", "Nº"}, {"a", "ª"},
	} {
		for i, a := range group {
			for _, b := range group[:i] {
				if Skeleton(a) == Skeleton(b) {
					t.Errorf("%q and %q can be told apart, but share the skeleton %q", a, b, Skeleton(a))
				}
			}
		}
	}
}

// LANGUAGE.md#tools: bidi, invisible and control characters are found where they stand.
func TestBadCharacter(t *testing.T) {
	for _, c := range []struct {
		id   string
		r    rune
		at   int
		what string
	}{
		{"a\u202eb", 0x202E, 1, "a character that turns the direction of the text"},
		{"†\u2066x", 0x2066, 3, "a character that turns the direction of the text"},
		{"name\u200b", 0x200B, 4, "an invisible character"},
		{"\ufeffname", 0xFEFF, 0, "an invisible character"},
		{"a\u00adb", 0x00AD, 1, "an invisible character"},
		{"a\ufe0f", 0xFE0F, 1, "an invisible character"},
		{"a\u200db", 0x200D, 1, "an invisible character"},
		{"\u3164", 0x3164, 0, "an invisible character"},
		{"a\U000e0041", 0xE0041, 1, "an invisible character"},
		{"1\ufe0f", 0xFE0F, 1, "an invisible character"},
		{"🏴\U000e0067", 0xE0067, 4, "an invisible character"},
		{"a\x1b[31m", 0x1B, 1, "a control character"},
		{"a\tb", '\t', 1, "a control character"},
		{"a\x00", 0, 1, "a control character"},
		{"a\u0085", 0x85, 1, "a control character"},
		{"a\x7f", 0x7F, 1, "a control character"},
		{"a\xff", utf8.RuneError, 1, "a byte that isn't UTF-8"},
	} {
		r, at, what, ok := BadCharacter(c.id)
		if !ok || r != c.r || at != c.at || what != c.what {
			t.Errorf("BadCharacter(%+q) = %U at %d, %q, %v; want %U at %d, %q", c.id, r, at, what, ok, c.r, c.at, c.what)
		}
	}
	for _, id := range []string{"", "fetchUser", "①", "employee_B", "❤️", "👩‍💻", "👍🏽", "🇩🇪", "東京", "नमस्ते", "cafe\u0301", "\uFFFD", "two words", "👩🏽‍💻", "⚙️x"} {
		if r, at, what, ok := BadCharacter(id); ok {
			t.Errorf("BadCharacter(%+q) = %U at %d, %q; want none", id, r, at, what)
		}
	}
}

// LANGUAGE.md#tools: OB106: letters that are drawn like Latin ones beside such.
func TestMixedScripts(t *testing.T) {
	for _, id := range []string{"sеndMail", "еmail", "user_имяр", "αnd"} {
		if !IsMixed(id) || len(Deceptive(id)) == 0 {
			t.Errorf("IsMixed(%q) = %v, Deceptive = %q", id, IsMixed(id), Deceptive(id))
		}
	}
	for _, id := range []string{
		"", "plain_ASCII-9", "①", "step①", "🚀launch", "имя_1", "東京タワーへ", "東京tower", "한글漢字", "ñandú", "γωνία", "x²", "№5",
		"cafe\u0301", "имя\u0301", "½cup", "👩‍💻", "priceΔ", "東京д",
	} {
		if IsMixed(id) || len(Deceptive(id)) > 0 {
			t.Errorf("IsMixed(%q) = %v, Deceptive = %q", id, IsMixed(id), Deceptive(id))
		}
	}
	for text, want := range map[string]int{"сор в избе": 0, "сор": 1, "pay сор": 1, "kapı": 1, "ｐａｙ имя": 1} {
		if found := Deceptive(text); len(found) != want {
			t.Errorf("Deceptive(%q) = %q", text, found)
		}
	}
}

// LANGUAGE.md#documents: an unknown name suggests the nearest known one.
func TestNearest(t *testing.T) {
	keys := []string{"calls", "plan", "version", "description", "input", "inputSchema", "state", "stateSchema", "output", "outputSchema",
		"tools", "schemas", "activities", "servers", "advisors", "instances", "mode", "writes", "terminate", "advice", "limits", "import"}
	for name, want := range map[string]string{
		"call": "calls", "Calls": "calls", "callls": "calls", "clals": "calls",
		"output_schema": "outputSchema", "outputschema": "outputSchema", "outptuSchema": "outputSchema",
		"activity": "", "actvities": "activities", "activites": "activities",
		"inputs": "input", "imports": "import", "inptu": "input", "stat": "state",
		"xyz": "", "": "", "c": "", "descripton": "description", "zzzzzzzzzzzz": "", "tool": "tools", "INPUT-SCHEMA": "inputSchema",
	} {
		got, ok := Nearest(name, keys)
		if got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", name, got, ok, want)
		}
	}
	if got, _ := Nearest("aX", []string{"ay", "Ax"}); got != "Ax" {
		t.Errorf("case alone is nearer than another letter, but Nearest chose %q", got)
	}
	if got, _ := Nearest("calls", []string{"calls"}); got != "" {
		t.Errorf("a name was suggested for itself: %q", got)
	}
}

// The banded comparison agrees with the plain table on small words.
func TestSlipsBetween(t *testing.T) {
	words := []string{""}
	for _, length := range []int{1, 2, 3, 4} {
		for n := range 1 << length {
			words = append(words, fmt.Sprintf("%0*b", length, n))
		}
	}
	words = append(words, "abcdefgh", "abdcefgh", "bcdefghi", "habcdefg", "abcxefyh", "fetchUserProfile", "fecthUserPorfile")
	for _, a := range words {
		for _, b := range words {
			want := plainSlips([]rune(a), []rune(b))
			for bound := range 4 {
				got, ok := slipsBetween([]rune(a), []rune(b), bound)
				if ok != (want <= bound) || ok && got != want {
					t.Fatalf("slipsBetween(%q, %q, %d) = %d, %v; want %d", a, b, bound, got, ok, want)
				}
			}
		}
	}
}

func plainSlips(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}

// EXECUTION.md#limits: many misspelt names among many known ones end in bounded time.
func TestSuggesterIsBounded(t *testing.T) {
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("tool_number_%d_of_many", i)
	}
	s := NewSuggester(names)
	got, _ := s.Nearest("tool_nmuber_99999_of_many")
	if want := "tool_number_99999_of_many"; got != want {
		t.Errorf("nearest = %q, want %q", got, want)
	}
	spent, ok := cputime.Within(5*time.Second, func() {
		for i := range 100_000 {
			s.Nearest(fmt.Sprintf("tool_mumber_%d_of_mani", i))
		}
	})
	if !ok {
		t.Errorf("100,000 look-ups among 100,000 names took %v", spent)
	}
}

func FuzzNames(f *testing.F) {
	for _, id := range []string{"fetchUser", "sеnd", "①", "a\u202eb", "\xff\xfe", "👩‍💻", "ｓｅａ"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if s := Skeleton(id); utf8.ValidString(id) && Skeleton(s) != s {
			t.Errorf("the skeleton of %+q isn't stable: %+q, then %+q", id, s, Skeleton(s))
		}
		if r, at, what, ok := BadCharacter(id); ok && (at < 0 || at >= len(id) || what == "" || r == utf8.RuneError && what == "an invisible character") {
			t.Errorf("BadCharacter(%+q) = %U, %d, %q", id, r, at, what)
		}
		IsMixed(id)
		Deceptive(id)
		candidates := []string{id + "x", "fetchUser", strings.ToUpper(id)}
		got, ok := Nearest(id, candidates)
		if ok && !slices.Contains(candidates, got) {
			t.Errorf("Nearest(%q) gave %q, which wasn't among the candidates", id, got)
		}
	})
}
