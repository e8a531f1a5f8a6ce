package planner

import (
	"bytes"
	"cmp"
	"context"
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

// A Recorder is a planner that passes requests on to another and keeps what was asked and answered in a folder: in
// solutions.json what [Replay] reads, and in tick-N.json the process record of a tick. Both are replaced whole. A
// recording continues where a run is resumed, and begins anew with the first tick of another. An answer that the run
// itself broke off isn't recorded: it will be asked for again.
type Recorder struct {
	// Resumed says that the folder holds the beginning of the same run. Requests of a
	// planner tell by their tick; those of a plan that is run as it stands have none.
	Resumed bool
	// Date is the time of day of a moment of the run; where it isn't given the run begins with the recorder.
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

// NewRecorder records what a planner is asked and answers in a folder, which it makes if need be.
func NewRecorder(p Planner, folder string) (*Recorder, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("the run can't be recorded: %w", err)
	}
	start := time.Now()
	return &Recorder{planner: p, folder: folder, Date: start.Add}, nil
}

// gather passes a request on, and gives the whole text of the answer as well.
func gather(ctx context.Context, p Planner, q *request.Request, emit func(string)) (string, request.Usage, error) {
	var answer strings.Builder
	answer.WriteString(q.Received)
	usage, err := p.Answer(ctx, q, func(text string) {
		answer.WriteString(text)
		emit(text)
	})
	return answer.String(), usage, err
}

// Answer passes a request on and records it. Trouble with the recording doesn't
// stop the run; [Recorder.Close] reports it.
func (r *Recorder) Answer(ctx context.Context, q *request.Request, emit func(string)) (request.Usage, error) {
	text, usage, err := gather(ctx, r.planner, q, emit)
	given := answer{text: text, manner: manner{Usage: usage, Cut: errors.Is(err, request.ErrCut)}}
	if refused := (*request.Refused)(nil); errors.As(err, &refused) {
		given.Refused = &refused.Words
	}
	if err == nil || given.Cut || given.Refused != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = r.keep(q, given)
		}
	}
	return usage, err
}

func (r *Recorder) keep(q *request.Request, given answer) error {
	if err := r.begin(q); err != nil {
		return err
	}
	for len(r.ticks) < max(q.Tick, 1) {
		r.ticks = append(r.ticks, recordedTick{})
	}
	tick := &r.ticks[max(q.Tick, 1)-1]
	if q.Call == nil {
		tick.solution = &given
		record := Record(q, given.text, r.folder, r.Workspace, r.Date)
		return errors.Join(r.save(), workspace.Replace(r.tickFile(q.Tick), record))
	}
	given.call, given.params = q.Call.Name, q.Call.Params
	tick.latent = append(tick.latent, given)
	// Each write is of the whole file, so the more it holds the fewer there are.
	if r.unsaved++; r.unsaved > r.saved/4 {
		return r.save()
	}
	return nil
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

func (r *Recorder) save() error {
	r.saved, r.unsaved = r.saved+r.unsaved, 0
	return workspace.Replace(filepath.Join(r.folder, SolutionsFile), recordingText(r.ticks))
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
	answer  string
}

// Answer passes a request on.
func (d *Draft) Answer(ctx context.Context, q *request.Request, emit func(string)) (usage request.Usage, err error) {
	d.Asked = cmp.Or(d.Asked, q)
	d.answer, usage, err = gather(ctx, d.Planner, q, emit)
	return usage, err
}

// Record is the plan as a process record for a file in a folder, in which nothing was done.
func (d *Draft) Record(folder, workspace string) []byte {
	stream := source.NewStream(source.DefaultLimits())
	stream.Write(d.answer)
	return Record(d.Asked, string(bytes.TrimSpace(stream.Solution())), folder, workspace, time.Now().Add)
}

// Close writes what isn't on disk yet, and tells what went wrong with the recording.
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
