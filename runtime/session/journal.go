package session

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/journal"
)

// A Record is what a line of a journal says: an event, or how the run ended or stopped.
type Record struct {
	Event *runtime.Event `json:"event,omitempty"`
	End   *End           `json:"end,omitempty"`

	line int
}

// An End is how a run ended, or stopped.
type End struct {
	Status    runtime.RunStatus `json:"status"`
	Reason    runtime.Reason    `json:"reason,omitempty"`
	Calls     *runtime.Counts   `json:"calls,omitempty"`
	Ticks     int               `json:"ticks,omitzero"`
	Instances int               `json:"instances,omitzero"` // of a stopped run those that had begun
	Usage     runtime.Usage     `json:"usage,omitzero"`     // of models
}

// readRecord reads the body of a line. One that holds anything else, or both, is refused.
func readRecord(body []byte) (r Record, err error) {
	err = diag.ReadStrictly(body, &r)
	if err == nil && (r.Event == nil) == (r.End == nil) {
		err = errors.New("a record is either an event or the end of the run")
	}
	return r, err
}

// A keeper is the journal of a run; nil where none is kept.
type keeper struct {
	writer *journal.Writer
	file   string
	moment func(what string)
}

// extension is what the file of a run is called, behind its id.
const extension = ".jsonl"

// idOf is the id of the run whose journal is a file.
func idOf(file string) string { return strings.TrimSuffix(filepath.Base(file), extension) }

// answersOf is the file of answers for a run, beside its journal.
func answersOf(file string) string { return strings.TrimSuffix(file, extension) + ".answers" }

// create begins the journal of a run.
func create(folder string, m *Manifest) (*keeper, error) {
	for {
		var suffix [2]byte
		rand.Read(suffix[:])
		path := filepath.Join(folder, journal.ID(time.Now(), m.Title, hex.EncodeToString(suffix[:]))+extension)
		writer, err := journal.Create(path, m)
		switch {
		case err == nil:
			return &keeper{writer: writer, file: path}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, diag.NewError(ErrUnrunnable, "no journal can be kept in %q: %w", folder, workspace.Reason(err)).
				Advise("name another folder with --runs, or run with --no-journal and give up resuming it")
		}
	}
}

// full is the trouble with a journal that can't be written any more.
func (k *keeper) full(err error) error {
	return unrunnable(err).Advise("free disk space, then run \"obelus resume %s\"", idOf(k.file))
}

// at notes a moment at which it makes a difference whether a run is killed.
func (k *keeper) at(what string) {
	if k.moment != nil {
		k.moment(what)
	}
}

// Append keeps an event.
func (k *keeper) Append(e *runtime.Event) error {
	defer k.at("appended")
	return k.append(Record{Event: e})
}

func (k *keeper) append(r Record) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("an event can't be kept: %w", err)
	}
	return k.writer.Append(body)
}

// Sync brings what was appended to disk.
func (k *keeper) Sync() error {
	k.at("unsynced")
	defer k.at("synced")
	return k.writer.Sync()
}

// end says in the journal how the run ended, or stopped.
func (k *keeper) end(o *runtime.Outcome) error {
	if k == nil {
		return nil
	}
	err := k.append(Record{End: &End{o.Status, o.Reason, &o.Counts, o.Ticks, len(o.Instances), o.Usage}})
	if err == nil {
		err = k.writer.Sync()
	}
	if _, gone := os.Stat(k.file); err == nil && errors.Is(gone, fs.ErrNotExist) { // it can be written all the same
		err = errors.New("somebody has removed it, or put it elsewhere")
	}
	if err != nil {
		return diag.NewError(ErrUnrunnable, "the end of the run isn't in its journal: %w", err)
	}
	return nil
}

// DefaultFolder is where journals are kept by default: below $XDG_STATE_HOME, or the user's own place for such things.
func DefaultFolder() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "obelus", "runs"), nil
}

// IsFile reports whether a name is that of a journal's file, and no id.
func IsFile(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, extension)
}

// Find is the journal that a name means in a folder of them: a file, or an id or its beginning.
func Find(folder, name string) (string, error) {
	if IsFile(name) {
		return name, nil
	}
	files, err := journals(folder)
	if err != nil {
		return "", err
	}
	found := slices.DeleteFunc(files, func(file string) bool { return !strings.HasPrefix(idOf(file), name) })
	switch {
	case len(found) == 0:
		return "", diag.NewError(ErrNoRun, "there is no run %q in %q", name, folder)
	case len(found) > 1:
		return "", diag.NewError(ErrNoRun, "%d runs begin with %q", len(found), name).
			Advise("say more of its id: %s or %s", idOf(found[0]), idOf(found[1]))
	}
	return found[0], nil
}

// journals are the files of the runs in a folder. A missing folder has none.
func journals(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.NewError(ErrNoRun, "can't read %q: %w", folder, workspace.Reason(err))
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files, nil
}

// An Entry is what is known of one run from its journal.
type Entry struct {
	Run     string    `json:"run"`
	Plan    string    `json:"plan"`
	Started time.Time `json:"begun,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	// End is how it ended, of other runs only the status: "running", "killed" or "unreadable".
	End
	File string `json:"file"`
}

const wasKilled = "killed"

// List gives the runs whose journals are in a folder, the oldest first. A missing folder has none.
func List(folder string) ([]Entry, error) {
	files, err := journals(folder)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, file := range files {
		all = append(all, entryOf(file))
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Started.Compare(b.Started) }) // ids tell seconds
	return all, nil
}

func entryOf(path string) Entry {
	entry, isRunning := Entry{Run: idOf(path), File: path}, journal.Running(path)
	contents, err := journal.Read(path)
	var m *Manifest
	if err == nil {
		m, err = readManifest(path, contents.Header)
	}
	if err != nil {
		entry.End = End{Status: "unreadable", Reason: runtime.Reason(err.Error())}
		return entry
	}
	entry.Plan, entry.Started, entry.Last = m.Title, contents.First, contents.Last
	var last Record
	switch json.Unmarshal(contents.Ending, &last); {
	case isRunning:
		entry.Status = runtime.RunGoesOn
	case last.End != nil:
		entry.End = *last.End
	default:
		entry.Status = wasKilled
	}
	return entry
}

// journalProblem says what is wrong with a journal, and what to do.
func journalProblem(path string, err error) error {
	var fault *journal.Fault
	switch {
	case errors.As(err, &fault):
		where := ""
		if fault.Line > 0 {
			where = fmt.Sprintf("line %d: ", fault.Line)
		}
		return diag.NewError(ErrDamaged, "the journal %q can't be trusted: %s%s", path, where, fault.Why).
			Advise("%s", fault.Do)
	case errors.Is(err, journal.ErrLocked):
		return diag.NewError(ErrLocked, "the run is going on, in another process").
			Advise("stop that one first, with Ctrl-C")
	case errors.Is(err, fs.ErrNotExist):
		return diag.NewError(ErrNoRun, "there is no journal %q", path)
	}
	return diag.NewError(ErrDamaged, "%w", err)
}
