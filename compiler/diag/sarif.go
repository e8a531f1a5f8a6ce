package diag

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
)

// A Report is what a SARIF file is made of.
type Report struct {
	Version    string                           // of the program
	Rules      []*Rule                          // all that are looked for
	Page       func(code string) (string, bool) // a rule's page in Markdown, by code
	Path       func(file string) string         // how a file is named: from the repository's root; nil leaves names as they are
	Findings   []Diagnostic
	Suppressed []Suppressed
}

// The parts of SARIF 2.1.0 that are written here.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		Successful bool `json:"executionSuccessful"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		Semantic       string      `json:"semanticVersion,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID       string        `json:"id"`
		Name     string        `json:"name"`
		Short    sarifText     `json:"shortDescription"`
		Full     sarifText     `json:"fullDescription"`
		Help     *sarifText    `json:"help,omitempty"`
		HelpURI  string        `json:"helpUri"`
		Defaults sarifDefaults `json:"defaultConfiguration"`
	}
	sarifDefaults struct {
		Enabled *bool  `json:"enabled,omitempty"` // true unless it says otherwise
		Level   string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fixes        []sarifFix         `json:"fixes,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Properties   map[string]any     `json:"properties,omitempty"`
	}
	sarifLocation struct {
		ID       *int           `json:"id,omitempty"`
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
		ByteOffset  int `json:"byteOffset"`
		ByteLength  int `json:"byteLength"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
	sarifSuppression struct {
		Kind          string         `json:"kind"`
		Status        string         `json:"status"`
		Justification string         `json:"justification"`
		Location      *sarifLocation `json:"location,omitempty"`
	}
)

const (
	homePage    = "https://github.com/obelus-dev/obelus"
	rulePages   = homePage + "/blob/main/analyzer/rules/"
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

// SARIF writes findings as one SARIF 2.1.0 log for tools that keep account of
// them, such as code scanning. Columns count Unicode characters. Every rule is
// in it with its page; a finding carries its related places, its fixes and, in
// its properties, its help, its witness, and which of its fixes are safe.
// Suppressed findings are in it with their reasons, as suppressions. Text from
// outside is plain text that can't act as a link. A relative file name becomes a
// URI relative to %SRCROOT%. The error is that of w, or a witness that JSON
// can't hold.
func SARIF(w io.Writer, r Report) error {
	semantic := strings.Replace(strings.TrimPrefix(r.Version, "v"), "devel", "0.0.0-devel", 1)
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "obelus", Version: r.Version, Semantic: semantic, InformationURI: homePage, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{true}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
	}
	index := map[*Rule]int{}
	for i, rule := range r.Rules {
		index[rule] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(rule, r.Page))
	}
	if r.Path == nil {
		r.Path = func(file string) string { return file }
	}
	seen := map[string]int{}
	add := func(d *Diagnostic) *sarifResult {
		at, known := index[d.Rule]
		if !known {
			at = -1
		}
		run.Results = append(run.Results, r.result(d, at, seen))
		return &run.Results[len(run.Results)-1]
	}
	for i := range r.Findings {
		add(&r.Findings[i])
	}
	for i := range r.Suppressed {
		s := &r.Suppressed[i]
		kind := "inSource"
		if s.Outside {
			kind = "external"
		}
		suppression := sarifSuppression{Kind: kind, Status: "accepted", Justification: Escape(s.Reason)}
		if s.At.Known() {
			suppression.Location = &sarifLocation{Physical: r.place(s.At)}
		}
		result := add(&s.Diagnostic)
		result.Suppressions = append(result.Suppressions, suppression)
	}
	return JSONLine(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

func sarifRuleOf(rule *Rule, page func(string) (string, bool)) sarifRule {
	out := sarifRule{
		ID: rule.Code, Name: rule.Name, Short: sarifText{Text: strings.ReplaceAll(rule.Name, "-", " ")},
		HelpURI: rulePages + rule.Code + "-" + rule.Name + ".md", Defaults: sarifDefaults{Level: sarifLevel(rule.Default)},
	}
	out.Full = out.Short
	if rule.Optional {
		out.Defaults.Enabled = new(bool)
	}
	if page == nil {
		return out
	}
	if text, ok := page(rule.Code); ok {
		out.Help = &sarifText{Text: text, Markdown: text}
		if summary := Meaning(text); summary != "" {
			out.Short.Text, out.Full.Text = summary, summary
		}
	}
	return out
}

// Meaning returns the first sentence under "Problem" of a rule's page.
func Meaning(page string) string {
	_, text, _ := strings.Cut(page, "## Problem\n")
	paragraph, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n\n")
	paragraph = strings.Join(strings.Fields(paragraph), " ")
	for at := 0; ; {
		stop := strings.IndexAny(paragraph[at:], ".:")
		if stop < 0 {
			return paragraph
		}
		at += stop + 1
		if at == len(paragraph) || paragraph[at] == ' ' && strings.Count(paragraph[:at], "`")%2 == 0 {
			return strings.TrimRight(paragraph[:at], ".:")
		}
	}
}

func sarifLevel(s Severity) string { return [...]string{"note", "warning", "error"}[s] }

// plainText is a message as SARIF wants it: where brackets could be taken for a
// link they are escaped.
func plainText(s string) sarifText {
	s = Escape(s)
	if strings.Contains(s, "](") {
		s = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
	}
	return sarifText{Text: s}
}

func (r *Report) result(d *Diagnostic, rule int, seen map[string]int) sarifResult {
	out := sarifResult{
		RuleID: d.Rule.Code, RuleIndex: rule, Level: sarifLevel(d.Severity), Message: plainText(d.Message),
		Locations: []sarifLocation{}, Suppressions: []sarifSuppression{}, Properties: map[string]any{},
	}
	var here sarifLocation
	if d.Span.Known() {
		here.Physical = r.place(d.Span)
	}
	if d.Call != "" {
		here.Logical = []sarifLogical{{Escape(d.Call), "call"}}
	}
	if here.Physical != nil || here.Logical != nil {
		out.Locations = append(out.Locations, here)
	}
	for i, n := range d.Related {
		words := plainText(n.Message)
		note := sarifLocation{ID: &i, Message: &words}
		if n.Span.Known() {
			note.Physical = r.place(n.Span)
		}
		out.Related = append(out.Related, note)
	}
	var safe []bool
	for _, f := range d.Fixes {
		if fix, ok := r.fix(f); ok {
			out.Fixes = append(out.Fixes, fix)
			safe = append(safe, f.Safe)
		}
	}
	if safe != nil {
		out.Properties["safeFixes"] = safe
	}
	if d.Help != "" {
		out.Properties["help"] = d.Help
	}
	if d.Witness != nil {
		out.Properties["witness"] = d.Witness
	}
	out.Fingerprints = map[string]string{"obelusFinding/v1": r.fingerprint(d, seen)}
	return out
}

// fingerprint is the same for a finding when lines are added elsewhere in its
// file: it is made of the rule, the file, the call, the words and, among
// findings that have all these in common, the place in their order.
func (r *Report) fingerprint(d *Diagnostic, seen map[string]int) string {
	key := strings.Join([]string{d.Rule.Code, r.Path(name(d.Span.File)), d.Call, d.Message}, "\x00")
	seen[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, seen[key]))
	return hex.EncodeToString(sum[:16])
}

func (r *Report) fix(f Fix) (sarifFix, bool) {
	out := sarifFix{Description: plainText(f.Message)}
	for _, e := range f.Edits {
		if !e.Span.Known() {
			return out, false
		}
		place := r.place(e.Span)
		if n := len(out.Changes); n == 0 || out.Changes[n-1].Artifact != place.Artifact {
			out.Changes = append(out.Changes, sarifChange{Artifact: place.Artifact})
		}
		change := &out.Changes[len(out.Changes)-1]
		change.Replacements = append(change.Replacements, sarifReplacement{place.Region, sarifText{Text: e.Text}})
	}
	return out, len(out.Changes) > 0
}

func (r *Report) place(s source.Span) *sarifPhysical {
	from, to := s.From(), s.To()
	return &sarifPhysical{
		Artifact: sarifArtifactOf(r.Path(s.File.Name)),
		Region: sarifRegion{
			StartLine: from.Line, StartColumn: from.Column, EndLine: to.Line, EndColumn: to.Column,
			ByteOffset: from.Offset, ByteLength: to.Offset - from.Offset,
		},
	}
}

func sarifArtifactOf(name string) sarifArtifact {
	if name == "-" {
		return sarifArtifact{URI: "stdin"}
	}
	slashed := filepath.ToSlash(cmp.Or(name, "unnamed"))
	if path.IsAbs(slashed) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: path.Clean(slashed)}).String()}
	}
	// A first segment with a colon would be taken for a scheme; String writes ./ before it.
	return sarifArtifact{URI: (&url.URL{Path: path.Clean(slashed)}).String(), Base: "%SRCROOT%"}
}
