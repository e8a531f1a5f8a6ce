package diag

// The rules, by the names that S7 gives them. Each has a page in
// analyzer/rules; what a rule means is said there and only there.
var (
	Syntax              = &Rule{Code: "OB101", Name: "syntax", Default: Error}
	UnknownKey          = &Rule{Code: "OB102", Name: "unknown-key", Default: Error}
	DuplicateKey        = &Rule{Code: "OB103", Name: "duplicate-key", Default: Error}
	WrongType           = &Rule{Code: "OB104", Name: "wrong-type", Default: Error}
	Limit               = &Rule{Code: "OB105", Name: "limit", Default: Error}
	ConfusableName      = &Rule{Code: "OB106", Name: "confusable-name", Default: Error}
	AmbiguousScalar     = &Rule{Code: "OB107", Name: "ambiguous-scalar", Default: Warning}
	BadExpression       = &Rule{Code: "OB201", Name: "bad-expression", Default: Error}
	UnknownKind         = &Rule{Code: "OB202", Name: "unknown-kind", Default: Error}
	DanglingReference   = &Rule{Code: "OB203", Name: "dangling-reference", Default: Error}
	UndeclaredPath      = &Rule{Code: "OB204", Name: "undeclared-path", Default: Error}
	MaybeMissing        = &Rule{Code: "OB205", Name: "maybe-missing", Default: Warning}
	LookalikeRef        = &Rule{Code: "OB206", Name: "lookalike-reference", Default: Warning}
	UnusedOutput        = &Rule{Code: "OB207", Name: "unused-output", Default: Info}
	UnusedInput         = &Rule{Code: "OB208", Name: "unused-input", Default: Info}
	UselessFallback     = &Rule{Code: "OB209", Name: "useless-fallback", Default: Warning}
	BooleanFallback     = &Rule{Code: "OB210", Name: "boolean-fallback", Default: Warning}
	LateWriter          = &Rule{Code: "OB211", Name: "late-writer", Default: Warning}
	ConstantCondition   = &Rule{Code: "OB212", Name: "constant-condition", Default: Warning}
	Cycle               = &Rule{Code: "OB301", Name: "cycle", Default: Error}
	DeadCall            = &Rule{Code: "OB302", Name: "dead-call", Default: Warning}
	DuplicateID         = &Rule{Code: "OB303", Name: "duplicate-id", Default: Error}
	RedundantCall       = &Rule{Code: "OB304", Name: "redundant-call", Default: Info}
	UnknownCall         = &Rule{Code: "OB305", Name: "unknown-call", Default: Error}
	WriteConflict       = &Rule{Code: "OB401", Name: "write-conflict", Default: Error}
	LostWrite           = &Rule{Code: "OB402", Name: "lost-write", Default: Warning}
	Rewrite             = &Rule{Code: "OB403", Name: "rewrite", Default: Error}
	ReadOnlyPath        = &Rule{Code: "OB404", Name: "read-only-path", Default: Error}
	ShapeConflict       = &Rule{Code: "OB405", Name: "shape-conflict", Default: Error}
	UnhandledBranch     = &Rule{Code: "OB407", Name: "unhandled-branch", Default: Warning}
	UnroutedFailure     = &Rule{Code: "OB408", Name: "unrouted-failure", Default: Warning, Optional: true}
	UnknownTool         = &Rule{Code: "OB501", Name: "unknown-tool", Default: Error}
	MissingParameter    = &Rule{Code: "OB502", Name: "missing-parameter", Default: Error}
	UnknownParameter    = &Rule{Code: "OB503", Name: "unknown-parameter", Default: Error}
	BadParameter        = &Rule{Code: "OB504", Name: "bad-parameter", Default: Error}
	FlowMismatch        = &Rule{Code: "OB505", Name: "flow-mismatch", Default: Error}
	FlowMayMismatch     = &Rule{Code: "OB506", Name: "flow-may-mismatch", Default: Warning}
	ForbiddenOutputPath = &Rule{Code: "OB507", Name: "forbidden-output-path", Default: Error}
	StateMismatch       = &Rule{Code: "OB508", Name: "state-mismatch", Default: Error}
	BadSchema           = &Rule{Code: "OB509", Name: "bad-schema", Default: Error}
	ExpressionType      = &Rule{Code: "OB510", Name: "expression-type", Default: Error}
	BadMethod           = &Rule{Code: "OB511", Name: "bad-method", Default: Error}
	OutputMismatch      = &Rule{Code: "OB512", Name: "output-mismatch", Default: Error}
	UnknownField        = &Rule{Code: "OB513", Name: "unknown-field", Default: Warning}
	NoActivity          = &Rule{Code: "OB601", Name: "no-activity", Default: Error}
	Latent              = &Rule{Code: "OB602", Name: "latent", Default: Info}
	BadDelegate         = &Rule{Code: "OB603", Name: "bad-delegate", Default: Error}
	BadScope            = &Rule{Code: "OB604", Name: "bad-scope", Default: Error}
	BadAdvisor          = &Rule{Code: "OB605", Name: "bad-advisor", Default: Error}
	BadInstance         = &Rule{Code: "OB606", Name: "bad-instance", Default: Error}
	UnsafeRetry         = &Rule{Code: "OB607", Name: "unsafe-retry", Default: Warning}
	UnusedDefinition    = &Rule{Code: "OB608", Name: "unused-definition", Default: Info}
	UselessSilencer     = &Rule{Code: "OB901", Name: "useless-silencer", Default: Warning}
	NotAnalysed         = &Rule{Code: "OB902", Name: "not-fully-analysed", Default: Info}
	ToolsNotJudged      = &Rule{Code: "OB903", Name: "tools-not-judged", Default: Info}
	Extension           = &Rule{Code: "OB904", Name: "extension", Default: Warning}
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
