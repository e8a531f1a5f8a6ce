package otel_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/obelus-dev/obelus"
	"github.com/obelus-dev/obelus/runtime/otel"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

const plan = `
plan: traced
calls:
- {_tool: double, of: 1, _outputPath: †state.a}
- {_tool: double, of: †state.a, _outputPath: †state.b}
output: †state.b
tools: {double: {properties: {of: {type: integer}, _output: {type: integer}}}}
activities: {double: {expr: of * 2}}
`

// What a run tells of itself comes to a collector, the calls within the run and with a link
// from the second to the first.
func TestStart(t *testing.T) {
	var mu sync.Mutex
	var spans traces.ExportTraceServiceRequest
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body := r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unpacked
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		if err = (proto.UnmarshalOptions{Merge: true}).Unmarshal(text, &spans); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_SERVICE_NAME", "refunds")

	telemetry, shutdown, err := otel.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := obelus.Parse("plan.yaml", []byte(plan), obelus.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.Run(t.Context(), obelus.RunOptions{Telemetry: telemetry})
	if err != nil || result.Output != 4.0 {
		t.Fatal(result, err)
	}
	if err := shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}

	mu.Lock()
	defer mu.Unlock()
	var names []string
	for _, of := range spans.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			if a.Key == "service.name" && a.Value.GetStringValue() != "refunds" {
				t.Errorf("the service is called %v", a.Value)
			}
		}
		for _, in := range of.ScopeSpans {
			for _, s := range in.Spans {
				names = append(names, s.Name)
			}
		}
	}
	slices.Sort(names)
	if want := []string{"call double", "call double", "run"}; !slices.Equal(names, want) {
		t.Errorf("spans %v", names)
	}
}
