package approval

import (
	"bytes"
	"cmp"
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
	Signer  string    `json:"signer"` // who made the statement, as allowed_signers files name people
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"` // zero is never
	// Shown is what the signer was shown of what the plan does.
	Shown jsontext.Value `json:"shown,omitzero"`
	// Permit is what a run may do.
	Permit jsontext.Value `json:"envelope,omitzero"`
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

// Given is the part of an approval that is about input and state alone that a plan runs
// with.
func Given(input, state map[string]any) (plan.Part, error) {
	digest, err := canonical.DigestOf(map[string]any{"input": input, "state": state})
	return plan.Part{Kind: given, Digest: digest}, err
}

const given = "input"

// Given reports whether it is approved of with which input and state the plan runs.
func (a *Approval) Given() bool {
	return slices.ContainsFunc(a.Statement.Subjects, func(s Subject) bool { return s.Name == given })
}

// full is what the plan is called with all that decides what it does.
const full = "compiled plan"

const sum = "sha256:"

func named(p plan.Part) string { return strings.TrimPrefix(p.String(), "the ") }

// New is an approval of parts that nobody has signed yet.
func New(parts []plan.Part, predicate Predicate) (*Approval, error) {
	subjects := make([]Subject, len(parts))
	for i, p := range parts {
		subjects[i] = Subject{named(p), Digest{strings.TrimPrefix(p.Digest, sum)}}
	}
	slices.SortStableFunc(subjects, func(a, b Subject) int { return cmp.Compare(a.Name, b.Name) })
	for _, at := range []*time.Time{&predicate.Made, &predicate.Expires} {
		*at = at.UTC().Truncate(time.Second)
	}
	a := &Approval{Statement: Statement{Type: StatementType, Subjects: subjects, PredicateType: PredicateType,
		Predicate: predicate}}
	var err error
	if a.payload, err = canonical.JSON(&a.Statement); err != nil {
		return nil, err
	}
	if len(a.payload) > MostPayload {
		return nil, diag.NewError(ErrTooLarge, "the statement is larger than %d bytes", MostPayload)
	}
	return a, a.check()
}

// Read reads an approval. It is sure that the text means one thing only: what it holds
// twice, in other letters, in a loose base64 or beside a known field is refused.
func Read(text []byte) (*Approval, error) {
	if len(text) > MostBytes {
		return nil, diag.NewError(ErrTooLarge, "the approval is larger than %d bytes", MostBytes)
	}
	var e envelope
	if err := diag.ReadStrictly(text, &e); err != nil {
		return nil, malformed("%v", err)
	}
	read := slices.Clone(jsontext.Value(text))
	switch written, err := canonical.JSON(&e); {
	case e.PayloadType != PayloadType:
		return nil, diag.NewError(ErrStatement, "its payload is of the type %q; expected %q",
			e.PayloadType, PayloadType)
	case len(e.Signatures) > mostSignatures:
		return nil, diag.NewError(ErrTooLarge, "it has %d signatures, and at most %d are read", len(e.Signatures),
			mostSignatures)
	case cmp.Or(err, read.Canonicalize()) != nil || !bytes.Equal(written, read):
		return nil, malformed("it lacks a field, or its base64 isn't the standard one with its padding")
	}
	a := &Approval{payload: e.Payload, signatures: e.Signatures}
	for i, s := range e.Signatures {
		if len(s.Sig) > mostSignature || len(s.KeyID) > mostName {
			return nil, diag.NewError(ErrTooLarge, "the signature %d is larger than any can be", i+1)
		}
	}
	if value := bytes.TrimSpace(a.payload); len(value) > 0 && value[0] == '[' {
		return nil, malformed("it holds a list of statements; expected one")
	}
	if err := diag.ReadStrictly(a.payload, &a.Statement); err != nil {
		return nil, malformed("its statement: %v", err)
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	if again, err := canonical.JSON(&a.Statement); err != nil || !bytes.Equal(again, a.payload) {
		return nil, malformed("its statement isn't written as it is signed, in canonical JSON (RFC 8785)")
	}
	return a, nil
}

func malformed(format string, args ...any) error {
	return diag.NewError(ErrMalformed, "that is no approval: "+format, args...)
}

var hexadecimal = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (a *Approval) check() error {
	s := &a.Statement
	switch {
	case s.Type != StatementType:
		return diag.NewError(ErrStatement, "it is a statement of the type %q; expected %q", s.Type, StatementType)
	case s.PredicateType != PredicateType:
		return diag.NewError(ErrStatement, "it states %q of its subjects, which isn't an approval; expected %q",
			s.PredicateType, PredicateType)
	case len(s.Subjects) == 0:
		return malformed("its statement is about nothing")
	case s.Predicate.Signer == "" || len(s.Predicate.Signer) > mostName ||
		diag.Escape(s.Predicate.Signer) != s.Predicate.Signer:
		return malformed("its statement doesn't say in whose name it is")
	case s.Predicate.Made.IsZero():
		return malformed("its statement doesn't say when it was made")
	}
	for i, one := range s.Subjects {
		switch {
		case one.Name == "" || !hexadecimal.MatchString(one.Digest.SHA256):
			return malformed("its subject %q has no SHA-256 digest", one.Name)
		case i > 0 && s.Subjects[i-1].Name >= one.Name:
			return malformed("its subjects aren't in the order of their names, each once, at %q", one.Name)
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
	was := make([]plan.Part, len(a.Statement.Subjects))
	for i, one := range a.Statement.Subjects {
		p, there := known[one.Name]
		if !there {
			p = plan.Part{Kind: one.Name}
		}
		p.Digest = sum + one.Digest.SHA256
		was[i] = p
	}
	changed := canonical.Changed(was, now)
	if len(changed) > 1 { // the whole changes with any part
		changed = slices.DeleteFunc(changed, func(text string) bool { return strings.HasPrefix(text, "the "+full+" ") })
	}
	return changed
}
