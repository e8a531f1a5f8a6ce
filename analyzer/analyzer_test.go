package analyzer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"golang.org/x/tools/txtar"
)

// A wish is what a comment of a case wants to see on its line:
//
//	# want OB203 info "never there"
//	# note OB203 "is written here"
//
// A want is a finding with that code, severity (the rule's own unless one is
// named) and message, with the help behind it in parentheses; a note is a
// related place of one.
type wish struct {
	line     int
	note     bool
	code     string
	severity string
	message  *regexp.Regexp
}

var (
	comment = regexp.MustCompile(`#\s*(want|note)\s.*$`)
	wished  = regexp.MustCompile(`(want|note)?\s*(OB\d{3})(?:\s+(error|warning|info))?(?:\s+"((?:[^"\\]|\\.)*)")?`)
)

func wishes(t testing.TB, text string) []wish {
	t.Helper()
	var all []wish
	for i, line := range strings.Split(text, "\n") {
		note := false
		for _, m := range wished.FindAllStringSubmatch(comment.FindString(line), -1) {
			if m[1] != "" {
				note = m[1] == "note"
			}
			message, err := regexp.Compile(strings.ReplaceAll(m[4], `\"`, `"`))
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			all = append(all, wish{i + 1, note, m[2], m[3], message})
		}
	}
	return all
}

func (w wish) grantedBy(d diag.Diagnostic) bool {
	if d.Rule.Code != w.code {
		return false
	}
	if w.note {
		return slices.ContainsFunc(d.Related, func(n diag.Note) bool {
			return n.Span.From().Line == w.line && w.message.MatchString(n.Message)
		})
	}
	severity := d.Rule.Default.String()
	if w.severity != "" {
		severity = w.severity
	}
	return d.Span.From().Line == w.line && d.Severity.String() == severity && w.message.MatchString(d.Message+" ("+d.Help+")")
}

// granted holds findings against wishes: each wish is granted, and each error
// and warning was wished for; so was each info, if the case has a wish for its
// code or says "# judge OB207".
func granted(t testing.TB, name, text string, found []diag.Diagnostic) {
	t.Helper()
	all := wishes(t, text)
	for _, w := range all {
		if !slices.ContainsFunc(found, w.grantedBy) {
			t.Errorf("%s:%d: %s %s %q isn't there; found:\n%s", name, w.line, w.code, w.severity, w.message, every(found))
		}
	}
	for _, d := range found {
		if d.Severity == diag.Info && !strings.Contains(text, "# judge "+d.Rule.Code) && !slices.ContainsFunc(all, func(w wish) bool { return w.code == d.Rule.Code }) {
			continue
		}
		if !slices.ContainsFunc(all, func(w wish) bool { return !w.note && w.grantedBy(d) }) {
			t.Errorf("%s: nobody wanted %s", name, shown(d))
		}
	}
}

func every(found []diag.Diagnostic) string {
	var lines []string
	for _, d := range found {
		lines = append(lines, "  "+shown(d))
		for _, n := range d.Related {
			at := n.Span.From()
			lines = append(lines, fmt.Sprintf("    %d:%d %s", at.Line, at.Column, n.Message))
		}
	}
	return strings.Join(lines, "\n")
}

// TestCases goes through testdata: every file of an archive whose name ends in
// .yaml and has no slash is a plan; the others are there to be imported.
func TestCases(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	fires, silent := map[string]bool{}, map[string]bool{} // by code: in a plan, and in another of the same archive
	for _, archive := range archives {
		wanted, unwanted := map[string]bool{}, map[string]bool{}
		text, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		files := txtar.Parse(text).Files
		if len(files) == 0 {
			t.Errorf("%s holds no case", archive)
		}
		open := func(name string) ([]byte, error) {
			for _, f := range files {
				if f.Name == name {
					return f.Data, nil
				}
			}
			return nil, os.ErrNotExist
		}
		for _, f := range files {
			if strings.Contains(f.Name, "/") {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar")+"/"+strings.TrimSuffix(f.Name, ".yaml"), func(t *testing.T) {
				text := string(f.Data)
				plan, found := compiler.Compile(source.NewFile(f.Name, f.Data), compiler.Options{Name: f.Name, Open: open, Policies: policiesOf(text)})
				analysis := Analyze(plan, found, asked(text))
				verified, all := analysis.Verified, analysis.Findings
				granted(t, f.Name, text, all)
				if (verified == nil) != diag.HasErrors(all) {
					t.Errorf("verified: %v, errors: %v", verified != nil, diag.HasErrors(all))
				}
				here, config := map[string]bool{}, asked(text)
				for _, w := range wishes(t, text) {
					here[w.code], wanted[w.code] = true, true
				}
				for _, r := range rules.Registered {
					if !here[r.Code] && (r.Default > diag.Info || strings.Contains(text, "# judge "+r.Code)) && config.asksFor(r) {
						unwanted[r.Code] = true
					}
				}
				wellFormed(t, all)
				callByCall(t, plan, found)
				mended(t, f.Name, text, all, open)
			})
		}
		for code := range wanted {
			fires[code], silent[code] = true, silent[code] || unwanted[code]
		}
	}
	for _, r := range rules.Registered {
		if !fires[r.Code] {
			t.Errorf("no case shows %s %s", r.Code, r.Name)
		} else if !silent[r.Code] {
			t.Errorf("the .txtar files that show %s %s have no plan without it: add one (for an info with \"# judge %s\")", r.Code, r.Name, r.Code)
		}
	}
}

// callByCall holds what rules that judge call by call say of a whole plan against
// what they say of each call alone, the last one first.
func callByCall(t testing.TB, plan *plan.Plan, found []diag.Diagnostic) {
	t.Helper()
	if plan.Root == nil {
		return
	}
	full, alone := analysis.NewPass(plan, analysis.UnknownFacts(plan, found)), analysis.NewPass(plan, analysis.UnknownFacts(plan, found))
	for _, r := range rules.Registered {
		if r.Call == nil || full.Unknown(r.Needs) {
			continue
		}
		(&Config{}).run(full, r)
		alone.Rule = r.Rule
		for _, call := range slices.Backward(plan.Calls) {
			r.Call(alone, call)
		}
	}
	diag.Sort(full.Found)
	diag.Sort(alone.Found)
	if every(full.Found) != every(alone.Found) {
		t.Errorf("of all calls:\n%s\nof each alone:\n%s", every(full.Found), every(alone.Found))
	}
}

// wellFormed checks what every finding owes its reader.
func wellFormed(t testing.TB, found []diag.Diagnostic) {
	t.Helper()
	for _, d := range found {
		if !d.Span.Known() || d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(d.Span.File.Text) {
			t.Errorf("%s is nowhere: %+v", d.Rule.Code, d.Span)
			continue
		}
		if d.Message == "" || strings.HasSuffix(d.Message, ".") || strings.Contains(d.Message, "%!") || strings.Contains(d.Help, "%!") {
			t.Errorf("a message isn't in form: %s", shown(d))
		}
		if own := slices.IndexFunc(rules.Registered, func(r *Rule) bool { return judges(r) && r.Rule == d.Rule }); own >= 0 {
			if d.Help == "" {
				t.Errorf("a finding doesn't say what to do: %s", shown(d))
			}
			if d.Severity == diag.Error && rules.Registered[own].Default != diag.Error && !rules.Registered[own].Raises {
				t.Errorf("the rule doesn't say that it makes errors: %s", shown(d))
			}
		}
		words := map[string]bool{}
		for _, n := range d.Related {
			at := fmt.Sprint(n.Span.Start, n.Message)
			if n.Message == "" || !n.Span.Known() || words[at] {
				t.Errorf("%s has a related place without words of its own: %q", d.Rule.Code, n.Message)
			}
			words[at] = true
		}
	}
}

// mended applies the first fix of every finding and looks whether the finding is
// gone.
func mended(t testing.TB, name, text string, found []diag.Diagnostic, open func(string) ([]byte, error)) {
	t.Helper()
	for _, d := range found {
		if len(d.Fixes) == 0 || len(d.Fixes[0].Edits) != 1 || d.Span.File.Name != name {
			continue
		}
		edit := d.Fixes[0].Edits[0]
		changed := text[:edit.Span.Start] + edit.Text + text[edit.Span.End:]
		plan, first := compiler.Compile(source.NewFile(name, []byte(changed)), compiler.Options{Name: name, Open: open, Policies: policiesOf(changed)})
		after := Analyze(plan, first, asked(changed)).Findings
		same := func(all []diag.Diagnostic) int {
			n := 0
			for _, x := range all {
				if x.Rule == d.Rule || x.Rule == diag.Syntax {
					n++
				}
			}
			return n
		}
		if same(after) >= same(found) {
			t.Errorf("%s: the fix %q doesn't mend %s; then:\n%s", name, edit.Text, shown(d), every(after))
		}
	}
}

// Every rule is registered in order of its code, by a file that is named by its
// code and name where it is judged here, and has a page.
func TestEveryRuleHasItsPlaceAndPage(t *testing.T) {
	if !slices.IsSortedFunc(rules.Registered, func(a, b *Rule) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("the rules aren't in order")
	}
	for _, r := range rules.Registered {
		if _, ok := rules.Page(r.Code); !ok {
			t.Errorf("%s %s has no page", r.Code, r.Name)
		}
		file := strings.ToLower(r.Code) + "_" + strings.ReplaceAll(r.Name, "-", "_") + ".go"
		text, err := os.ReadFile("rules/" + file)
		if err != nil { // what looks at the whole run, or at policies, is beside the analysis
			text, err = os.ReadFile(file)
		}
		if judges(r) && (err != nil || !strings.Contains(string(text), "Register(Rule{")) {
			t.Errorf("%s doesn't register %s %s: %v", file, r.Code, r.Name, err)
		}
	}
	files, err := rules.Pages.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(rules.Registered) {
		t.Errorf("there are %d pages for %d rules", len(files), len(rules.Registered))
	}
	if _, ok := rules.Page("OB000"); ok {
		t.Error("a code that doesn't exist has a page")
	}
	if text, ok := rules.Page("ob301"); !ok || !strings.HasPrefix(text, "# OB301 cycle") {
		t.Error("a code in lower case doesn't find its page")
	}
}

// LANGUAGE.md#findings: of the two plans of every page the first yields the code at the marked
// line, and the second neither that code nor any error.
func TestPages(t *testing.T) {
	for _, r := range rules.Registered {
		text, _ := rules.Page(r.Code)
		t.Run(r.Code, func(t *testing.T) {
			for _, part := range []string{"# " + r.Code + " " + r.Name + "\n", "\n## Problem\n", "\n## Example\n", "\n## Fix\n", "\n## Why\n", "\n## When to suppress\n"} {
				if !strings.Contains(text, part) {
					t.Errorf("the page lacks %q", part)
				}
			}
			plans := fenced(text)
			if len(plans) != 2 {
				t.Fatalf("the page has %d plans", len(plans))
			}
			marks := wishes(t, plans[0])
			if len(marks) == 0 {
				t.Fatal("no line of the first plan is marked")
			}
			_, _, found := judged("failing.yaml", plans[0])
			for _, w := range marks {
				if w.code != r.Code || !slices.ContainsFunc(found, w.grantedBy) {
					t.Errorf("%s isn't found in line %d; found:\n%s", r.Code, w.line, every(found))
				}
			}
			for _, d := range found {
				if d.Rule.Code != r.Code && d.Severity == diag.Error {
					t.Errorf("the first plan has another error: %s", shown(d))
				}
			}
			_, verified, found := judged("mended.yaml", plans[1]+"# judge "+r.Code+"\n")
			for _, d := range found {
				if d.Rule.Code == r.Code || d.Severity > diag.Info {
					t.Errorf("the mended plan has %s", shown(d))
				}
			}
			if verified == nil {
				t.Error("the mended plan isn't verified")
			}
		})
	}
}

// fenced are the plans of a page.
func fenced(page string) []string {
	var plans []string
	for {
		_, rest, ok := strings.Cut(page, "```yaml\n")
		if !ok {
			return plans
		}
		plan, after, ok := strings.Cut(rest, "```")
		if !ok {
			return plans
		}
		plans = append(plans, plan)
		page = after
	}
}

// A document that can't be read has that one finding, and nothing follows from it.
func TestNothingFollowsFromWhatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "calls: [", "calls: {", "a: b: c", "- - -\n  x: [", "{\"calls\": [}", "\x00", "calls:\n\t- x"} {
		_, verified, found := judged("broken.yaml", text)
		if verified != nil || len(found) != 1 {
			t.Errorf("%q: verified %v, found:\n%s", text, verified != nil, every(found))
		}
	}
}

// judges reports whether a rule is looked for here, and not by the compiler.
func judges(r *Rule) bool { return r.Run != nil || r.Call != nil }
