package session_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/session"
)

// PLANNERS.md#tokens-and-cost: a resumed run has the prices that it began with, unless it is given others.
func TestResumeKeepsPrices(t *testing.T) {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"chat.completion","choices":[{"message":{"content":"{\"result\":1}"}}],"usage":{"prompt_tokens":2,"completion_tokens":3}}`)
	}))
	defer endpoint.Close()
	t.Setenv("OPENAI_BASE_URL", endpoint.URL)
	for given, cost := range map[planner.Prices]float64{{}: 2*5 + 3*7, {InputPerMillion: 1e6}: 2} {
		o := session.Options{Options: runtime.Options{Confirm: runtime.Confirm{Policy: runtime.Always}}, Model: "openai:m",
			Host: session.Host{Prices: planner.Prices{InputPerMillion: 5e6, OutputPerMillion: 7e6}}, Runs: t.TempDir()}
		begun, err := session.Run(t.Context(), program(t, "tools: {think: {}}\ncalls: [{_tool: think}]\n"), o)
		if err != nil || begun.Status != runtime.RunStopped {
			t.Fatalf("%+v, %v", begun, err)
		}
		result, err := session.Resume(t.Context(), begun.Journal,
			session.ResumeOptions{Host: session.Host{Prices: given}, Confirm: &runtime.Confirm{}})
		if err != nil || result.Status != runtime.RunDone || result.Usage.Cost != cost {
			t.Errorf("with %v it cost %v, expected %v: %v, %v", given, result.Usage, cost, result, err)
		}
	}
}
