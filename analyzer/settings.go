package analyzer

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// Settings are what an obelus.yaml says.
type Settings struct {
	Rules   map[*diag.Rule]Level
	Ignores []*Ignore
	Tools   []*source.Node `key:"tools" of:"a list of files that declare tools"` // paths of catalogues
	// MinSeverity is the least severity with which a check fails; nil for the default.
	MinSeverity *diag.Severity `key:"min-severity" words:"info,warning,error"`
	// RequireApproval says that plans run only as approved, by at least Approvals people; 0 for the default. Signers
	// and Revoked name, relative to the file's folder, the lists of accepted and of revoked keys; nil for none.
	RequireApproval bool         `key:"require-approval"`
	Approvals       int          `key:"approvals" from:"1" to:"100"`
	Signers         *source.Node `key:"signers"`
	Revoked         *source.Node `key:"revoked"`
	// Hosts are those that requests may go to; nil for the default.
	Hosts    *hosts.List
	excluded []*regexp.Regexp
}

// Excludes reports whether a file, by its path from the folder of the settings, isn't to be checked.
func (s *Settings) Excludes(path string) bool {
	return s != nil &&
		slices.ContainsFunc(s.excluded, func(paths *regexp.Regexp) bool { return paths.MatchString(path) })
}

// A Level is what becomes of a rule's findings.
type Level struct {
	Off      bool
	Severity diag.Severity
}

// An Ignore suppresses findings of one rule in some files.
type Ignore struct {
	Rule *diag.Rule
	// only about this call, as findings name it; "" for any
	Call string `key:"call" of:"a text"`
	// from the folder of the settings
	Pattern string       `key:"path" of:"a text" need:"name the files, as in path: plans/**"`
	Reason  string       `key:"reason" of:"a text" need:"write why the finding is accepted"`
	Node    *source.Node // where it is
	paths   *regexp.Regexp
}

// Covers reports whether a file, by its path from the folder of the settings, is one that an ignore speaks of.
func (i *Ignore) Covers(path string) bool { return i.paths.MatchString(path) }

// ReadSettings reads an obelus.yaml. The settings hold what could be read; the findings say what is
// wrong. A program's own rules may be named besides those of [rules.Registered].
func ReadSettings(file *source.File, own ...*Rule) (*Settings, []diag.Diagnostic) {
	known := slices.Concat(rules.Registered, own)
	r := &settingsReader{known: known, settings: &Settings{Rules: map[*diag.Rule]Level{}}}
	root, problems := source.Parse(file, source.DefaultLimits())
	for _, p := range problems {
		if d := diag.OfProblem(p); d.Rule != diag.AmbiguousScalar { // "off" is a word of this file
			r.Found = append(r.Found, d)
		}
	}
	if root == nil || root.Kind == source.Null { // an empty file sets nothing
		return r.settings, r.Found
	}
	r.Mapping(root, "the configuration", r.settings, map[string]func(source.Field){
		"rules": r.rules, "ignore": r.ignores, "exclude": r.exclude, "hosts": r.hosts,
	})
	// What can't be read isn't taken for less.
	if n := root.Get("require-approval"); n != nil && n.Kind != source.Bool {
		r.settings.RequireApproval = true
	}
	if r.settings.Approvals == 0 && root.Get("approvals") != nil {
		r.settings.Approvals = mostApprovals
	}
	for key, n := range map[string]*source.Node{"signers": r.settings.Signers, "revoked": r.settings.Revoked} {
		if n != nil && !decode.IsText(n) {
			r.Expects(n, strconv.Quote(key), "a file's path, relative to this file")
		}
	}
	diag.Sort(r.Found)
	return r.settings, r.Found
}

type settingsReader struct {
	decode.Reader
	known    []*Rule
	settings *Settings
}

// rule finds the rule that a text names.
func (r *settingsReader) rule(n *source.Node) *diag.Rule {
	rule, _ := rules.Find(r.known, n.Text)
	if rule != nil && n.Kind == source.String {
		return rule.Rule
	}
	f := r.Report(diag.WrongType, n.Span(), "there is no rule %q", n.Text).Advise("\"obelus explain\" lists all rules")
	var all []string
	for _, known := range r.known {
		all = append(all, known.Code, known.Name)
	}
	names := naming.NewSuggester(all)
	if near, ok := names.Nearest(n.Text); ok {
		decode.Intended(f, n, near, names.Sure(n.Text))
	}
	return nil
}

var levels = map[string]Level{
	"off": {Off: true}, "info": {Severity: diag.Info}, "warning": {Severity: diag.Warning},
	"error": {Severity: diag.Error},
}

func (r *settingsReader) rules(f source.Field) {
	first := map[*diag.Rule]*source.Node{}
	for _, one := range r.Fields(f.Value, "\"rules\"", "a mapping from codes or names to off, info, warning or error") {
		rule := r.rule(one.Key)
		level := r.OneOf(one.Value, fmt.Sprintf("the severity of %q", one.Key.Text), "off", "info", "warning", "error")
		if rule == nil || level == "" {
			continue
		}
		if before := first[rule]; before != nil {
			r.Report(diag.DuplicateKey, one.Key.Span(), "%s %s is set twice, under its code and its name", rule.Code,
				rule.Name).
				Advise("keep one of the two").Note(before.Span(), "it is set here as well")
			continue
		}
		first[rule] = one.Key
		r.settings.Rules[rule] = levels[level]
	}
}

func (r *settingsReader) ignores(f source.Field) {
	for i, item := range r.Items(f.Value, "\"ignore\"", "a list of {code, path, reason}") {
		if i == maxIgnores {
			r.Report(diag.Limit, item.Span().Head(), "\"ignore\" has more than %d items", maxIgnores).
				Advise("switch the rule off under \"rules\", or mend some")
			return
		}
		r.ignore(item)
	}
}

func (r *settingsReader) ignore(item *source.Node) {
	one, before := &Ignore{Node: item}, len(r.Found)
	if !r.Mapping(item, "an item of \"ignore\"", one,
		map[string]func(source.Field){"code": func(f source.Field) { one.Rule = r.rule(f.Value) }}) {
		return
	}
	if item.Get("code") == nil {
		r.Report(diag.WrongType, item.Span().Head(), "an item of \"ignore\" has no \"code\"").
			Advise("name the rule, as in code: OB407")
	}
	if slices.ContainsFunc(r.Found[before:], func(d diag.Diagnostic) bool { return d.Rule != diag.UnknownKey }) {
		return
	}
	if one.paths = r.pattern(item.Get("path")); one.paths != nil {
		r.settings.Ignores = append(r.settings.Ignores, one)
	}
}

const (
	maxIgnores = 1000 // and as many patterns of files that aren't checked
	maxPattern = 1000 // characters
)

// pattern matches the paths that a pattern means, nil where it isn't one: one without a slash means files of that
// name in any folder, and one that names a folder all files below it.
func (r *settingsReader) pattern(n *source.Node) *regexp.Regexp {
	if len(n.Text) > maxPattern {
		r.Report(diag.Limit, n.Span(), "the path is longer than %d characters", maxPattern).Advise("shorten it")
		return nil
	}
	if strings.Contains(n.Text, "{") {
		r.Report(diag.WrongType, n.Span(), "a path has no braces").Advise("write an entry for each of the paths")
		return nil
	}
	text := strings.TrimSuffix(strings.TrimPrefix(n.Text, "./"), "/")
	if !strings.Contains(text, "/") {
		text = "**/" + text
	}
	paths := strings.TrimSuffix(workspace.Pattern(strings.TrimPrefix(text, "/")).String(), "$")
	return regexp.MustCompile(paths + "(?:/.*)?$")
}

func (r *settingsReader) exclude(f source.Field) {
	for i, item := range r.Texts(f.Value, "\"exclude\"",
		"a list of paths like plans/old/** or *.draft.yaml, relative to this file") {
		if i == maxIgnores {
			r.Report(diag.Limit, item.Span().Head(), "\"exclude\" has more than %d items", maxIgnores).
				Advise("name their folders")
			return
		}
		if strings.HasPrefix(item.Text, "!") {
			r.Report(diag.WrongType, item.Span(), "what \"exclude\" names can't be taken back with !").
				Advise("name what isn't to be checked, and nothing else")
		} else if paths := r.pattern(item); paths != nil {
			r.settings.excluded = append(r.settings.excluded, paths)
		}
	}
}

func (r *settingsReader) hosts(f source.Field) {
	r.settings.Hosts = policy.HostsOf(&r.Reader, f.Value)
	r.settings.Hosts.By = f.Value.File.Name
}

// mostApprovals is how many people can be asked to approve.
const mostApprovals = 100

//go:embed config.schema.json
var configSchema []byte

// ConfigSchema is the JSON Schema (draft 2020-12) of obelus.yaml, as the text of
// a JSON document. The caller may keep and change what it gets.
func ConfigSchema() []byte { return slices.Clone(configSchema) }
