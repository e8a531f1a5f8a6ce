package rules

import (
	"embed"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
)

// What a rule is written with.
type (
	Pass       = analysis.Pass
	Rule       = analysis.Rule
	parameters = analysis.Parameters
	judgement  = analysis.Judgement
	target     = analysis.Target
	evidence   = analysis.Branch
	choice     = analysis.BranchChoice
)

var quote, short = analysis.Quote, analysis.Short

const (
	idle     = analysis.Idle
	document = analysis.Document
)

// Registered are the rules by code; don't change the list.
var Registered []*Rule

// Find is the rule of a code or name, in any case; or nil and the code or name that comes nearest, if any comes near.
func Find(rules []*Rule, word string) (rule *Rule, near string) {
	var names []string
	for _, r := range rules {
		if strings.EqualFold(word, r.Code) || "OB"+word == r.Code || strings.EqualFold(word, r.Name) {
			return r, ""
		}
		names = append(names, r.Code, r.Name)
	}
	near, ok := naming.Nearest(word, names)
	if i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, word) }); !ok && i >= 0 {
		near = names[i]
	}
	return nil, near
}

// Page is the page of a rule, in Markdown. The code may have any case. It returns false if there is no such rule.
func Page(code string) (string, bool) {
	r, _ := Find(Registered, code)
	if r == nil {
		return "", false
	}
	text, err := Pages.ReadFile(r.Code + "-" + r.Name + ".md")
	return string(text), err == nil
}

//go:embed OB*.md
var Pages embed.FS

// Register enters a rule, which its file does.
func Register(r Rule) *Rule {
	at, taken := slices.BinarySearchFunc(Registered, r.Code,
		func(other *Rule, code string) int { return strings.Compare(other.Code, code) })
	if taken {
		panic("there are two rules " + r.Code)
	}
	Registered = slices.Insert(Registered, at, &r)
	return &r
}

// What the compiler finds alone has no file here.
func init() {
	for _, shared := range diag.Shared() {
		if !slices.ContainsFunc(Registered, func(r *Rule) bool { return r.Rule == shared }) {
			Register(Rule{Rule: shared})
		}
	}
}
