package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
)

// A story is a run of which every event is told: by its kind, and the call that it is
// about.
type story struct {
	machine *runtime.Machine
	last    map[string]runtime.Command // by call: what was last asked or started of it
	told    []string
}

func (s *story) tell(kind runtime.EventKind, call string, more func(*runtime.Event)) {
	c := s.last[call]
	e := runtime.Event{Kind: kind, Try: c.Try, Route: -1}
	if more != nil {
		more(&e)
	}
	for _, c := range s.machine.Step(e) {
		switch {
		case c.Of == nil:
		case c.Kind == runtime.Start, c.Kind == runtime.Ask, c.Kind == runtime.Enter:
			s.last[c.Of.Name] = c
			s.told = append(s.told, fmt.Sprint(c.Of.Name, map[runtime.CommandKind]string{runtime.Start: " starts", runtime.Ask: " is asked about", runtime.Enter: " delegates"}[c.Kind]))
		case c.Kind == runtime.Settle:
			s.told = append(s.told, fmt.Sprint(c.Of.Name, " is ", c.Settlement.Status))
		}
	}
}

// What happens to few calls: one that a kill cut short and that is said to have failed,
// one whose result was kept and doesn't fit, and what a delegate has in hand when it is
// given up.
func TestRareTransitions(t *testing.T) {
	merges := []any{
		map[string]any{"_tool": "draft", "_id": "one", "_outputPath": "a", "_outputMethod": "merge"},
		map[string]any{"_tool": "draft", "_id": "two", "_outputPath": "a", "_outputMethod": "merge", "_retry": map[string]any{"attempts": 2.0}},
	}
	routes := []any{
		map[string]any{"_tool": "draft", "_id": "one", "_outputPath": "x || †state.e"},
		map[string]any{"_tool": "draft", "_id": "two", "_outputPath": "y || †state.e.why"},
	}
	behind := []any{ // both that wait for "two" are ready at once, and come before "three"
		map[string]any{"_tool": "draft", "_id": "one", "x": "†state.z", "_outputPath": "o"},
		map[string]any{"_tool": "draft", "_id": "later", "x": "†state.z"},
		map[string]any{"_tool": "draft", "_id": "two", "_outputPath": "z"},
		map[string]any{"_tool": "draft", "_id": "four", "x": "†state.o", "_outputPath": "x || †state.e"},
		map[string]any{"_tool": "draft", "_id": "three", "_outputPath": "y || †state.e.why"},
	}
	delegates := []any{map[string]any{"_tool": "fetch", "_id": "all", "_delegate": "d.json", "_timeout": "5s"}}
	value := func(v any) func(*runtime.Event) { return func(e *runtime.Event) { e.Value = v } }
	says := func(v runtime.Verdict) func(*runtime.Event) {
		return func(e *runtime.Event) { e.Decision = &runtime.Decision{Verdict: v} }
	}
	resumes := func(how runtime.InFlight) func(*runtime.Event) {
		return func(e *runtime.Event) { e.Resumption = &runtime.Resumption{InFlight: how} }
	}
	object := map[string]any{"k": 1.0}
	for name, c := range map[string]struct {
		calls    []any
		always   bool // somebody is asked about every call
		parallel int
		events   func(*story)
		want     string
	}{
		"a call that was cut short is said to have failed": {calls: merges[:1], events: func(s *story) {
			s.tell(runtime.Resumed, "", nil)
			s.tell(runtime.Decided, "one", says(runtime.Fail))
		}, want: "one starts, one is asked about, one is failed"},
		"one that is to be tried again isn't asked about as if it were new": {calls: merges[:1], events: func(s *story) {
			s.tell(runtime.Resumed, "", func(e *runtime.Event) {
				e.Resumption = &runtime.Resumption{InFlight: runtime.InFlightRetry, Confirm: &runtime.Confirm{Policy: runtime.Always}}
			})
			s.tell(runtime.Ended, "one", value(object))
		}, want: "one starts, one starts, one is done"},
		"its record is kept until another has settled": {calls: routes, events: func(s *story) {
			s.tell(runtime.Resumed, "", nil)
			s.tell(runtime.Decided, "two", says(runtime.Fail))
			s.tell(runtime.Decided, "one", says(runtime.Fail))
		}, want: "one starts, two starts, one is asked about, two is asked about, one is failed, two is failed"},
		"one that is to be tried again, and before it is, has failed": {calls: behind, parallel: 2, events: func(s *story) {
			s.tell(runtime.Ended, "two", value(object))
			s.tell(runtime.Resumed, "", resumes(runtime.InFlightRetry))
			s.tell(runtime.Resumed, "", resumes(runtime.InFlightFail))
		}, want: "two starts, three starts, two is done, one starts, one starts, later starts, one is failed, later is failed, four is skipped, three is failed"},
		"one that is to be tried again, and before it is, is asked about": {calls: behind, parallel: 2, events: func(s *story) {
			s.tell(runtime.Ended, "two", value(object))
			s.tell(runtime.Resumed, "", resumes(runtime.InFlightRetry))
			s.tell(runtime.Resumed, "", resumes(runtime.InFlightRetry))
			s.tell(runtime.Resumed, "", nil)
			for _, call := range []string{"one", "later", "three"} {
				s.tell(runtime.Decided, call, says(runtime.Fail))
			}
		}, want: "two starts, three starts, two is done, one starts, one starts, later starts, one starts, later starts, one is asked about, later is asked about, three is asked about, one is failed, four is skipped, later is failed, three is failed"},
		"one of which a person says that it is to be tried again": {calls: behind, parallel: 1, events: func(s *story) {
			s.tell(runtime.Ended, "two", value(object))
			s.tell(runtime.Resumed, "", nil)
			s.tell(runtime.Decided, "one", says(runtime.Retry))
			s.tell(runtime.Resumed, "", resumes(runtime.InFlightFail))
			for _, call := range []string{"one", "four", "three"} {
				s.tell(runtime.Ended, call, value(object))
			}
		}, want: "two starts, two is done, one starts, one is asked about, later starts, later is failed, one starts, one is done, four starts, four is done, three starts, three is done"},
		"a call is rejected whose record is kept until another has settled": {calls: routes, always: true, events: func(s *story) {
			s.tell(runtime.Decided, "one", says(runtime.Approve))
			s.tell(runtime.Decided, "two", says(runtime.Reject))
			s.tell(runtime.Ended, "one", value(object))
		}, want: "one is asked about, two is asked about, one starts, one is done, two is rejected"},
		"a result that was kept doesn't fit, and the call is tried again": {calls: merges, events: func(s *story) {
			s.tell(runtime.Ended, "two", value(object))
			s.tell(runtime.Ended, "one", value("text"))
			s.tell(runtime.Fired, "two", nil)
			s.tell(runtime.Ended, "two", value("words"))
		}, want: "one starts, two starts, one is done, two starts, two is failed"},
		"a delegate is given up of which a result was kept": {calls: delegates, events: func(s *story) {
			s.tell(runtime.Ended, "two", value(object))
			s.tell(runtime.Fired, "all", func(e *runtime.Event) { e.Attempt = 1 })
			s.tell(runtime.Ended, "one", value(object))
		}, want: "all delegates, one starts, two starts, two is cancelled, one is cancelled, all is failed"},
		"a delegate is given up of which a call is asked about": {calls: delegates, always: true, events: func(s *story) {
			s.tell(runtime.Decided, "all", says(runtime.Approve))
			s.tell(runtime.Fired, "all", func(e *runtime.Event) { e.Attempt = 1 })
		}, want: "all is asked about, all delegates, one is asked about, two is asked about, one is cancelled, two is cancelled, all is failed"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mason{files: map[string][]byte{"d.json": []byte(inJSON(map[string]any{"calls": merges}))}}
			v, why := m.compile(t, map[string]any{"calls": c.calls})
			if v == nil {
				t.Fatal(why)
			}
			o := runtime.Options{Parallel: c.parallel}
			if c.always {
				o.Confirm.Policy = runtime.Always
			}
			s := &story{machine: runtime.New(v, o), last: map[string]runtime.Command{}}
			s.tell(runtime.RunBegan, "", nil)
			c.events(s)
			if told := strings.Join(s.told, ", "); told != c.want || !s.machine.Over() {
				t.Errorf("it goes\n%s\nand not\n%s", told, c.want)
			}
		})
	}
}
