package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
)

// An instancesFile hands out the instances of a run as its machine asks for them
// (S19.4): {id, state?, input?} a line. Of the file no more is in memory than
// the line that is read.
type instancesFile struct {
	name   string // as findings show it
	file   *os.File
	lines  *bufio.Reader
	limits source.Limits
	ids    *naming.IDs
	row    int // of the line read last, from 1
	base   int // bytes before it
	joined []string
	fault  error        // what the next answer must say
	told   string       // what was wrong, once it has been told
	taken  atomic.Int64 // instances handed out
	ended  atomic.Bool  // the file has no more

	explain func(error) error // words what is wrong for who reads it; may be nil
}

// openInstances opens a file of instances. Those of the plan come first, and
// those that had joined when the run was stopped or killed are passed over.
func openInstances(name, shown string, limits source.Limits, p *compiler.Plan, joined []string) (*instancesFile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, project.CantRead(shown, err)
	}
	if !info.Mode().IsRegular() {
		return nil, diag.Troubled(ErrInstances, "the instances can't be %q: it isn't a file", shown).About(shown).Advise("write the instances to a file: a run that is resumed reads it again")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, project.CantRead(shown, err)
	}
	f := &instancesFile{name: shown, file: file, lines: bufio.NewReaderSize(file, 1<<16), limits: limits, ids: &naming.IDs{}, joined: joined}
	for i := range p.Instances {
		_ = f.ids.Add(p.Instances[i].ID)
	}
	return f, nil
}

// instances opens the file of instances that a run was given; nil for none, and when a
// run that is resumed has had all of them.
func (s *Session) instances() (*instancesFile, error) {
	name := s.options.Instances
	var joined []string
	switch {
	case name == "" || s.replay != nil && s.replay.Whole:
		return nil, nil
	case s.replay != nil:
		joined = s.replay.Joined
	}
	f, err := openInstances(s.at(name), name, s.program.Document.Options.Limits, s.program.Plan, joined)
	if f != nil {
		f.explain = s.options.Explain
	}
	return f, err
}

// Close lets go of the file.
func (f *instancesFile) Close() error { return f.file.Close() }

// maxAhead bounds the bytes of the lines that are handed out at once.
const maxAhead = 4 << 20

// Next reads further lines. What is wrong with one is told when those before it
// have been handed out.
func (f *instancesFile) Next(most int) (next []runtime.Instance, last bool, err error) {
	if f.fault != nil {
		return nil, false, f.tell(f.fault)
	}
	for began := f.base; len(next) < most && (len(next) == 0 || f.base-began < maxAhead); {
		one, err := f.read()
		switch {
		case errors.Is(err, io.EOF):
			f.ended.Store(true)
			f.taken.Add(int64(len(next)))
			return next, true, nil
		case err != nil && len(next) == 0:
			return nil, false, f.tell(err)
		case err != nil:
			f.fault = err
			f.taken.Add(int64(len(next)))
			return next, false, nil
		case one != nil:
			next = append(next, *one)
		}
	}
	f.taken.Add(int64(len(next)))
	return next, false, nil
}

// tell notes what is wrong, which stops the run.
func (f *instancesFile) tell(err error) error {
	if f.explain != nil {
		err = f.explain(err)
	}
	f.told = err.Error()
	return err
}

// read takes one line; nothing comes of one that is empty, or whose instance had
// joined before. The end of the file is [io.EOF].
func (f *instancesFile) read() (*runtime.Instance, error) {
	text, err := f.line()
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	line := &source.File{Name: f.name, Format: source.JSON, Text: bytes.TrimRight(text, "\r\n"), Row: f.row, Base: f.base - len(text)}
	one, err := f.instance(line)
	if err != nil || len(f.joined) == 0 {
		return one, err
	}
	if one.ID != f.joined[0] {
		return nil, fmt.Errorf("%s:%d: when the run began the instance here was \"%s\", and now it is \"%s\"", f.name, f.row,
			compiler.Shown(f.joined[0], one.ID), compiler.Shown(one.ID, f.joined[0]))
	}
	f.joined = f.joined[1:]
	return nil, nil
}

// line reads up to the next line end, and no more than a document may have.
func (f *instancesFile) line() ([]byte, error) {
	var text []byte
	for {
		piece, err := f.lines.ReadSlice('\n')
		text = append(text, piece...)
		switch {
		case len(text) > f.limits.Bytes:
			return nil, diag.Troubled(project.ErrTooLarge, "%s:%d:1: the line is longer than %d bytes", f.name, f.row+1, f.limits.Bytes)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(text) == 0 && len(f.joined) > 0:
			return nil, fmt.Errorf("%s: the instance \"%s\", which the run had begun with, isn't there any more", f.name, compiler.Shown(f.joined[0]))
		case errors.Is(err, io.EOF) && len(text) == 0:
			return nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s: %s", f.name, workspace.Reason(err))
		}
		f.row++
		f.base += len(text)
		return text, nil
	}
}

// maxID bounds the id of an instance, in bytes.
const maxID = 256

// instance is what a line says. What a run of the same plan has written about an
// instance may stand there again, and isn't read.
func (f *instancesFile) instance(line *source.File) (*runtime.Instance, error) {
	node, problems := source.Parse(line, f.limits)
	for _, p := range problems {
		if !p.Warning {
			return nil, misplaced(p.Span, "%s", p.Message)
		}
	}
	if node.Kind != source.Object {
		return nil, misplaced(node.Span(), "an instance is an object: {\"id\", \"state\", \"input\"}")
	}
	one := &runtime.Instance{}
	for _, field := range node.Fields {
		var err error
		switch key := field.Key.Text; key {
		case "id":
			one.ID, err = f.id(field.Value)
		case "state":
			one.State, err = valuesOf(field)
		case "input":
			one.Input, err = valuesOf(field)
		case "status", "output", "errors":
		default:
			err = unknownKey(field.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	if node.Get("id") == nil {
		return nil, misplaced(node.Span(), "the instance has no \"id\"")
	}
	return one, nil
}

func (f *instancesFile) id(n *source.Node) (string, error) {
	switch {
	case n.Kind != source.String:
		return "", misplaced(n.Span(), "the \"id\" of an instance is a text; write it between quotes")
	case n.Text == "":
		return "", misplaced(n.Span(), "the \"id\" of the instance is empty")
	case len(n.Text) > maxID:
		return "", misplaced(n.Span(), "the \"id\" of the instance is longer than %d bytes", maxID)
	}
	if err := f.ids.Add(n.Text); err != nil {
		return "", misplaced(n.Span(), "%v", err)
	}
	return n.Text, nil
}

func valuesOf(field source.Field) (map[string]any, error) {
	if values, ok := field.Value.Value().(map[string]any); ok {
		return values, nil
	}
	return nil, misplaced(field.Value.Span(), "the \"%s\" of an instance is an object of values", field.Key.Text)
}

// instanceKeys are those of a line; the last three are what a run adds.
var instanceKeys = []string{"id", "state", "input", "status", "output", "errors"}

func unknownKey(key *source.Node) error {
	if strings.HasPrefix(key.Text, "x-") {
		return nil
	}
	if near, ok := naming.Nearest(key.Text, instanceKeys); ok {
		return misplaced(key.Span(), "an instance has no key \"%s\"; did you mean \"%s\"?", key.Text, near)
	}
	return misplaced(key.Span(), "an instance has no key \"%s\"; it may have \"id\", \"state\" and \"input\"", key.Text)
}

// misplaced is what is wrong at a place of a file.
func misplaced(at source.Span, format string, args ...any) error {
	return fmt.Errorf("%s: %s", at.Where(), fmt.Sprintf(format, args...))
}
