package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/request"
)

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

// readRecording reads a file of recorded answers. The error names every place, up to a handful.
func readRecording(name string, text []byte) ([]recordedTick, error) {
	r := &recordingReader{file: source.NewFile(name, text)}
	ticks := r.read()
	return ticks, r.err()
}

type recordingReader struct {
	decode.Reader
	file *source.File
}

func (r *recordingReader) read() (ticks []recordedTick) {
	root, problems := source.Parse(r.file, source.DefaultLimits())
	for _, p := range problems {
		if !p.Warning {
			r.Found = append(r.Found, diag.OfProblem(p))
		}
	}
	switch {
	case root == nil:
	case root.Kind != source.Array:
		r.Expects(root, "a recording", "a list with one item a tick").
			Advise("put \"- \" before each solution in YAML, or brackets around all in JSON")
	default:
		for _, item := range root.Items {
			ticks = append(ticks, r.tick(item))
		}
	}
	return ticks
}

const maxFaults = 5 // that an error names

func (r *recordingReader) err() error {
	if len(r.Found) == 0 {
		return nil
	}
	var said []string
	for _, d := range r.Found[:min(maxFaults, len(r.Found))] {
		said = append(said, (&diag.Fault{Diagnostic: d}).Error())
	}
	if more := len(r.Found) - maxFaults; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	return errors.New("the recorded solutions can't be replayed: " + strings.Join(said, "; also "))
}

func (r *recordingReader) tick(n *source.Node) (t recordedTick) {
	switch {
	case n.Kind == source.Null:
		return t
	case n.Kind == source.Object && !saysMore(n):
		t.solution.given, t.solution.text = true, r.verbatim(n)
		return t
	}
	var item struct {
		manner
		Solution *source.Node `key:"solution"`
		Latent   *source.Node `key:"latent"`
	}
	if !r.Mapping(n, "an item of a recording", &item, nil) {
		return t
	}
	// A refusal may come before the first word.
	t.solution = answer{manner: item.manner, given: item.Solution != nil || item.Refused != nil || item.Cut}
	if s := item.Solution; s != nil && s.Kind == source.String {
		t.solution.text = s.Text
	} else if s != nil {
		t.solution.text = r.verbatim(s)
	}
	if item.Latent != nil {
		t.latent = r.latent(item.Latent)
	}
	return t
}

func saysMore(item *source.Node) bool {
	return slices.ContainsFunc(itemKeys, func(key string) bool { return item.Get(key) != nil })
}

// verbatim is a value's text as a model would send it.
func (r *recordingReader) verbatim(n *source.Node) string {
	if r.file.Format == source.JSON {
		return n.Span().Text()
	}
	return request.JSON(request.Of(n))
}

func (r *recordingReader) latent(n *source.Node) (calls []recordedCall) {
	switch n.Kind {
	case source.Object:
		for _, f := range n.Fields {
			calls = append(calls,
				recordedCall{call: f.Key.Text, answer: answer{given: true, text: r.verbatim(f.Value)}})
		}
	case source.Array:
		for _, item := range n.Items {
			calls = append(calls, r.latentCall(item))
		}
	case source.Null:
	default:
		r.Expects(n, `"latent"`, "a mapping from calls to their results, or a list of results")
	}
	return calls
}

func (r *recordingReader) latentCall(n *source.Node) recordedCall {
	var item struct {
		manner
		Call   string       `key:"call" need:"write {call: NAME, result: VALUE}"`
		Params *source.Node `key:"params"`
		Result *source.Node `key:"result"`
		Raw    string       `key:"raw"`
	}
	r.Mapping(n, "the result of a latent call", &item, nil)
	c := recordedCall{call: item.Call, answer: answer{manner: item.manner, given: true, text: item.Raw}}
	if item.Params != nil {
		c.params = item.Params.Value()
	}
	if item.Result != nil {
		c.answer.text = r.verbatim(item.Result)
		if raw := n.Get("raw"); raw != nil {
			r.Report(diag.WrongType, raw.Span(), `a result is given twice, as "result" and as "raw"`).
				Advise("keep one of the two")
		}
	}
	return c
}
