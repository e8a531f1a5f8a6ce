package analyzer

import (
	"embed"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// A Rule is one thing that is looked for: what its findings are called, and a
// function that makes them. Without a function it is the compiler that finds it.
// Rules run in the order of their codes, a program's own (see [Config]) last.
type Rule struct {
	*diag.Rule
	// Scope says what Run looks at.
	Scope Scope
	// Strict rules are on where [Config.StrictProtocol] is.
	Strict bool
	// Raises says that some findings are errors although the default is less.
	Raises bool
	// Needs are the facts from whose absence the rule concludes something: it isn't
	// asked where an error of the compiler leaves some of them unknown.
	Needs diag.Facts
	// Run looks at the plan. A program's own rule is asked again with every call of a
	// solution that arrives, if it makes errors.
	Run func(*Pass)
	// Call looks at one call, and at what the document says of its tool, but not at which other calls there are; such a
	// rule has no Run. It is asked about each call of a plan, and about a call that arrives later alone.
	Call func(*Pass, *plan.Call)
}

// A Scope says what a rule looks at: it decides how a plan is judged whose instances have calls of their own.
type Scope uint8

const (
	// View rules look at the calls that run together: each instance's are judged for themselves.
	View Scope = iota
	// Idle rules are View rules about what serves no purpose, which is a finding only where it is so in every instance.
	Idle
	// Document rules look at the document, or go through its calls one by one.
	Document
)

// byView reports whether a rule is asked about each instance's calls anew.
func (r *Rule) byView() bool { return r.Call == nil && r.Scope != Document }

// Rules lists every rule, by code.
func Rules() []*Rule { return slices.Clone(rules) }

var rules []*Rule

// rules are all that are looked for.
func (c *Config) rules() []*Rule {
	if len(c.Rules) == 0 {
		return rules
	}
	return slices.Concat(rules, c.Rules)
}

// Named is the rule of a code or name, in any case; or nil and the code or name that comes nearest, if any comes near.
func Named(word string) (rule *Rule, near string) { return named(rules, word) }

func named(rules []*Rule, word string) (rule *Rule, near string) {
	var names []string
	for _, r := range rules {
		if strings.EqualFold(word, r.Code) || strings.EqualFold(word, r.Name) {
			return r, ""
		}
		names = append(names, r.Code, r.Name)
	}
	near, _ = naming.Nearest(word, names)
	return nil, near
}

// Page is the page of a rule, in Markdown. The code may have any case. It returns false if there is no such rule.
func Page(code string) (string, bool) {
	r, _ := Named(code)
	if r == nil {
		return "", false
	}
	text, err := pages.ReadFile("rules/" + r.Code + "-" + r.Name + ".md")
	return string(text), err == nil
}

//go:embed rules/OB*.md
var pages embed.FS

// register enters a rule, which its file does.
func register(r Rule) *Rule {
	at, taken := slices.BinarySearchFunc(rules, r.Code, func(other *Rule, code string) int { return strings.Compare(other.Code, code) })
	if taken {
		panic("there are two rules " + r.Code)
	}
	rules = slices.Insert(rules, at, &r)
	return &r
}

// What the compiler finds alone has no file here.
func init() {
	for _, shared := range diag.Shared() {
		if !slices.ContainsFunc(rules, func(r *Rule) bool { return r.Rule == shared }) {
			register(Rule{Rule: shared})
		}
	}
}
