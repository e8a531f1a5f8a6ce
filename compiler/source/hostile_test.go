package source

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// fill repeats a piece up to a hundred thousand bytes.
func fill(piece string) string { return strings.Repeat(piece, 100_000/len(piece)) }

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// aliasBomb doubles a list again and again.
func aliasBomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return b.String()
}

// hostile are files under 100 kB, each made to hurt a reader.
func hostile() map[string]string {
	return map[string]string{
		"brackets":               fill("["),
		"braces":                 fill("{"),
		"braces with keys":       fill("{a: "),
		"brackets and braces":    fill("[{a: "),
		"dashes":                 fill("- "),
		"dash lines":             fill("-\n"),
		"question marks":         fill("? "),
		"colons":                 fill(": "),
		"less than":              fill("<"),
		"merge keys":             fill("<<: "),
		"bangs":                  fill("! "),
		"ampersands":             fill("&a "),
		"stars":                  fill("*a "),
		"aliases without anchor": "[" + fill("*a,") + "]",
		"tags":                   "[" + fill("!x y,") + "]",
		"hashes":                 fill("#"),
		"comments":               fill("#\n"),
		"tabs":                   fill("\t"),
		"tabs in double quotes":  `"` + fill("\ta") + `"`,
		"tabs in plain text":     "a" + fill("\ta"),
		"line ends":              "a" + fill("\n") + "b",
		"lone CRs":               "a" + fill("\r") + "b",
		"spaces":                 "a:" + fill(" ") + "b",
		"blank lines in text":    "a: x" + fill("\n\n") + " y",
		"literal with blanks":    "a: |\n  x" + fill("\n"),
		"literal with spaces":    "a: |\n" + fill("   \n") + "x",
		"kept blanks":            "a: |+\n  x\n" + fill("\n") + "b: 1",
		"many literals":          fill("- |\n"),
		"folded":                 "a: >\n" + fill("  b\n"),
		"folded and indented":    "a: >\n" + fill("  b\n\n   c\n"),
		"a long plain scalar":    "a: " + fill("x"),
		"plain of many lines":    "a: x\n" + fill(" x\n"),
		"a long quoted scalar":   `a: "` + fill("x") + `"`,
		"many escapes":           `a: "` + fill(`\u2020`) + `"`,
		"quoted lines":           `a: "` + fill("x\n ") + `"`,
		"single quotes":          "a: '" + fill("''") + "'",
		"open quote":             "a: '" + fill("''"),
		"backslashes":            `"` + fill(`\`),
		"a long number":          "a: " + fill("1"),
		"a long key":             fill("k") + ": 1",
		"20,000 keys":            numbered(20_000, "k%d: 1\n")[:100_000],
		"20,000 keys in braces":  "{" + numbered(12_000, "k%d: 1,") + "}",
		"one key again":          fill("k: 1\n"),
		"small mappings":         "[" + fill("{a,b,c,d,e,f,g,h,i,j,k,l,m,n},") + "]",
		"3,000 flow mappings":    strings.Repeat("{a: ", 3_000) + "1" + strings.Repeat("}", 3_000),
		"3,000 flow lists":       strings.Repeat("[", 3_000) + strings.Repeat("]", 3_000),
		"alias bomb":             aliasBomb(),
		"wide alias":             "a: &a [" + strings.Repeat("x,", 20_000) + "]\nb: [" + strings.Repeat("*a,", 10_000) + "]",
		"yes":                    fill("- yes\n"),
		"commas":                 "[" + fill(","),
		"null items":             "[" + fill("~,") + "]",
		"markers":                fill("---\n"),
		"ends":                   fill("...\n"),
		"emoji":                  "a: " + fill("😀 "),
		"steps":                  steps(400),
		"deep and shallow":       fill("a:\n b:\n  c:\n   d: x\n"),
	}
}

// steps is a mapping in a mapping in a mapping.
func steps(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// TestHostile shows that a file under 100 kB costs less than a second and
// 256 MiB, as YAML and as JSON.
func TestHostile(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			for _, format := range []Format{YAML, JSON} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				n, problems := parse(format, text)
				runtime.ReadMemStats(&after)
				if took, ok := cputime.Within(time.Second, func() { parse(format, text) }); !ok {
					t.Errorf("it took %v", took)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
					t.Errorf("it took %d MiB", used>>20)
				}
				checkPlaces(t, n, problems, len(text))
			}
		})
	}
}

// TestLinear shows that a file of eight times the size costs about eight times
// as much: what grows faster than linearly would take 64 times as long.
func TestLinear(t *testing.T) {
	for name, text := range hostile() {
		if len(name)%amount.Of(6, 1, 1) > 0 { // with -thorough all are measured
			continue
		}
		small := least(text)
		large := least(strings.Repeat(text, 8))
		if large > 30*small && large > 2*time.Second {
			t.Errorf("%s: %v for %d bytes, %v for eight times as many", name, small, len(text), large)
		}
	}
}

// least is the shortest of three readings.
func least(text string) time.Duration {
	best := time.Hour
	for range 3 {
		best = min(best, cputime.Spent(func() { parse(YAML, text) }))
	}
	return best
}

// TestLimits shows each limit from both sides.
func TestLimits(t *testing.T) {
	list := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	dashes := func(n int) string { return strings.Repeat("- ", n) + "x" }
	for _, c := range []struct {
		name      string
		limits    Limits
		good, bad string
		says      string
	}{
		{"bytes", Limits{Bytes: 10}, "a: 3456789", "a: 34567890", "limit of 10 bytes"},
		{"depth", Limits{}, list(100), list(101), "100 deep"},
		{"depth of blocks", Limits{}, dashes(100), dashes(101), "100 deep"},
		{"depth lowered", Limits{Depth: 2}, "a: [b]", "a: [[b]]", "2 deep"},
		{"depth through an alias", Limits{Depth: 3}, "- &a [[x]]\n- *a", "- &a [[x]]\n- [*a]", "through this alias"},
		{"depth of an anchor beside", Limits{Depth: 3}, "- [[x]]\n- &a [x]\n- [*a]", "- [&a [x]]\n- [[*a]]", "through this alias"},
		{"depth through two aliases", Limits{Depth: 4}, "- &a [x]\n- &b [*a]\n- [*b]", "- &a [x]\n- &b [*a]\n- [[*b]]", "through this alias"},
		{"nodes under aliases", Limits{AliasNodes: 8, AliasRatio: 1000}, "- &a [x, y, z]\n- *a\n- *a", "- &a [x, y, z]\n- *a\n- *a\n- *a", "8 values"},
		{"nodes under nested aliases", Limits{AliasNodes: 7, AliasRatio: 1000}, "- &a [x]\n- &b [*a]\n- *b", "- &a [x]\n- &b [*a]\n- *b\n- *b", "7 values"},
		{"bytes under aliases", Limits{AliasRatio: 1}, "- &a xxxxxxxxx\n- *a\n", "- &a xxxxxxxxx\n- *a\n- *a\n- *a\n- *a\n- *a\n", "1 times the file"},
		{"a scalar", Limits{Scalar: 5}, "a: 'xxx'", "a: 'xxxx'", "6 bytes"},
		{"a literal", Limits{Scalar: 5}, "a: |\n x\n", "a: |\n xxx\n", "6 bytes"},
		{"a plain scalar", Limits{Scalar: 3}, "a: x y", "a: x yz", "4 bytes"},
		{"a number", Limits{}, "a: 0." + strings.Repeat("1", 38), "a: 0." + strings.Repeat("1", 39), "41 characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n, problems := Parse(&File{Text: []byte(c.good)}, c.limits); n == nil || len(problems) > 0 {
				t.Errorf("%q: %v", c.good, problems)
			}
			_, problems := Parse(&File{Text: []byte(c.bad)}, c.limits)
			if len(problems) != 1 || problems[0].Code != "OB105" || !strings.Contains(problems[0].Message, c.says) {
				t.Errorf("%q: %v, expected OB105 %q", c.bad, problems, c.says)
			}
		})
	}
}

// TestManyProblems shows that a file full of faults doesn't flood its reader.
func TestManyProblems(t *testing.T) {
	_, problems := parse(YAML, fill("- yes\n"))
	if len(problems) != MaxProblems {
		t.Errorf("%d problems", len(problems))
	}
}
