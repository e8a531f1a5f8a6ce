package session

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"strconv"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/decode"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/project"
)

const (
	// maxInstances bounds the file of instances, in bytes, and maxBatch the lines that join a run at once.
	maxInstances = 64 << 20
	maxBatch     = 4 << 20
	// maxID bounds the id of an instance, in bytes.
	maxID = 256
)

// readInstances reads the file of instances of a run, {id, state?, input?} a line, before any of them joins. Those of
// the plan come first; those that had joined when the run was stopped or killed must be where they were.
func (s *Session) readInstances() error {
	name := s.Options.Instances
	if name == "" || s.Replay != nil && s.Replay.Full {
		return nil
	}
	info, err := os.Stat(s.at(name))
	switch {
	case err != nil:
		return project.CantRead(name, err)
	case !info.Mode().IsRegular():
		return diag.NewError(ErrUnrunnable, "--instances can't be %q: it isn't a file", name).
			Advise("write the instances to a file: a run that is resumed reads it again")
	}
	text, err := workspace.Read(s.at(name), maxInstances)
	switch {
	case err != nil:
		return project.CantRead(name, err)
	case len(text) > maxInstances:
		return diag.NewError(project.ErrTooLarge, "%q is larger than %d bytes", name, maxInstances).
			Advise("split it into several files, with a run for each")
	}
	ids := &naming.IDs{}
	for _, one := range s.Program.Plan.Instances {
		ids.Add(one.ID)
	}
	longest := 1
	for line := range source.Lines(name, text) {
		one, found := readInstance(line, ids)
		if len(found) > 0 {
			return &diag.Fault{Diagnostic: found[0]}
		}
		if !s.Options.Planned { // a planner reads all of the input
			if err := Unread(s.Program.Plan, one.Input); err != nil {
				return diag.NewError(ErrUnfit, "%s:%d:1: %w", name, line.Row, err)
			}
		}
		s.Joining, longest = append(s.Joining, one), max(longest, len(line.Text))
	}
	s.batch = max(1, maxBatch/longest)
	if s.Replay == nil {
		return nil
	}
	for i, id := range s.Replay.Joined {
		if i >= len(s.Joining) || s.Joining[i].ID != id {
			return diag.NewError(ErrUnrunnable,
				"%s: the instance \"%s\", which the run had begun with, isn't in its place any more", name,
				compiler.Shown(id))
		}
	}
	s.Joining = s.Joining[len(s.Replay.Joined):]
	return nil
}

// readInstance reads a line, and what is wrong with it. What a run of the same plan has written about an instance may
// be in it again, and isn't read.
func readInstance(line *source.File, ids *naming.IDs) (one runtime.Instance, found []diag.Diagnostic) {
	var d decode.Reader
	node, problems := source.Parse(line, source.DefaultLimits())
	for _, p := range problems {
		if !p.Warning {
			d.Found = append(d.Found, diag.OfProblem(p))
		}
	}
	if len(d.Found) > 0 {
		return one, d.Found
	}
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
		if why := addID(ids, id); why != "" {
			d.Report(diag.WrongType, id.Span(), "%s", why)
		}
	}
	return one, d.Found
}

// addID registers the id of an instance, or says why it can't be one.
func addID(ids *naming.IDs, id *source.Node) (why string) {
	switch {
	case id.Kind != source.String:
		return "the \"id\" of an instance is a text; write it between quotes"
	case id.Text == "":
		return "the \"id\" of the instance is empty"
	case len(id.Text) > maxID:
		return fmt.Sprintf("the \"id\" of the instance is longer than %d bytes", maxID)
	}
	if err := ids.Add(id.Text); err != nil {
		return err.Error()
	}
	return ""
}

// resultsProblem is what keeps a file from being written to.
func resultsProblem(format string, args ...any) *diag.UserError {
	return diag.NewError(ErrUnrunnable, "--out: "+format, args...)
}

// openResults opens the file that a run writes a line to for each instance that has ended. What a file holds isn't
// overwritten by a run that begins: it may be all that is left of a long run. One that is resumed writes it anew.
func (s *Session) openResults() (err error) {
	if s.Options.Results == "" {
		return nil
	}
	name, how := s.at(s.Options.Results), os.O_CREATE|os.O_APPEND|os.O_WRONLY
	if s.Replay != nil {
		how |= os.O_TRUNC
	}
	if s.results, err = os.OpenFile(name, how, 0o600); err != nil {
		return resultsProblem("can't write %q: %w", name, workspace.Reason(err))
	}
	if info, err := s.results.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return resultsProblem("%q isn't empty", name).Advise("name another file, or remove this one")
	}
	return nil
}

// writeResults writes how the run went for each instance that has ended. A run of the same plan takes these lines as
// instances.
func (s *Session) writeResults(o *runtime.Outcome) (err error) {
	if s.results == nil {
		return nil
	}
	out := bufio.NewWriter(s.results)
	for i := range o.Instances {
		if end := &o.Instances[i]; end.Status != runtime.RunStopped {
			err = cmp.Or(err, diag.JSONLine(out, end))
		}
	}
	if err = cmp.Or(err, out.Flush()); err != nil {
		return resultsProblem("%q isn't whole: %w", s.results.Name(), workspace.Reason(err)).
			Advise("make room for it; \"obelus resume\" of this run writes what is missing")
	}
	return nil
}
