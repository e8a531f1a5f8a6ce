package trace_test

import (
	"context"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/trace"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Meters that count, and time nothing.
type (
	counts struct {
		noop.MeterProvider
		all int64
	}
	countsMeter struct {
		noop.Meter
		of *counts
	}
	countsCounter struct {
		noop.Int64Counter
		of *counts
	}
)

func (c *counts) Meter(string, ...metric.MeterOption) metric.Meter { return countsMeter{of: c} }

func (m countsMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return countsCounter{of: m.of}, nil
}

func (c countsCounter) Add(_ context.Context, n int64, _ ...metric.AddOption) { c.of.all += n }

// What models used before a run was resumed isn't counted a second time.
func TestTokensAreCountedOnce(t *testing.T) {
	var meters counts
	used := runtime.Usage{}
	for _, now := range []runtime.Usage{{InputTokens: 5, OutputTokens: 3}, {InputTokens: 9, OutputTokens: 3}} {
		tracer := trace.New(t.Context(), nil, &meters, trace.Run{Began: time.Unix(0, 0), Used: used})
		tracer.Observe(time.Second, runtime.Command{Kind: runtime.Finish, Outcome: &runtime.Outcome{Status: runtime.RunStopped, Usage: now}})
		used = now
	}
	if meters.all != 12 {
		t.Errorf("%d tokens are counted, want 12", meters.all)
	}
}
