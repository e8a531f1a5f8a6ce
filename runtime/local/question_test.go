package local_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

// A latecomer sees a question after a while, and never answers. It keeps why the
// question was taken back.
type latecomer struct {
	after time.Duration
	why   error
}

func (l *latecomer) Ask(ctx context.Context, _ *runtime.Question, shown func()) func() (runtime.Decision, error) {
	return func() (runtime.Decision, error) {
		select {
		case <-time.After(l.after):
			shown()
			<-ctx.Done()
		case <-ctx.Done():
		}
		l.why = context.Cause(ctx)
		return runtime.Decision{}, ctx.Err()
	}
}

// S10.2: the time for an answer begins when the question is shown, and who asks is
// told what has become of a question that is taken back.
func TestAnswerTimeBeginsWhenShown(t *testing.T) {
	const plan = `calls: [{_tool: pay, _outputPath: paid}]`
	pay := func(context.Context, activity.Request) (any, error) { return "paid", nil }
	for _, test := range []struct {
		name       string
		verdict    runtime.Verdict
		shown      time.Duration
		stop       time.Duration
		story, why string
	}{
		{"rejected", runtime.Reject, time.Hour, 0, "1h0m10s rejected pay#1", "nobody answered in time, which counts as no"},
		{"approved", runtime.Approve, time.Minute, 0, "1m10s start pay#1\n1m10s done pay#1", "nobody answered in time, which counts as yes"},
		{"stopped", runtime.Reject, time.Minute, time.Second, "1s cancelled pay#1", "the run was stopped"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.stop > 0 {
					limited, cancel := context.WithTimeout(ctx, test.stop)
					defer cancel()
					ctx = limited
				}
				asked := &latecomer{after: test.shown, why: errors.New("nobody was asked")}
				o := local.Options{Confirmer: asked}
				o.Confirm = runtime.Confirm{Policy: runtime.Always, Timeout: 10 * time.Second, Default: test.verdict}
				_, story := run(t, ctx, plan, map[string]activity.Func{"pay": pay}, o)
				synctest.Wait()
				if story != test.story || asked.why.Error() != test.why {
					t.Errorf("%s\n%s, expected\n%s\n%s", story, asked.why, test.story, test.why)
				}
			})
		})
	}
}
