package activity

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// traceContext is the W3C's form of handing a span on (www.w3.org/TR/trace-context).
var traceContext propagation.TraceContext

// Traced are the headers that hand the span of a context on to who is asked within it:
// "traceparent", and "tracestate" where there is one; none without a span.
func Traced(ctx context.Context) map[string]string {
	headers := propagation.MapCarrier{}
	traceContext.Inject(ctx, headers)
	return headers
}

// WithTrace is a context within the span that such headers name; ctx itself where they
// name none.
func WithTrace(ctx context.Context, headers map[string]string) context.Context {
	return traceContext.Extract(ctx, propagation.MapCarrier(headers))
}

// tracedVariables are the variables that tell a program of the span of a context: those
// headers by names in capitals, as programs that know them expect.
func tracedVariables(ctx context.Context) []string {
	var pairs []string
	for _, name := range traceContext.Fields() {
		if value := Traced(ctx)[name]; value != "" {
			pairs = append(pairs, strings.ToUpper(name)+"="+value)
		}
	}
	return pairs
}
