package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
)

// An instancesFile hands out the instances of a run as its machine asks for them: {id, state?,
// input?} a line. Only the current line is in memory.
type instancesFile struct {
	name   string // as findings show it
	file   *os.File
	lines  *source.LineReader
	ids    *naming.IDs
	joined []string
	fault  error        // what keeps further lines from being read, such as the end of the file
	taken  atomic.Int64 // instances handed out
}

// openInstances opens the file of instances that a run was given; nil for none, and when a run that is resumed has had
// all of them. Those of the plan come first, and those that had joined when the run was stopped or killed are passed
// over.
func (s *Session) openInstances() (*instancesFile, error) {
	shown := s.Options.Instances
	if shown == "" || s.Replay != nil && s.Replay.Full {
		return nil, nil
	}
	info, err := os.Stat(s.at(shown))
	if err != nil {
		return nil, project.CantRead(shown, err)
	}
	if !info.Mode().IsRegular() {
		return nil, diag.NewError(ErrUnrunnable, "--instances can't be %q: it isn't a file", shown).
			Advise("write the instances to a file: a run that is resumed reads it again")
	}
	file, err := os.Open(s.at(shown))
	if err != nil {
		return nil, project.CantRead(shown, err)
	}
	f := &instancesFile{name: shown, file: file, lines: source.NewLineReader(shown, file, source.DefaultLimits().Bytes),
		ids: &naming.IDs{}}
	if s.Replay != nil {
		f.joined = s.Replay.Joined
	}
	for _, one := range s.Program.Plan.Instances {
		_ = f.ids.Add(one.ID)
	}
	return f, nil
}

// Close lets go of the file.
func (f *instancesFile) Close() error { return f.file.Close() }

// maxAhead bounds the bytes of the lines that are handed out at once.
const maxAhead = 4 << 20

// Next reads further lines. What is wrong with one is reported when those before it
// have been handed out.
func (f *instancesFile) Next(most int) (next []runtime.Instance, last bool, err error) {
	began := f.lines.Offset()
	for f.fault == nil && len(next) < most && (len(next) == 0 || f.lines.Offset()-began < maxAhead) {
		var one *runtime.Instance
		if one, f.fault = f.read(); one != nil {
			next = append(next, *one)
		}
	}
	f.taken.Add(int64(len(next)))
	if last = errors.Is(f.fault, io.EOF); !last && len(next) == 0 {
		return nil, false, f.fault
	}
	return next, last, nil
}

// read reads one line; the result is nil for one whose instance had joined before. The end of
// the file is [io.EOF].
func (f *instancesFile) read() (*runtime.Instance, error) {
	line, err := f.lines.Next()
	gone := func() error {
		return fmt.Errorf("%s: the instance \"%s\", which the run had begun with, isn't in its place any more", f.name,
			compiler.Shown(f.joined[0]))
	}
	switch {
	case errors.Is(err, io.EOF) && len(f.joined) > 0:
		return nil, gone()
	case errors.Is(err, io.EOF):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.name, workspace.Reason(err))
	case len(line.Text) > source.DefaultLimits().Bytes:
		return nil, diag.NewError(project.ErrTooLarge, "%s:%d:1: the line is longer than %d bytes", f.name, line.Row,
			source.DefaultLimits().Bytes)
	}
	line.Text = bytes.TrimRight(line.Text, "\r\n")
	one, faults := f.instance(line)
	if len(faults) > 0 {
		return nil, &diag.Fault{Diagnostic: faults[0]}
	}
	if len(f.joined) == 0 {
		return one, nil
	}
	if one.ID != f.joined[0] {
		return nil, gone()
	}
	f.joined = f.joined[1:]
	return nil, nil
}

// maxID bounds the id of an instance, in bytes.
const maxID = 256

// instance is what a line says, and what is wrong with it. What a run of the
// same plan has written about an instance may be in it again, and isn't read.
func (f *instancesFile) instance(line *source.File) (*runtime.Instance, []diag.Diagnostic) {
	var d decode.Reader
	node, problems := source.Parse(line, source.DefaultLimits())
	for _, p := range problems {
		if !p.Warning {
			d.Found = append(d.Found, diag.OfProblem(p))
		}
	}
	if len(d.Found) > 0 {
		return nil, d.Found
	}
	one := &runtime.Instance{}
	values := func(to *map[string]any) func(source.Field) {
		return func(field source.Field) {
			var ok bool
			if *to, ok = field.Value.Value().(map[string]any); !ok {
				d.Expects(field.Value, strconv.Quote(field.Key.Text), "an object of values")
			}
		}
	}
	d.Mapping(node, "an instance", &struct {
		ID *source.Node `key:"id" need:"write {\"id\": …, \"input\": {…}, \"state\": {…}}"`
	}{}, map[string]func(source.Field){
		"state": values(&one.State), "input": values(&one.Input), "status": nil, "output": nil, "errors": nil,
	})
	if id := node.Get("id"); id != nil {
		one.ID = id.Text
		if why := f.add(id); why != "" {
			d.Report(diag.WrongType, id.Span(), "%s", why)
		}
	}
	return one, d.Found
}

// add registers the id of an instance, or says why it can't be one.
func (f *instancesFile) add(id *source.Node) (why string) {
	switch {
	case id.Kind != source.String:
		return "the \"id\" of an instance is a text; write it between quotes"
	case id.Text == "":
		return "the \"id\" of the instance is empty"
	case len(id.Text) > maxID:
		return fmt.Sprintf("the \"id\" of the instance is longer than %d bytes", maxID)
	}
	if err := f.ids.Add(id.Text); err != nil {
		return err.Error()
	}
	return ""
}
