package project

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/corpus"
	"golang.org/x/tools/txtar"
)

// mendedAs is what fixing a document until nothing is left to fix makes of it.
func mendedAs(name string, text []byte, open func(string) ([]byte, error)) []byte {
	for range 10 {
		d := documentOf(name, text, open)
		j := d.Compile().Judge()
		next, made := d.Mended(j.Findings)
		if len(made) == 0 {
			break
		}
		text = next
	}
	return text
}

func documentOf(name string, text []byte, open func(string) ([]byte, error)) Document {
	return Document{
		File: source.NewFile(name, text), Config: &Configuration{},
		Options: compiler.Options{Name: name, Limits: source.DefaultLimits(), Open: open, Show: func(name string) string { return name }},
	}
}

// faultsOf counts the errors and warnings about a text, by code.
func faultsOf(name string, text []byte, open func(string) ([]byte, error)) map[string]int {
	j := documentOf(name, text, open).Compile().Judge()
	counts := map[string]int{}
	for _, f := range j.Findings {
		if f.Severity > diag.Info {
			counts[f.Rule.Code]++
		}
	}
	return counts
}

// leavesNothingNew holds a mended text against what it was made of: no code has more
// errors and warnings than before.
func leavesNothingNew(t *testing.T, name string, before []byte, open func(string) ([]byte, error)) (mended []byte) {
	t.Helper()
	mended = mendedAs(name, before, open)
	if bytes.Equal(mended, before) {
		return mended
	}
	old := faultsOf(name, before, open)
	for code, n := range faultsOf(name, mended, open) {
		if n > old[code] {
			t.Errorf("%s: %d of %s where %d were:\n%s\nbecomes\n%s", name, n, code, old[code], before, mended)
		}
	}
	return mended
}

// LANGUAGE.md#findings: what --fix makes of any plan of the tests has no error or warning that the
// plan hadn't.
func TestFixesOfTheCasesLeaveNothingNew(t *testing.T) {
	archives, err := filepath.Glob("../../analyzer/testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	changed := 0
	for i, archive := range archives {
		if i%amount.Of(4, 1, 1) > 0 {
			continue
		}
		text, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		files := txtar.Parse(text).Files
		open := func(name string) ([]byte, error) {
			if at := slices.IndexFunc(files, func(f txtar.File) bool { return f.Name == name }); at >= 0 {
				return files[at].Data, nil
			}
			return nil, os.ErrNotExist
		}
		for _, f := range files {
			if !strings.Contains(f.Name, "/") && !bytes.Equal(leavesNothingNew(t, f.Name, f.Data, open), f.Data) {
				changed++
			}
		}
	}
	if changed < amount.Of(2, 5, 5) {
		t.Errorf("only %d cases are changed by fixes", changed)
	}
}

// A slip is a change that somebody who types makes to a word, and whether a fix may
// take it back: it changes case, separators or the † alone.
type slip struct {
	name string
	safe bool
	of   func(random *rand.Rand, word string) string
}

var slips = []slip{
	{"case", true, func(random *rand.Rand, word string) string {
		at := random.IntN(len(word))
		for i := range word {
			if i := (at + i) % len(word); strings.ToUpper(word[i:i+1]) != strings.ToLower(word[i:i+1]) {
				flipped := strings.ToUpper(word[i : i+1])
				if flipped == word[i:i+1] {
					flipped = strings.ToLower(flipped)
				}
				return word[:i] + flipped + word[i+1:]
			}
		}
		return word
	}},
	{"separator", true, func(random *rand.Rand, word string) string {
		if strings.Contains(word, "_") {
			return strings.Replace(word, "_", "-", 1)
		}
		at := 1 + random.IntN(max(1, len(word)-1))
		return word[:at] + "_" + word[at:]
	}},
	{"letter too many", false, func(random *rand.Rand, word string) string {
		at := letterOf(random, word)
		return word[:at+1] + word[at:]
	}},
	{"letter too few", false, func(random *rand.Rand, word string) string {
		at := letterOf(random, word)
		return word[:at] + word[at+1:]
	}},
	{"another digit", false, func(random *rand.Rand, word string) string { return word + fmt.Sprint(1+random.IntN(9)) }},
	{"opposite", false, func(_ *rand.Rand, word string) string { return "un" + word }},
}

func letterOf(random *rand.Rand, word string) int {
	at := random.IntN(len(word))
	for word[at] == '_' {
		at = (at + 1) % len(word)
	}
	return at
}

// LANGUAGE.md#findings: a slip anywhere in a sound plan is taken back to the last byte, or only
// offered, and never made anything else; what isn't a matter of case, separators or
// the † isn't taken back unasked.
func TestSlipsAreTakenBackOrOffered(t *testing.T) {
	type plan struct {
		name string
		text []byte
	}
	var plans []plan
	for name, most := range map[string]int{"nestools.jsonl": amount.Of(6, 15, 15), "mathqa.jsonl": amount.Of(2, 5, 5)} {
		for n, row := range corpus.Rows[corpus.Plan](t, name)[:most] {
			plans = append(plans, plan{fmt.Sprint(name, n, ".json"), row.Document})
		}
	}
	slices.SortFunc(plans, func(a, b plan) int { return strings.Compare(a.name, b.name) })
	for i, text := range []string{
		"tools:\n  lock: {type: object, properties: {door: {enum: [prod-eu, prod-us]}}, required: [door], _output: {type: string}}\n" +
			"calls:\n  - {_tool: lock, door: prod-eu, _outputPath: †state.price1}\n  - {_tool: lock, door: prod-us, _outputPath: other_price}\noutput: {a: †state.price1, b: †state.other_price}\n",
		"stateSchema: {type: object, properties: {mood: {type: string}, last_mood: {type: string}}, additionalProperties: false}\n" +
			"activities: {feel: {expr: '\"fine\"'}}\ncalls:\n- _tool: feel\n  _id: firstFeeling\n  _outputPath: mood\n- _tool: feel\n  _after: [firstFeeling]\n  _outputPath: last_mood\noutput: [†state.mood, †state.last_mood]\n",
	} {
		plans = append(plans, plan{fmt.Sprint("own", i, ".yaml"), []byte(text)})
	}
	random := rand.New(rand.NewPCG(1, 7))
	taken, kept := map[string]int{}, map[string]int{}
	for _, p := range plans {
		open := func(string) ([]byte, error) { return nil, os.ErrNotExist }
		if faults := faultsOf(p.name, p.text, open); len(faults) > 0 {
			t.Fatalf("%s isn't sound: %v", p.name, faults)
		}
		words := wordsIn(p.text, bytes.LastIndex(p.text, []byte("calls")))
		for _, s := range slips {
			for range 3 {
				at := words[random.IntN(len(words))]
				word := string(p.text[at[0]:at[1]])
				faulty := slices.Concat(p.text[:at[0]], []byte(s.of(random, word)), p.text[at[1]:])
				switch mended := leavesNothingNew(t, p.name, faulty, open); {
				case bytes.Equal(mended, faulty):
					kept[s.name]++
				case !s.safe:
					t.Errorf("%s: %s in %q is changed unasked:\n%s", p.name, s.name, word, lastOf(mended))
				case !bytes.Equal(mended, p.text):
					t.Errorf("%s: %s in %q at %d is taken for something else:\n%s", p.name, s.name, word, at[0], lastOf(mended))
				default:
					taken[s.name]++
				}
			}
		}
	}
	t.Log("taken back:", taken, "left:", kept)
	for _, s := range slips {
		if (taken[s.name] > 0) != s.safe {
			t.Errorf("%s was taken back %d times", s.name, taken[s.name])
		}
	}
}

// wordsIn finds the words of a plan, from a place on, that could be a name of something.
func wordsIn(text []byte, from int) [][2]int {
	var all [][2]int
	letter := func(b byte) bool {
		return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
	}
	for at := from; at < len(text); at++ {
		end := at
		for end < len(text) && letter(text[end]) {
			end++
		}
		if end-at > 2 && text[at] != '_' && (text[at] < '0' || text[at] > '9') {
			all = append(all, [2]int{at, end})
		}
		at = end
	}
	return all
}

func lastOf(text []byte) []byte { return text[max(0, len(text)-400):] }
