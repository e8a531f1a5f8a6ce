package runtime_test

import (
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
)

// verified compiles a document that must have no error.
func verified(t testing.TB, name string, document []byte, functions ...string) *analyzer.Verified {
	t.Helper()
	plan, found := compiler.Compile(source.NewFile(name, document), compiler.Options{Functions: functions})
	analysis := analyzer.Analyze(plan, found, analyzer.Config{})
	v, found := analysis.Verified, analysis.Findings
	if v == nil {
		t.Fatalf("%s has errors: %s: %s", name, found[0].Rule.Code, found[0].Message)
	}
	return v
}
