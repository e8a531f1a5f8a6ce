package session

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A Look is a run from its journal.
type Look struct {
	Entry
	Manifest *Manifest
	Program  *project.Program
	Replay   *Replay
}

// LookAt replays the journal of a run, and shows what happened, and of one that was killed what
// that left; observe may be nil. Of the options it needs Activities and what the host registers.
func LookAt(path string, o ResumeOptions, observe func(at time.Duration, c runtime.Command)) (*Look, error) {
	l, err := look(path, &o, observe)
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

// look replays a journal of which nothing is run.
func look(path string, o *ResumeOptions, seen func(time.Duration, runtime.Command)) (*Look, error) {
	m, records, err := Read(path)
	if err != nil {
		return nil, err
	}
	l := &Look{Manifest: m}
	functions := slices.Concat(slices.Sorted(maps.Keys(o.Functions)), m.Functions)
	if l.Program, err = m.Program(o.Activities, functions, o.Hints); err != nil {
		return nil, err
	}
	l.Replay, err = m.replay(path, l.Program.Verified, records, seen)
	return l, err
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
		return "", diag.NewError(ErrNoPoint, "the run has no ticks: only a run with a planner has")
	case tick < 1 || last != tick:
		return "", diag.NewError(ErrNoPoint, "the run has no tick %d; its last so far is %d", tick, last)
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
			return "", diag.NewError(ErrUnrunnable, "%v", err).From(err)
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
