package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
)

// Results is the file that a run over instances writes a line to as each comes
// to its end (--out). A run of the same plan takes these lines as instances.
type results struct {
	observer
	name    string
	file    *os.File
	written map[string]bool // what the file held already, of a run that is resumed
	err     error           // the first that writing met
}

// A resultLine is how a run went for one instance.
type resultLine struct {
	ID     string              `json:"id"`
	Status string              `json:"status"`          // "done" or "failed"
	Input  map[string]any      `json:"input,omitempty"` // its own
	State  any                 `json:"state"`
	Output any                 `json:"output"`
	Errors []runtime.CallError `json:"errors"`
}

// openResults opens the file that a run writes its results to; nil for none.
func (o *running) openResults() (*results, error) {
	switch {
	case o.out == "":
		return nil, nil
	case o.restored != nil:
		return reopenResults(o.recipe.at(o.out), o.restored.left)
	}
	return createResults(o.out)
}

// createResults begins the file of a run that begins. What a file holds isn't
// overwritten: it may be all that is left of a long run.
func createResults(name string) (*results, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return nil, troubled("--out: %q isn't empty", name).advise("name another file, or remove this one")
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, troubled("--out: can't write %q: %s", name, reason(err))
	}
	return &results{name: name, file: file}, nil
}

// reopenResults goes on with the file of a run that is resumed. A torn end, which
// a kill leaves, is cut off, and the instances that had ended and aren't there are
// written.
func reopenResults(name string, left []*runtime.InstanceEnd) (*results, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, troubled("--out: can't write %q: %s", name, reason(err))
	}
	r := &results{name: name, file: file, written: map[string]bool{}}
	whole := int64(0)
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
			return nil, troubled("--out: %q holds a line that no run has written: %s", name, cut(string(bytes.TrimSpace(line)), 60)).
				advise("put the file back as it was, or move it away: then all results are written again")
		}
		r.written[there.ID] = true
		whole += int64(len(line))
	}
	if err = file.Truncate(whole); err == nil {
		_, err = file.Seek(whole, io.SeekStart)
	}
	if err != nil && isRegular(file) {
		file.Close()
		return nil, troubled("--out: can't write %q: %s", name, reason(err))
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

func (r *results) observe(at time.Duration, c runtime.Command) {
	if c.Kind == runtime.Leave {
		r.add(c.Left)
	}
	r.observer.observe(at, c)
}

// add writes the line of an instance, unless it is there.
func (r *results) add(end *runtime.InstanceEnd) {
	if r.err == nil && !r.written[end.ID] {
		r.err = diag.JSONLine(r.file, resultLine{end.ID, end.Status, end.Input, objectOr(end.State), end.Output, listed(end.Errors)})
	}
}

// end brings the file to disk before the end is told.
func (r *results) end(o *runtime.Outcome) error {
	if err := r.close(); err != nil {
		r.observer.end(o)
		return troubled("--out: %q isn't whole: %s", r.name, reason(err)).
			advise("make room for it; \"obelus resume\" of this run writes what is missing")
	}
	return r.observer.end(o)
}

func (r *results) abandon() {
	r.close()
	r.observer.abandon()
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
