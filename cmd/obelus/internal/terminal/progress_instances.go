package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// instanceCounts counts the instances of a run.
type instanceCounts struct {
	expected     int                           // those of the plan, and those that had joined before
	read         func() (taken int, more bool) // of the file of instances; nil for none
	working      map[int]bool                  // by frame
	done, failed int
	uncertain    int           // calls that started against the advisors, without a line of their own
	last         time.Duration // of the last line
}

// quiet is how long a run over many instances prints nothing, without a terminal.
const quiet = 10 * time.Second

// known is how many instances there are so far.
func (s *instanceCounts) known() int {
	if s.read == nil {
		return s.expected
	}
	taken, _ := s.read()
	return s.expected + taken
}

func (s *instanceCounts) started(c runtime.Command) {
	if c.Uncertainty != "" && c.Attempt == 1 {
		s.uncertain++
	}
	if s.working == nil {
		s.working = map[int]bool{}
	}
	if c.Under == "" && c.Of.ItemOf == nil {
		s.working[c.Frame] = true
	}
}

func (s *instanceCounts) count(end *runtime.InstanceEnd) {
	if end.Status == runtime.RunFailed {
		s.failed++
	} else {
		s.done++
	}
}

// text is how many instances are done, failed and running.
func (s *instanceCounts) text() string {
	text := fmt.Sprintf("%d done", s.done)
	if s.failed > 0 {
		text += fmt.Sprintf(", %d failed", s.failed)
	}
	text += fmt.Sprintf(", %d running, of %d", max(0, len(s.working)-s.done-s.failed), s.known())
	if s.read != nil {
		if _, more := s.read(); more {
			text += " so far"
		}
	}
	return text
}

// left shows the end of an instance: of many only the first that end, where lines stay, and
// the first failures, and the counts from time to time.
func (p *Progress) left(end *runtime.InstanceEnd) {
	s := &p.instanceCounts
	s.count(end)
	many := s.known() > FewInstances
	switch {
	case many && end.Status != runtime.RunFailed && (p.live || s.done > FewInstances),
		many && end.Status == runtime.RunFailed && s.failed > shownFailures:
		if !p.live && p.at-s.last >= quiet {
			p.print("  %s\n", p.style.Faint("· "+s.text()))
			s.last = p.at
		}
		return
	case end.Status != runtime.RunFailed:
		text := string(end.Status)
		if end.Output != nil {
			text += "  " + Cut(Brief(end.Output), max(20, p.width-diag.Columns(end.ID)-14))
		}
		p.erase()
		p.print("  %s %s  %s\n", p.style.Green("●"), p.style.Bold(diag.Escape(end.ID)), text)
		return
	}
	text := "failed"
	if len(end.Errors) > 0 {
		text = strings.TrimSuffix("failed: "+end.Errors[0].Call, ": ") + ": " + end.Errors[0].Message
		if more := len(end.Errors) - 1; more > 0 {
			text += fmt.Sprintf(", and %s", wording.Count(more, "more error"))
		}
	}
	p.erase()
	p.print("  %s %s  %s\n", p.style.Red("●"), p.style.Bold(diag.Escape(end.ID)), diag.Escape(text))
}

// tallyInstances is how many instances ended in which way, and the file of their results.
func (p *Progress) tallyInstances(o *runtime.Outcome) string {
	count := map[runtime.RunStatus]int{}
	for _, end := range o.Instances {
		count[end.Status]++
	}
	text := fmt.Sprintf("%s: %d done", wording.Count(len(o.Instances), "instance"), count[runtime.RunDone])
	for _, status := range []runtime.RunStatus{runtime.RunFailed, runtime.RunStopped, runtime.RunGoesOn} {
		if count[status] > 0 {
			text += fmt.Sprintf(", %d %s", count[status], status)
		}
	}
	if p.run.Results != "" {
		text += "; results in " + diag.Escape(p.run.Results)
	}
	return text
}
