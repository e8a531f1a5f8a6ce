package cputime

import (
	"testing"
	"time"
)

// Work counts, and waiting doesn't.
func TestSpent(t *testing.T) {
	sum := 0
	worked := Spent(func() {
		for i := range 200_000_000 {
			sum += i ^ sum
		}
	})
	if worked < time.Millisecond {
		t.Errorf("%d additions took %v", 200_000_000, worked)
	}
	if _, known := used(); !known {
		t.Skip("the system doesn't tell")
	}
	if waited := Spent(func() { time.Sleep(50 * time.Millisecond) }); waited > 25*time.Millisecond {
		t.Errorf("waiting for 50ms took %v of work", waited)
	}
	if sum == 0 {
		t.Log("it came to nothing")
	}
}

// A machine on which the known work costs more is given more, and no bound is lower than it was set.
func TestPace(t *testing.T) {
	cost := Spent(known)
	t.Logf("the known work costs %v here", cost)
	if p := pace(); p < 1 || cost > 100*reference*slower {
		t.Errorf("the pace is %v, and the known work costs %v", p, cost)
	}
}
