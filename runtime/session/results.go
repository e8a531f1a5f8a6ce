package session

import (
	"os"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
)

// Results is the file that a run over instances writes a line to as each reaches
// its end. A run of the same plan takes these lines as instances.
type results struct {
	name string
	file *os.File
	err  error // the first that writing met
}

// resultsProblem is what keeps a file from being written to.
func resultsProblem(format string, args ...any) *diag.UserError {
	return diag.NewError(ErrUnrunnable, "--out: "+format, args...)
}

// openResults opens the file that a run writes its results to; nil for none. What a file holds isn't
// overwritten by a run that begins: it may be all that is left of a long run. One that is resumed writes what its
// journal says over what it had written before.
func (s *Session) openResults() (*results, error) {
	if s.Options.Results == "" {
		return nil, nil
	}
	name, how := s.at(s.Options.Results), os.O_CREATE|os.O_APPEND|os.O_WRONLY
	if s.Replay != nil {
		how |= os.O_TRUNC
	}
	file, err := os.OpenFile(name, how, 0o600)
	if err != nil {
		return nil, resultsProblem("can't write %q: %w", name, workspace.Reason(err))
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		file.Close()
		return nil, resultsProblem("%q isn't empty", name).Advise("name another file, or remove this one")
	}
	r := &results{name: name, file: file}
	if s.Replay != nil {
		for _, end := range s.Replay.Left {
			r.add(end)
		}
	}
	return r, nil
}

// add writes the line of an instance.
func (r *results) add(end *runtime.InstanceEnd) {
	if r.err == nil {
		r.err = diag.JSONLine(r.file, end)
	}
}

// end brings the file to disk.
func (r *results) end() error {
	if err := r.close(); err != nil {
		return resultsProblem("%q isn't whole: %w", r.name, workspace.Reason(err)).
			Advise("make room for it; \"obelus resume\" of this run writes what is missing")
	}
	return nil
}

func (r *results) close() error {
	if r == nil {
		return nil
	}
	if info, err := r.file.Stat(); err == nil && info.Mode().IsRegular() && r.err == nil {
		r.err = r.file.Sync()
	}
	if err := r.file.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}

func (s *Session) result(o *runtime.Outcome, incomplete ...error) *Result {
	return &Result{Outcome: o, Run: s.ID(), Journal: s.Journal(),
		Incomplete: slices.DeleteFunc(incomplete, func(err error) bool { return err == nil })}
}
