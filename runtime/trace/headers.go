package trace

import (
	"context"
	"strings"
)

type headersKey struct{}

// Headers are those of W3C's Trace Context (www.w3.org/TR/trace-context) that hand the span
// of a context on to who is asked within it: "traceparent", and "tracestate" where there is
// one; none without a span. They mustn't be changed.
func Headers(ctx context.Context) map[string]string {
	headers, _ := ctx.Value(headersKey{}).(map[string]string)
	return headers
}

// WithHeaders is a context within the span that such headers name; ctx itself where they
// name none.
func WithHeaders(ctx context.Context, traceparent, tracestate string) context.Context {
	if !namesSpan(traceparent) {
		return ctx
	}
	headers := map[string]string{"traceparent": traceparent}
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if tracestate != "" && len(tracestate) <= 512 && !strings.ContainsFunc(tracestate, unprintable) {
		headers["tracestate"] = tracestate
	}
	return context.WithValue(ctx, headersKey{}, headers)
}

// namesSpan reports whether a text is a version, a trace, a span and flags, such as
// 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.
func namesSpan(traceparent string) bool {
	parts := strings.Split(traceparent, "-")
	if len(parts) != 4 || parts[0] == "ff" {
		return false
	}
	for i, length := range []int{2, 32, 16, 2} {
		part := parts[i]
		isZero := strings.Trim(part, "0") == "" && (i == 1 || i == 2)
		if len(part) != length || strings.Trim(part, "0123456789abcdef") != "" || isZero {
			return false
		}
	}
	return true
}
