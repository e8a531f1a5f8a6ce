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
	Version string                           // of the program
	Rules   []*Rule                          // all that are looked for
	Page    func(code string) (string, bool) // a rule's page in Markdown, by code
	// how a file is named: from the repository's root; nil leaves names as they are
	Path       func(file string) string
	Findings   []Diagnostic
	Suppressed []Suppressed
}

// An object is a part of SARIF 2.1.0, by the names of its properties.
type object = map[string]any

const (
	homePage    = "https://github.com/obelus-dev/obelus"
	rulePages   = homePage + "/blob/main/analyzer/rules/"
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

// SARIF writes findings as one SARIF 2.1.0 log for tools that keep account of
// them, such as code scanning. Columns count Unicode characters. Every rule is
// in it with its page; a finding carries its related places and, in its properties,
// its help and its witness. --fix makes the fixes.
// Suppressed findings are in it with their reasons, as suppressions. Text from
// outside is plain text that can't act as a link. A relative file name becomes a
// URI relative to %SRCROOT%. The error is that of w, or a witness that JSON
// can't hold.
func SARIF(w io.Writer, r Report) error {
	if r.Path == nil {
		r.Path = func(file string) string { return file }
	}
	rules, index := []object{}, map[*Rule]int{}
	for i, rule := range r.Rules {
		index[rule] = i
		rules = append(rules, r.rule(rule))
	}
	semantic := strings.Replace(strings.TrimPrefix(r.Version, "v"), "devel", "0.0.0-devel", 1)
	driver := object{"name": "obelus", "informationUri": homePage, "rules": rules}
	if r.Version != "" {
		driver["version"], driver["semanticVersion"] = r.Version, semantic
	}
	results, seen := []object{}, map[string]int{}
	add := func(d *Diagnostic, suppressions ...object) {
		at, known := index[d.Rule]
		if !known {
			at = -1
		}
		result := r.result(d, seen)
		result["ruleIndex"], result["suppressions"] = at, Listed(suppressions)
		results = append(results, result)
	}
	for i := range r.Findings {
		add(&r.Findings[i])
	}
	for i := range r.Suppressed {
		s := &r.Suppressed[i]
		suppression := object{"kind": "inSource", "status": "accepted", "justification": Escape(s.Reason)}
		if s.Outside {
			suppression["kind"] = "external"
		}
		if s.At.Known() {
			suppression["location"] = object{"physicalLocation": r.place(s.At)}
		}
		add(&s.Diagnostic, suppression)
	}
	return JSONLine(w, object{"$schema": sarifSchema, "version": "2.1.0", "runs": []object{{
		"tool": object{"driver": driver}, "invocations": []object{{"executionSuccessful": true}},
		"columnKind": "unicodeCodePoints", "results": results,
	}}})
}

func (r *Report) rule(rule *Rule) object {
	defaults, summary := object{"level": sarifLevel(rule.Default)}, strings.ReplaceAll(rule.Name, "-", " ")
	if rule.Optional {
		defaults["enabled"] = false
	}
	out := object{
		"id": rule.Code, "name": rule.Name, "helpUri": rulePages + rule.Code + "-" + rule.Name + ".md",
		"defaultConfiguration": defaults,
	}
	if r.Page != nil {
		if text, ok := r.Page(rule.Code); ok {
			out["help"] = object{"text": text, "markdown": text}
			summary = cmp.Or(Meaning(text), summary)
		}
	}
	out["shortDescription"], out["fullDescription"] = object{"text": summary}, object{"text": summary}
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
func plainText(s string) object {
	s = Escape(s)
	if strings.Contains(s, "](") {
		s = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
	}
	return object{"text": s}
}

func (r *Report) result(d *Diagnostic, seen map[string]int) object {
	here, locations, properties := object{}, []object{}, object{}
	if d.Span.Known() {
		here["physicalLocation"] = r.place(d.Span)
	}
	if d.Call != "" {
		here["logicalLocations"] = []object{{"name": Escape(d.Call), "kind": "call"}}
	}
	if len(here) > 0 {
		locations = append(locations, here)
	}
	var related []object
	for i, n := range d.Related {
		note := object{"id": i, "message": plainText(n.Message)}
		if n.Span.Known() {
			note["physicalLocation"] = r.place(n.Span)
		}
		related = append(related, note)
	}
	if d.Help != "" {
		properties["help"] = d.Help
	}
	if d.Witness != nil {
		properties["witness"] = d.Witness
	}
	return object{
		"ruleId": d.Rule.Code, "level": sarifLevel(d.Severity), "message": plainText(d.Message), "locations": locations,
		"relatedLocations": Listed(related), "properties": properties,
		"partialFingerprints": object{"obelusFinding/v1": r.fingerprint(d, seen)},
	}
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

func (r *Report) place(s source.Span) object {
	from, to := s.From(), s.To()
	return object{"artifactLocation": artifactLocation(r.Path(s.File.Name)), "region": object{
		"startLine": from.Line, "startColumn": from.Column, "endLine": to.Line, "endColumn": to.Column,
		"byteOffset": from.Offset, "byteLength": to.Offset - from.Offset,
	}}
}

func artifactLocation(name string) object {
	if name == "-" {
		return object{"uri": "stdin"}
	}
	slashed := filepath.ToSlash(cmp.Or(name, "unnamed"))
	if path.IsAbs(slashed) {
		return object{"uri": (&url.URL{Scheme: "file", Path: path.Clean(slashed)}).String()}
	}
	// A first segment with a colon would be taken for a scheme; String writes ./ before it.
	return object{"uri": (&url.URL{Path: path.Clean(slashed)}).String(), "uriBaseId": "%SRCROOT%"}
}
