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
	m, records, err := Read(path)
	if err != nil {
		return nil, err
	}
	l := &Look{Entry: entryOf(path), Manifest: m}
	functions := slices.Concat(slices.Sorted(maps.Keys(o.Functions)), m.Functions) // nothing is run
	if l.Program, err = m.Program(o.Activities, functions, o.Hints); err != nil {
		return nil, err
	}
	l.Replay, err = m.replay(path, l.Program.Verified, records, true,
		func(at time.Duration, commands []runtime.Command) {
			if observe != nil {
				for _, c := range commands {
					observe(at, c)
				}
			}
		})
	if err == nil && l.Status == "killed" {
		l.breakOff(observe)
	}
	return l, err
}

// breakOff stops the machine of a killed run, and passes what it left to observe.
func (l *Look) breakOff(observe func(at time.Duration, c runtime.Command)) {
	r := l.Replay
	if r.Machine.Over() {
		return
	}
	for _, c := range r.Machine.Step(runtime.Event{Kind: runtime.Stopped, At: r.At,
		Text: string(runtime.ReasonKilled)}) {
		if observe != nil {
			observe(r.At, c)
		}
	}
}

// At begins the journal of a new run with what a planned run had done when a tick began, and gives
// its file: [Open] continues from there. A planner, if named, takes the place of the run's own.
func At(path string, tick int, planner, runs string) (string, error) {
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
		if last = max(last, record.Event.Tick); last >= tick {
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
	if file, ok := strings.CutPrefix(planner, "replay:"); ok {
		if file, err = filepath.Abs(file); err != nil {
			return "", err
		}
		planner = "replay:" + file
	}
	m.Planner = cmp.Or(planner, m.Planner)
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
