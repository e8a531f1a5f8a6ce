package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A Look is a run from its journal: what happened, and of one that was killed what that left.
type Look struct {
	Entry
	Manifest *Manifest
	Program  *project.Program
	Replay   *Replay
	Commands []Observed // of the calls that a stop left unfinished only those of the last stop
}

// Observed is a command, with the time since the run began.
type Observed struct {
	At time.Duration
	runtime.Command
}

// LookAt replays the journal of a run. Of the options it needs Activities and what the host registers.
func LookAt(path string, o ResumeOptions) (*Look, error) {
	l, err := look(path, &o, true)
	if err != nil {
		return l, err
	}
	l.Entry = entryOf(path)
	if r := l.Replay; l.Status == "killed" && !r.Machine.Over() {
		return l,
			r.Do(r.Machine.Step(runtime.Event{Kind: runtime.Stopped, At: r.At, Text: string(runtime.ReasonKilled)}))
	}
	return l, nil
}

// look replays a journal and runs nothing; it may keep the commands.
func look(path string, o *ResumeOptions, keep bool) (l *Look, err error) {
	m, records, err := Read(path)
	if err != nil {
		return nil, err
	}
	l = &Look{Manifest: m}
	if l.Program, err = m.program(o.Activities, o.Hints); err != nil {
		return l, err
	}
	var seen func(time.Duration, runtime.Command)
	if keep {
		seen = l.observe
	}
	l.Replay, err = m.replay(path, l.Program.Verified, records, seen)
	return l, err
}

func (l *Look) observe(at time.Duration, c runtime.Command) {
	if n := len(l.Commands); n > 0 && l.Commands[n-1].Kind == runtime.Finish {
		l.Commands = slices.DeleteFunc(l.Commands, func(c Observed) bool {
			return c.Kind == runtime.Settle && c.Settlement.Left
		})
	}
	l.Commands = append(l.Commands, Observed{at, c})
}

// Show shows what happened.
func (l *Look) Show(to Observer) {
	isStopped := l.Outcome().Status == runtime.RunStopped
	for _, c := range l.Commands {
		if c.Kind != runtime.Settle || !c.Settlement.Left || isStopped {
			to.Observe(c.At, c.Command)
		}
	}
}

// Outcome is how the run ended, or where it is.
func (l *Look) Outcome() *runtime.Outcome {
	if l.Replay.Over() && l.Replay.Outcome != nil {
		return l.Replay.Outcome
	}
	outcome := l.Replay.Machine.Stands()
	if !l.Replay.Machine.Stopped() && l.Status == string(runtime.RunGoesOn) {
		outcome.Status, outcome.Reason = runtime.RunGoesOn, ""
		for i := range outcome.Instances {
			if one := &outcome.Instances[i]; one.Status == runtime.RunStopped {
				one.Status = runtime.RunGoesOn
			}
		}
	}
	return outcome
}

// At begins the journal of a new run with what a planned run had done when a tick began, and gives
// its file: [Open] continues from there. A planner, if named, takes the place of the run's own.
func At(path string, tick int, name, runs string) (string, error) {
	m, records, err := Read(path)
	if err != nil {
		return "", err
	}
	var earlier []*runtime.Event
	last := 0 // the last tick with events
	for record, err := range records {
		if err != nil {
			return "", err
		}
		if record.Event == nil {
			continue
		}
		if last = max(last, record.Event.Tick); tick > 0 && last >= tick {
			break
		}
		earlier = append(earlier, record.Event)
	}
	switch {
	case !m.Options.Planned:
		return "", diag.NewError(ErrUnrunnable, "the run has no ticks: only a run with a planner has")
	case tick < 1 || last != tick:
		return "", diag.NewError(ErrUnrunnable, "the run has no tick %d; its last so far is %d", tick, last)
	}
	m.Started, m.Record, m.Out = time.Now().UTC().Truncate(time.Second), "", ""
	m.Forked = &Forked{idOf(path), strconv.Itoa(tick)}
	if file, ok := strings.CutPrefix(name, "replay:"); ok {
		if file, err = filepath.Abs(file); err != nil {
			return "", err
		}
		name = "replay:" + file
	}
	if name != "" {
		if _, err := planner.Open(name, planner.Options{}); err != nil {
			return "", diag.NewError(ErrUnrunnable, "%w", err)
		}
		m.Planner = name
	}
	k, err := create(runs, m)
	if err != nil {
		return "", err
	}
	defer k.writer.Close()
	for _, e := range earlier {
		err = cmp.Or(err, k.Append(e))
	}
	if err = cmp.Or(err, k.Sync()); err != nil {
		return "", k.full(err)
	}
	return k.file, nil
}

// An Entry is what is known of one run from its journal.
type Entry struct {
	Run     string          `json:"run"`
	Plan    string          `json:"plan"`
	Status  string          `json:"status"` // "done", "failed", "stopped", "running", "killed" or "unreadable"
	Reason  string          `json:"reason,omitempty"`
	Started time.Time       `json:"begun,omitzero"`
	Last    time.Time       `json:"last,omitzero"`
	Calls   *runtime.Counts `json:"calls,omitempty"` // null for one that hasn't ended
	Ticks   int             `json:"ticks,omitzero"`
	// Instances is over how many the run went, those of a stopped run as far as they
	// had begun.
	Instances int `json:"instances,omitzero"`
	// Usage is what models have used.
	Usage runtime.Usage `json:"usage,omitzero"`
	File  string        `json:"file"`
}

// List gives the runs whose journals are in a folder, the oldest first. A missing folder has none.
func List(folder string) ([]Entry, error) {
	files, err := journals(folder)
	if err != nil {
		return nil, fmt.Errorf("the runs can't be listed: %w", err)
	}
	var all []Entry
	for _, file := range files {
		all = append(all, entryOf(file))
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Started.Compare(b.Started) }) // ids tell seconds
	return all, nil
}

// journals are the files of the runs in a folder.
func journals(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

func entryOf(path string) Entry {
	running := journal.Running(path)
	contents, err := journal.Read(path)
	entry := Entry{Run: idOf(path), File: path, Status: "unreadable"}
	if err != nil {
		entry.Reason = err.Error()
		var fault *journal.Fault
		if errors.As(err, &fault) {
			entry.Reason = fault.Why
		}
		return entry
	}
	var head Manifest
	if err := json.Unmarshal(contents.Header, &head); err != nil {
		entry.Reason = "its head isn't that of a run"
		return entry
	}
	entry.Plan, entry.Started, entry.Last, entry.Status = head.Title, contents.First, contents.Last, "killed"
	var last Record
	if err := json.Unmarshal(contents.Ending, &last); err == nil && last.End != nil {
		end := last.End
		entry.Status, entry.Reason, entry.Calls, entry.Ticks, entry.Instances = string(end.Status), string(end.Reason),
			&end.Calls, end.Ticks, end.Instances
		entry.Usage = end.Usage
	}
	if running {
		entry.Status, entry.Reason, entry.Calls, entry.Instances = "running", "", nil, 0
	}
	return entry
}
