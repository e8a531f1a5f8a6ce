package trace

import (
	"context"
	"regexp"
	"strings"
)

type headersKey struct{}

// Headers are those of W3C's Trace Context (www.w3.org/TR/trace-context) that hand the span of a context on to who is
// asked within it: "traceparent", and "tracestate" where there is one; none without a span. They mustn't be changed.
func Headers(ctx context.Context) map[string]string {
	headers, _ := ctx.Value(headersKey{}).(map[string]string)
	return headers
}

// WithHeaders is a context within the span that such headers name; ctx itself where they name none.
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

var traceparent = regexp.MustCompile("^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$")

// namesSpan reports whether a text is a version, a trace, a span and flags, such as
// 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.
func namesSpan(text string) bool {
	part := traceparent.FindStringSubmatch(text)
	return part != nil && part[1] != "ff" && strings.Trim(part[2], "0") != "" && strings.Trim(part[3], "0") != ""
}
