package diag

// Rules such as the analyzer has.
var (
	LateWriter     = &Rule{Code: "OB211", Name: "late-writer", Default: Warning}
	WriteConflict  = &Rule{Code: "OB401", Name: "write-conflict", Default: Error}
	LostWrite      = &Rule{Code: "OB402", Name: "lost-write", Default: Warning}
	UnknownTool    = &Rule{Code: "OB501", Name: "unknown-tool", Default: Error}
	BadParameter   = &Rule{Code: "OB504", Name: "bad-parameter", Default: Error}
	Latent         = &Rule{Code: "OB602", Name: "latent", Default: Info}
	ToolsNotJudged = &Rule{Code: "OB903", Name: "tools-not-judged", Default: Info}
)
