// Package recording keeps what a planner answered, and gives it again: a recorder that
// stands before any planner, and a planner that replays the file.
package recording

import (
	"bytes"
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

	planner answerer
	folder  string

	mu      sync.Mutex
	started bool
	ticks   []*keptTick // nil where nothing is known of one
	unsaved int         // results of latent calls that aren't on disk yet
	saved   int         // those that are
	err     error       // the first; recording ends with it
}

type answerer interface {
	Answer(ctx context.Context, r *request.Request, emit func(text string)) (request.Usage, error)
}

// A keptTick is an item of solutions.json as it will be written.
type keptTick struct {
	solution string   // fields, without braces; "" while there is none
	latent   []string // objects
}

// SolutionsFile is the name of the file in the folder of a recording that [Replay] takes.
const SolutionsFile = "solutions.json"

// NewRecorder records what a planner is asked and answers in a folder, which it
// makes if need be.
func NewRecorder(p answerer, folder string) (*Recorder, error) {
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

func (r *Recorder) keep(q *request.Request, answer string, usage request.Usage, err error, refused *request.Refused) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if r.err = r.begin(q); r.err != nil {
		return
	}
	how := manners(usage, errors.Is(err, request.ErrCut), refused)
	tick := r.tick(max(q.Tick, 1))
	if q.Call != nil {
		tick.latent = append(tick.latent, latentItem(q.Call, answer, how))
		// Each write is of the whole file, so the more it holds the fewer there are.
		if r.unsaved++; r.unsaved > r.saved/4 {
			r.err = r.save()
		}
		return
	}
	tick.solution = strings.Join(append([]string{`"solution": ` + asValue(answer)}, how...), ", ")
	r.err = errors.Join(r.save(), r.saveTick(q, answer))
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
	earlier, err := keptTicks(name, text)
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

func keptTicks(name string, text []byte) ([]*keptTick, error) {
	if _, err := readRecording(name, text); err != nil {
		return nil, err
	}
	root, _ := source.Parse(source.NewFile(name, text), source.DefaultLimits())
	var ticks []*keptTick
	for _, item := range root.Items {
		ticks = append(ticks, keptItem(item))
	}
	return ticks, nil
}

func keptItem(item *source.Node) *keptTick {
	kept := &keptTick{}
	var fields []string
	switch {
	case item.Kind == source.Null:
		return nil
	case !saysMore(item):
		fields = append(fields, `"solution": `+item.Span().Text())
	default:
		for _, f := range item.Fields {
			if f.Key.Text != "latent" {
				fields = append(fields, f.Key.Span().Text()+": "+f.Value.Span().Text())
				continue
			}
			for _, l := range f.Value.Items {
				kept.latent = append(kept.latent, l.Span().Text())
			}
			for _, l := range f.Value.Fields {
				kept.latent = append(kept.latent,
					fmt.Sprintf(`{"call": %s, "result": %s}`, l.Key.Span().Text(), l.Value.Span().Text()))
			}
		}
	}
	kept.solution = strings.Join(fields, ", ")
	return kept
}

func (r *Recorder) tick(number int) *keptTick {
	for len(r.ticks) < number {
		r.ticks = append(r.ticks, nil)
	}
	if r.ticks[number-1] == nil {
		r.ticks[number-1] = &keptTick{}
	}
	return r.ticks[number-1]
}

// manners are the fields that say how an answer came.
func manners(u request.Usage, cut bool, refused *request.Refused) (fields []string) {
	if cut {
		fields = append(fields, `"cut": true`)
	}
	if refused != nil {
		fields = append(fields, `"refused": `+request.Quoted(refused.Words))
	}
	if u != (request.Usage{}) {
		text, _ := json.Marshal(u)
		fields = append(fields, `"usage": `+string(text))
	}
	return fields
}

func latentItem(c *request.Call, answer string, how []string) string {
	fields := []string{`"call": ` + request.Quoted(c.Name), `"params": ` + request.JSON(c.Params)}
	if value, ok := asJSON(answer); ok {
		fields = append(fields, `"result": `+value)
	} else {
		fields = append(fields, `"raw": `+request.Quoted(answer))
	}
	return "{" + strings.Join(append(fields, how...), ", ") + "}"
}

// asValue is a solution as it is recorded: itself where it is an object, and
// otherwise its text.
func asValue(answer string) string {
	if value, ok := asJSON(answer); ok && value[0] == '{' {
		return value
	}
	return request.Quoted(answer)
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
	var b bytes.Buffer
	b.WriteString("[")
	for i, t := range r.ticks {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		b.WriteString(t.String())
	}
	b.WriteString("\n]\n")
	r.saved += r.unsaved
	r.unsaved = 0
	return workspace.Replace(filepath.Join(r.folder, SolutionsFile), b.Bytes())
}

func (t *keptTick) String() string {
	if t == nil {
		return "null"
	}
	s := "{" + t.solution
	if len(t.latent) > 0 {
		if t.solution != "" {
			s += ",\n "
		}
		s += `"latent": [` + "\n  " + strings.Join(t.latent, ",\n  ") + "]"
	}
	return s + "}"
}

func (r *Recorder) tickFile(n int) string {
	return filepath.Join(r.folder, fmt.Sprintf("tick-%d.json", n))
}

func (r *Recorder) saveTick(q *request.Request, answer string) error {
	key, value := "solution", asValue(answer)
	if value[0] != '{' {
		key = "x-answer"
	}
	record := []byte("{")
	if r.Workspace != "" {
		record = fmt.Appendf(record, "\n\"workspace\": %s,", request.JSON(r.workspace()))
	}
	for _, m := range q.Record(func(at time.Duration) string { return r.Date(at).UTC().Format(time.RFC3339Nano) }) {
		record = append(fmt.Appendf(record, "\n%q: ", m.Key), request.JSON(m.Value)+","...)
	}
	record = fmt.Appendf(record, "\n%q: %s\n}\n", key, value)
	return workspace.Replace(r.tickFile(q.Tick), record)
}

func (r *Recorder) workspace() string {
	own, err := filepath.Abs(r.folder)
	if err == nil {
		if named, err := filepath.Rel(own, r.Workspace); err == nil {
			return filepath.ToSlash(named)
		}
	}
	return filepath.ToSlash(r.Workspace)
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
