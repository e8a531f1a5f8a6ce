package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
)

// show writes what there is to approve.
func (a *signing) show(changed []string) error {
	digest, err := canonical.Digest(a.program.Plan)
	if err != nil {
		return err
	}
	values := a.shownValues()
	if a.Format == "json" {
		a.cli.out.JSON(struct {
			Kind    string                     `json:"kind"`
			Plan    string                     `json:"plan"`
			Digest  string                     `json:"digest"`
			Facts   *facts.Facts               `json:"facts"`
			Parts   []plan.Part                `json:"parts"`
			Input   map[string]json.RawMessage `json:"input,omitempty"`
			State   map[string]json.RawMessage `json:"state,omitempty"`
			Changed []string                   `json:"changed,omitempty"` // since the approval that there is
			Permit  *permit.Permit             `json:"envelope"`
		}{"approval", a.plan, digest, a.facts, a.parts[1:], values[0], values[1], changed, a.permit})
		return nil
	}
	var given, besides, budget, found []string
	for i, kind := range []string{"input", "state"} {
		for _, key := range slices.Sorted(maps.Keys(values[i])) {
			given = append(given, "†"+kind+"."+key+": "+string(values[i][key]))
		}
	}
	for _, one := range a.permit.Calls {
		if one.Allow != nil {
			besides = append(besides, one.String())
		}
	}
	if a.Allow != "" || a.Planned {
		budget = a.permit.Budget.Lines()
	}
	for _, d := range a.program.Findings {
		if a.Full || d.Severity > diag.Info {
			found = append(found, fmt.Sprintf("%s %s %s: %s", d.Severity, d.Rule.Code, d.Span.Where(), d.Message))
		}
	}
	rows := a.facts.Card(digest, given)
	if a.Full {
		rows = append(rows, a.facts.Details()...)
	}
	add := func(title string, lines []string) {
		if len(lines) > 0 {
			rows = append(rows, facts.Section(title, lines)...)
		}
	}
	add("Further calls that are permitted", besides)
	add("Budget of all calls", budget)
	add("With these models and no others", a.permit.Models)
	add("With these values and no others", given)
	add("Findings", found)
	if a.old != nil {
		p := a.old.Statement.Predicate
		add(fmt.Sprintf("Changed since %s approved at %s", p.Signer, p.Made.Format(time.RFC3339)), changed)
		if before := shownBy(a.old); before != nil && len(changed) > 0 {
			if differs := facts.Compare(before, a.facts); !differs.Same() {
				rows = append(rows, differs.Rows()...)
			}
		}
	}
	text := rows.Text(terminal.StyleFor(a.cli.out))
	if a.Format == "markdown" {
		text = rows.Markdown()
	}
	a.cli.out.Print("%s", text)
	return nil
}

// shownValues are input and state that alone are approved, as they may be shown.
func (a *signing) shownValues() (shown [2]map[string]json.RawMessage) {
	secrets := &redact.Set{}
	compiler.LearnSecrets(secrets, nil, any(a.input), a.program.Plan.InputSchema)
	compiler.LearnSecrets(secrets, nil, any(a.state), a.program.Plan.StateSchema)
	for i, values := range []map[string]any{a.input, a.state} {
		shown[i] = map[string]json.RawMessage{}
		for key, value := range values {
			text, _ := json.Marshal(value) // it was read from JSON or YAML
			if text = []byte(secrets.Text(string(text))); !json.Valid(text) {
				text, _ = json.Marshal(string(text))
			}
			shown[i][key] = text
		}
	}
	return shown
}

// shownBy is what was shown to those who signed an approval; nil if unknown.
func shownBy(a *approval.Approval) *facts.Facts {
	f := &facts.Facts{}
	err := json.Unmarshal(a.Statement.Predicate.Shown, f)
	if err != nil || slices.Contains(slices.Collect(maps.Values(f.Delegates)), nil) {
		return nil
	}
	return f
}

// verified prints whether an approval holds, and who signed it.
func (a *signing) verified(v *approval.Verdict) error {
	p := a.old.Statement.Predicate
	title := fmt.Sprintf("%s, in the name of \"%s\", made %s", a.file, p.Signer, p.Made.Format(time.RFC3339))
	if !p.Expires.IsZero() {
		title += ", until " + p.Expires.Format(time.RFC3339)
	}
	var lines []string
	for _, s := range v.Signatures {
		line := fmt.Sprintf("the signature of %s counts for \"%s\"", s.Key, s.Signer)
		if s.Err != nil {
			line = fmt.Sprintf("the signature of %s doesn't count: %v", s.Key, s.Err)
		}
		lines = append(lines, line)
	}
	end := "it holds: " + wording.Counted(len(v.Signers()), "person approves", "people approve")
	if v.Err != nil {
		end = "it doesn't hold: " + v.Err.Error()
	}
	rows := append(facts.Section(title, append(lines, v.Changed...)), facts.Row{Text: diag.Escape(end)})
	a.cli.out.Print("%s", rows.Text(false))
	if v.Err != nil {
		return ending(statusFound)
	}
	return nil
}
