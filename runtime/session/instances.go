package session

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
)

const (
	maxInstances = 64 << 20 // bytes of the file of instances
	maxBatch     = 4 << 20  // bytes of the lines that join a run at once
	maxID        = 256      // bytes of the id of an instance

	instanceForm = `expected {"id": TEXT, "input": {…}, "state": {…}}, with an id of at most 256 bytes`
)

// readInstances reads the file of instances of a run, {id, state?, input?} a line, before any of them joins. Those of
// the plan come first; those that had joined when the run was stopped or killed must be where they were.
func (s *Session) readInstances() error {
	name := s.Manifest.Instances
	if name == "" || s.full {
		return nil
	}
	text, err := approval.ReadFile(s.Manifest.At(name), maxInstances)
	switch {
	case err != nil:
		return unrunnable(err).Advise("write the instances to a file: a run that is resumed reads it again")
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
		one, err := readInstance(line, ids)
		if err != nil {
			return err
		}
		if !s.Manifest.Options.Planned { // a planner reads all of the input
			if err := unread(s.Program.Plan, one.Input); err != nil {
				return diag.NewError(ErrUnfit, "%s:%d:1: %w", name, line.Row, err)
			}
		}
		s.Joining, longest = append(s.Joining, one), max(longest, len(line.Text))
	}
	s.batch = max(1, maxBatch/longest)
	for i, id := range s.Joined {
		if i >= len(s.Joining) || s.Joining[i].ID != id {
			return diag.NewError(ErrUnrunnable,
				"%s: the instance \"%s\", which the run had begun with, isn't in its place any more", name,
				compiler.Shown(id))
		}
	}
	s.Joining = s.Joining[len(s.Joined):]
	return nil
}

// readInstance reads a line. What a run of the same plan has written about an instance may be in it again, and isn't
// read.
func readInstance(line *source.File, ids *naming.IDs) (one runtime.Instance, err error) {
	node, problems := source.Parse(line, source.DefaultLimits())
	for _, p := range problems {
		if !p.Warning {
			return one, &diag.Fault{Diagnostic: diag.OfProblem(p)}
		}
	}
	wrong := func(at *source.Node, format string, args ...any) error {
		return &diag.Fault{Diagnostic: diag.New(diag.WrongType, at.Span(), fmt.Sprintf(format, args...))}
	}
	for _, field := range node.Fields {
		values, isObject := field.Value.Value().(map[string]any)
		switch key := field.Key.Text; {
		case key == "id" && field.Value.Kind == source.String && len(field.Value.Text) <= maxID:
			if one.ID, err = field.Value.Text, ids.Add(field.Value.Text); err != nil {
				return one, wrong(field.Value, "%v", err)
			}
		case key == "input" && isObject:
			one.Input = values
		case key == "state" && isObject:
			one.State = values
		case !slices.Contains([]string{"status", "output", "errors"}, key) && !strings.HasPrefix(key, "x-"):
			return one, wrong(field.Key, "that can't be %q of an instance: "+instanceForm, diag.Escape(key))
		}
	}
	if one.ID == "" {
		return one, wrong(node, instanceForm)
	}
	return one, nil
}

// createResults opens the file of results of a run that begins. What a file holds isn't overwritten: it may be all that
// is left of a long run.
func createResults(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, diag.NewError(ErrUnrunnable, "--out: can't write %q: %w", name, workspace.Reason(err))
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return f, diag.NewError(ErrUnrunnable, "--out: %q isn't empty", name).
			Advise("name another file, or remove this one")
	}
	return f, nil
}

// writeResults writes a line for each instance that has ended. A run of the same plan takes these lines as instances.
func (s *Session) writeResults(o *runtime.Outcome) error {
	if s.Manifest.Out == "" {
		return nil
	}
	var out bytes.Buffer
	for i := range o.Instances {
		if end := &o.Instances[i]; end.Status != runtime.RunStopped {
			if err := diag.JSONLine(&out, end); err != nil {
				return err
			}
		}
	}
	name := s.Manifest.At(s.Manifest.Out)
	var err error
	if s.results != nil {
		_, err = s.results.Write(out.Bytes())
	} else { // a run that was resumed writes it anew
		err = os.WriteFile(name, out.Bytes(), 0o600)
	}
	if err != nil {
		return diag.NewError(ErrUnrunnable, "--out: %q isn't whole: %w", name, workspace.Reason(err)).
			Advise("make room for it; \"obelus resume\" of this run writes what is missing")
	}
	return nil
}
