package main

import (
	"path/filepath"
	"testing"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/runtime/simulate"
)

// EXECUTION.md#simulation: what a plan comes to at worst is no less than what it usually takes.
func TestWorstIsNoLessThanUsual(t *testing.T) {
	files, _ := filepath.Glob("../../examples/*.yaml")
	bounded := 0
	for _, file := range files {
		p, err := (&cli{}).prepared(file, (&cli{}).newReading())
		if err != nil {
			continue // no plan
		}
		r := analyzer.Simulate(p.Plan, p.Findings)
		worst := facts.Of(p.Plan, facts.Options{}).Worst
		if r == nil || worst.Time.Most == nil {
			continue
		}
		bounded++
		o, made := pages.Explored(p.Plan)
		simulate.Begin(r, o, made).Alternatives(1, func(usual *simulate.Alternative) (more bool) {
			if took := usual.Scenario.Makespan.Seconds(); took > *worst.Time.Most {
				t.Errorf("%s usually takes %g s, and at worst %g", file, took, *worst.Time.Most)
			}
			return false
		})
	}
	if bounded < 3 {
		t.Errorf("only %d examples have a bound", bounded)
	}
}
