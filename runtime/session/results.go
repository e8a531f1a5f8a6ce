package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
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

// A resultLine is how a run went for one instance.
type resultLine struct {
	ID     string              `json:"id"`
	Status runtime.RunStatus   `json:"status"`
	Input  map[string]any      `json:"input,omitempty"` // its own
	State  any                 `json:"state"`
	Output any                 `json:"output"`
	Errors []runtime.CallError `json:"errors"`
}

// resultsProblem is what keeps a file from being written to.
func resultsProblem(format string, args ...any) *diag.UserError {
	return diag.NewError(ErrUnrunnable, "--out: "+format, args...)
}

// openResults opens the file that a run writes its results to; nil for none. What a file holds isn't
// overwritten by a run that begins: it may be all that is left of a long run. One that is resumed writes what its
// journal says over what it had written before.
func (s *Session) openResults() (*results, error) {
	name := s.Options.Results
	if name == "" {
		return nil, nil
	}
	name, how := s.at(name), os.O_WRONLY
	if s.Replay != nil {
		how = os.O_RDWR
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|how, 0o600)
	if err != nil {
		return nil, resultsProblem("can't write %q: %s", name, workspace.Reason(err)).From(err)
	}
	r := &results{name: name, file: file}
	switch info, unknown := file.Stat(); {
	case unknown != nil || !info.Mode().IsRegular():
	case s.Replay != nil:
		err = r.empty()
	case info.Size() > 0:
		err = resultsProblem("%q isn't empty", name).Advise("name another file, or remove this one")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	if s.Replay != nil {
		for _, end := range s.Replay.Left {
			r.add(end)
		}
	}
	return r, nil
}

// empty empties the file, if it was a run that filled it. Its end may be torn.
func (r *results) empty() error {
	lines := bufio.NewReader(r.file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		var written struct {
			ID string `json:"id"`
		}
		if err != nil || json.Unmarshal(line, &written) != nil || written.ID == "" {
			return resultsProblem("%q holds a line that no run has written: %s", r.name,
				wording.Cut(string(bytes.TrimSpace(line)), 60)).
				Advise("put the file back as it was, or move it away: then all results are written again")
		}
	}
	if err := r.file.Truncate(0); err != nil {
		return resultsProblem("can't write %q: %s", r.name, workspace.Reason(err)).From(err)
	}
	return nil
}

// add writes the line of an instance.
func (r *results) add(end *runtime.InstanceEnd) {
	if r.err == nil {
		r.err = diag.JSONLine(r.file,
			resultLine{end.ID, end.Status, end.Input, LastState(end.State), end.Output, diag.Listed(end.Errors)})
	}
}

// end brings the file to disk.
func (r *results) end() error {
	if err := r.close(); err != nil {
		return resultsProblem("%q isn't whole: %s", r.name, workspace.Reason(err)).From(err).
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
	r := &Result{Outcome: o, Run: s.ID(), Journal: s.Journal()}
	for _, err := range incomplete {
		if err != nil {
			r.Incomplete = append(r.Incomplete, err)
		}
	}
	return r
}
