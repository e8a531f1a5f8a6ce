package local_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

// A latecomer never answers. It keeps why it ended. It shows a question as it is asked, or after a time.
type latecomer struct {
	why    error
	unseen time.Duration
}

func (l *latecomer) Ask(ctx context.Context, q *runtime.Question) func() (runtime.Decision, error) {
	if l.unseen > 0 {
		var seen atomic.Pointer[time.Time]
		q.Seen = seen.Load
		time.AfterFunc(l.unseen, func() { seen.Store(new(time.Now())) })
	}
	return func() (runtime.Decision, error) {
		<-ctx.Done()
		l.why = ctx.Err()
		return runtime.Decision{}, ctx.Err()
	}
}

// EXECUTION.md#reviewers: the default counts when the time for an answer is over, and who asks learns
// that the question is taken back.
func TestAnswerTime(t *testing.T) {
	const plan = `calls: [{_tool: pay, _outputPath: paid}]`
	pay := func(context.Context, activity.Request) (any, error) { return "paid", nil }
	for _, test := range []struct {
		name    string
		verdict runtime.Verdict
		stop    time.Duration
		unseen  time.Duration
		story   string
	}{
		{"rejected", runtime.Reject, 0, 0, "10s rejected pay#1"},
		{"approved", runtime.Approve, 0, 0, "10s start pay#1\n10s done pay#1"},
		{"seen in time", runtime.Approve, 0, 4 * time.Second, "14s start pay#1\n14s done pay#1"},
		{"seen late", runtime.Approve, 0, 25 * time.Second, "35s start pay#1\n35s done pay#1"},
		{"stopped", runtime.Reject, time.Second, 0, "1s cancelled pay#1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.stop > 0 {
					limited, cancel := context.WithTimeout(ctx, test.stop)
					defer cancel()
					ctx = limited
				}
				asked := &latecomer{why: errors.New("nobody was asked"), unseen: test.unseen}
				o := local.Options{Confirmer: asked}
				o.Confirm = runtime.Confirm{Policy: runtime.Always, Timeout: 10 * time.Second, Default: test.verdict}
				_, story := run(t, ctx, plan, map[string]activity.Func{"pay": pay}, o)
				synctest.Wait()
				if story != test.story || asked.why != context.Canceled {
					t.Errorf("%s\n%v, expected\n%s", story, asked.why, test.story)
				}
			})
		})
	}
}

// EXECUTION.md#reviewers: an answer that doesn't come in time may end the tick. The question is taken back all the
// same, and the next tick begins.
func TestAnswerTimeEndsTick(t *testing.T) {
	pay := func(context.Context, activity.Request) (any, error) { return "paid", nil }
	synctest.Test(t, func(t *testing.T) {
		asked := &latecomer{}
		o := local.Options{Confirmer: asked, Planner: &ticks{`{"calls": [{"_tool": "pay", "_outputPath": "one"}], "output": null}`, `{"calls": [], "output": "nobody"}`}}
		o.Planned, o.Confirm = true, runtime.Confirm{Policy: runtime.Always, Timeout: time.Second, Default: runtime.Reject}
		outcome, story := run(t, t.Context(), "tools: {pay: {}}\ncalls: []\n", map[string]activity.Func{"pay": pay}, o)
		synctest.Wait()
		if story != "1s rejected pay#1" || outcome.Output != "nobody" || asked.why != context.Canceled {
			t.Errorf("%s\n%v\n%v", story, outcome.Output, asked.why)
		}
	})
}

// Ticks are the answers of a planner, one after the other.
type ticks []string

func (p *ticks) Answer(_ context.Context, _ *runtime.Request, emit func(string)) (runtime.Usage, error) {
	emit((*p)[0])
	*p = (*p)[1:]
	return runtime.Usage{}, nil
}

// EXECUTION.md#reviewers: where nobody can be asked, a run goes on with all that doesn't need the answer,
// pauses between tries included, and stops then with all of its questions, without waiting
// for the limit of the run. The time for an answer counts.
func TestNobodyToAsk(t *testing.T) {
	const plan = `
limits: {time: 10h}
calls:
- {_id: pay, _tool: pay, _outputPath: paid}
- {_id: look, _tool: look, _outputPath: seen}
- {_id: again, _tool: look, seen: †state.seen, _retry: {attempts: 2, backoff: 1m}, _outputPath: twice}
- {_id: refund, _tool: pay, seen: †state.twice, _outputPath: back}
- {_id: after, _tool: look, paid: †state.paid, _outputPath: last}
tools:
  pay: {additionalProperties: true}
  look: {additionalProperties: true, annotations: {readOnlyHint: true}}
`
	functions := func() map[string]activity.Func {
		return map[string]activity.Func{
			"pay": after(time.Second),
			"look": func(ctx context.Context, r activity.Request) (any, error) {
				if r.Call == "again" && r.Attempt == 1 {
					return nil, errors.New("no luck")
				}
				return after(time.Second)(ctx, r)
			},
		}
	}
	for _, test := range []struct {
		name    string
		confirm runtime.Confirm
		story   string
		asked   string
	}{
		{"for ever", runtime.Confirm{Policy: runtime.Effects},
			"0s start look\n1s done look\n1s start again\n1m1s start again\n1m2s done again\n1m2s cancelled pay\n1m2s cancelled refund\n1m2s cancelled after", "pay refund"},
		{"approved", runtime.Confirm{Policy: runtime.Effects, Timeout: 10 * time.Second, Default: runtime.Approve},
			"0s start look\n1s done look\n1s start again\n10s start pay\n11s done pay\n11s start after\n12s done after\n1m1s start again\n1m2s done again\n1m12s start refund\n1m13s done refund", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := local.Options{}
				o.Confirm = test.confirm
				outcome, story := run(t, t.Context(), plan, functions(), o)
				var asked []string
				for _, q := range outcome.Asked {
					asked = append(asked, q.Call)
				}
				if story != test.story || strings.Join(asked, " ") != test.asked {
					t.Errorf("it asked about %q, and went\n%s\nexpected %q and\n%s", asked, story, test.asked, test.story)
				}
			})
		})
	}
}
