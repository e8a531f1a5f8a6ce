package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/obelus-dev/obelus/runtime/request"
)

// both runs a test once for each wire format, in virtual time.
func both(t *testing.T, test func(t *testing.T, p protocol)) {
	t.Helper()
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			settings(t, p)
			synctest.Test(t, func(t *testing.T) { test(t, p) })
		})
	}
}

// PLANNERS.md#waiting: busy endpoints are asked again after the wait that they name, and after
// one of our own that grows where they name none.
func TestRetries(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		_, usage, e, err := ask(t, p, greeting(), Options{},
			says(429, `{"error":{"type":"rate_limit_error","message":"slow down"}}`, "Retry-After", "7"),
			says(503, ``, "Retry-After", time.Now().Add(18500*time.Millisecond).UTC().Format(http.TimeFormat)),
			says(429, `{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2.5s"}]}}`),
			streams(p.stream(solution)))
		if err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{0, 7 * time.Second, 18 * time.Second, 20500 * time.Millisecond}; !slices.Equal(e.at, want) {
			t.Errorf("asked at %v, want %v", e.at, want)
		}
		if usage.InputTokens != 120 {
			t.Errorf("usage %+v", usage)
		}
	})
	both(t, func(t *testing.T, p protocol) {
		down := says(500, `{"error":{"message":"oops"}}`)
		_, _, e, err := ask(t, p, greeting(), Options{}, down, down, down, down, down, down, down)
		var u *request.Unavailable
		if !errors.As(err, &u) || !strings.Contains(err.Error(), `said 500 Internal Server Error: "oops" (asked 6 times); resume the run`) {
			t.Errorf("got %v", err)
		}
		for i, most := range []time.Duration{0, 500, 1500, 3500, 7500, 15500} {
			most *= time.Millisecond
			if got := e.at[i]; got > most || got < most*3/4 {
				t.Errorf("try %d came at %v, want at most %v and three quarters of it at least", i+1, got, most)
			}
		}
	})
}

// PLANNERS.md#waiting: trouble that may pass is told while it lasts, with what was wrong, the wait and the
// try.
func TestTroubleIsTold(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		var mu sync.Mutex
		var told []string
		o := Options{Notice: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, text)
		}}
		headers := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		if _, _, _, err := ask(t, p, greeting(), o, says(502, `{"error":{"message":"bad gateway"}}`, "Retry-After", "7"), headers); err == nil {
			t.Fatal("an endpoint that says nothing has answered")
		}
		mu.Lock()
		defer mu.Unlock()
		want := []string{`said 502 Bad Gateway: "bad gateway"; it is asked again in 7s, try 2 of 6`}
		if len(told) < len(want) {
			t.Fatalf("told %q", told)
		}
		for i, words := range want {
			if !strings.HasPrefix(told[i], p.spec) || !strings.Contains(told[i], words) {
				t.Errorf("told %q, want %q", told[i], words)
			}
		}
	})
}

// A missing key is the same trouble for every endpoint, before anything is asked.
func TestMissingKey(t *testing.T) {
	for _, p := range protocols {
		settings(t, p)
		os.Unsetenv(p.base)
		os.Unsetenv(p.key)
		_, err := Open(p.spec, Options{})
		if u := (*request.Unavailable)(nil); !errors.As(err, &u) || u.Why != "there is no key for it" {
			t.Errorf("%s: %v", p.spec, err)
		}
	}
}

// A wait beyond all patience isn't begun.
func TestPatience(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		began := time.Now()
		_, _, _, err := ask(t, p, greeting(), Options{}, says(429, `{"error":"not today"}`, "Retry-After", "7200"))
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		if u := (*request.Unavailable)(nil); !errors.As(err, &u) || !strings.Contains(err.Error(), `said 429 Too Many Requests: "not today"; resume the run in 2h0m0s or later`) {
			t.Errorf("got %v", err)
		}
	})
}

// What no waiting mends ends at once, in words fit for a person.
func TestUnavailable(t *testing.T) {
	cases := map[string]struct {
		turn turn
		says []string
	}{
		"wrong key":      {says(401, `{"error":{"message":"Incorrect API key provided: `+testKey+`"}}`), []string{`said 401 Unauthorized: "Incorrect API key provided: [hidden key]"`, "set KEY to what the endpoint accepts, and resume the run"}},
		"no such model":  {says(404, `{"error":{"type":"not_found_error","message":"model: some-model"}}`), []string{`said 404 Not Found: "model: some-model"`, "see whether the model's name and BASE are right"}},
		"no credit":      {says(429, `{"error":{"code":"insufficient_quota","message":"You exceeded your quota"}}`), []string{"see to the account's credit"}},
		"too long":       {says(400, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 300000 tokens"}}`), []string{"take a model with a larger context"}},
		"hostile words":  {says(400, `{"error":{"message":"a\u001b[31mb\nc\u202e`+strings.Repeat("x", 1000)+`"}}`), []string{`"a\u001b[31mb c<U+202E>xxx`, `xxx…"`}},
		"a web page":     {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!DOCTYPE html><html>") }, []string{`sent no answer but "<!DOCTYPE html><html>"`, "see whether BASE is right"}},
		"json":           {says(200, `{"error":{"message":"no streams here"}}`), []string{`sent no answer but "no streams here"; resume the run`}},
		"elsewhere":      {says(307, ``, "Location", "http://elsewhere.test/"), []string{"sent us on to another address (307)", "set BASE to the endpoint's own address"}},
		"paid in stream": {nil, []string{"see to the account's credit"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p protocol) {
				turn := c.turn
				if turn == nil {
					turn = streams(p.begin() + p.failure("billing_error", "Your credit balance is too low"))
				}
				answer, _, e, err := ask(t, p, greeting(), Options{}, turn)
				u := (*request.Unavailable)(nil)
				if !errors.As(err, &u) {
					t.Fatalf("got %v", err)
				}
				message := strings.NewReplacer(p.base, "BASE", p.key, "KEY").Replace(err.Error())
				for _, want := range append(c.says, p.spec+" gives no answer: http://models.test") {
					if !strings.Contains(message, want) {
						t.Errorf("no %q in %q", want, message)
					}
				}
				if len(e.at) != 1 || answer != "" || len(message) > 700 {
					t.Errorf("asked %d times, answer %q, %d bytes of message", len(e.at), answer, len(message))
				}
			})
		})
	}
}

// An answer that breaks off after its beginning was handed out isn't begun
// again; one that breaks off before is.
func TestCutStreams(t *testing.T) {
	broken := map[string]func(p protocol) turn{
		"hung up": func(p protocol) turn { return cutOff(p.begin() + p.event(solution[:20])) },
		"ended":   func(p protocol) turn { return streams(p.begin() + p.event(solution[:20])) },
		"failed": func(p protocol) turn {
			return streams(p.begin() + p.event(solution[:20]) + p.failure("overloaded_error", "Overloaded"))
		},
		"garbled": func(p protocol) turn {
			return streams(p.begin() + p.event(solution[:20]) + "event: content_block_delta\ndata: {nonsense\n\n")
		},
		"too long": func(p protocol) turn {
			return streams(p.begin() + p.event(solution[:20]) + p.end(p.stop["full"], 120, 9))
		},
	}
	for name, turnOf := range broken {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p protocol) {
				answer, _, e, err := ask(t, p, greeting(), Options{}, turnOf(p), streams(p.stream(solution)))
				if !errors.Is(err, request.ErrCut) || !strings.Contains(err.Error(), "after 20 bytes") || answer != solution[:20] || len(e.at) != 1 {
					t.Errorf("asked %d times, answer %q, error %v", len(e.at), answer, err)
				}
			})
		})
	}
	for name, turnOf := range map[string]func(p protocol) turn{
		"hung up": func(p protocol) turn { return cutOff(p.begin()) },
		"ended":   func(p protocol) turn { return streams(p.begin()) },
		"failed":  func(p protocol) turn { return streams(p.begin() + p.failure("overloaded_error", "Overloaded")) },
	} {
		t.Run(name+" early", func(t *testing.T) {
			both(t, func(t *testing.T, p protocol) {
				answer, _, e, err := ask(t, p, greeting(), Options{}, turnOf(p), streams(p.stream(solution)))
				if err != nil || answer != solution || len(e.at) != 2 {
					t.Errorf("asked %d times, answer %q, error %v", len(e.at), answer, err)
				}
			})
		})
	}
	// All tokens were spent before the first word: once more would end the same.
	both(t, func(t *testing.T, p protocol) {
		_, usage, _, err := ask(t, p, greeting(), Options{}, streams(beginOnly(p)+p.end(p.stop["full"], 120, 9)))
		if u := (*request.Unavailable)(nil); !errors.As(err, &u) || !strings.Contains(err.Error(), "the bound on what a model may write") || usage.OutputTokens != 9 {
			t.Errorf("got %v, %+v", err, usage)
		}
	})
	// Nor would the result of a latent call be another.
	both(t, func(t *testing.T, p protocol) {
		r := greeting()
		r.Call = &request.Call{Name: "tell#1", Tool: "tell"}
		answer, _, e, err := ask(t, p, r, Options{}, streams(p.begin()+p.event(`{"a":`)+p.end(p.stop["full"], 120, 9)))
		if !errors.Is(err, request.ErrCut) || !strings.Contains(err.Error(), "--max-tokens") || answer != `{"a":` || len(e.at) != 1 {
			t.Errorf("asked %d times, answer %q, error %v", len(e.at), answer, err)
		}
	})
}

func beginOnly(p protocol) string {
	if p.begin() == "" {
		return ""
	}
	return beginMessage
}

// A model may decline, and is quoted.
func TestRefusals(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		_, usage, e, err := ask(t, p, greeting(), Options{}, streams(beginOnly(p)+p.end(p.stop["refused"], 120, 9)))
		r := (*request.Refused)(nil)
		if !errors.As(err, &r) || r.Refusal() != "the model declined to answer and gave no reason" || len(e.at) != 1 || usage.InputTokens != 120 {
			t.Errorf("got %v, %+v", err, usage)
		}
	})
	words := map[string]string{
		"openai": `data: {"choices":[{"index":0,"delta":{"refusal":"I can't "}}]}` + "\n\n" + `data: {"choices":[{"index":0,"delta":{"refusal":"help with that."},"finish_reason":"stop"}]}` + "\n\n",
		"anthropic": beginMessage + "event: message_delta\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":"I can't help with that."}},"usage":{"output_tokens":1}}` + "\n\n",
	}
	for name, stream := range words {
		settings(t, protocols[name])
		_, _, _, err := ask(t, protocols[name], greeting(), Options{}, streams(stream))
		if r := (*request.Refused)(nil); !errors.As(err, &r) || r.Refusal() != "I can't help with that." {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// An answer ends soon after its context, and silence ends some time.
func TestHanging(t *testing.T) {
	headers := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	both(t, func(t *testing.T, p protocol) {
		for _, hanging := range []turn{headers, hangs(p.begin()), hangs(p.begin() + p.event(solution[:20]))} {
			e := &fake{turns: []turn{hanging}, key: p.header}
			e.serve(t)
			planner, err := Open(p.spec, Options{Transport: e.transport})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			began := time.Now()
			_, _, err = collect(ctx, planner, greeting())
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		}
	})
	both(t, func(t *testing.T, p protocol) {
		began := time.Now()
		_, _, _, err := ask(t, p, greeting(), Options{}, headers)
		if u := (*request.Unavailable)(nil); !errors.As(err, &u) || !strings.Contains(err.Error(), "sent nothing for 10m0s") || time.Since(began) != 10*time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
	both(t, func(t *testing.T, p protocol) {
		_, _, _, err := ask(t, p, greeting(), Options{}, hangs(p.begin()+p.event(solution[:20])))
		if !errors.Is(err, request.ErrCut) || !strings.Contains(err.Error(), "sent nothing for 10m0s, after 20 bytes") {
			t.Errorf("got %v", err)
		}
	})
	both(t, func(t *testing.T, p protocol) { // between two tries
		e := &fake{turns: []turn{says(429, ``, "Retry-After", "60")}, key: p.header}
		e.serve(t)
		planner, _ := Open(p.spec, Options{Transport: e.transport})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, _, err := collect(ctx, planner, greeting())
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// The result of a latent call comes whole, without what was wrapped around it,
// and is asked for again where a stream breaks off.
func TestLatent(t *testing.T) {
	latent := func(schema string) *request.Request {
		return &request.Request{Tick: 2, Schema: value(schema),
			Call: &request.Call{Name: "tell#1", Tool: "tell", Params: map[string]any{"about": "rain"}}}
	}
	cases := map[string]struct{ schema, sent, want string }{
		"an object":   {`{"type":"object","properties":{"a":{}}}`, ` {"a": 1} `, `{"a": 1}`},
		"a string":    {`{"type":"string"}`, `{"result": "dry"}`, `"dry"`},
		"anything":    {`{}`, `{"result":{"b":[1, 2]}}`, `{"b":[1, 2]}`},
		"true":        {`true`, `{"result": null}`, `null`},
		"not as told": {`{"type":"string"}`, `"dry"`, `"dry"`},
		"in a fence":  {`{"type":"string"}`, "```json\n{\"result\": \"dry\"}\n```", `"dry"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p protocol) {
				answer, usage, e, err := ask(t, p, latent(c.schema), Options{},
					cutOff(latentBegin(p)+latentEvent(p, c.sent[:2])), streams(latentBegin(p)+latentEvent(p, c.sent)+p.end(p.stop["done"], 120, 30)))
				if err != nil || answer != c.want || len(e.at) != 2 {
					t.Errorf("asked %d times, answer %q, error %v", len(e.at), answer, err)
				}
				if p.begin() != "" && usage.InputTokens != 131 { // what the first try told of its cost counts, too
					t.Errorf("usage %+v", usage)
				}
			})
		})
	}
}

// latentBegin and latentEvent speak in the form in which an endpoint was asked:
// a string fits Anthropic's output format, which comes as text.
func latentBegin(p protocol) string { return beginOnly(p) }

func latentEvent(p protocol, s string) string {
	if p.begin() == "" {
		return p.event(s)
	}
	return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\n\n", request.JSON(s))
}

// What nobody has asked to be wrapped isn't unwrapped: "result" is a key of it.
func TestPlainLatentResultsStayWhole(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		r := &request.Request{Tick: 1, Schema: value(`{}`), Call: &request.Call{Name: "tell#1", Tool: "tell"}}
		const want = `{"result": 5, "k": 1}`
		answer, _, _, err := ask(t, p, r, Options{},
			says(400, `{"error":{"type":"invalid_request_error","message":"response_format, tools: this schema isn't supported"}}`),
			streams(latentBegin(p)+latentEvent(p, want)+p.end(p.stop["done"], 1, 2)))
		if err != nil || answer != want {
			t.Errorf("answer %q, error %v", answer, err)
		}
	})
}

// What an endpoint doesn't take is asked for with
// the schema in words, and the endpoint isn't bothered with it again.
func TestPlainerForms(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		refuses := says(400, `{"error":{"type":"invalid_request_error","message":"response_format, tools: this schema isn't supported"}}`)
		text := streams(p.stream(solution))
		if p.begin() != "" {
			text = streams(beginMessage + latentEvent(p, solution) + p.end("end_turn", 120, 30))
		}
		e := &fake{turns: []turn{refuses, text, text}, key: p.header}
		e.serve(t)
		planner, err := Open(p.spec, Options{Transport: e.transport})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			answer, _, err := collect(t.Context(), planner, greeting())
			if err != nil || answer != solution {
				t.Errorf("got %q, %v", answer, err)
			}
		}
		if len(e.bodies) != 3 {
			t.Errorf("asked %d times, want 3", len(e.bodies))
		}
		if last := e.bodies[len(e.bodies)-1]; !strings.Contains(last, "valid against this JSON Schema") || strings.Contains(last, `"tools"`) {
			t.Errorf("the last request is %s", last)
		}
	})
}

// PLANNERS.md#secrets: a key that an endpoint echoes reaches neither text nor errors, however
// it is cut up.
func TestKeysStayHidden(t *testing.T) {
	both(t, func(t *testing.T, p protocol) {
		half := len(testKey) / 2
		spelt := []string{`{"calls":[],"output":"`, testKey[:3], testKey[3:half], testKey[half:] + ` and ` + testKey, ` sk-te"}`}
		answer, _, _, err := ask(t, p, greeting(), Options{}, streams(p.stream(spelt...)))
		if want := `{"calls":[],"output":"[hidden key] and [hidden key] sk-te"}`; err != nil || answer != want {
			t.Errorf("got %q, %v", answer, err)
		}
		answer, _, _, err = ask(t, p, greeting(), Options{}, cutOff(p.begin()+p.event(`{"output":"`+testKey[:len(testKey)-1])))
		if !errors.Is(err, request.ErrCut) || strings.Contains(answer, testKey[:12]) {
			t.Errorf("got %q, %v", answer, err)
		}
		for _, turn := range []turn{
			streams(p.begin() + p.failure("invalid_request_error", "your key "+testKey)),
			streams(p.begin() + p.event("x") + p.failure("overloaded_error", "your key "+testKey)),
			streams(p.begin() + p.event("x") + "data: {nonsense " + testKey + "\n\n"),
		} {
			_, _, _, err := ask(t, p, greeting(), Options{}, turn)
			if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), testKey) {
				t.Errorf("got %#v", err)
			}
		}
	})
	// A password in the address.
	both(t, func(t *testing.T, p protocol) {
		t.Setenv(p.base, "http://me:pass-word-4711@models.test/v1?token=token-0815-token")
		_, _, _, err := ask(t, p, greeting(), Options{}, says(400, `{"error":{"message":"pass-word-4711 token-0815-token "}}`))
		for _, secret := range []string{"pass-word-4711", "token-0815-token"} {
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v", err)
			}
		}
	})
}
