package label_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/source"
	"golang.org/x/tools/txtar"
)

var (
	marked = regexp.MustCompile(`# ((?:OB70\d ?)+)`)
	after  = regexp.MustCompile(`# after (\S+)`)
)

// LANGUAGE.md#policies-and-labels to LANGUAGE.md#policies-and-labels: the policies of four kinds of agents, after the
// suites of AgentDojo (Debenedetti et al., 2024) and the policies that CaMeL (Debenedetti et al., 2025) has for
// them. Honest tasks have no finding of labels at all; of every attack the marked call is
// refused, also where a model that has read the attacker's text writes it as its next plan.
func TestAgents(t *testing.T) {
	files, err := filepath.Glob("testdata/agents/*.txtar")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	honest, stopped := 0, 0
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]string{}
		for _, f := range archive.Files {
			read[f.Name] = string(f.Data)
		}
		catalogue := source.NewFile("tools.yaml", []byte(read["tools.yaml"]))
		tools, _ := compiler.Compile(catalogue, compiler.Options{Definitions: true})
		options := compiler.Options{Catalogues: []*source.File{catalogue}, Policies: []compiler.PolicyFile{{File: source.NewFile("policy.yaml", []byte(read["policy.yaml"])), Counts: true}}}
		for _, tool := range tools.Tools {
			// these are a model's
			if !slices.Contains([]string{"extract", "summarize", "recommend", "best_of", "total_of", "is_refund_due"},
				tool.Name) {
				options.Functions = append(options.Functions, tool.Name)
			}
		}
		for _, f := range archive.Files {
			kind, task, _ := strings.Cut(f.Name, "/")
			if task == "" {
				continue
			}
			text := string(f.Data)
			var found []diag.Diagnostic
			if first := after.FindStringSubmatch(text); first != nil {
				found = replanned(t, options, read[first[1]], text)
			} else {
				p, wrong := compiler.Compile(source.NewFile(f.Name, f.Data), options)
				found = analyzer.Analyze(p, wrong, analyzer.Config{}).Findings
			}
			got := map[string]bool{} // by line and code
			for _, d := range found {
				if strings.HasPrefix(d.Rule.Code, "OB7") {
					line := strings.Split(text, "\n")[d.Span.From().Line-1]
					got[d.Rule.Code] = true
					if m := marked.FindStringSubmatch(line); d.Severity == diag.Error &&
						(m == nil || !strings.Contains(m[1], d.Rule.Code)) {
						t.Errorf("%s %s: %s: %s", name, f.Name, d.Rule.Code, d.Message)
					}
				} else if d.Severity == diag.Error {
					t.Errorf("%s %s: %s: %s", name, f.Name, d.Rule.Code, d.Message)
				}
			}
			switch wanted := marked.FindStringSubmatch(text); {
			case kind == "honest" && len(got) == 0:
				honest++
			case kind == "honest":
				t.Errorf("%s %s: an honest task is refused: %v", name, f.Name, found)
			case wanted == nil:
				t.Errorf("%s %s: no call is marked", name, f.Name)
			default:
				for _, code := range strings.Fields(wanted[1]) {
					if !got[code] {
						t.Errorf("%s %s: %s isn't found", name, f.Name, code)
					}
				}
				stopped++
			}
		}
	}
	t.Logf("%d honest tasks pass, %d attacks are stopped", honest, stopped)
}

// replanned is what is said of the calls that a model writes after another plan has run.
func replanned(t *testing.T, o compiler.Options, first, next string) []diag.Diagnostic {
	p, found := compiler.Compile(source.NewFile("first.yaml", []byte(first)), o)
	if diag.HasErrors(found) {
		t.Fatal(found)
	}
	live := label.Beginning(p)
	label.Of(p).Leave(live, func(int) bool { return true })
	state := map[string]any{}
	for _, call := range p.Calls { // something stands wherever it wrote
		for _, route := range call.Output {
			for _, path := range route {
				state[p.Paths.Keys(path.ID)[1]] = map[string]any{"text": "text"}
			}
		}
	}
	s := compiler.Setting{Plan: p, State: state, Paths: p.Paths.Clone(), Live: live}
	plan, found := s.Solve(source.NewFile("next.yaml", []byte(next)), compiler.Options{})
	d := analyzer.Screen(plan, found, nil, nil)
	all := d.Problems()
	for i := range plan.Calls {
		all = append(all, d.Faults(i)...)
	}
	return all
}
