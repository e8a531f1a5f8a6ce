// Package approval signs what people approve, and decides whose signature counts.
//
// An approval is an in-toto statement in a DSSE envelope. Its subjects are the plan and all else that decides what
// runs, by their digests; its predicate names who made it, when, until when it counts, and what was shown. A signature
// is an SSH signature (SSHSIG) over the envelope's pre-authentication encoding, which ssh-keygen makes and verifies as
// well. An allowed_signers file lists whose signatures count. It means here what it means to ssh-keygen, except that
// SSH certificates don't count.
//
// The package has no clock: each function that needs the time is given it.
package approval

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// What the formats are called.
const (
	PayloadType   = "application/vnd.in-toto+json"
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/obelus-dev/obelus/approval/v1"
)

// How large an approval may be.
const (
	MostBytes      = 32 << 20
	MostPayload    = 16 << 20 // of a statement that is made
	mostSignatures = 100
	mostSignature  = 64 << 10
	mostName       = 1000
)

// A Statement is what is signed: that somebody approves of what is named by its digests.
type Statement struct {
	Type          string    `json:"_type"`
	Subjects      []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// A Subject is something that decides what runs: the plan itself, or a part of it.
type Subject struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// A Digest is in hexadecimal digits.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// A Predicate is a statement about the subjects.
type Predicate struct {
	Signer  string         `json:"signer"` // who made the statement, as allowed_signers files name people
	Made    time.Time      `json:"made"`
	Expires time.Time      `json:"expires,omitzero"`  // zero is never
	Shown   jsontext.Value `json:"shown,omitzero"`    // what the signer was shown of what the plan does
	Permit  jsontext.Value `json:"envelope,omitzero"` // what a run may do
}

// An Approval is a statement with the signatures of those who approve.
type Approval struct {
	Statement  Statement
	payload    []byte // the statement as it is signed
	signatures []signature
}

type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   []byte `json:"sig"` // armored
}

// The parts of an approval besides those of the plan's digest.
const (
	full  = "compiled plan" // with all that decides what it does
	given = "input"         // input and state
)

// Parts are all that an approval of a plan is about: the plan, by one digest over all that
// decides what it does, each part of that, and the policies that it stands under.
func Parts(p *plan.Plan) ([]plan.Part, error) {
	parts, err := p.Parts()
	if err != nil {
		return nil, err
	}
	digest, err := canonical.Digest(p)
	policies, failed := canonical.PolicyParts(p)
	return slices.Concat([]plan.Part{{Kind: full, Digest: digest}}, parts, policies), cmp.Or(err, failed)
}

// Given is the part of an approval that is about input and state alone that a plan runs with.
func Given(input, state map[string]any) (plan.Part, error) {
	digest, err := canonical.DigestOf(map[string]any{"input": input, "state": state})
	return plan.Part{Kind: given, Digest: digest}, err
}

// Given reports whether it is approved of with which input and state the plan runs.
func (a *Approval) Given() bool {
	return slices.ContainsFunc(a.Statement.Subjects, func(s Subject) bool { return s.Name == given })
}

const sum = "sha256:"

func named(p plan.Part) string { return strings.TrimPrefix(p.String(), "the ") }

// New is an approval of parts that nobody has signed yet.
func New(parts []plan.Part, predicate Predicate) (*Approval, error) {
	predicate.Made = predicate.Made.UTC().Truncate(time.Second)
	predicate.Expires = predicate.Expires.UTC().Truncate(time.Second)
	a := &Approval{Statement: Statement{Type: StatementType, PredicateType: PredicateType, Predicate: predicate}}
	for _, p := range parts {
		one := Subject{named(p), Digest{strings.TrimPrefix(p.Digest, sum)}}
		a.Statement.Subjects = append(a.Statement.Subjects, one)
	}
	slices.SortFunc(a.Statement.Subjects, func(a, b Subject) int { return cmp.Compare(a.Name, b.Name) })
	var err error
	if a.payload, err = canonical.JSON(&a.Statement); err == nil && len(a.payload) > MostPayload {
		err = fmt.Errorf("the statement is larger than %d bytes", MostPayload)
	}
	return a, cmp.Or(err, a.Statement.check())
}

// Read reads an approval. It is sure that the text means one thing only: what it holds
// twice, in other letters, in a loose base64 or beside a known field is refused.
func Read(text []byte) (*Approval, error) {
	var e envelope
	a := &Approval{}
	err := strictly(text, &e)
	if err == nil && e.PayloadType != PayloadType {
		err = fmt.Errorf("its payload is of the type %q; expected %q", e.PayloadType, PayloadType)
	}
	if err == nil && (len(e.Signatures) > mostSignatures ||
		slices.ContainsFunc(e.Signatures, func(s signature) bool { return len(s.Sig) > mostSignature })) {
		err = fmt.Errorf("it has more than %d signatures, or one that is larger than any can be", mostSignatures)
	}
	if err == nil {
		a.payload, a.signatures = e.Payload, e.Signatures
		err = strictly(a.payload, &a.Statement)
	}
	if again, _ := canonical.JSON(&a.Statement); err == nil && !bytes.Equal(again, a.payload) {
		err = errors.New("its statement isn't written as it is signed, in canonical JSON (RFC 8785)")
	}
	if err = cmp.Or(err, a.Statement.check()); err != nil {
		return nil, fmt.Errorf("that is no approval: %w", err)
	}
	return a, nil
}

// strictly reads JSON that lacks no field and has no other, each once and as it is written here.
func strictly(text []byte, into any) error {
	if len(text) > MostBytes {
		return fmt.Errorf("it is larger than %d bytes", MostBytes)
	}
	if err := diag.ReadStrictly(text, into); err != nil {
		return err
	}
	written, err := canonical.JSON(into)
	value := jsontext.Value(slices.Clone(text))
	if cmp.Or(err, value.Canonicalize()) != nil || !bytes.Equal(written, value) {
		return errors.New("it lacks a field, or its base64 isn't the standard one with its padding")
	}
	return nil
}

var hexadecimal = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s *Statement) check() error {
	switch p := s.Predicate; {
	case s.Type != StatementType || s.PredicateType != PredicateType:
		return fmt.Errorf("its statement is of the type %q and states %q; expected %q and %q", s.Type, s.PredicateType,
			StatementType, PredicateType)
	case len(s.Subjects) == 0:
		return errors.New("its statement is about nothing")
	case p.Signer == "" || len(p.Signer) > mostName || diag.Escape(p.Signer) != p.Signer:
		return errors.New("its statement doesn't say in whose name it is")
	case p.Made.IsZero():
		return errors.New("its statement doesn't say when it was made")
	}
	for i, one := range s.Subjects {
		switch {
		case one.Name == "" || !hexadecimal.MatchString(one.Digest.SHA256):
			return fmt.Errorf("its subject %q has no SHA-256 digest", one.Name)
		case i > 0 && s.Subjects[i-1].Name >= one.Name:
			return fmt.Errorf("its subjects aren't in the order of their names, each once, at %q", one.Name)
		}
	}
	return nil
}

// Payload is what a signature is over: the pre-authentication encoding of the statement.
func (a *Approval) Payload() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(PayloadType), PayloadType, len(a.payload), a.payload)
}

// Text is the approval as a file.
func (a *Approval) Text() ([]byte, error) {
	text, err := json.Marshal(envelope{PayloadType, a.payload, a.signatures}, jsontext.WithIndent("  "))
	return append(text, '\n'), err
}

// Changed says of each part that isn't as it was approved what became of it.
func (a *Approval) Changed(now []plan.Part) []string {
	known := map[string]plan.Part{}
	for _, p := range now {
		known[named(p)] = p
	}
	var was []plan.Part
	for _, one := range a.Statement.Subjects {
		p, isThere := known[one.Name]
		if !isThere {
			p.Kind = one.Name
		}
		p.Digest = sum + one.Digest.SHA256
		was = append(was, p)
	}
	changed := canonical.Changed(was, now)
	if len(changed) > 1 { // the whole changes with any part
		changed = slices.DeleteFunc(changed, func(text string) bool { return strings.HasPrefix(text, "the "+full+" ") })
	}
	return changed
}
