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

// NewRecording keeps the spans of a run of that id. The attributes are those of what ran it, such as service.name.
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

// An object is one of OTLP's JSON form (opentelemetry.io/docs/specs/otlp, "JSON Protobuf
// Encoding"): ids in hexadecimal, integers of 64 bits as text, enumerations as numbers.
type object map[string]any

// OTLP is the spans as one request in OTLP's JSON form and a line end, which a collector
// takes at /v1/traces. What hasn't ended is exported up to the latest known time.
func (r *Recording) OTLP() ([]byte, error) {
	var latest time.Time
	for _, s := range r.spans {
		latest = slices.MaxFunc([]time.Time{latest, s.Began, s.Ended}, time.Time.Compare)
	}
	spans := make([]object, len(r.spans))
	for i, s := range r.spans {
		spans[i] = r.otlp(s, latest)
	}
	scoped := object{"scope": object{"name": Scope}, "spans": spans}
	resource := object{"attributes": listed(r.attributes)}
	text, err := json.Marshal(object{"resourceSpans": []object{{"resource": resource, "scopeSpans": []object{scoped}}}})
	return append(text, '\n'), err
}

func (r *Recording) otlp(s *Span, latest time.Time) object {
	nanoseconds := func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
	end := s.Ended
	if end.IsZero() {
		end = latest
	}
	one := object{
		"traceId": r.trace, "spanId": s.Own, "name": s.Name, "kind": 1, "attributes": listed(s.Attributes),
		"startTimeUnixNano": nanoseconds(s.Began), "endTimeUnixNano": nanoseconds(end),
	}
	if s.Client {
		one["kind"] = 3
	}
	if s.Above != nil {
		one["parentSpanId"] = s.Above.Own
	}
	var links []object
	for _, l := range s.Links {
		links = append(links, object{"traceId": r.trace, "spanId": l.Own})
		one["links"] = links
	}
	if s.Failed {
		one["status"] = object{"code": 2, "message": s.Message} // STATUS_CODE_ERROR
	}
	return one
}

func listed(all []Attribute) []object {
	list := make([]object, len(all))
	for i, a := range all {
		value := object{"stringValue": a.Value}
		switch v := a.Value.(type) {
		case bool:
			value = object{"boolValue": v}
		case int:
			value = object{"intValue": strconv.Itoa(v)}
		}
		list[i] = object{"key": a.Key, "value": value}
	}
	return list
}
