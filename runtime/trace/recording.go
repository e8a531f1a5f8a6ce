package trace

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Recording is an observer that keeps the spans of one run. Their ids are made from the
// run's, so that a run that is exported again has the same. It isn't for several goroutines.
type Recording struct {
	attributes []Attribute
	trace      string // its id
	spans      []*Span
}

// NewRecording keeps the spans of a run of that id. The attributes are those of what ran it,
// such as service.name.
func NewRecording(run string, attributes ...Attribute) *Recording {
	digest := sha256.Sum256([]byte(run))
	return &Recording{attributes: attributes, trace: hex.EncodeToString(digest[:16])}
}

// Begin gives a span its id, and keeps it.
func (r *Recording) Begin(_ context.Context, s *Span) {
	digest := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(r.trace), uint64(len(r.spans))))
	s.Own = hex.EncodeToString(digest[:8])
	r.spans = append(r.spans, s)
}

// End has nothing to do: the span is kept.
func (r *Recording) End(*Span) {}

// Within hands the span on.
func (r *Recording) Within(ctx context.Context, s *Span) context.Context {
	return WithHeaders(ctx, fmt.Sprintf("00-%s-%s-01", r.trace, s.Own), "")
}

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
		Kind    int             `json:"kind"`
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
// takes at /v1/traces. What hasn't ended is exported up to the latest known time.
func (r *Recording) OTLP() ([]byte, error) {
	var latest time.Time
	for _, s := range r.spans {
		latest = slices.MaxFunc([]time.Time{latest, s.Began, s.Ended}, time.Time.Compare)
	}
	var scoped otlpScope
	scoped.Scope.Name = Scope
	scoped.Spans = make([]otlpSpan, 0, len(r.spans))
	for _, s := range r.spans {
		scoped.Spans = append(scoped.Spans, r.otlp(s, latest))
	}
	text, err := json.Marshal(otlpTraces{[]otlpResource{{otlpAttributes{listed(r.attributes)}, []otlpScope{scoped}}}})
	return append(text, '\n'), err
}

func (r *Recording) otlp(s *Span, latest time.Time) otlpSpan {
	nanoseconds := func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
	end := s.Ended
	if end.IsZero() {
		end = latest
	}
	one := otlpSpan{TraceID: r.trace, SpanID: s.Own.(string), Name: s.Name, Kind: 1, Start: nanoseconds(s.Began), End: nanoseconds(end), Attrs: listed(s.Attributes)}
	if s.Client {
		one.Kind = 3
	}
	if s.Above != nil {
		one.Parent = s.Above.Own.(string)
	}
	for _, l := range s.Links {
		one.Links = append(one.Links, otlpLink{r.trace, l.Own.(string)})
	}
	if s.Failed {
		one.Status = &otlpStatus{2, s.Message} // STATUS_CODE_ERROR
	}
	return one
}

func listed(all []Attribute) []otlpAttribute {
	var list []otlpAttribute
	for _, a := range all {
		value := map[string]any{}
		switch v := a.Value.(type) {
		case bool:
			value["boolValue"] = v
		case int:
			value["intValue"] = strconv.Itoa(v)
		default:
			value["stringValue"] = v
		}
		list = append(list, otlpAttribute{a.Key, value})
	}
	return list
}
