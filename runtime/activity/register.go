package activity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// A Register is a file that names the programs of a run, a JSON object a line, from
// the moment in which they are started. When we are killed it tells whoever goes on
// with the run what may still be at work: nothing is waited for to be on disk, since
// a system that loses what it holds has lost its processes as well.
type Register struct {
	mu   sync.Mutex
	file *os.File
	path string
}

// A registered program: the process that began a process group, and when, so that
// another with its number isn't taken for it.
type registered struct {
	Process  int    `json:"process"`
	Began    string `json:"began"`
	Activity string `json:"activity"`
	Call     string `json:"call,omitzero"` // none of a worker
}

// Open gives a register its file, which is begun if there is none. Until then nothing is
// kept.
func (r *Register) Open(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("what programs run can't be kept: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file, r.path = f, path
	return nil
}

// add notes a program that has just been started. A register that can't be written
// any more keeps no run from going on.
func (r *Register) add(process int, activity, call string) {
	if r == nil {
		return
	}
	line, err := json.Marshal(registered{process, beginning(process), activity, call})
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return
	}
	_, _ = r.file.Write(append(line, '\n'))
}

// A Survivor is a program that is still at work after those who started it are gone,
// or what it has started in turn.
type Survivor struct {
	Activity, Call string
	Processes      []int
}

// EndRegistered ends the programs of a register that still work, of a run that nobody
// is at any more: asked first, and killed after the grace time. It gives those that it
// found, and an error if one of them can't be ended. The register isn't needed any
// longer then, and is removed.
func EndRegistered(path string, grace time.Duration) ([]Survivor, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("what programs ran can't be read: %w", err)
	}
	var all []registered
	for line := range bytes.Lines(text) {
		var one registered
		if json.Unmarshal(line, &one) == nil && one.Process > 1 { // the last may be cut
			all = append(all, one)
		}
	}
	found := survivors(all)
	const look = 20 * time.Millisecond
	for i, left := 0, found; len(left) > 0; i++ {
		switch elapsed := time.Duration(i) * look; {
		case i == 0:
			signalAll(left, false)
		case elapsed >= grace+2*drain:
			return found, fmt.Errorf("the process %d of activity %q can't be ended: it doesn't even die when killed", left[0].Processes[0], left[0].Activity)
		case elapsed >= grace:
			signalAll(left, true)
		}
		time.Sleep(look)
		left = survivors(all)
	}
	return found, os.Remove(path)
}

// Close lets go of the register. It is removed unless something still runs.
func (r *Register) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	if programs() > 0 {
		return err
	}
	return errors.Join(err, os.Remove(r.path))
}
