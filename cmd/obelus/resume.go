package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
	"github.com/obelus-dev/obelus/runtime/local"
	"github.com/obelus-dev/obelus/runtime/planner"
	"github.com/spf13/cobra"
)

func (c *cli) resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "go on with a run that was stopped or killed",
		Long: "Goes on with a run from its journal: by its id, the beginning of it, or its file. What had\n" +
			"completed isn't run again. A call that was at work when the run was killed is run again if its\n" +
			"tool is idempotent or read-only; about any other a person is asked, unless --in-flight says.\n\n" +
			"Whom a run asks is for this command to say, as it is for run; without --confirm, one that was\n" +
			"begun with a stricter one keeps it. A run that stopped at one of its limits gets as much again.",
		Example: "obelus resume 20261121-093012-refund-4f2a\nobelus resume 20261121-0930 --in-flight retry",
		Args:    oneArg("a run"),
	}
	var o running
	o.add(c, cmd)
	inFlight := choose(cmd, "in-flight", "what becomes of calls that were at work and may not simply be run again", "ask", "retry", "fail")
	var activities []string
	cmd.Flags().StringArrayVar(&activities, "activities", nil, "a file of activities in the place of those that the run was begun with; may be given several times")
	stands(cmd, "activities", "FILE")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.inFlight = *inFlight
		confirm, err := o.asking()
		if err != nil {
			return err
		}
		o.confirmAnew, o.confirmSaid = &confirm, cmd.Flags().Changed("confirm")
		return c.resume(cmd, args[0], activities, &o)
	}
	return cmd
}

func (c *cli) resume(cmd *cobra.Command, name string, activities []string, o *running) error {
	path, err := o.find(name)
	if err != nil {
		return err
	}
	writer, contents, err := journal.Open(path)
	if err != nil {
		return journalTrouble(path, err)
	}
	kept := &kept{writer: writer, file: path}
	o.kept = kept
	finished := false
	defer func() {
		if !finished {
			kept.Close()
		}
	}()
	if contents.Torn != nil {
		fmt.Fprintf(c.err, "obelus: %s; they are cut off\n", contents.Torn)
	}
	o.recipe = &recipe{}
	if err := json.Unmarshal(contents.Header, o.recipe); err != nil {
		return troubled("the journal %q isn't one of a run: %v", path, err)
	}
	if err := o.recipe.check(); err != nil {
		return troubled("the journal %q can't be followed: %v", path, err).advise("resume the run with the version of obelus that began it (%s), or begin a new run", o.recipe.Obelus)
	}
	if err := c.endPrograms(kept); err != nil {
		return err
	}
	p, err := o.recipe.prepare(c, activities)
	if err != nil {
		return err
	}
	o.planner, o.record, o.instances, o.out = o.recipe.Planner, o.recipe.Record, o.recipe.Instances, o.recipe.Out
	o.restored = restore(p, o.recipe.Options)
	line := 1 // the header's
	for body, err := range contents.Bodies() {
		if err != nil {
			return journalTrouble(path, err)
		}
		line++
		if err := o.restored.take(body); err != nil {
			return troubled("the journal %q can't be followed: line %d: %v", path, line, err).
				advise("its run can't have been there: take an untouched copy, the version of obelus that wrote it (%s), or begin a new run", o.recipe.Obelus)
		}
	}
	if m := o.restored.machine; m.Over() && !m.Stopped() {
		return c.tellAgain(o.restored.outcome, o)
	}
	if err := c.workspaceThere(p, kept, o); err != nil {
		return err
	}
	finished = true
	return c.run(cmd.Context(), p, o.recipe.Options, o)
}

// tellAgain shows how a run ended that has nothing left to go on with: it may
// have been killed before it could say so.
func (c *cli) tellAgain(outcome *runtime.Outcome, o *running) error {
	if o.format == "text" {
		fmt.Fprintf(c.out, "the run %s had ended already; this is what came of it\n\n", o.kept.id())
	}
	var show observer = newEvents(c.out, o.kept.path())
	if o.format == "text" {
		show = &progress{out: c.out, journal: o.kept.path(), results: o.out, style: styleFor(c.out), at: o.restored.at, stop: make(chan struct{})}
	}
	results, err := o.openResults()
	if err != nil {
		return err
	}
	if results != nil {
		results.observer = show
		show = results
	}
	return c.conclude(outcome, show, nil, nil, o.kept, o)
}

// Restored is a machine that was brought to where a run stood.
type restored struct {
	machine *runtime.Machine
	follow  *runtime.Follower
	at      time.Duration
	outcome *runtime.Outcome // the last that it came to, or nil
	joined  []string         // the instances that came from outside
	whole   bool             // no more of them will come
	left    []*runtime.InstanceEnd
}

func restore(p compiled, o runtime.Options) *restored {
	m := runtime.New(p.verified, o)
	return &restored{machine: m, follow: runtime.Follow(m)}
}

// take steps one record of a journal.
func (r *restored) take(body []byte) error {
	var record record
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&record); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case (record.Event == nil) == (record.End == nil):
		return errors.New("a record is either an event or the end of the run")
	case record.End != nil && !r.machine.Over():
		return fmt.Errorf("the run is said to be %q, but it is going on", record.End.Status)
	case record.End != nil:
		return nil
	}
	commands, err := r.follow.Step(*record.Event)
	if err != nil {
		return err
	}
	r.at = record.Event.At
	for _, one := range record.Event.Instances {
		r.joined = append(r.joined, one.ID)
	}
	r.whole = r.whole || record.Event.Last
	for _, command := range commands {
		switch command.Kind {
		case runtime.Leave:
			r.left = append(r.left, command.Left)
		case runtime.Finish:
			r.outcome = command.Outcome
		}
	}
	return nil
}

// A record is what a line of a journal says: an event, or how a run ended.
type record struct {
	Event *runtime.Event `json:"event,omitempty"`
	End   *endRecord     `json:"end,omitempty"`
}

type endRecord struct {
	Status    string         `json:"status"`
	Reason    string         `json:"reason,omitempty"`
	Calls     runtime.Counts `json:"calls"`
	Ticks     int            `json:"ticks,omitzero"`
	Instances int            `json:"instances,omitzero"`
}

func (o *running) resumption() runtime.Resumption {
	confirm := *o.confirmAnew
	if begun := o.recipe.Options.Confirm.Policy; !o.confirmSaid && begun.Stricter(confirm.Policy) {
		confirm.Policy = begun
	}
	return runtime.Resumption{InFlight: o.inFlight, Confirm: &confirm}
}

// Kept is the journal of a run; nil where none is kept.
type kept struct {
	writer *journal.Writer
	file   string
}

func (k *kept) path() string {
	if k == nil {
		return ""
	}
	return k.file
}

func (k *kept) id() string { return strings.TrimSuffix(filepath.Base(k.file), ".jsonl") }

// Append keeps an event.
func (k *kept) Append(event []byte) error {
	body := make([]byte, 0, len(event)+12)
	body = append(append(append(body, `{"event":`...), event...), '}')
	defer moment("appended")
	return k.writer.Append(body)
}

// Sync brings what was appended to disk.
func (k *kept) Sync() error {
	moment("unsynced")
	defer moment("synced")
	return k.writer.Sync()
}

// moment is called where it makes a difference whether a run is killed just
// there. A test kills it.
var moment = func(what string) {}

// Close lets go of the file.
func (k *kept) Close() error { return k.writer.Close() }

// end says in the journal how the run ended, or stopped.
func (k *kept) end(o *runtime.Outcome) error {
	if k == nil {
		return nil
	}
	body, err := json.Marshal(record{End: &endRecord{o.Status, o.Reason, o.Counts, o.Ticks, len(o.Instances)}})
	if err != nil {
		return err
	}
	if err := k.writer.Append(body); err != nil {
		return err
	}
	return k.writer.Sync()
}

// keep begins the journal of a run, or goes on with that of one that is resumed.
func (o *running) keep(p compiled, options runtime.Options) (*kept, error) {
	if o.kept != nil || o.unkept {
		return o.kept, nil
	}
	folder, err := o.runsFolder()
	if err != nil {
		return nil, err
	}
	recipe, err := recipeOf(p)
	if err != nil {
		return nil, troubled("%v", err)
	}
	recipe.Options, recipe.Record, recipe.Instances, recipe.Out = options, o.record, o.instances, o.out
	if o.planner != "none" {
		recipe.Planner = o.planner
	}
	for {
		var suffix [2]byte
		rand.Read(suffix[:])
		path, err := journal.Path(folder, journal.ID(time.Now(), recipe.Title, hex.EncodeToString(suffix[:])))
		if err != nil {
			return nil, err
		}
		writer, err := journal.Create(path, recipe)
		switch {
		case err == nil:
			return &kept{writer: writer, file: path}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, unkeepable(folder, err)
		}
	}
}

func unkeepable(folder string, err error) error {
	return troubled("no journal can be kept in %q: %s", folder, reason(err)).
		advise("name another folder with --runs, or run with --no-journal and give up resuming it")
}

func (o *running) runsFolder() (string, error) {
	if o.folder != "" {
		return o.folder, nil
	}
	folder, err := runsFolder()
	if err != nil {
		return "", troubled("there is no folder for journals: %v", err).advise("name one with --runs")
	}
	return folder, nil
}

// find is the journal that a name means: a file, or an id or its beginning.
func (o *running) find(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".jsonl") {
		return name, nil
	}
	folder, err := o.runsFolder()
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", cantRead(folder, err)
	}
	var found []string
	for _, e := range entries {
		id, isRun := strings.CutSuffix(e.Name(), ".jsonl")
		if isRun && strings.HasPrefix(id, name) {
			found = append(found, id)
		}
		if isRun && id == name {
			found = []string{id}
			break
		}
	}
	switch len(found) {
	case 0:
		return "", troubled("there is no run %q in %q", name, folder).advise("\"obelus runs\" lists them")
	case 1:
		return filepath.Join(folder, found[0]+".jsonl"), nil
	}
	return "", troubled("%d runs begin with %q", len(found), name).advise("say more of its id: %s or %s", found[0], found[1])
}

// openPlanner makes the planner that a run was told to ask.
func (o *running) openPlanner(p compiled) (local.Planner, error) {
	spec := o.planner
	if file, ok := strings.CutPrefix(spec, "replay:"); ok && o.recipe != nil {
		spec = "replay:" + o.recipe.at(file)
	}
	asked, err := planner.Open(spec, planner.Options{Prices: o.prices})
	if err != nil {
		return nil, troubled("%v", err)
	}
	if o.record == "" {
		return asked, nil
	}
	folder := o.record
	if o.recipe != nil {
		folder = o.recipe.at(folder)
	}
	recorder, err := planner.NewRecorder(asked, folder)
	if err != nil {
		return nil, troubled("%v", err)
	}
	return recorder, nil
}

// journalTrouble says what is wrong with a journal, and what to do.
func journalTrouble(path string, err error) error {
	var fault *journal.Fault
	switch {
	case errors.As(err, &fault):
		t := troubled("the journal %q can't be trusted: %s", path, fault.Why)
		if fault.Line > 0 {
			t = troubled("the journal %q can't be trusted: line %d: %s", path, fault.Line, fault.Why)
		}
		return t.advise("%s", fault.Do)
	case errors.Is(err, journal.ErrLocked):
		return troubled("the run is going on, in another process").advise("stop that one first, with Ctrl-C")
	case errors.Is(err, fs.ErrNotExist):
		return troubled("there is no journal %q", path).advise("\"obelus runs\" lists them")
	}
	return troubled("%v", err)
}
