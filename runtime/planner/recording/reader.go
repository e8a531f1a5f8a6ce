package recording

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/request"
)

// How items of a recording are written, and the results of latent calls in them.
var (
	manner       = []string{"chunks", "delay", "cut", "refused", "usage"}
	itemKeys     = append([]string{"solution", "latent"}, manner...)
	latentKeys   = append([]string{"call", "params", "result", "raw"}, manner...)
	solutionKeys = []string{"advisors", "meta", "calls", "output"}
)

// readRecording reads a file of recorded answers. The error names every place,
// up to a handful.
func readRecording(name string, text []byte) ([]recordedTick, error) {
	r := &recordingReader{file: source.NewFile(name, text)}
	ticks := r.read(source.DefaultLimits())
	return ticks, r.err()
}

// Judge reports what keeps a file of recorded answers from being replayed. What the
// answers themselves say isn't judged: a model said it.
func Judge(file *source.File, limits source.Limits) []diag.Diagnostic {
	r := &recordingReader{file: file}
	r.read(limits)
	return r.found
}

type recordingReader struct {
	file  *source.File
	found []diag.Diagnostic
}

func (r *recordingReader) read(limits source.Limits) (ticks []recordedTick) {
	root, problems := source.Parse(r.file, limits)
	for _, p := range problems {
		if !p.Warning {
			r.found = append(r.found, diag.OfProblem(p))
		}
	}
	switch {
	case root == nil:
	case root.Kind != source.Array:
		r.fail(root.Span(), "put \"- \" before each solution in YAML, or brackets around all in JSON", "recorded solutions are a list, one item a tick, and this is %s", root.Kind)
	default:
		for _, item := range root.Items {
			ticks = append(ticks, r.tick(item))
		}
	}
	return ticks
}

func (r *recordingReader) fail(at source.Span, help, format string, args ...any) {
	d := diag.New(diag.WrongType, at, fmt.Sprintf(format, args...))
	d.Help = help
	r.found = append(r.found, d)
}

const maxFaults = 5 // that an error names

func (r *recordingReader) err() error {
	if len(r.found) == 0 {
		return nil
	}
	var said []string
	for _, d := range r.found[:min(maxFaults, len(r.found))] {
		said = append(said, (&diag.Fault{Diagnostic: d}).Error())
	}
	if more := len(r.found) - maxFaults; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	return errors.New("the recorded solutions can't be replayed: " + strings.Join(said, "; also "))
}

func (r *recordingReader) tick(n *source.Node) (t recordedTick) {
	switch {
	case n.Kind == source.Null:
		return t
	case n.Kind != source.Object:
		r.fail(n.Span(), "write {solution: …} where the solution is no JSON", "an item is a solution, and this is %s", n.Kind)
		return t
	case !saysMore(n):
		t.solution.given, t.solution.text = true, r.verbatim(n)
		return t
	}
	for _, f := range n.Fields {
		switch key := f.Key.Text; {
		case key == "solution":
			t.solution.given = true
			if t.solution.text = f.Value.Text; f.Value.Kind != source.String {
				t.solution.text = r.verbatim(f.Value)
			}
		case key == "latent":
			t.latent = r.latent(f.Value)
		case slices.Contains(solutionKeys, key):
			r.fail(f.Key.Span(), "put the solution's own keys below \"solution\"", "%q belongs to a solution, and this item says more than its solution", key)
		default:
			r.manner(f, &t.solution, itemKeys)
		}
	}
	// A refusal may come before the first word.
	t.solution.given = t.solution.given || t.solution.refused != nil || t.solution.cut
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
			calls = append(calls, recordedCall{call: f.Key.Text, answer: answer{given: true, text: r.verbatim(f.Value)}})
		}
	case source.Array:
		for _, item := range n.Items {
			calls = append(calls, r.latentCall(item))
		}
	case source.Null:
	default:
		r.fail(n.Span(), "write {CALL: RESULT}", "\"latent\" is a mapping from calls to their results, and this is %s", n.Kind)
	}
	return calls
}

func (r *recordingReader) latentCall(n *source.Node) (c recordedCall) {
	if n.Kind != source.Object || n.Get("call") == nil {
		r.fail(n.Span(), "write {call: NAME, result: VALUE}", "the result of a latent call doesn't say under \"call\" whose it is")
		return c
	}
	for _, f := range n.Fields {
		switch f.Key.Text {
		case "call":
			c.call = r.str(f)
		case "params":
			c.params = f.Value.Value()
		case "result":
			c.answer.text = r.verbatim(f.Value)
		case "raw":
			c.answer.text = r.str(f)
		default:
			r.manner(f, &c.answer, latentKeys)
		}
	}
	if result, raw := n.Get("result"), n.Get("raw"); result != nil && raw != nil {
		r.fail(raw.Span(), "keep one of the two", "a result is given twice, as \"result\" and as \"raw\"")
	}
	c.answer.given = true
	return c
}

// manner reads how an answer came. known are the keys that might have stood in
// the place of one that nobody knows.
func (r *recordingReader) manner(f source.Field, a *answer, known []string) {
	switch key := f.Key.Text; key {
	case "chunks":
		if a.chunks = r.count(f, math.MaxInt32); a.chunks == 0 {
			r.expects(f, "a number of bytes from 1")
		}
	case "delay":
		d, err := time.ParseDuration(f.Value.Text)
		if f.Value.Kind != source.String || err != nil || d < 0 {
			r.expects(f, "a duration such as 50ms or 1s")
			return
		}
		a.delay = d
	case "cut":
		if a.cut = f.Value.Text == "true"; f.Value.Kind != source.Bool {
			r.expects(f, "true or false")
		}
	case "refused":
		words := r.str(f)
		a.refused = &words
	case "usage":
		a.usage = r.usage(f)
	default:
		if strings.HasPrefix(key, "x-") {
			return
		}
		help := "known keys are " + strings.Join(known, ", ")
		if near, ok := naming.Nearest(key, known); ok {
			help = fmt.Sprintf("did you mean %q?", near)
		}
		r.fail(f.Key.Span(), help, "nothing is known under %q here", key)
		r.found[len(r.found)-1].Rule = diag.UnknownKey
	}
}

func (r *recordingReader) usage(f source.Field) (u request.Usage) {
	if f.Value.Kind != source.Object {
		r.expects(f, "a mapping with inputTokens, outputTokens, cost")
		return u
	}
	for _, f := range f.Value.Fields {
		switch f.Key.Text {
		case "inputTokens":
			u.InputTokens = r.count(f, 1<<53)
		case "outputTokens":
			u.OutputTokens = r.count(f, 1<<53)
		case "cost":
			if u.Cost = f.Value.Float(); f.Value.Kind != source.Number || u.Cost < 0 {
				r.expects(f, "a number from 0")
			}
		default:
			r.fail(f.Key.Span(), "known keys are inputTokens, outputTokens, cost", "nothing is known under %q here", f.Key.Text)
		}
	}
	return u
}

func (r *recordingReader) expects(f source.Field, what string) {
	r.fail(f.Value.Span(), "", "%q is %s, and this is %s", f.Key.Text, what, f.Value.Kind)
}

// count reads a whole number up to most; anything else is reported and read as 1.
func (r *recordingReader) count(f source.Field, most float64) int {
	v := f.Value.Float()
	if f.Value.Kind != source.Number || v != math.Trunc(v) || v < 0 || v > most {
		r.expects(f, fmt.Sprintf("a whole number from 0 to %.0f", most))
		return 1
	}
	return int(v)
}

func (r *recordingReader) str(f source.Field) string {
	if f.Value.Kind != source.String {
		r.expects(f, "text")
	}
	return f.Value.Text
}
