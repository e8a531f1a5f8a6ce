package analyzer_test

import (
	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

func init() { analyzer.SampleRuns = simulate.SampleRun }
