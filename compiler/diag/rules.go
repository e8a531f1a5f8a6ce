package diag

// The rules, by the names that S7 gives them. Each has a page in
// analyzer/rules; what a rule means is said there and only there.
var (
	Syntax              = &Rule{"OB101", "syntax", Error}
	UnknownKey          = &Rule{"OB102", "unknown-key", Error}
	DuplicateKey        = &Rule{"OB103", "duplicate-key", Error}
	WrongType           = &Rule{"OB104", "wrong-type", Error}
	Limit               = &Rule{"OB105", "limit", Error}
	ConfusableName      = &Rule{"OB106", "confusable-name", Error}
	AmbiguousScalar     = &Rule{"OB107", "ambiguous-scalar", Warning}
	BadExpression       = &Rule{"OB201", "bad-expression", Error}
	UnknownKind         = &Rule{"OB202", "unknown-kind", Error}
	DanglingReference   = &Rule{"OB203", "dangling-reference", Error}
	UndeclaredPath      = &Rule{"OB204", "undeclared-path", Error}
	MaybeMissing        = &Rule{"OB205", "maybe-missing", Warning}
	LookalikeRef        = &Rule{"OB206", "lookalike-reference", Warning}
	UnusedOutput        = &Rule{"OB207", "unused-output", Info}
	UnusedInput         = &Rule{"OB208", "unused-input", Info}
	UselessFallback     = &Rule{"OB209", "useless-fallback", Warning}
	BooleanFallback     = &Rule{"OB210", "boolean-fallback", Warning}
	LateWriter          = &Rule{"OB211", "late-writer", Warning}
	ConstantCondition   = &Rule{"OB212", "constant-condition", Warning}
	Cycle               = &Rule{"OB301", "cycle", Error}
	DeadCall            = &Rule{"OB302", "dead-call", Warning}
	DuplicateID         = &Rule{"OB303", "duplicate-id", Error}
	RedundantCall       = &Rule{"OB304", "redundant-call", Info}
	UnknownCall         = &Rule{"OB305", "unknown-call", Error}
	WriteConflict       = &Rule{"OB401", "write-conflict", Error}
	LostWrite           = &Rule{"OB402", "lost-write", Warning}
	Rewrite             = &Rule{"OB403", "rewrite", Error}
	ReadOnlyPath        = &Rule{"OB404", "read-only-path", Error}
	ShapeConflict       = &Rule{"OB405", "shape-conflict", Error}
	UnhandledBranch     = &Rule{"OB407", "unhandled-branch", Warning}
	UnroutedFailure     = &Rule{"OB408", "unrouted-failure", Warning}
	UnknownTool         = &Rule{"OB501", "unknown-tool", Error}
	MissingParameter    = &Rule{"OB502", "missing-parameter", Error}
	UnknownParameter    = &Rule{"OB503", "unknown-parameter", Error}
	BadParameter        = &Rule{"OB504", "bad-parameter", Error}
	FlowMismatch        = &Rule{"OB505", "flow-mismatch", Error}
	FlowMayMismatch     = &Rule{"OB506", "flow-may-mismatch", Warning}
	ForbiddenOutputPath = &Rule{"OB507", "forbidden-output-path", Error}
	StateMismatch       = &Rule{"OB508", "state-mismatch", Error}
	BadSchema           = &Rule{"OB509", "bad-schema", Error}
	ExpressionType      = &Rule{"OB510", "expression-type", Error}
	BadMethod           = &Rule{"OB511", "bad-method", Error}
	OutputMismatch      = &Rule{"OB512", "output-mismatch", Error}
	UnknownField        = &Rule{"OB513", "unknown-field", Warning}
	NoActivity          = &Rule{"OB601", "no-activity", Error}
	Latent              = &Rule{"OB602", "latent", Info}
	BadDelegate         = &Rule{"OB603", "bad-delegate", Error}
	BadScope            = &Rule{"OB604", "bad-scope", Error}
	BadAdvisor          = &Rule{"OB605", "bad-advisor", Error}
	BadInstance         = &Rule{"OB606", "bad-instance", Error}
	UnsafeRetry         = &Rule{"OB607", "unsafe-retry", Warning}
	UnusedDefinition    = &Rule{"OB608", "unused-definition", Info}
	UselessSilencer     = &Rule{"OB901", "useless-silencer", Warning}
	NotAnalysed         = &Rule{"OB902", "not-fully-analysed", Info}
	ToolsNotJudged      = &Rule{"OB903", "tools-not-judged", Info}
	Extension           = &Rule{"OB904", "extension", Warning}
)

// Rules lists every rule that there is, by code.
var Rules = []*Rule{
	Syntax, UnknownKey, DuplicateKey, WrongType, Limit, ConfusableName, AmbiguousScalar,
	BadExpression, UnknownKind, DanglingReference, UndeclaredPath, MaybeMissing, LookalikeRef, UnusedOutput, UnusedInput, UselessFallback, BooleanFallback, LateWriter, ConstantCondition,
	Cycle, DeadCall, DuplicateID, RedundantCall, UnknownCall,
	WriteConflict, LostWrite, Rewrite, ReadOnlyPath, ShapeConflict, UnhandledBranch, UnroutedFailure,
	UnknownTool, MissingParameter, UnknownParameter, BadParameter, FlowMismatch, FlowMayMismatch, ForbiddenOutputPath, StateMismatch, BadSchema, ExpressionType, BadMethod, OutputMismatch, UnknownField,
	NoActivity, Latent, BadDelegate, BadScope, BadAdvisor, BadInstance, UnsafeRetry, UnusedDefinition,
	UselessSilencer, NotAnalysed, ToolsNotJudged, Extension,
}

// Optional tells whether a rule is off unless an obelus.yaml gives it a severity:
// what it reports is right in some workspaces and a matter of taste in others.
func (r *Rule) Optional() bool { return r == UnroutedFailure }
