package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
)

// Results is the file that a run over instances writes a line to as each reaches
// its end. A run of the same plan takes these lines as instances.
type results struct {
	name    string
	file    *os.File
	written map[string]bool // what the file held already, of a run that is resumed
	err     error           // the first that writing met
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

// openResults opens the file that a run writes its results to; nil for none.
func (s *Session) openResults() (*results, error) {
	switch {
	case s.options.Results == "":
		return nil, nil
	case s.replay != nil:
		return reopenResults(s.manifest.At(s.options.Results), s.replay.Left, s.replay.Again)
	}
	return createResults(s.options.Results)
}

// resultsProblem is what keeps a file from being written to.
func resultsProblem(name, format string, args ...any) *diag.UserError {
	return diag.NewError(ErrResults, "results: "+format, args...).About(name)
}

// createResults begins the file of a run that begins. What a file holds isn't
// overwritten: it may be all that is left of a long run.
func createResults(name string) (*results, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return nil, resultsProblem(name, "%q isn't empty", name).Advise("name another file, or remove this one")
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, resultsProblem(name, "can't write %q: %s", name, workspace.Reason(err)).From(err)
	}
	return &results{name: name, file: file}, nil
}

// reopenResults continues the file of a run that is resumed: it cuts off a torn end, adds the missing
// results, and takes out those of instances that run again.
func reopenResults(name string, left []*runtime.InstanceEnd, again []string) (*results, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, resultsProblem(name, "can't write %q: %s", name, workspace.Reason(err)).From(err)
	}
	r := &results{name: name, file: file, written: map[string]bool{}}
	full := int64(0)
	var kept []byte
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		var there struct {
			ID string `json:"id"`
		}
		if err != nil || json.Unmarshal(line, &there) != nil || there.ID == "" {
			file.Close()
			return nil, resultsProblem(name, "%q holds a line that no run has written: %s", name, wording.Cut(string(bytes.TrimSpace(line)), 60)).
				Advise("put the file back as it was, or move it away: then all results are written again")
		}
		if full += int64(len(line)); slices.Contains(again, there.ID) {
			continue
		}
		r.written[there.ID] = true
		if len(again) > 0 {
			kept = append(kept, line...)
		}
	}
	if len(again) > 0 && int64(len(kept)) < full {
		full = int64(len(kept))
		_, err = file.WriteAt(kept, 0)
	}
	if err == nil {
		err = file.Truncate(full)
	}
	if err == nil {
		_, err = file.Seek(full, io.SeekStart)
	}
	if err != nil && isRegular(file) {
		file.Close()
		return nil, resultsProblem(name, "can't write %q: %s", name, workspace.Reason(err)).From(err)
	}
	for _, end := range left {
		r.add(end)
	}
	return r, nil
}

func isRegular(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// add writes the line of an instance, unless it is there.
func (r *results) add(end *runtime.InstanceEnd) {
	if r.err == nil && !r.written[end.ID] {
		r.err = diag.JSONLine(r.file, resultLine{end.ID, end.Status, end.Input, LastState(end.State), end.Output, diag.Listed(end.Errors)})
	}
}

// end brings the file to disk.
func (r *results) end() error {
	if r == nil {
		return nil
	}
	if err := r.close(); err != nil {
		return resultsProblem(r.name, "%q isn't whole: %s", r.name, workspace.Reason(err)).From(err).
			Advise("make room for it; when the run is resumed, what is missing is written")
	}
	return nil
}

func (r *results) close() error {
	if isRegular(r.file) && r.err == nil {
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
