package terminal

import (
	"fmt"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// crowdShown is what is told of the instances of a run. Of a few every call has a
// line; of many only how they fare together, and the first that failed.
type crowdShown struct {
	expected     int                                // those of the plan, and those that had joined when the run was resumed
	read         func() (taken int, all, file bool) // of the file of instances; nil before the run
	many         bool
	working      map[int]bool // by frame
	done, failed int
	doubted      int           // calls of many instances that started against the advisors
	next         int           // how many are to have ended when that is told
	last         time.Duration // when something was told last
}

const (
	FewInstances  = 20 // of which every call is shown
	shownFailures = 10 // the others are counted
	quiet         = 30 * time.Second
)

// known is how many instances there are so far.
func (s *crowdShown) known() int {
	if s.read == nil {
		return s.expected
	}
	taken, _, _ := s.read()
	return s.expected + taken
}

// resumed counts the instances that had joined, and those of them that had ended.
func (s *crowdShown) resumed(r *session.Replay) {
	s.expected += len(r.Joined)
	for _, end := range r.Left {
		s.count(end)
	}
}

func (s *crowdShown) count(end *runtime.InstanceEnd) {
	if end.Status == "failed" {
		s.failed++
	} else {
		s.done++
	}
}

// line says how the instances fare.
func (s *crowdShown) line(now time.Duration) string {
	text := fmt.Sprintf("%d done", s.done)
	if s.failed > 0 {
		text += fmt.Sprintf(", %d failed", s.failed)
	}
	text += fmt.Sprintf(", %d at work, of %d", len(s.working), s.known())
	if s.read != nil {
		if _, all, file := s.read(); file && !all {
			text += " so far"
		}
	}
	if now >= time.Second && s.done+s.failed > 0 {
		text += fmt.Sprintf("; %.3g a second", float64(s.done+s.failed)/now.Seconds())
	}
	return text
}

// watch notes what a command tells of an instance. It reports whether that is all
// there is to show.
func (p *Progress) watch(c runtime.Command) bool {
	s := &p.crowd
	if c.Instance == "" {
		return false
	}
	if !s.many && s.known() > FewInstances {
		s.many, s.next, p.frames = true, nextTold(0), nil
	}
	if c.Kind == runtime.Leave {
		delete(s.working, c.Frame)
		s.count(c.Left)
		p.left(c.Left)
		return true
	}
	if s.many && c.Doubt != "" && c.Attempt == 1 {
		s.doubted++
	}
	if c.Of != nil && c.Above() == "" && !s.working[c.Frame] {
		if s.working == nil {
			s.working = map[int]bool{}
		}
		s.working[c.Frame] = true
	}
	return s.many && c.Kind != runtime.Plan && c.Kind != runtime.EndTick
}

// left tells that an instance has come to its end, if that is worth a line.
func (p *Progress) left(end *runtime.InstanceEnd) {
	s := &p.crowd
	ended := s.done + s.failed
	switch {
	case end.Status == "failed" && (!s.many || s.failed <= shownFailures),
		end.Status != "failed" && (!s.many || !p.live && ended <= FewInstances):
		p.erase()
		p.instanceLine(end)
		s.last = p.at
	case !p.live && (ended >= s.next || p.at-s.last >= quiet):
		p.print("  %s\n", p.style.Faint("· "+s.line(p.at)))
		s.last = p.at
	}
	if s.many && s.next <= ended {
		s.next = nextTold(ended)
	}
	if !s.many {
		p.forget(end.ID)
	}
}

// nextTold is how many are to have ended when that is told next: 50, 100, 200, 500 …
func nextTold(ended int) int {
	next := 2*FewInstances + FewInstances/2
	for next <= ended {
		if next *= 2; leading(next) == 4 {
			next += next / 4
		}
	}
	return next
}

// leading is the first digit of a number.
func leading(n int) int {
	for n >= 10 {
		n /= 10
	}
	return n
}

// forget lets go of the calls of an instance that has come to its end.
func (p *Progress) forget(instance string) {
	kept := p.frames[:0]
	for _, f := range p.frames {
		if f.instance != instance {
			kept = append(kept, f)
		}
	}
	clear(p.frames[len(kept):])
	p.frames = kept
}

// instanceLine says how the run went for one instance: its output as far as there
// is room, or the first thing that went wrong.
func (p *Progress) instanceLine(end *runtime.InstanceEnd) {
	name := diag.Escape(end.ID)
	if end.Status != "failed" {
		words := string(end.Status)
		if end.Output != nil {
			words += "  " + Cut(Brief(end.Output), max(20, p.width-diag.Columns(name)-14))
		}
		p.print("  %s %s  %s\n", p.style.Green("●"), p.style.Bold(name), words)
		return
	}
	words := "failed"
	if len(end.Errors) > 0 {
		first := end.Errors[0]
		if first.Call != "" {
			words += ": " + first.Call
		}
		words += ": " + first.Message
		if more := len(end.Errors) - 1; more > 0 {
			words += fmt.Sprintf(", and %s", wording.Count(more, "more error"))
		}
	}
	p.print("  %s %s  %s\n", p.style.Red("●"), p.style.Bold(name), diag.Escape(words))
}

// tallyInstances says for how many instances the run went how, and where their
// results are.
func (p *Progress) tallyInstances(o *runtime.Outcome) string {
	ways := map[runtime.RunStatus]int{}
	for _, end := range o.Instances {
		ways[end.Status]++
	}
	text := fmt.Sprintf("%s: %d done", wording.Count(len(o.Instances), "instance"), ways[runtime.RunDone])
	for _, way := range []runtime.RunStatus{runtime.RunFailed, runtime.RunStopped, runtime.RunGoesOn} {
		if ways[way] > 0 {
			text += fmt.Sprintf(", %d %s", ways[way], way)
		}
	}
	if p.run.Results != "" {
		text += "; results in " + diag.Escape(p.run.Results)
	}
	return text
}
