package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/envelope"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
)

// A shownApproval is what approve --format json shows.
type shownApproval struct {
	Kind     string            `json:"kind"`
	Plan     string            `json:"plan"`
	Digest   string            `json:"digest"`
	Facts    *facts.Facts      `json:"facts"`
	Findings []json.RawMessage `json:"findings"`
	Parts    []plan.Part       `json:"parts"`
	// The values that alone are approved, less what is secret among them.
	Input map[string]json.RawMessage `json:"input,omitempty"`
	State map[string]json.RawMessage `json:"state,omitempty"`
	// Since the approval that there is, by parts and by what they mean.
	Changed     []string          `json:"changed,omitempty"`
	Differences []json.RawMessage `json:"differences,omitempty"`
	// Envelope is what a run under the approval may do.
	Envelope *envelope.Envelope `json:"envelope"`
}

// showAll shows what there is to approve.
func (a *signing) showAll(changed []string) error {
	digest, err := compiler.Digest(a.program.Plan)
	if err != nil {
		return err
	}
	var differs *facts.Comparison
	if before := a.before(); len(changed) > 0 && before != nil {
		differs = facts.Compare(before, a.facts)
	}
	values := a.shownValues()
	if a.Format == "json" {
		shown := shownApproval{"approval", a.plan, digest, a.facts, []json.RawMessage{}, a.parts[1:], values[0], values[1], changed, nil, a.envelope}
		if shown.Findings, err = objects(func(w io.Writer) error { return diag.JSON(w, withFlags(a.program.Findings)) }); err != nil {
			return err
		}
		if differs != nil {
			if shown.Differences, err = objects(differs.JSON); err != nil {
				return err
			}
		}
		return diag.JSONLine(a.cli.out, &shown)
	}
	card := a.facts.Card(digest)
	code, heading, item, body, differing := diag.Escape, "%s\n", "  %s\n", a.facts.Text, (*facts.Comparison).Text
	shown := card.Text(terminal.StyleFor(a.cli.out))
	if a.Format == "markdown" {
		code, heading, item, body, differing = diag.MarkdownCode, "### %s\n\n", "- %s\n", a.facts.Markdown, (*facts.Comparison).Markdown
		shown = card.Markdown()
	}
	out := &strings.Builder{}
	out.WriteString(shown)
	if a.Full {
		out.WriteString("\n" + body())
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(out, "\n"+heading, title)
		}
		for _, line := range lines {
			fmt.Fprintf(out, item, code(line))
		}
	}
	var besides []string
	for _, one := range a.envelope.Calls {
		if one.Allow != nil {
			besides = append(besides, one.String())
		}
	}
	list("A model or a person may have it do besides", besides)
	if a.Allow != "" || a.Planned {
		list("And all of it at most", a.envelope.Budget.Lines())
	}
	list("With these models and no others", a.envelope.Models)
	var given []string
	for i, kind := range []string{"input", "state"} {
		for _, key := range slices.Sorted(maps.Keys(values[i])) {
			given = append(given, "†"+kind+"."+key+": "+string(values[i][key]))
		}
	}
	list("With these values and no others", given)
	var found []string
	for _, d := range a.program.Findings {
		if a.Full || d.Severity > diag.Info {
			found = append(found, fmt.Sprintf("%s %s %s: %s", d.Severity, d.Rule.Code, d.Span.Where(), d.Message))
		}
	}
	list("Findings", found)
	if a.old != nil {
		p := a.old.Statement.Predicate
		list(fmt.Sprintf("Changed since %s approved at %s", code(p.Signer), p.Made.Format(time.RFC3339)), changed)
	}
	if differs != nil && !differs.Same() {
		out.WriteString("\n" + differing(differs))
	}
	_, err = fmt.Fprint(a.cli.out, out)
	return err
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

// objects are the lines that something writes, each a JSON object.
func objects(write func(io.Writer) error) ([]json.RawMessage, error) {
	out, all := &strings.Builder{}, []json.RawMessage{}
	err := write(out)
	for line := range strings.Lines(out.String()) {
		all = append(all, json.RawMessage(strings.TrimSpace(line)))
	}
	return all, err
}

// before is what was shown to those who signed the existing approval; nil if unknown.
func (a *signing) before() *facts.Facts {
	if a.old == nil {
		return nil
	}
	return shownBy(a.old)
}

// shownBy is what was shown to those who signed an approval; nil if unknown.
func shownBy(a *approval.Approval) *facts.Facts {
	f := &facts.Facts{}
	if err := json.Unmarshal(a.Statement.Predicate.Shown, f); err != nil {
		return nil
	}
	for _, d := range f.Delegates {
		if d == nil {
			return nil
		}
	}
	return f
}

// A shownVerdict is what approve --verify --format json shows.
type shownVerdict struct {
	Kind       string           `json:"kind"`
	Plan       string           `json:"plan"`
	Holds      bool             `json:"holds"`
	Problem    string           `json:"problem,omitempty"`
	Signer     string           `json:"signer"` // in whose name it is
	Made       time.Time        `json:"made"`
	Expires    time.Time        `json:"expires,omitzero"`
	Needed     int              `json:"needed"`
	Signatures []shownSignature `json:"signatures"`
	Changed    []string         `json:"changed,omitempty"`
}

type shownSignature struct {
	Key     string `json:"key,omitempty"`
	Signer  string `json:"signer,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// verified reports whether an approval holds.
func (a *signing) verified(v *approval.Verdict) error {
	p := a.old.Statement.Predicate
	shown := shownVerdict{Kind: "verification", Plan: a.plan, Holds: v.Err == nil, Signer: p.Signer, Made: p.Made, Expires: p.Expires, Needed: v.Needed, Signatures: []shownSignature{}, Changed: v.Changed}
	if v.Err != nil {
		shown.Problem = v.Err.Error()
	}
	for _, s := range v.Signatures {
		one := shownSignature{Key: s.Key, Signer: s.Signer}
		if s.Err != nil {
			one.Problem = s.Err.Error()
		}
		shown.Signatures = append(shown.Signatures, one)
	}
	if a.Format == "json" {
		if err := diag.JSONLine(a.cli.out, &shown); err != nil {
			return err
		}
	} else if err := a.verdict(&shown, v); err != nil {
		return err
	}
	if v.Err != nil {
		return ending(statusFound)
	}
	return nil
}

func (a *signing) verdict(shown *shownVerdict, v *approval.Verdict) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s, in the name of %s, made %s", diag.Escape(a.file), terminal.Quoted(shown.Signer), shown.Made.Format(time.RFC3339))
	if !shown.Expires.IsZero() {
		fmt.Fprintf(out, ", until %s", shown.Expires.Format(time.RFC3339))
	}
	out.WriteString("\n")
	for _, s := range shown.Signatures {
		what := "counts for " + terminal.Quoted(s.Signer)
		if s.Problem != "" {
			what = "doesn't count: " + diag.Escape(s.Problem)
		}
		fmt.Fprintf(out, "  the signature of %s %s\n", diag.Escape(s.Key), what)
	}
	for _, change := range shown.Changed {
		fmt.Fprintf(out, "  %s\n", diag.Escape(change))
	}
	if shown.Holds {
		fmt.Fprintf(out, "it holds: %s\n", wording.Counted(len(v.Signers()), "person approves", "people approve"))
	} else {
		fmt.Fprintf(out, "it doesn't hold: %s\n", diag.Escape(shown.Problem))
	}
	_, err := fmt.Fprint(a.cli.out, out)
	return err
}
