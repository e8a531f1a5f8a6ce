package main

import (
	"fmt"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
)

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
	shown := shownVerdict{
		Kind: "verification", Plan: a.plan, Holds: v.Err == nil, Signer: p.Signer, Made: p.Made, Expires: p.Expires,
		Needed: v.Needed, Signatures: []shownSignature{}, Changed: v.Changed,
	}
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
	title := fmt.Sprintf("%s, in the name of \"%s\", made %s", a.file, shown.Signer, shown.Made.Format(time.RFC3339))
	if !shown.Expires.IsZero() {
		title += ", until " + shown.Expires.Format(time.RFC3339)
	}
	var lines []string
	for _, s := range shown.Signatures {
		line := fmt.Sprintf("the signature of %s counts for \"%s\"", s.Key, s.Signer)
		if s.Problem != "" {
			line = fmt.Sprintf("the signature of %s doesn't count: %s", s.Key, s.Problem)
		}
		lines = append(lines, line)
	}
	end := "it doesn't hold: " + shown.Problem
	if shown.Holds {
		end = "it holds: " + wording.Counted(len(v.Signers()), "person approves", "people approve")
	}
	rows := append(facts.Section(title, append(lines, shown.Changed...)), facts.Row{Text: diag.Escape(end)})
	_, err := fmt.Fprint(a.cli.out, rows.Text(false))
	return err
}
