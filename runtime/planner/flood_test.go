package planner

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/local"
)

const floodable = `
tools:
  look: {type: object, properties: {path: {type: string}}}
  think: {type: object, properties: {q: {type: string}}, _output: {type: string}}
activities: {look: {expr: "path"}}
limits: {ticks: 1}
calls: []
`

// An endless endpoint writes first, then more again and again until nobody listens,
// or until it has written most bytes.
type endless struct {
	protocol
	answers []answering // the last again and again
	most    int
	asked   atomic.Int32
	wrote   atomic.Int64 // bytes of text
}

type answering struct {
	first, more string
	every       time.Duration
}

func (e *endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, e.begin())
	a := e.answers[min(int(e.asked.Add(1)), len(e.answers))-1]
	for text := a.first; text != "" && int(e.wrote.Add(int64(len(text)))) <= e.most; text = a.more {
		if _, err := io.WriteString(w, e.event(text)); err != nil {
			return
		}
		if a.every > 0 {
			w.(http.Flusher).Flush()
			time.Sleep(a.every)
		}
		if r.Context().Err() != nil {
			return
		}
	}
	io.WriteString(w, e.end(e.stop["done"], 0, 0))
}

// A model that doesn't end is heard no longer than what it writes may become a
// solution, or a result: the connection is closed, the calls that came
// whole have run, and the error says what was wrong.
func TestEndlessAnswers(t *testing.T) {
	const mib = 1 << 20
	flood := strings.Repeat("y", 64<<10)
	for name, c := range map[string]struct {
		answers []answering
		most    int
		wrote   int64 // what the endpoint may get rid of, with what lies in buffers
		done    int
		says    string
	}{
		"a string after a call": {
			[]answering{{first: `{"calls":[{"_tool":"look","path":"one","_outputPath":"x"},{"_tool":"look","path":"`, more: flood}}, 48 * mib, 24 * mib, 1,
			"limit: line 1, column 82: a scalar of more than 8388608 bytes",
		},
		"junk": {
			[]answering{{first: "no json here ", more: "no json here ", every: time.Millisecond}}, 32 << 10, 8 << 10, 0,
			"syntax: line 1, column 1: expected a JSON object",
		},
		"a result": {
			[]answering{{first: `{"calls":[{"_tool":"think","q":"a","_outputPath":"x"}],"output":null}`}, {first: `"`, more: flood}}, 48 * mib, 24 * mib, 0,
			"bad-output: the model's answer is larger than 8 MiB",
		},
	} {
		for kind, p := range protocols {
			t.Run(kind+", "+name, func(t *testing.T) {
				settings(t, p)
				endpoint := &endless{protocol: p, answers: c.answers, most: c.most}
				server := httptest.NewServer(endpoint)
				defer server.Close()
				t.Setenv(p.base, server.URL)
				out := runFlooded(t, func(o *local.Options) {
					planner, err := Open(p.spec, Options{})
					if err != nil {
						t.Fatal(err)
					}
					o.Planner = planner
				})
				if wrote := endpoint.wrote.Load(); wrote > c.wrote {
					t.Errorf("the endpoint could write %d bytes, expected at most %d", wrote, c.wrote)
				}
				said := ""
				for _, e := range out.Errors {
					said += e.Code + ": " + e.Message + "\n"
				}
				if !strings.Contains(said, c.says) || out.Counts.Done != c.done {
					t.Errorf("%d calls done, and it says %s", out.Counts.Done, said)
				}
			})
		}
	}
}

func runFlooded(t *testing.T, with func(*local.Options)) *runtime.Outcome {
	t.Helper()
	plan, found := compiler.Compile(source.NewFile("plan.yaml", []byte(floodable)), compiler.Options{})
	v := analyzer.Analyze(plan, found, analyzer.Config{}).Verified
	if v == nil {
		t.Fatal("the plan isn't sound")
	}
	set, err := activity.Open(plan.Activities, nil, activity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	o := local.Options{Options: runtime.Options{Planned: true}, Activities: set}
	with(&o)
	out, err := local.Run(t.Context(), v, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
