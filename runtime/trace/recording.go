package trace

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	nospans "go.opentelemetry.io/otel/trace/noop"
)

// A Recording is a provider that keeps the spans of one run. Their ids are made from the
// run's, so that a run that is told of again has the same. It isn't for several goroutines.
type Recording struct {
	nospans.TracerProvider
	attributes []attribute.KeyValue
	id         trace.TraceID
	spans      []*span
}

// NewRecording keeps the spans of a run of that id. The attributes are those of what ran it,
// such as service.name.
func NewRecording(run string, attributes ...attribute.KeyValue) *Recording {
	r := &Recording{attributes: attributes}
	digest := sha256.Sum256([]byte(run))
	copy(r.id[:], digest[:])
	return r
}

// Tracer makes spans of the recording, whoever asks for it.
func (r *Recording) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{r: r} }

type tracer struct {
	nospans.Tracer
	r *Recording
}

// Start begins a span, as a child of that which ctx holds.
func (t tracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	r := t.r
	config := trace.NewSpanStartConfig(options...)
	var id trace.SpanID
	var seed [24]byte
	binary.BigEndian.PutUint64(seed[copy(seed[:], r.id[:]):], uint64(len(r.spans)))
	digest := sha256.Sum256(seed[:])
	copy(id[:], digest[:])
	s := &span{
		context: trace.NewSpanContext(trace.SpanContextConfig{TraceID: r.id, SpanID: id, TraceFlags: trace.FlagsSampled}),
		name:    name, kind: config.SpanKind(), begun: config.Timestamp(), attributes: config.Attributes(), links: config.Links(),
	}
	if above := trace.SpanContextFromContext(ctx); above.TraceID() == r.id {
		s.above = above.SpanID()
	}
	r.spans = append(r.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

// A span is one that a recording keeps.
type span struct {
	nospans.Span
	context      trace.SpanContext
	above        trace.SpanID // zero for a root
	name         string
	kind         trace.SpanKind
	begun, ended time.Time
	attributes   []attribute.KeyValue
	links        []trace.Link
	status       codes.Code
	why          string
}

func (s *span) SpanContext() trace.SpanContext { return s.context }

func (s *span) IsRecording() bool { return s.ended.IsZero() }

func (s *span) End(options ...trace.SpanEndOption) {
	config := trace.NewSpanEndConfig(options...)
	s.ended = config.Timestamp()
}

func (s *span) SetStatus(code codes.Code, why string) { s.status, s.why = code, why }

func (s *span) SetAttributes(all ...attribute.KeyValue) { s.attributes = append(s.attributes, all...) }

// The JSON form of OTLP (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): ids in
// hexadecimal, integers of 64 bits as text, enumerations as numbers.
type (
	otlpTraces struct {
		ResourceSpans []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource   otlpAttributes `json:"resource"`
		ScopeSpans []otlpScope    `json:"scopeSpans"`
	}
	otlpAttributes struct {
		Attributes []otlpAttribute `json:"attributes,omitempty"`
	}
	otlpScope struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID string          `json:"traceId"`
		SpanID  string          `json:"spanId"`
		Parent  string          `json:"parentSpanId,omitempty"`
		Name    string          `json:"name"`
		Kind    trace.SpanKind  `json:"kind"`
		Start   string          `json:"startTimeUnixNano"`
		End     string          `json:"endTimeUnixNano"`
		Attrs   []otlpAttribute `json:"attributes,omitempty"`
		Links   []otlpLink      `json:"links,omitempty"`
		Status  *otlpStatus     `json:"status,omitempty"`
	}
	otlpLink struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	}
	otlpStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// OTLP is the spans as one request in OTLP's JSON form and a line end, which a collector
// takes at /v1/traces. What hasn't ended is told of up to the latest that is known.
func (r *Recording) OTLP() ([]byte, error) {
	var latest time.Time
	for _, s := range r.spans {
		latest = slices.MaxFunc([]time.Time{latest, s.begun, s.ended}, time.Time.Compare)
	}
	var scoped otlpScope
	scoped.Scope.Name = scope
	scoped.Spans = make([]otlpSpan, 0, len(r.spans))
	for _, s := range r.spans {
		scoped.Spans = append(scoped.Spans, s.otlp(latest))
	}
	text, err := json.Marshal(otlpTraces{[]otlpResource{{otlpAttributes{listed(r.attributes)}, []otlpScope{scoped}}}})
	return append(text, '\n'), err
}

func (s *span) otlp(latest time.Time) otlpSpan {
	nanoseconds := func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
	end := s.ended
	if end.IsZero() {
		end = latest
	}
	one := otlpSpan{
		TraceID: s.context.TraceID().String(), SpanID: s.context.SpanID().String(), Name: s.name, Kind: trace.ValidateSpanKind(s.kind),
		Start: nanoseconds(s.begun), End: nanoseconds(end), Attrs: listed(s.attributes),
	}
	if s.above.IsValid() {
		one.Parent = s.above.String()
	}
	for _, l := range s.links {
		one.Links = append(one.Links, otlpLink{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String()})
	}
	if s.status == codes.Error {
		one.Status = &otlpStatus{2, s.why} // STATUS_CODE_ERROR; the API's codes are numbered otherwise
	}
	return one
}

func listed(all []attribute.KeyValue) []otlpAttribute {
	var list []otlpAttribute
	for _, a := range all {
		value := map[string]any{}
		switch a.Value.Type() {
		case attribute.BOOL:
			value["boolValue"] = a.Value.AsBool()
		case attribute.INT64:
			value["intValue"] = strconv.FormatInt(a.Value.AsInt64(), 10)
		default:
			value["stringValue"] = a.Value.AsString()
		}
		list = append(list, otlpAttribute{string(a.Key), value})
	}
	return list
}
