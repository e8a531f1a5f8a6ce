package session

import (
	"encoding/json"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/project"
)

// A point is a moment of a run: as a tick of it began, as a call was about to start or a
// person was asked about it, or a while after the run began.
type point struct {
	text  string
	tick  int
	after time.Duration // less than 0 for none
	calls map[string]bool
}

func pointOf(text string) point {
	p := point{text: text, after: -1, calls: map[string]bool{}}
	p.tick, _ = strconv.Atoi(text)
	if d, err := time.ParseDuration(text); err == nil {
		p.after = d
	}
	return p
}

// before reports whether the point lies before an event; that a run begins is no later
// than its beginning.
func (p *point) before(e *runtime.Event) bool {
	return e != nil && e.Kind != runtime.Begun && p.after >= 0 && (e.At > p.after || p.after == 0)
}

// reached reports whether what was commanded is the point: a call, be it an item of a
// list, by its name in the events, with the calls above it as in "under" there, behind
// "TICK:" and before "@INSTANCE" where that is needed.
func (p *point) reached(commands []runtime.Command) bool {
	reached := false
	for i := range commands {
		c := &commands[i]
		switch c.Kind {
		case runtime.Plan:
			reached = reached || p.tick > 0 && c.Tick == p.tick
		case runtime.Start, runtime.Enter, runtime.Ask:
			name := runtime.Path(c.Under, c.Of.Name)
			p.calls[name] = true
			for _, before := range []string{"", strconv.Itoa(c.Tick) + ":"} {
				for _, behind := range []string{"", "@" + c.Instance} {
					reached = reached || before+name+behind == p.text
				}
			}
		}
	}
	return reached
}

// missed says that a run never came to the point.
func (p *point) missed(ticks int) error {
	t := diag.Troubled(ErrNoPoint, "the run never came to %q", p.text).About(p.text)
	names := slices.Sorted(maps.Keys(p.calls))
	near, ok := naming.Nearest(p.text, names)
	switch {
	case ok:
		return t.Advise("did you mean %q?", near)
	case p.tick > 0 && ticks > 0:
		return t.Advise("it had ticks 1 to %d", ticks)
	case len(names) > 0:
		return t.Advise("a point is a tick by its number, a call such as %q, or a time such as 2.5s", names[0])
	}
	return t.Advise("no call of it was about to start")
}

// A Look is a run as its journal tells of it.
type Look struct {
	Entry
	Manifest *Manifest
	Program  *project.Program
	Replay   *Replay
}

// LookAt replays the journal of a run, up to a point or to its end, and shows what
// happened, and of one that was killed what that left; observe may be nil. Of the options it needs Activities and what the host
// registers.
func LookAt(path, at string, o ResumeOptions, observe func(at time.Duration, c runtime.Command)) (*Look, error) {
	contents, err := journal.Read(path)
	if err != nil {
		return nil, journalTrouble(path, err)
	}
	l := &Look{Entry: entryOf(journal.Look(path))}
	if _, err = l.upTo(path, contents, at, o, observe); err == nil && at == "" && l.Status == "killed" {
		l.breakOff(observe)
	}
	return l, err
}

// breakOff tells of a run that was killed what it left, as one does that is stopped.
func (l *Look) breakOff(observe func(at time.Duration, c runtime.Command)) {
	r := l.Replay
	if r.Machine.Over() {
		return
	}
	for _, c := range r.Machine.Step(runtime.Event{Kind: runtime.Stopped, At: r.At, Text: string(runtime.ReasonKilled)}) {
		if observe != nil {
			observe(r.At, c)
		}
	}
}

// upTo replays a journal up to a point, and gives what was replayed.
func (l *Look) upTo(path string, contents *journal.Contents, at string, o ResumeOptions, observe func(at time.Duration, c runtime.Command)) (taken []json.RawMessage, err error) {
	if l.Manifest, err = readManifest(path, contents.Header); err != nil {
		return nil, err
	}
	functions := slices.Concat(slices.Sorted(maps.Keys(o.Functions)), l.Manifest.Functions) // nothing is run
	if l.Program, err = l.Manifest.Program(o.Activities, functions, o.Hints); err != nil {
		return nil, err
	}
	l.Replay = NewReplay(l.Program.Verified, l.Manifest.Options)
	l.Replay.Reopenable()
	p := pointOf(at)
	reached := false
	bodies := contents.Bodies()
	err = l.Manifest.follow(path, l.Replay, func(yield func(json.RawMessage, error) bool) {
		for body, err := range bodies {
			if record, bad := ReadRecord(body); at != "" && err == nil && bad == nil && p.before(record.Event) {
				reached = true
			}
			if reached || !yield(body, err) {
				return
			}
			taken = append(taken, slices.Clone(body))
		}
	}, func(at time.Duration, commands []runtime.Command) {
		if observe != nil {
			for _, c := range commands {
				observe(at, c)
			}
		}
		reached = reached || p.text != "" && p.reached(commands)
	})
	if err == nil && at != "" && !reached && p.after < l.Replay.At {
		err = p.missed(l.Replay.Machine.Tick())
	}
	return taken, err
}

// ForkOptions say how a run goes on that begins where another stood.
type ForkOptions struct {
	ResumeOptions
	// At is the point from which it goes on: a tick, a call, or a time.
	At string
	// Runs is the folder for its journal.
	Runs string
	// PlannerName, Model, Record and Results take the place of those of the run; the last
	// two are otherwise none.
	PlannerName, Model, Record, Results string
}

// Fork begins the journal of a new run with what another had done up to a point, and
// gives its file. What was done counts as done, and what was at work as not begun:
// [Resume] goes on with it, with [runtime.InFlightAnew].
func Fork(path string, o ForkOptions) (string, error) {
	contents, err := journal.Read(path)
	if err != nil {
		return "", journalTrouble(path, err)
	}
	l := &Look{}
	taken, err := l.upTo(path, contents, o.At, o.ResumeOptions, nil)
	if err != nil {
		return "", err
	}
	m := *l.Manifest
	m.Begun, m.Obelus, m.Record, m.Out = time.Now().UTC().Truncate(time.Second), o.Version, absolute(o.Record), absolute(o.Results)
	m.Forked = &Forked{strings.TrimSuffix(filepath.Base(path), extension), o.At}
	if planned := m.Options.Planned; planned != (o.PlannerName != "") && o.PlannerName != "" {
		return "", diag.Troubled(ErrNoPlanner, "the run had no planner, and none can join it").Advise("have a model answer its latent calls")
	}
	if o.PlannerName != "" {
		m.Planner = located(o.PlannerName)
	}
	if o.Model != "" {
		m.Model = located(o.Model)
	}
	if len(o.Activities) > 0 {
		m.Activities = nil
		for _, f := range l.Program.Document.Options.Activities {
			ref := referenceTo(f)
			ref.Name = absolute(ref.Name)
			m.Activities = append(m.Activities, ref)
		}
	}
	k, err := create(o.Runs, &m)
	if err != nil {
		return "", err
	}
	defer k.writer.Close()
	for _, body := range taken {
		if record, _ := ReadRecord(body); record.End != nil {
			continue
		}
		if err := k.writer.Append(body); err != nil {
			return "", diag.Troubled(ErrJournalSpace, "%v", err).About(k.id()).From(err)
		}
	}
	if err := k.writer.Sync(); err != nil {
		return "", diag.Troubled(ErrJournalSpace, "%v", err).About(k.id()).From(err)
	}
	return k.file, nil
}

// absolute is a path that means the same in every folder; "" stays.
func absolute(name string) string {
	if name == "" {
		return ""
	}
	if whole, err := filepath.Abs(name); err == nil {
		return whole
	}
	return name
}

// located is a planner's name, with the file of a recording wherever it is used.
func located(planner string) string {
	if file, ok := strings.CutPrefix(planner, "replay:"); ok {
		return "replay:" + absolute(file)
	}
	return planner
}

// follow takes all records of a journal. What comes of each is seen by seen, which may be
// nil.
func (m *Manifest) follow(path string, r *Replay, bodies iter.Seq2[json.RawMessage, error], seen func(at time.Duration, commands []runtime.Command)) error {
	line := 1 // the header's
	for body, err := range bodies {
		if err != nil {
			return journalTrouble(path, err)
		}
		line++
		record, err := ReadRecord(body)
		if err == nil && !r.reopenable && record.reopens() { // what had failed is needed, and wasn't kept
			r.begin()
			r.Reopenable()
			return m.follow(path, r, bodies, seen)
		}
		var commands []runtime.Command
		if err == nil {
			commands, err = r.Take(record)
		}
		if err != nil {
			return diag.Troubled(ErrDamaged, "the journal %q can't be followed: line %d: %v", path, line, err).About(path).
				Advise("its run can't have been there: take an untouched copy, the version of obelus that wrote it (%s), or begin a new run", m.Obelus)
		}
		if seen != nil {
			seen(r.At, commands)
		}
	}
	return nil
}
