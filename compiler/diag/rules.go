package diag

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// The rules that other packages than the analyzer report or speak of: those that
// a document is read by, for the most part. Each has a page in analyzer/rules;
// its meaning is documented there. A rule of the analyzer alone
// is in a file of its own there.
var (
	Syntax             = shared("OB101", "syntax", Error, Everything)
	UnknownKey         = shared("OB102", "unknown-key", Error, ofCalls)
	DuplicateKey       = shared("OB103", "duplicate-key", Error, ofCalls)
	WrongType          = shared("OB104", "wrong-type", Error, ofCalls)
	Limit              = shared("OB105", "limit", Error, Everything)
	ConfusableName     = shared("OB106", "confusable-name", Error, 0)
	AmbiguousScalar    = shared("OB107", "ambiguous-scalar", Warning, ofCalls)
	BadExpression      = shared("OB201", "bad-expression", Error, Reads|Order)
	UnknownKind        = shared("OB202", "unknown-kind", Error, Reads|Order)
	DanglingReference  = shared("OB203", "dangling-reference", Error, ofCalls)
	UndeclaredPath     = shared("OB204", "undeclared-path", Error, ofCalls)
	LookalikeRef       = shared("OB206", "lookalike-reference", Warning, ofCalls)
	Cycle              = shared("OB301", "cycle", Error, ofCalls)
	DuplicateID        = shared("OB303", "duplicate-id", Error, 0)
	UnknownCall        = shared("OB305", "unknown-call", Error, Order)
	ReadOnlyPath       = shared("OB404", "read-only-path", Error, Writes)
	BadSchema          = shared("OB509", "bad-schema", Error, ofCalls)
	NoActivity         = shared("OB601", "no-activity", Error, 0)
	BadDelegate        = shared("OB603", "bad-delegate", Error, 0)
	BadScope           = shared("OB604", "bad-scope", Error, Reads|Order)
	BadAdvisor         = shared("OB605", "bad-advisor", Error, 0)
	BadInstance        = shared("OB606", "bad-instance", Error, ofCalls)
	UselessSuppression = shared("OB901", "useless-suppression", Warning, ofCalls)
)

var all []*Rule

// ofCalls is all that calls say: a misspelt or repeated key may be any of a call's.
const ofCalls = Writes | Reads | Order

func shared(code, name string, severity Severity, hides Facts) *Rule {
	r := &Rule{Code: code, Name: name, Default: severity, Hides: hides}
	all = append(all, r)
	return r
}

// Shared lists the rules of this package, by code.
func Shared() []*Rule { return slices.Clone(all) }

// ReadStrictly reads JSON that can mean one thing only: it holds every known field at most
// once, no other, and nothing behind it. The error is in the terms of the JSON.
func ReadStrictly(text []byte, into any) error {
	err := json.Unmarshal(text, into, json.RejectUnknownMembers(true), v1.FormatDurationAsNano(true))
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntactic):
		return fmt.Errorf("%q stands there twice", syntactic.JSONPointer.LastToken())
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return fmt.Errorf("there is no field %q", semantic.JSONPointer.LastToken())
	case errors.As(err, &semantic) && semantic.JSONPointer == "":
		return errors.New("it must be a JSON object")
	case errors.As(err, &semantic):
		return fmt.Errorf("what stands at %q isn't what is expected there", string(semantic.JSONPointer))
	case errors.As(err, &syntactic) && strings.Contains(syntactic.Error(), "after top-level value"):
		return errors.New("more than one JSON value is in it")
	}
	return errors.New("it isn't valid JSON")
}
