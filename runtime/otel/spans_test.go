package otel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/otel"
	"github.com/obelus-dev/obelus/runtime/session"
	"go.opentelemetry.io/otel/codes"
	tracing "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// A recording keeps the spans of one run.
type recording struct {
	*tracetest.SpanRecorder
	obelus.Telemetry
}

func record() *recording {
	r := tracetest.NewSpanRecorder()
	return &recording{r, otel.New(tracing.NewTracerProvider(tracing.WithSpanProcessor(r)))}
}

func attribute(s tracing.ReadOnlySpan, key string) string {
	for _, a := range s.Attributes() {
		if string(a.Key) == key {
			return a.Value.Emit()
		}
	}
	return ""
}

// lines say of each span what doesn't depend on the time; and all of them lie within those above them.
func (r *recording) lines(t *testing.T) []string {
	t.Helper()
	all := map[trace.SpanID]tracing.ReadOnlySpan{}
	for _, one := range r.Ended() {
		all[one.SpanContext().SpanID()] = one
	}
	// name is the span's own with those above it: "run/call f f#1".
	var name func(s tracing.ReadOnlySpan) string
	name = func(s tracing.ReadOnlySpan) string {
		parts := []string{s.Name(), attribute(s, "obelus.call")}
		own := strings.Join(slices.DeleteFunc(parts, func(w string) bool { return w == "" }), " ")
		if above := all[s.Parent().SpanID()]; above != nil {
			return name(above) + "/" + own
		}
		return own
	}
	var lines []string
	for _, one := range r.Ended() {
		line := name(one)
		for _, key := range []string{"obelus.status", "obelus.tries", "obelus.verdict", "obelus.routed", "obelus.reason", "error.type", "obelus.items", "obelus.instance"} {
			if v := attribute(one, key); v != "" {
				line += " " + strings.TrimPrefix(key, "obelus.") + "=" + v
			}
		}
		if one.Status().Code == codes.Error {
			line += fmt.Sprintf(" error %q", one.Status().Description)
		}
		lines = append(lines, line)
		if one.EndTime().Before(one.StartTime()) {
			t.Errorf("%s ends before it begins", name(one))
		}
		if above := all[one.Parent().SpanID()]; above == nil && one.Name() != "run" {
			t.Errorf("%s isn't below the run's span", name(one))
		} else if above != nil && (one.StartTime().Before(above.StartTime()) || one.EndTime().After(above.EndTime())) {
			t.Errorf("%s isn't within the time of what it is a part of", name(one))
		}
	}
	slices.Sort(lines)
	return lines
}

const spansPlan = `
plan: traced
calls:
- {_tool: flaky, _retry: {attempts: 3, backoff: 1ms}, _outputPath: †state.a}
- {_tool: double, of: †state.a, _outputPath: †state.b}
- {_tool: fails, _outputPath: '†state.c || †state.problem'}
- {_tool: double, of: †state.c.x, _outputPath: †state.d}
- {_tool: double, _each: [1, 2], of: †item, _outputPath: †state.e}
- {_tool: asked, of: †state.b, _confirm: true, _outputPath: †state.f}
- {_tool: part, of: †state.b, _outputPath: †state.g}
output: †state
tools:
  flaky: {properties: {_output: {type: integer}}}
  fails: {properties: {_output: {properties: {x: {type: integer}}}}}
  double: {properties: {of: {type: integer}, _output: {type: integer}}, required: [of]}
  asked: {properties: {of: {type: integer}, _output: {type: integer}}}
  part: {properties: {of: {type: integer}}, _delegate: part.yaml}
activities:
  double: {expr: of * 2}
  asked: {expr: of}
`

const part = `
input: {of: 1}
calls: [{_tool: double, of: †input.of, _outputPath: †state.a}]
output: †state.a
tools: {double: {properties: {of: {type: integer}, _output: {type: integer}}, required: [of]}}
activities: {double: {expr: of * 2}}
`

// yes approves of everything.
type yes struct{}

func (yes) Ask(context.Context, *obelus.Question) func() (obelus.Decision, error) {
	return func() (obelus.Decision, error) { return obelus.Decision{Verdict: "approve", By: "ada"}, nil }
}

// Every call of a run has a span, within that of what it is a part of.
func TestSpans(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"plan.yaml": spansPlan, "part.yaml": part, "obelus.yaml": ""} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tries := 0
	functions := map[string]obelus.Function{
		"flaky": func(ctx context.Context, r obelus.Request) (any, error) {
			if tries++; tries < 3 {
				return nil, &obelus.Failure{Code: "busy", Message: "come again"}
			}
			return 1, nil
		},
		"fails": func(context.Context, obelus.Request) (any, error) { return nil, errors.New("no") },
	}
	p, err := obelus.Load(filepath.Join(folder, "plan.yaml"), obelus.LoadOptions{Functions: functions})
	if err != nil {
		t.Fatal(err)
	}
	live := record()
	result, err := p.Run(t.Context(), obelus.RunOptions{Confirmer: yes{}, Telemetry: live.Telemetry})
	if err != nil || result.Status != obelus.Done {
		t.Fatal(result, err)
	}
	want := strings.Split(strings.TrimSpace(`
run status=done
run/call asked asked#6 status=done tries=1 verdict=approve
run/call double double#2 status=done tries=1
run/call double double#4 status=skipped tries=0 reason=†state.c.x has no value
run/call double double#5 status=done tries=1 items=2
run/call double double#5/call double double#5[0] status=done tries=1
run/call double double#5/call double double#5[1] status=done tries=1
run/call fails fails#3 status=failed tries=1 routed=true error.type=error error "no"
run/call flaky flaky#1 status=done tries=3
run/call part part#7 status=done tries=1
run/call part part#7/call double part#7/double#1 status=done tries=1
`), "\n")
	if got := live.lines(t); !slices.Equal(got, want) {
		t.Errorf("spans are\n%s", strings.Join(got, "\n"))
	}
}

// A run that couldn't go on has ended, with why, and so has what it was at.
func TestBrokenRunsHaveEnded(t *testing.T) {
	kept := record()
	observe := kept.Telemetry(t.Context(), session.Started{At: time.Unix(100, 0)})
	observe(time.Second, runtime.Command{Kind: runtime.Plan, Try: runtime.Try{Tick: 1}})
	observe(200*time.Second, runtime.Command{Kind: runtime.Finish, Outcome: &runtime.Outcome{Status: runtime.RunFailed, Reason: "the disk is full"}})
	if got := strings.Join(kept.lines(t), "\n"); got != "run status=failed reason=the disk is full error \"the disk is full\"\nrun/tick" {
		t.Error(got)
	}
	for _, one := range kept.Ended() {
		if one.EndTime().Before(time.Unix(200, 0)) {
			t.Errorf("%s is open", one.Name())
		}
	}
}
