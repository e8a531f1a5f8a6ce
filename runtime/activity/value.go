package activity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// The bounds of what an activity may give back. maxValues keeps 8 MiB of "[]"
// from becoming half a gigabyte of empty lists.
const (
	maxOutput = 8 << 20
	maxDepth  = 100
	maxValues = 2_000_000
)

// encode is a request's parameters as one line of JSON with sorted keys.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), json.FormatNilMapAsNull(false), numbers)
}

// numbers writes a float64 that is beyond the whole numbers it holds exactly with an exponent: as an integer it would
// claim digits that it doesn't have, and not be read again. A Number of encoding/json stays as it is.
var numbers = json.WithMarshalers(json.JoinMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, v float64) error {
	if math.Abs(v) < 1<<53 || math.IsInf(v, 0) || math.IsNaN(v) {
		return errors.ErrUnsupported
	}
	return to.WriteValue(strconv.AppendFloat(nil, v, 'e', -1, 64))
}),
	json.MarshalToFunc(func(to *jsontext.Encoder, v interface {
		Float64() (float64, error)
		String() string
	}) error {
		return to.WriteValue(jsontext.Value(v.String()))
	}),
))

// decode reads text that must be exactly one JSON value, at most depth levels
// deep. Its errors say what is wrong, to follow a colon.
func (c *common) decode(text []byte, depth int) (value any, err error) {
	if len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return nil, errors.New("there is none")
	}
	in, left, name := jsontext.NewDecoder(bytes.NewBuffer(text)), maxValues, "" // the last that was read
	readText := func(in *jsontext.Decoder) (string, error) {
		token, err := in.ReadToken()
		if err == nil && strings.IndexByte(token.String(), 0) >= 0 {
			err = fmt.Errorf("a NUL character in the string that ends at byte %d", in.InputOffset())
		}
		return c.hide.Valid(token.String()), err
	}
	strict := json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(in *jsontext.Decoder, key *string) (err error) {
			*key, err = readText(in)
			name = *key
			return err
		}),
		json.UnmarshalFromFunc(func(in *jsontext.Decoder, v *any) (err error) {
			if left--; left < 0 {
				return fmt.Errorf("more than %d values", maxValues)
			}
			switch kind := in.PeekKind(); {
			case kind == '"':
				s, err := readText(in)
				if holder, _ := in.StackIndex(in.StackDepth()); holder == '{' {
					s = c.hide.Under(name, s)
				}
				*v = s
				return err
			case kind == '0':
				*v, err = c.number(in)
				return err
			case (kind == '{' || kind == '[') && in.StackDepth() >= depth:
				return fmt.Errorf("deeper than %d levels at byte %d", depth, in.InputOffset())
			}
			return errors.ErrUnsupported
		})))
	if err := json.UnmarshalDecode(in, &value, strict); err != nil {
		return nil, plainly(err)
	}
	if _, err := in.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("more follows after the first value, which ends at byte %d", in.InputOffset())
	}
	return value, nil
}

// number reads a number. One that is a secret is a text.
func (c *common) number(in *jsontext.Decoder) (any, error) {
	token, err := in.ReadToken()
	if err != nil {
		return nil, err
	}
	text := token.String()
	if problem := source.Inexact(text); problem != "" {
		return nil, fmt.Errorf("%s: write it as a string (at byte %d)", problem, in.InputOffset())
	}
	if shown := c.hide.Text(text); shown != text {
		return shown, nil
	}
	return strconv.ParseFloat(text, 64)
}

// plainly takes the library's own prefixes off an error.
func plainly(err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("%s at byte %d", strings.TrimPrefix(syntax.Err.Error(), "jsontext: "), syntax.ByteOffset)
	case errors.As(err, &semantic) && semantic.Err != nil:
		return semantic.Err
	}
	return err
}

var errNoText = errors.New("UTF-8 without NUL")

// read is what text from outside gives in a form. The error says what it should have been.
func (c *common) read(form string, text []byte) (any, error) {
	switch form {
	case plan.StreamNone:
		return nil, nil
	case plan.StreamJSON:
		value, err := c.decode(text, maxDepth)
		if err != nil {
			err = fmt.Errorf("exactly one JSON value: %w", err)
		}
		return value, err
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, errNoText
	}
	return c.hide.Text(string(text)), nil
}

// plain turns what a Go function returned into a JSON value that shares nothing with it, through its JSON encoding.
func (c *common) plain(v any) (any, error) {
	if n, ok := v.(float64); ok && math.Abs(n) < 1<<53 { // of larger integers the digits count
		return v, nil
	}
	text, err := encode(v)
	switch {
	case err != nil:
		return nil, fmt.Errorf("a value of type %T: %w", v, err)
	case len(text) > maxOutput:
		return nil, fmt.Errorf("more than %d MiB", maxOutput>>20)
	}
	return c.decode(text, maxDepth)
}

func brief(s string) string { return wording.Cut(s, 80) }

// Take reads a value that represents an activity's result, such as a mock or a model's answer: where it names its
// alternative it is taken apart, and a path that the call doesn't offer is a failure. name is the activity's, for the
// message; "" where a model answers.
func Take(value any, r Request, name string) (Result, error) {
	object, _ := value.(map[string]any)
	path, routed := object["_outputPath"]
	output, has := object["_output"]
	if len(object) != 2 || !routed || !has {
		return Result{Value: value, Route: -1}, nil
	}
	whose := fmt.Sprintf("activity %q", name)
	if name == "" {
		whose = fmt.Sprintf("the answer to the call %q", r.Call)
	}
	bad := func(format string, args ...any) error {
		return &Failure{Code: CodeBadOutput, Message: fmt.Sprintf(format, args...)}
	}
	text, ok := path.(string)
	if !ok {
		return none, bad(`%s gave an "_outputPath" that isn't a string`, whose)
	}
	named, isOne := alternative(text)
	quoted := make([]string, len(r.Paths))
	for i, offered := range r.Paths {
		if path, is := alternative(offered); is && isOne && path == named {
			return Result{Value: output, Route: i}, nil
		}
		quoted[i] = strconv.Quote(offered)
	}
	expected := "expected " + wording.Or(quoted)
	if len(quoted) == 0 {
		expected = "it has no _outputPath, or gives one item of a list"
	}
	return none, bad("%s named the path %q, which the call doesn't offer: %s", whose, brief(text), expected)
}

// alternative is the canonical text of one alternative: its paths, each once, in an order of their own. So
// "log.0 && audit" is "†state.audit && †state.log[0]". A text that doesn't name exactly one alternative has none.
func alternative(text string) (canonical string, ok bool) {
	routes, err := reference.ParseOutput(text)
	if err != nil || len(routes) != 1 {
		return "", false
	}
	paths := make([]string, 0, len(routes[0]))
	for _, path := range routes[0] {
		paths = append(paths, path.String())
	}
	slices.Sort(paths)
	return strings.Join(slices.Compact(paths), " && "), true
}
