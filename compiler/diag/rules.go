package diag

import "slices"

// The rules that other packages than the analyzer report or speak of: those that
// a document is read by, for the most part. Each has a page in analyzer/rules;
// what a rule means is said there and only there. A rule of the analyzer alone
// stands in a file of its own there.
var (
	Syntax             = shared("OB101", "syntax", Error)
	UnknownKey         = shared("OB102", "unknown-key", Error)
	DuplicateKey       = shared("OB103", "duplicate-key", Error)
	WrongType          = shared("OB104", "wrong-type", Error)
	Limit              = shared("OB105", "limit", Error)
	ConfusableName     = shared("OB106", "confusable-name", Error)
	AmbiguousScalar    = shared("OB107", "ambiguous-scalar", Warning)
	BadExpression      = shared("OB201", "bad-expression", Error)
	UnknownKind        = shared("OB202", "unknown-kind", Error)
	DanglingReference  = shared("OB203", "dangling-reference", Error)
	UndeclaredPath     = shared("OB204", "undeclared-path", Error)
	LookalikeRef       = shared("OB206", "lookalike-reference", Warning)
	Cycle              = shared("OB301", "cycle", Error)
	DuplicateID        = shared("OB303", "duplicate-id", Error)
	UnknownCall        = shared("OB305", "unknown-call", Error)
	ReadOnlyPath       = shared("OB404", "read-only-path", Error)
	BadSchema          = shared("OB509", "bad-schema", Error)
	NoActivity         = shared("OB601", "no-activity", Error)
	BadDelegate        = shared("OB603", "bad-delegate", Error)
	BadScope           = shared("OB604", "bad-scope", Error)
	BadAdvisor         = shared("OB605", "bad-advisor", Error)
	BadInstance        = shared("OB606", "bad-instance", Error)
	UselessSuppression = shared("OB901", "useless-suppression", Warning)
)

var all []*Rule

func shared(code, name string, severity Severity) *Rule {
	r := &Rule{Code: code, Name: name, Default: severity}
	all = append(all, r)
	return r
}

// Shared lists the rules of this package, by code.
func Shared() []*Rule { return slices.Clone(all) }
