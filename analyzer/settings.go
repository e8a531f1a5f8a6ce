package analyzer

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Settings are what an obelus.yaml says.
type Settings struct {
	Rules   map[*diag.Rule]Level
	Ignores []*Ignore
	Tools   []*source.Node // the paths of catalogues, relative to the file's folder
	// MinSeverity is the least severity with which a check fails; nil for the default.
	MinSeverity *diag.Severity
	// RequireApproval says that plans run only as approved, by at least Approvals people; 0 for the
	// default. Signers and Revoked name, relative to the file's folder, the lists of accepted and of
	// revoked keys; nil for none.
	RequireApproval  bool
	Approvals        int
	Signers, Revoked *source.Node
	// Hosts are those that requests may go to; nil for the default.
	Hosts    *hosts.List
	excluded []*regexp.Regexp
}

// Excludes reports whether a file, by its path from the folder of the settings, isn't to
// be checked.
func (s *Settings) Excludes(path string) bool {
	return s != nil && slices.ContainsFunc(s.excluded, func(paths *regexp.Regexp) bool { return paths.MatchString(path) })
}

// A Level is what becomes of a rule's findings.
type Level struct {
	Off      bool
	Severity diag.Severity
}

// An Ignore suppresses findings of one rule in some files.
type Ignore struct {
	Rule    *diag.Rule
	Call    string       // only about this call, as findings name it; "" for any
	Pattern string       // the paths, from the folder of the settings
	Reason  string       // why the finding stays
	Node    *source.Node // where it stands
	Literal bool         // the pattern is a path itself
	paths   *regexp.Regexp
}

// Covers reports whether a file, by its path from the folder of the settings, is
// one that an ignore speaks of.
func (i *Ignore) Covers(path string) bool { return i.paths.MatchString(path) }

// ReadSettings reads an obelus.yaml. The settings hold what could be read; the findings say what is
// wrong. A program's own rules may be named besides those of [Rules].
func ReadSettings(file *source.File, limits source.Limits, own ...*Rule) (*Settings, []diag.Diagnostic) {
	r := &settingsReader{known: slices.Concat(rules, own), settings: &Settings{Rules: map[*diag.Rule]Level{}}}
	root, problems := source.Parse(file, limits)
	for _, p := range problems {
		if d := diag.OfProblem(p); d.Rule != diag.AmbiguousScalar { // "off" is a word of this file
			r.found = append(r.found, d)
		}
	}
	switch {
	case root == nil, root.Kind == source.Null: // an empty file sets nothing
	case root.Kind != source.Object:
		r.reportType(root, "the configuration", "a mapping with \"rules\", \"ignore\", \"exclude\", \"min-severity\", \"tools\", \"hosts\" or \"signers\"")
	default:
		r.fields(root, "the configuration", map[string]func(source.Field){
			"rules": r.rules, "ignore": r.ignores, "tools": r.tools, "exclude": r.exclude, "min-severity": r.minSeverity,
			"require-approval": r.requireApproval, "approvals": r.approvals, "signers": r.file(&r.settings.Signers), "revoked": r.file(&r.settings.Revoked),
			"hosts": r.hosts,
		})
	}
	diag.Sort(r.found)
	return r.settings, r.found
}

type settingsReader struct {
	known    []*Rule
	settings *Settings
	found    diag.Findings
}

func (r *settingsReader) report(rule *diag.Rule, at source.Span, format string, args ...any) *diag.Diagnostic {
	return r.found.Report(rule, at, format, args...)
}

func (r *settingsReader) reportType(n *source.Node, what, expected string) *diag.Diagnostic {
	return r.report(diag.WrongType, n.Span(), "%s is %s; expected %s", what, n.Kind, expected)
}

// suggest offers the closest of some names.
func suggest(f *diag.Diagnostic, n *source.Node, names []string) *diag.Diagnostic {
	known := naming.NewSuggester(names)
	near, ok := known.Nearest(n.Text)
	if !ok {
		return f
	}
	return f.Advise("did you mean %q?", near).Rename(n, 0, len(n.Text), near, known.Sure(n.Text))
}

func (r *settingsReader) fields(n *source.Node, what string, handlers map[string]func(source.Field)) {
	if n.Kind != source.Object {
		r.reportType(n, what, "a mapping")
		return
	}
	for _, f := range n.Fields {
		if handle, ok := handlers[f.Key.Text]; ok {
			handle(f)
		} else if !strings.HasPrefix(f.Key.Text, "x-") {
			known := slices.Sorted(maps.Keys(handlers))
			suggest(r.report(diag.UnknownKey, f.Key.Span(), "%s has no key %q", what, f.Key.Text).
				Advise("known keys are %s; keys that begin with x- are ignored", strings.Join(known, ", ")), f.Key, known)
		}
	}
}

// rule finds the rule that a text names.
func (r *settingsReader) rule(n *source.Node) *diag.Rule {
	rule, _ := named(r.known, n.Text)
	if rule == nil || n.Kind != source.String {
		var names []string
		for _, known := range r.known {
			names = append(names, known.Code, known.Name)
		}
		suggest(r.report(diag.WrongType, n.Span(), "there is no rule %q", n.Text).Advise("\"obelus explain\" lists all rules"), n, names)
		return nil
	}
	return rule.Rule
}

var levels = map[string]Level{
	"off": {Off: true}, "info": {Severity: diag.Info}, "warning": {Severity: diag.Warning}, "error": {Severity: diag.Error},
}

func (r *settingsReader) rules(f source.Field) {
	if f.Value.Kind != source.Object {
		r.reportType(f.Value, "\"rules\"", "a mapping from codes or names to off, info, warning or error")
		return
	}
	first := map[*diag.Rule]*source.Node{}
	for _, one := range f.Value.Fields {
		rule := r.rule(one.Key)
		level, ok := levels[one.Value.Text]
		if !ok || one.Value.Kind != source.String {
			suggest(r.report(diag.WrongType, one.Value.Span(), "the severity of %q must be off, info, warning or error", one.Key.Text).
				Advise("write it like OB407: info"), one.Value, slices.Sorted(maps.Keys(levels)))
			continue
		}
		if rule == nil {
			continue
		}
		if before := first[rule]; before != nil {
			r.report(diag.DuplicateKey, one.Key.Span(), "%s %s is set twice, under its code and its name", rule.Code, rule.Name).
				Advise("keep one of the two").Note(before.Span(), "it is set here as well")
			continue
		}
		first[rule] = one.Key
		r.settings.Rules[rule] = level
	}
}

func (r *settingsReader) ignores(f source.Field) {
	if f.Value.Kind != source.Array {
		r.reportType(f.Value, "\"ignore\"", "a list of {code, path, reason}")
		return
	}
	for i, item := range f.Value.Items {
		if i == maxIgnores {
			r.report(diag.Limit, headOf(item.Span()), "\"ignore\" has more than %d items", maxIgnores).Advise("switch the rule off under \"rules\", or mend some")
			return
		}
		r.ignore(item)
	}
}

func (r *settingsReader) ignore(item *source.Node) {
	one := &Ignore{Node: item}
	known, described := true, map[string]*string{"call": &one.Call, "path": &one.Pattern, "reason": &one.Reason}
	handlers := map[string]func(source.Field){
		"code": func(f source.Field) { one.Rule = r.rule(f.Value); known = one.Rule != nil },
	}
	for key, to := range described {
		handlers[key] = func(f source.Field) {
			if f.Value.Kind != source.String || strings.TrimSpace(f.Value.Text) == "" {
				r.reportType(f.Value, fmt.Sprintf("%q", key), "a text").Advise("write %s: and what it is", key)
				known = false
				return
			}
			*to = f.Value.Text
		}
	}
	r.fields(item, "an item of \"ignore\"", handlers)
	if item.Kind != source.Object {
		return
	}
	for _, key := range []string{"code", "path", "reason"} {
		if item.Get(key) == nil {
			help := map[string]string{"code": "name the rule, as in code: OB407", "path": "name the files, as in path: plans/**", "reason": "say why the finding may stay"}[key]
			r.report(diag.WrongType, headOf(item.Span()), "an item of \"ignore\" needs %q", key).Advise("%s", help)
			known = false
		}
	}
	if !known {
		return
	}
	one.Literal = !strings.ContainsAny(one.Pattern, "*?[{")
	if one.paths = r.pattern(item.Get("path")); one.paths != nil {
		r.settings.Ignores = append(r.settings.Ignores, one)
	}
}

const (
	maxIgnores = 1000 // and as many patterns of files that aren't checked
	maxPattern = 1000 // characters
)

// pattern reads a pattern of paths; nil is one that isn't any.
func (r *settingsReader) pattern(n *source.Node) *regexp.Regexp {
	if len(n.Text) > maxPattern {
		r.report(diag.Limit, n.Span(), "the path is longer than %d characters", maxPattern).Advise("shorten it")
		return nil
	}
	paths, err := regexp.Compile(globbed(n.Text))
	if err != nil {
		r.report(diag.WrongType, n.Span(), "%q is no pattern of paths", n.Text).Advise("? is a character, * any within a name, ** any folders, [a-z] one of some, {a,b} either")
	}
	return paths
}

func (r *settingsReader) exclude(f source.Field) {
	for i, item := range r.texts(f, "a list of paths", "a path, with * where it stands for any", "write them like plans/old/** or *.draft.yaml, relative to this file") {
		if i == maxIgnores {
			r.report(diag.Limit, headOf(item.Span()), "\"exclude\" has more than %d items", maxIgnores).Advise("name their folders")
			return
		}
		if strings.HasPrefix(item.Text, "!") {
			r.report(diag.WrongType, item.Span(), "what \"exclude\" names can't be taken back with !").Advise("name what isn't to be checked, and nothing else")
		} else if paths := r.pattern(item); paths != nil {
			r.settings.excluded = append(r.settings.excluded, paths)
		}
	}
}

func (r *settingsReader) minSeverity(f source.Field) {
	level, ok := levels[f.Value.Text]
	if !ok || level.Off || f.Value.Kind != source.String {
		suggest(r.report(diag.WrongType, f.Value.Span(), "\"min-severity\" must be info, warning or error").
			Advise("it is the least severity with which a check fails"), f.Value, []string{"info", "warning", "error"})
		return
	}
	r.settings.MinSeverity = &level.Severity
}

// texts reads a list of strings that say something, or a single one.
func (r *settingsReader) texts(f source.Field, list, one, help string) []*source.Node {
	if f.Value.Kind != source.String && f.Value.Kind != source.Array {
		r.reportType(f.Value, fmt.Sprintf("%q", f.Key.Text), list).Advise("%s", help)
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Value.Several()), func(item *source.Node) bool {
		bad := item.Kind != source.String || strings.TrimSpace(item.Text) == ""
		if bad {
			r.reportType(item, fmt.Sprintf("an item of %q", f.Key.Text), one).Advise("%s", help)
		}
		return bad
	})
}

// globbed is a pattern of paths as a regular expression: ? is one character, [a-z] one
// of some, and * any number of them within a name; ** is any number of folders, and
// {a,b} either of the two. A pattern without a slash speaks of files of that name in any
// folder, and one that names a folder of all files below it.
func globbed(pattern string) string {
	pattern = strings.TrimPrefix(pattern, "./")
	var b strings.Builder
	b.WriteString("^")
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		b.WriteString("(.*/)?")
	}
	pattern = strings.Trim(pattern, "/")
	open := 0 // braces
	for pattern != "" {
		meaning, length := "", 1
		closing := strings.IndexByte(pattern, ']')
		switch c := pattern[0]; {
		case strings.HasPrefix(pattern, "**/"):
			meaning, length = "(.*/)?", 3
		case strings.HasPrefix(pattern, "**"):
			meaning, length = ".*", 2
		case c == '*':
			meaning = "[^/]*"
		case c == '?':
			meaning = "[^/]"
		case c == '[' && closing > 1:
			class := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(pattern[1:closing])
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			meaning, length = "["+class+"]", closing+1
		case c == '{' && strings.Contains(pattern, "}"):
			meaning = "(?:"
			open++
		case c == ',' && open > 0:
			meaning = "|"
		case c == '}' && open > 0:
			meaning = ")"
			open--
		default:
			length = 1 + strings.IndexAny(pattern[1:]+"*", "*?[{,}")
			meaning = regexp.QuoteMeta(pattern[:length])
		}
		b.WriteString(meaning)
		pattern = pattern[length:]
	}
	b.WriteString("(/.*)?$")
	return b.String()
}

func (r *settingsReader) tools(f source.Field) {
	r.settings.Tools = append(r.settings.Tools, r.texts(f, "a list of files that declare tools", "a file's path, relative to this file", "name files that declare tools")...)
}

func (r *settingsReader) hosts(f source.Field) {
	r.settings.Hosts = &hosts.List{By: f.Value.File.Name}
	for _, item := range r.texts(f, "a list of hosts", "a host, like api.example.com, *.example.com:8443 or 10.0.0.0/8", "name the hosts that requests may go to") {
		if one, err := hosts.Parse(item.Text); err != nil {
			r.report(diag.WrongType, item.Span(), "%q names no host: %v", item.Text, err).Advise("write it like api.example.com, *.example.com:8443, 127.0.0.1:8080 or 10.0.0.0/8")
		} else {
			r.settings.Hosts.Entries = append(r.settings.Hosts.Entries, one)
		}
	}
}

func (r *settingsReader) requireApproval(f source.Field) {
	if f.Value.Kind != source.Bool {
		r.reportType(f.Value, "\"require-approval\"", "true or false")
	}
	// What can't be read isn't taken for less.
	r.settings.RequireApproval = f.Value.Kind != source.Bool || f.Value.Text == "true"
}

func (r *settingsReader) approvals(f source.Field) {
	n, err := strconv.Atoi(f.Value.Text)
	if f.Value.Kind != source.Number || err != nil || n < 1 || n > mostApprovals {
		r.reportType(f.Value, "\"approvals\"", fmt.Sprintf("how many people have to approve, from 1 to %d", mostApprovals))
		n = mostApprovals
	}
	r.settings.Approvals = n
}

// mostApprovals is how many people can be asked to approve.
const mostApprovals = 100

// file reads the path of one file.
func (r *settingsReader) file(to **source.Node) func(source.Field) {
	return func(f source.Field) {
		if *to = f.Value; f.Value.Kind != source.String || strings.TrimSpace(f.Value.Text) == "" {
			r.reportType(f.Value, fmt.Sprintf("%q", f.Key.Text), "a file's path, relative to this file")
		}
	}
}

//go:embed config.schema.json
var configSchema []byte

// ConfigSchema is the JSON Schema (draft 2020-12) of obelus.yaml, as the text of
// a JSON document. The caller may keep and change what it gets.
func ConfigSchema() []byte { return slices.Clone(configSchema) }
