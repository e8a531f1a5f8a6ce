package planner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/request"
)

// A Recorder is a planner that passes requests on to another and keeps what was asked and
// answered in a folder: in solutions.json what [Replay] reads, and in tick-N.json the process
// record of a tick. Both are replaced whole. A recording continues where a run is resumed, and
// begins anew with the first tick of another. An answer that the run itself broke off isn't
// recorded: it will be asked for again.
type Recorder struct {
	// Resumed says that the folder holds the beginning of the same run. Requests of a
	// planner tell by their tick; those of a plan that is run as it stands have none.
	Resumed bool
	// Date is the time of day of a moment of the run; where it isn't given the run begins
	// with the recorder.
	Date func(at time.Duration) time.Time
	// Workspace is the folder, absolute, from which the folders of a record's activities are
	// named; "" where that is the record's own.
	Workspace string

	planner Planner
	folder  string

	mu      sync.Mutex
	started bool
	ticks   []recordedTick
	unsaved int   // results of latent calls that aren't on disk yet
	saved   int   // those that are
	err     error // the first; recording ends with it
}

// SolutionsFile is the name of the file in the folder of a recording that [Replay] takes.
const SolutionsFile = "solutions.json"

// NewRecorder records what a planner is asked and answers in a folder, which it
// makes if need be.
func NewRecorder(p Planner, folder string) (*Recorder, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("the run can't be recorded: %w", err)
	}
	start := time.Now()
	return &Recorder{planner: p, folder: folder, Date: start.Add}, nil
}

// Answer passes a request on and records it. Trouble with the recording doesn't
// stop the run; [Recorder.Close] reports it.
func (r *Recorder) Answer(ctx context.Context, q *request.Request, emit func(string)) (request.Usage, error) {
	var answer strings.Builder
	answer.WriteString(q.Received)
	usage, err := r.planner.Answer(ctx, q, func(text string) {
		answer.WriteString(text)
		emit(text)
	})
	var refused *request.Refused
	if err == nil || errors.Is(err, request.ErrCut) || errors.As(err, &refused) {
		r.keep(q, answer.String(), usage, err, refused)
	}
	return usage, err
}

func (r *Recorder) keep(q *request.Request, text string, usage request.Usage, err error, refused *request.Refused) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if r.err = r.begin(q); r.err != nil {
		return
	}
	given := answer{given: true, text: text}
	given.Cut, given.Usage = errors.Is(err, request.ErrCut), usage
	if refused != nil {
		given.Refused = &refused.Words
	}
	for len(r.ticks) < max(q.Tick, 1) {
		r.ticks = append(r.ticks, recordedTick{})
	}
	tick := &r.ticks[max(q.Tick, 1)-1]
	if q.Call != nil {
		tick.latent = append(tick.latent, recordedCall{q.Call.Name, q.Call.Params, given})
		// Each write is of the whole file, so the more it holds the fewer there are.
		if r.unsaved++; r.unsaved > r.saved/4 {
			r.err = r.save()
		}
		return
	}
	tick.solution = given
	record := Record(q, text, r.folder, r.Workspace, r.Date)
	r.err = errors.Join(r.save(), workspace.Replace(r.tickFile(q.Tick), record))
}

// begin looks at what the folder holds already: the earlier ticks of a run that
// is resumed, or another run's, which this one takes the place of.
func (r *Recorder) begin(q *request.Request) error {
	if r.started {
		return nil
	}
	r.started = true
	name := filepath.Join(r.folder, SolutionsFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	earlier, err := readRecording(name, text)
	keep := q.Tick
	if keep == 0 && r.Resumed {
		keep = 1
	}
	if q.Call == nil && q.Received == "" {
		keep--
	}
	if keep > 0 && err != nil {
		return err
	}
	keep = min(max(keep, 0), len(earlier))
	r.ticks = earlier[:keep]
	for n := keep + 1; n <= len(earlier); n++ {
		if err := os.Remove(r.tickFile(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// fields are those that say how an answer came, behind what it says.
func (a answer) fields(said ...string) string {
	if a.Chunks > 0 {
		said = append(said, fmt.Sprintf(`"chunks": %d`, a.Chunks))
	}
	if a.Delay > 0 {
		said = append(said, `"delay": `+request.JSON(a.Delay.String()))
	}
	if a.Cut {
		said = append(said, `"cut": true`)
	}
	if a.Refused != nil {
		said = append(said, `"refused": `+request.JSON(*a.Refused))
	}
	if a.Usage != (request.Usage{}) {
		text, _ := json.Marshal(a.Usage)
		said = append(said, `"usage": `+string(text))
	}
	return strings.Join(said, ", ")
}

func (c recordedCall) String() string {
	said := []string{`"call": ` + request.JSON(c.call)}
	if c.params != nil {
		said = append(said, `"params": `+request.JSON(c.params))
	}
	if value, ok := asJSON(c.answer.text); ok {
		said = append(said, `"result": `+value)
	} else {
		said = append(said, `"raw": `+request.JSON(c.answer.text))
	}
	return "{" + c.answer.fields(said...) + "}"
}

// String is an item of the file.
func (t recordedTick) String() string {
	var parts []string
	if t.solution.given {
		parts = append(parts, t.solution.fields(`"solution": `+asValue(t.solution.text)))
	}
	if len(t.latent) > 0 {
		calls := make([]string, len(t.latent))
		for i, c := range t.latent {
			calls[i] = "\n  " + c.String()
		}
		parts = append(parts, `"latent": [`+strings.Join(calls, ",")+"]")
	}
	if parts == nil {
		return "null"
	}
	return "{" + strings.Join(parts, ",\n ") + "}"
}

// asValue is a solution as it is recorded: itself where it is an object, and
// otherwise its text.
func asValue(answer string) string {
	if value, ok := asJSON(answer); ok && value[0] == '{' {
		return value
	}
	return request.JSON(answer)
}

// asJSON is text that is one JSON value from its first character on, and that
// can still be read where it is one value among others of a file.
func asJSON(s string) (string, bool) {
	s = strings.TrimRight(s, " \t\r\n")
	if s == "" || strings.ContainsRune(" \t\r\n", rune(s[0])) {
		return "", false
	}
	limits := source.DefaultLimits()
	limits.Depth -= 8
	_, problems := source.Parse(&source.File{Name: "answer", Format: source.JSON, Text: []byte(s)}, limits)
	return s, len(problems) == 0
}

func (r *Recorder) save() error {
	items := make([]string, len(r.ticks))
	for i, t := range r.ticks {
		items[i] = "\n" + t.String()
	}
	r.saved, r.unsaved = r.saved+r.unsaved, 0
	return workspace.Replace(filepath.Join(r.folder, SolutionsFile), []byte("["+strings.Join(items, ",")+"\n]\n"))
}

func (r *Recorder) tickFile(n int) string {
	return filepath.Join(r.folder, fmt.Sprintf("tick-%d.json", n))
}

// Record is the process record of a tick with its answer, for a file in a folder.
func Record(q *request.Request, answer, folder, workspace string, date func(time.Duration) time.Time) []byte {
	key, value := "solution", asValue(answer)
	if value[0] != '{' {
		key = "x-answer"
	}
	record := []byte("{")
	if workspace != "" {
		own, err := filepath.Abs(folder)
		if named, failed := filepath.Rel(own, workspace); cmp.Or(err, failed) == nil {
			workspace = named
		}
		record = fmt.Appendf(record, "\n\"workspace\": %s,", request.JSON(filepath.ToSlash(workspace)))
	}
	for _, m := range q.Record(func(at time.Duration) string { return date(at).UTC().Format(time.RFC3339Nano) }) {
		record = append(fmt.Appendf(record, "\n%q: ", m.Key), request.JSON(m.Value)+","...)
	}
	return fmt.Appendf(record, "\n%q: %s\n}\n", key, value)
}

// A Draft is a planner that passes requests on to another, and keeps what a run began with and
// the last answer: the plan that was made.
type Draft struct {
	Planner Planner
	Asked   *request.Request // the first; nil before it
	answer  strings.Builder
}

// Answer passes a request on.
func (d *Draft) Answer(ctx context.Context, q *request.Request, emit func(string)) (request.Usage, error) {
	d.Asked = cmp.Or(d.Asked, q)
	d.answer.Reset()
	usage, err := d.Planner.Answer(ctx, q, func(text string) {
		d.answer.WriteString(text)
		emit(text)
	})
	if lacking := (*request.Unavailable)(nil); errors.As(err, &lacking) { // and no run can be resumed
		again := *lacking
		again.Remedy = strings.ReplaceAll(again.Remedy, "resume the run", "plan again")
		err = &again
	}
	return usage, err
}

// Record is the plan as a process record for a file in a folder, in which nothing was done.
func (d *Draft) Record(folder, workspace string) []byte {
	stream := source.NewStream(source.DefaultLimits())
	stream.Write(d.answer.String())
	return Record(d.Asked, string(bytes.TrimSpace(stream.Solution())), folder, workspace, time.Now().Add)
}

// Close writes what isn't on disk yet, and tells what went wrong with the
// recording.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && r.unsaved > 0 {
		r.err = r.save()
	}
	if r.err != nil {
		return fmt.Errorf("the recording in %s isn't whole: %w", r.folder, r.err)
	}
	return nil
}
