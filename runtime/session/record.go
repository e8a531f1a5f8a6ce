package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
)

// A Record is what a line of a journal says: an event, or how the run ended or
// stopped. It is the only owner of that form: what [AppendRecord] writes of an event
// is read by [ReadRecord].
type Record struct {
	Event *runtime.Event `json:"event,omitempty"`
	End   *End           `json:"end,omitempty"`
}

// An End is how a run ended, or stopped.
type End struct {
	Status    runtime.RunStatus `json:"status"`
	Reason    runtime.Reason    `json:"reason,omitempty"`
	Calls     runtime.Counts    `json:"calls"`
	Ticks     int               `json:"ticks,omitzero"`
	Instances int               `json:"instances,omitzero"`
	Usage     runtime.Usage     `json:"usage,omitzero"`
}

// ReadRecord reads the body of a line. One that holds anything else, or both, is
// refused.
func ReadRecord(body []byte) (Record, error) {
	var r Record
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&r); err != nil {
		return r, diag.Misread(err)
	}
	if (r.Event == nil) == (r.End == nil) {
		return r, errors.New("a record is either an event or the end of the run")
	}
	return r, nil
}

// AppendRecord appends the record of an event to a text.
func AppendRecord(text []byte, e *runtime.Event) ([]byte, error) {
	text, err := appendEvent(append(text, `{"event":`...), e)
	return append(text, '}'), err
}

// appendEvent appends the JSON form of an event to a text, byte by byte what
// json.Marshal writes. While that is done everybody waits for the disk, so what most
// events consist of is written here, and the rest left to json.Marshal.
func appendEvent(text []byte, e *runtime.Event) ([]byte, error) {
	w := writer{text: text}
	w.raw(`{"kind":"`, e.Kind.String(), `","at":`)
	w.integer(int64(e.At))
	w.number("tick", e.Tick)
	w.number("frame", e.Frame)
	w.number("call", e.Call)
	w.number("attempt", e.Attempt)
	if e.Value != nil {
		w.key("value")
		w.value(e.Value, 0)
	}
	w.number("route", e.Route)
	if e.Failure != nil {
		w.other("failure", e.Failure)
	}
	if e.Text != "" {
		w.key("text")
		w.string(e.Text)
	}
	if e.Gently {
		w.other("gently", true)
	}
	if e.Usage != nil {
		w.other("usage", e.Usage)
	}
	w.number("steps", e.Steps)
	w.number("made", e.Made)
	if e.Decision != nil {
		w.other("decision", e.Decision)
	}
	if e.Resumption != nil {
		w.other("resumption", e.Resumption)
	}
	if len(e.Instances) > 0 {
		w.other("instances", e.Instances)
	}
	if e.Last {
		w.other("last", true)
	}
	w.raw("}")
	return w.text, w.err
}

// A writer appends JSON to a text. Its error is the first that there was.
type writer struct {
	text []byte
	err  error
}

func (w *writer) raw(pieces ...string) {
	for _, piece := range pieces {
		w.text = append(w.text, piece...)
	}
}

func (w *writer) integer(n int64) { w.text = strconv.AppendInt(w.text, n, 10) }

// key begins one more field of an object, not its first.
func (w *writer) key(name string) { w.raw(`,"`, name, `":`) }

// number writes a field that is left out when it is 0.
func (w *writer) number(name string, n int) {
	if n != 0 {
		w.key(name)
		w.integer(int64(n))
	}
}

// other writes a field that few events have.
func (w *writer) other(name string, v any) {
	w.key(name)
	w.marshal(v)
}

func (w *writer) marshal(v any) {
	text, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.text = append(w.text, text...)
}

// deepest is how deeply activities may nest a value; json.Marshal knows what to say
// of one that contains itself.
const deepest = 100

func (w *writer) value(v any, depth int) {
	switch v := v.(type) {
	case bool:
		w.text = strconv.AppendBool(w.text, v)
		return
	case float64:
		if abs := math.Abs(v); abs == 0 || 1e-6 <= abs && abs < 1e21 { // else with an exponent
			w.text = strconv.AppendFloat(w.text, v, 'f', -1, 64)
			return
		}
	case string:
		w.string(v)
		return
	case []any:
		if v != nil && depth < deepest {
			w.list(v, depth+1)
			return
		}
	case map[string]any:
		if v != nil && depth < deepest {
			w.object(v, depth+1)
			return
		}
	}
	w.marshal(v)
}

func (w *writer) list(list []any, depth int) {
	w.raw("[")
	for i, item := range list {
		if i > 0 {
			w.raw(",")
		}
		w.value(item, depth)
	}
	w.raw("]")
}

func (w *writer) object(object map[string]any, depth int) {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	w.raw("{")
	for i, key := range keys {
		if i > 0 {
			w.raw(",")
		}
		w.string(key)
		w.raw(":")
		w.value(object[key], depth)
	}
	w.raw("}")
}

func (w *writer) string(s string) {
	if !plain(s) {
		w.marshal(s)
		return
	}
	w.raw(`"`, s, `"`)
}

// plain reports whether nothing in a string is escaped: json.Marshal writes so that
// neither HTML nor JavaScript can mistake its text for its own.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
