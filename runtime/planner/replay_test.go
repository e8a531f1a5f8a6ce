package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/runtime/request"
)

func replayed(t *testing.T, name, text string) Planner {
	t.Helper()
	p, err := Replay(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// PLANNERS.md#recorded-solutions: an item of a YAML or JSON list is the solution of a tick, handed out
// with its keys in the order of the text.
func TestReplayShapes(t *testing.T) {
	yaml := `
- calls:
    - {_tool: b, z: 1, a: "†state.x"}
  output: null
- solution: {output: {n: 0x1F, f: .5, t: "2", yes: true, deep: [1e3, ~]}}
- solution: '{"calls": [' # no JSON
- null
- solution: &s {output: "line\nbreak \u2028 ÷"}
- *s
- {output: *s}
`
	p := replayed(t, "s.yaml", yaml)
	for i, want := range []string{
		`{"calls":[{"_tool":"b","z":1,"a":"†state.x"}],"output":null}`,
		`{"output":{"n":31,"f":0.5,"t":"2","yes":true,"deep":[1e3,null]}}`,
		`{"calls": [`,
		``,
		`{"output":"line\nbreak \u2028 ÷"}`,
		`{"output":"line\nbreak \u2028 ÷"}`,
		`{"output":{"output":"line\nbreak \u2028 ÷"}}`,
	} {
		got, _, err := collect(t.Context(), p, &request.Request{Tick: i + 1})
		if got != want {
			t.Errorf("tick %d: got %s, want %s", i+1, got, want)
		}
		if missing := i == 3; missing != (err != nil) {
			t.Errorf("tick %d: %v", i+1, err)
		}
	}
	// JSON stands as it is written.
	json := `[{"output" : 1.0,
	  "calls":[ ]}, {"solution": {"b": "\u00e9"}, "delay": "1ms"}]`
	p = replayed(t, "s.json", json)
	for i, want := range []string{"{\"output\" : 1.0,\n\t  \"calls\":[ ]}", `{"b": "\u00e9"}`} {
		if got, _, err := collect(t.Context(), p, &request.Request{Tick: i + 1}); got != want || err != nil {
			t.Errorf("tick %d: got %s, %v", i+1, got, err)
		}
	}
}

// When more is asked for than was recorded, the run stops and says so.
func TestReplayRunsOut(t *testing.T) {
	for text, want := range map[string]string{
		"[]":                         "replay:s.yaml gives no answer: it was asked for the solution of tick 3 and holds 0; add what is missing to the file, which has an item for each tick",
		"- output: 1":                "asked for the solution of tick 3 and holds 1",
		"- output: 1\n- calls: []\n": "asked for the solution of tick 3 and holds 2",
		"[null, null, null]":         "no solution was recorded for tick 3",
	} {
		_, _, err := collect(t.Context(), replayed(t, "s.yaml", text), &request.Request{Tick: 3})
		if u := (*request.Unavailable)(nil); !errors.As(err, &u) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// However an answer is cut into pieces and wherever it goes on, the pieces are
// valid UTF-8, keep to the count of bytes, and are the answer.
func TestReplayPieces(t *testing.T) {
	text := `{"calls":[{"_tool":"†÷🙂é","a":"` + strings.Repeat("🙂†", 5) + `"}]}`
	for chunks := 1; chunks < len(text)+2; chunks++ {
		p := replayed(t, "s.json", fmt.Sprintf(`[{"solution": %s, "chunks": %d}]`, text, chunks))
		for from := range len(text) {
			if !utf8.RuneStart(text[from]) {
				continue
			}
			at := from
			_, err := p.Answer(t.Context(), &request.Request{Tick: 1, Received: text[:from]}, func(piece string) {
				if !utf8.ValidString(piece) || piece == "" || text[at:at+len(piece)] != piece {
					t.Fatalf("chunks of %d from %d: %q at %d", chunks, from, piece, at)
				}
				at += len(piece)
				if len(piece) > max(chunks, 4) || at < len(text) && len(piece) < chunks-3 {
					t.Fatalf("chunks of %d from %d: a piece has %d bytes", chunks, from, len(piece))
				}
			})
			if err != nil || at != len(text) {
				t.Fatalf("chunks of %d from %d: came to %d of %d, %v", chunks, from, at, len(text), err)
			}
		}
	}
}

func latentRequest(tick int, name, params string) *request.Request {
	tool, _, _ := strings.Cut(name, "#")
	var resolved map[string]any
	if err := json.Unmarshal([]byte(params), &resolved); err != nil && params != "" {
		panic(err)
	}
	return &request.Request{Tick: tick, Call: &request.Call{Name: name, Tool: tool, Params: resolved}}
}

// LANGUAGE.md#tools-and-activities: results of latent calls stand beside the solution, under the name of the
// call or of its tool.
func TestReplayLatent(t *testing.T) {
	p := replayed(t, "s.yaml", `
- solution: {calls: []}
  latent: {tell: "hello", tell#2: {text: hi}}
- latent:
    - {call: tell, params: {a: 1}, result: one}
    - {call: tell, params: {a: 1.0}, result: one more}
    - {call: tell, result: other}
    - {call: ask#1, raw: "no JSON", usage: {inputTokens: 3}}
    - {call: ask#2, refused: never}
    - {call: ask#3, result: [1], chunks: 1, delay: 1ms}
`)
	for _, c := range []struct {
		tick               int
		call, params, want string
	}{
		{1, "tell#1", `{}`, `"hello"`},
		{1, "tell#2", `{}`, `{"text":"hi"}`},
		{2, "tell#1", `{"a":1}`, `"one"`},
		{2, "tell#1", `{"a":1}`, `"one more"`},
		{2, "tell#1", `{"a":1}`, `"other"`},
		{2, "tell#1", `{"a":1}`, `"other"`},
		{2, "tell#4", `{"a":1}`, `"one"`}, // another call begins anew
		{2, "tell#1", `{"a":2}`, `"other"`},
		{2, "ask#1", `{}`, `no JSON`},
		{2, "ask#3", ``, `[1]`},
	} {
		got, _, err := collect(t.Context(), p, latentRequest(c.tick, c.call, c.params))
		if got != c.want || err != nil {
			t.Errorf("%d %s %s: got %q, %v, want %q", c.tick, c.call, c.params, got, err, c.want)
		}
	}
	_, _, err := collect(t.Context(), p, latentRequest(2, "ask#2", `{}`))
	if r := (*request.Refused)(nil); !errors.As(err, &r) || r.Words != "never" {
		t.Errorf("got %v", err)
	}
	for _, tick := range []int{1, 3} {
		_, _, err := collect(t.Context(), p, latentRequest(tick, "ask#1", `{}`))
		if u := (*request.Unavailable)(nil); !errors.As(err, &u) || !strings.Contains(err.Error(), fmt.Sprintf(`no result was recorded for the call "ask#1" in tick %d`, tick)) {
			t.Errorf("got %v", err)
		}
	}
}

// What can't be read is said with its place, and what to do.
func TestReplayFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "s.yaml:1:1: a recording is null; expected a list with one item a tick; put \"- \"",
		"calls: []":                           "s.yaml:1:1: a recording is a mapping; expected a list with one item a tick; put \"- \" before each solution in YAML, or brackets around all in JSON",
		"- 1":                                 "s.yaml:1:3: an item of a recording is a number; expected a mapping",
		"- {solution: 1, chonks: 2}":          `s.yaml:1:17: an item of a recording has no key "chonks"; did you mean "chunks"?`,
		"- {solution: 1, zzzzzzzzz: 2}":       `s.yaml:1:17: an item of a recording has no key "zzzzzzzzz"; known keys are chunks, cut, delay, latent, refused, solution, usage`,
		"- {calls: [], chunks: 2}":            `s.yaml:1:4: an item of a recording has no key "calls"; known keys are`,
		"- {solution: 1, chunks: 0}":          `s.yaml:1:25: "chunks" must be a whole number from 1`,
		"- {solution: 1, chunks: 1.5}":        `s.yaml:1:25: "chunks" must be a whole number from 1`,
		"- {solution: 1, delay: 5}":           `s.yaml:1:24: "delay" must be a duration above 0`,
		"- {solution: 1, delay: -5s}":         `"delay" must be a duration`,
		"- {solution: 1, cut: maybe}":         `"cut" is a string; expected true or false`,
		"- {refused: 1}":                      `"refused" is a number; expected a string`,
		"- {solution: 1, usage: 1}":           `"usage" is a number; expected a mapping`,
		"- {solution: 1, usage: {cost: -1}}":  `"cost" must be a number from 0`,
		"- {solution: 1, usage: {tokens: 1}}": `"usage" has no key "tokens"`,
		"- {latent: 1}":                       `"latent" is a number; expected a mapping from calls to their results`,
		"- {latent: [{result: 1}]}":           `s.yaml:1:13: the result of a latent call has no "call"; write {call: NAME, result: VALUE}`,
		"- {latent: [{call: a, reslt: 1}]}":   `did you mean "result"?`,
		"- {calls: [}":                        "s.yaml:1:12: ",
		"- {calls: [], calls: []}":            "s.yaml:1:15: ",
		"- {solution: \"a\x00\"}":             "s.yaml:1:16: ",
	} {
		_, err := Replay("s.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "the recorded solutions can't be replayed: ") || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	_, err := Replay("\x1b.yaml", []byte(strings.Repeat("- 1\n", 9)))
	if got := err.Error(); strings.Count(got, "<U+001B>.yaml:") != 1 {
		t.Errorf("got %s", got)
	}
}

// The example in PLANNERS.md is one.
func TestDocumentedRecording(t *testing.T) {
	text, err := os.ReadFile("PLANNERS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```yaml\n")
	example, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("there is no example")
	}
	synctest.Test(t, func(t *testing.T) {
		p := replayed(t, "example.yaml", example)
		var got []string
		for tick := range 5 {
			got = append(got, outcome(collect(t.Context(), p, &request.Request{Tick: tick + 1})))
		}
		got = append(got, outcome(collect(t.Context(), p, latentRequest(2, "writeLetter#2", `{}`))), outcome(collect(t.Context(), p, latentRequest(2, "writeLetter#3", `{}`))))
		want := []string{
			`"{\"calls\":[{\"_tool\":\"bookHotel\",\"city\":\"†input.city\",\"_outputPath\":\"†state.booking || †state.error\"}]}" {0 0 0}`,
			`"{\"calls\":[],\"output\":\"†state.booking\"}" {0 0 0}`, `"Sure! Here is" {0 0 0} cut`, `"" {0 0 0} refused "I'd rather not"`, `"" {0 0 0} no answer`,
			`"\"Dear Jane\"" {0 0 0}`, `"\"Dear John\"" {0 0 0}`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
