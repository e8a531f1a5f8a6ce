package trace

import (
	"context"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// measures are what is counted and timed of all runs: how long calls take, from the first
// that is heard of one until it settles, how long runs take, and what models use.
type measures struct {
	how         map[[2]string]metric.MeasurementOption // of calls: by tool and status
	calls, runs metric.Float64Histogram
	tokens      metric.Int64Counter
}

// measuresOf makes the measures. A meter whose provider refuses one measures nothing there.
func measuresOf(m metric.Meter) measures {
	of := measures{how: map[[2]string]metric.MeasurementOption{}}
	of.calls, _ = m.Float64Histogram("obelus.call.duration", metric.WithUnit("s"), metric.WithDescription("Time from the first that is heard of a call until it settles"))
	of.runs, _ = m.Float64Histogram("obelus.run.duration", metric.WithUnit("s"), metric.WithDescription("Time from the beginning of a run to its end or stop"))
	of.tokens, _ = m.Int64Counter("obelus.model.tokens", metric.WithUnit("{token}"), metric.WithDescription("Tokens that models read and wrote"))
	return of
}

func (m *measures) settled(ctx context.Context, took time.Duration, tool, status string) {
	how := m.how[[2]string{tool, status}]
	if how == nil {
		how = metric.WithAttributeSet(attribute.NewSet(attribute.String("obelus.tool", tool), attribute.String("obelus.status", status)))
		m.how[[2]string{tool, status}] = how
	}
	m.calls.Record(ctx, took.Seconds(), how)
}

func (m *measures) finished(ctx context.Context, took time.Duration, status runtime.RunStatus, input, output int) {
	m.runs.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String("obelus.status", string(status))))
	for kind, n := range map[string]int{"input": input, "output": output} {
		if n > 0 {
			m.tokens.Add(ctx, int64(n), metric.WithAttributes(attribute.String("gen_ai.token.type", kind)))
		}
	}
}
