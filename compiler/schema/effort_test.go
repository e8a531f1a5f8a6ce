package schema

import (
	"fmt"
	"github.com/obelus-dev/obelus/testdata/amount"
	"strings"
	"testing"
)

// EXECUTION.md#limits: an allowance ends what one text costs against many patterns, and not a run that
// waits for many documents, each of which meets a few.
func TestAllowances(t *testing.T) {
	pattern := func(n int) *Schema {
		return New(map[string]any{"pattern": fmt.Sprintf("^([a-z ]|[0-9]{1,2}|%d)*(\\.|!|[a-f]{3,9})?$", n)}, Options{})
	}
	documents := NewAllowance()
	schemas := []*Schema{pattern(1), pattern(2), pattern(3)}
	for n := range amount.Of(15, 60, 60) {
		document := fmt.Sprint(strings.Repeat("some words of many and 12 ", 1_000), n%10, n%10)
		documents.Refill(document)
		for _, s := range schemas {
			if v := s.ValidateWithin(document, &documents); v != nil {
				t.Fatalf("document %d: %v", n, v)
			}
		}
	}
	one, refused := NewAllowance(), 0
	text := randomly("ab", 20_000)
	for n := range 100 {
		if v := New(map[string]any{"pattern": fmt.Sprintf("[ab]*a[ab]{60}%d$", n)}, Options{}).ValidateWithin(text, &one); v != nil && v.Keyword == Limit {
			refused++
		}
	}
	t.Logf("%d used by documents, %d by one text, refused %d times", documents.Used, one.Used, refused)
	if one.Used > 2*NewAllowance().Left || refused == 0 {
		t.Errorf("one text costs %d, and is refused %d times", one.Used, refused)
	}
}
