package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A recordedTick is an item of a recording: a YAML or JSON list, as PLANNERS.md describes it.
type recordedTick struct {
	solution *answer // nil where none was recorded
	latent   []answer
}

// An answer is one that was recorded.
type answer struct {
	manner
	text   string
	call   string // of a latent call: its name or its tool's
	params any    // what it was asked with; nil fits any
}

// A manner is how an answer came.
type manner struct {
	Chunks  int           `key:"chunks" from:"1"` // bytes of a piece; 0 is all at once
	Delay   time.Duration `key:"delay"`
	Cut     bool          `key:"cut"`
	Refused *string       `key:"refused"`
	Usage   request.Usage `key:"usage"`
}

// itemKeys are the keys of an item that says more than its solution.
var itemKeys = []string{"solution", "latent", "chunks", "delay", "cut", "refused", "usage"}

// readRecording reads a file of recorded answers. The error names the first fault with its place.
func readRecording(name string, text []byte) (ticks []recordedTick, err error) {
	r := &decode.Reader{}
	root, problems := source.Parse(source.NewFile(name, text), source.DefaultLimits())
	for _, p := range problems {
		if !p.Warning {
			r.Found = append(r.Found, diag.OfProblem(p))
		}
	}
	if root != nil && root.Kind != source.Array {
		r.Expects(root, "a recording", "a list with one item a tick").
			Advise("put \"- \" before each solution in YAML, or brackets around all in JSON")
	} else if root != nil {
		for _, item := range root.Items {
			ticks = append(ticks, readTick(r, item))
		}
	}
	if len(r.Found) > 0 {
		err = fmt.Errorf("the recorded solutions can't be replayed: %w", &diag.Fault{Diagnostic: r.Found[0]})
	}
	return ticks, err
}

func readTick(r *decode.Reader, n *source.Node) (t recordedTick) {
	says := func(key string) bool { return n.Get(key) != nil }
	switch {
	case n.Kind == source.Null:
		return t
	case n.Kind == source.Object && !slices.ContainsFunc(itemKeys, says):
		t.solution = &answer{text: verbatim(n)}
		return t
	}
	var item struct {
		manner
		Solution *source.Node `key:"solution"`
		Latent   *source.Node `key:"latent"`
	}
	r.Mapping(n, "an item of a recording", &item, nil)
	if s := item.Solution; s != nil || item.Refused != nil || item.Cut { // which may come before the first word
		t.solution = &answer{manner: item.manner}
		if t.solution.text = s.AsText(); s != nil && s.Kind != source.String {
			t.solution.text = verbatim(s)
		}
	}
	switch n := item.Latent; {
	case n == nil || n.Kind == source.Null:
	case n.Kind == source.Object:
		for _, f := range n.Fields {
			t.latent = append(t.latent, answer{call: f.Key.Text, text: verbatim(f.Value)})
		}
	default:
		for _, one := range r.Items(n, `"latent"`, "a mapping from calls to their results, or a list of results") {
			t.latent = append(t.latent, readLatent(r, one))
		}
	}
	return t
}

func readLatent(r *decode.Reader, n *source.Node) answer {
	var item struct {
		manner
		Call   string       `key:"call" need:"write {call: NAME, result: VALUE}"`
		Params *source.Node `key:"params"`
		Result *source.Node `key:"result"`
		Raw    string       `key:"raw"`
	}
	r.Mapping(n, "the result of a latent call", &item, nil)
	a := answer{manner: item.manner, text: item.Raw, call: item.Call}
	if item.Params != nil {
		a.params = item.Params.Value()
	}
	if item.Result != nil {
		a.text = verbatim(item.Result)
	}
	return a
}

// verbatim is a value's text as a model would send it.
func verbatim(n *source.Node) string {
	if at := n.Span(); at.File.Format == source.JSON {
		return at.Text()
	}
	return request.JSON(request.Of(n))
}

// recordingText is how a recording is written.
func recordingText(ticks []recordedTick) []byte {
	items := make([]string, len(ticks))
	for i, t := range ticks {
		items[i] = "\n" + t.String()
	}
	return []byte("[" + strings.Join(items, ",") + "\n]\n")
}

// String is an item of the file.
func (t recordedTick) String() string {
	var parts []string
	if t.solution != nil {
		parts = append(parts, t.solution.fields(`"solution": `+asValue(t.solution.text)))
	}
	if len(t.latent) > 0 {
		calls := make([]string, len(t.latent))
		for i, a := range t.latent {
			members := []string{`"call": ` + request.JSON(a.call)}
			if a.params != nil {
				members = append(members, `"params": `+request.JSON(a.params))
			}
			if value, ok := asJSON(a.text); ok {
				members = append(members, `"result": `+value)
			} else {
				members = append(members, `"raw": `+request.JSON(a.text))
			}
			calls[i] = "\n  {" + a.fields(members...) + "}"
		}
		parts = append(parts, `"latent": [`+strings.Join(calls, ",")+"]")
	}
	if parts == nil {
		return "null"
	}
	return "{" + strings.Join(parts, ",\n ") + "}"
}

// fields are members of an answer, and behind them those that say how it came.
func (a *answer) fields(members ...string) string {
	add := func(key string, value any, isKnown bool) {
		if isKnown {
			members = append(members, fmt.Sprintf("%q: %s", key, request.JSON(value)))
		}
	}
	add("chunks", a.Chunks, a.Chunks > 0)
	add("delay", a.Delay.String(), a.Delay > 0)
	add("cut", true, a.Cut)
	add("refused", a.Refused, a.Refused != nil)
	add("usage", a.Usage, a.Usage != request.Usage{})
	return strings.Join(members, ", ")
}

// asValue is a solution as it is recorded: itself where it is an object, and otherwise its text.
func asValue(answer string) string {
	if value, ok := asJSON(answer); ok && value[0] == '{' {
		return value
	}
	return request.JSON(answer)
}

// asJSON is text that is one JSON value from its first character on, and that
// can still be read where it is one value among others of a file.
func asJSON(s string) (string, bool) {
	s = strings.TrimRight(s, " \t\r\n")
	if s == "" || strings.ContainsRune(" \t\r\n", rune(s[0])) {
		return "", false
	}
	limits := source.DefaultLimits()
	limits.Depth -= 8
	_, problems := source.Parse(&source.File{Name: "answer", Format: source.JSON, Text: []byte(s)}, limits)
	return s, len(problems) == 0
}
