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

// extension is what the file of a run is called, behind its id.
const extension = ".jsonl"

// A keeper is the journal of a run; nil where none is kept.
type keeper struct {
	writer *journal.Writer
	file   string
	moment func(what string)
}

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

// idOf is the id of the run whose journal is a file.
func idOf(file string) string {
	_, name := filepath.Split(file)
	return strings.TrimSuffix(name, extension)
}

func unrunnable(err error) *diag.UserError { return diag.NewError(ErrUnrunnable, "%w", err) }

// full is the trouble with a journal that can't be written any more.
func (k *keeper) full(err error) error {
	return unrunnable(err).
		Advise("free disk space, then run \"obelus resume %s\"", idOf(k.file))
}

// answersFileOf is the file of answers for a run, beside its journal.
func answersFileOf(file string) answersFile {
	return answersFile(strings.TrimSuffix(file, extension) + ".answers")
}

// remove removes the journal of a run, and the files beside it.
func remove(path string) error {
	for _, name := range []string{path, journal.AnchorOf(path), string(answersFileOf(path))} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return diag.NewError(ErrUnrunnable, "can't remove %q: %w", name, workspace.Reason(err))
		}
	}
	return nil
}

// at notes a moment at which it makes a difference whether a run is killed.
func (k *keeper) at(what string) {
	if k.moment != nil {
		k.moment(what)
	}
}

// Append keeps an event.
func (k *keeper) Append(e *runtime.Event) error {
	body, err := json.Marshal(Record{Event: e})
	if err != nil {
		return fmt.Errorf("an event can't be kept: %w", err)
	}
	defer k.at("appended")
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
	body, err := json.Marshal(Record{End: &End{o.Status, o.Reason, o.Counts, o.Ticks, len(o.Instances), o.Usage}})
	if err == nil {
		err = k.writer.Append(body)
	}
	if err == nil {
		err = k.writer.Sync()
	}
	// what is open can be written all the same
	if _, gone := os.Stat(k.file); err == nil && errors.Is(gone, fs.ErrNotExist) {
		err = errors.New("somebody has removed it, or put it elsewhere")
	}
	if err != nil {
		return diag.NewError(ErrEndNotKept, "the end of the run isn't in its journal: %w", err)
	}
	return nil
}

// DefaultFolder is where journals are kept by default: below
// $XDG_STATE_HOME, or the user's own place for such things.
func DefaultFolder() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "obelus", "runs"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "obelus", "runs"), nil
}

// IsFile reports whether a name is that of a journal's file, and no id.
func IsFile(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, extension)
}

// Find is the journal that a name means in a folder of them: a file, or an id or its
// beginning.
func Find(folder, name string) (string, error) {
	if IsFile(name) {
		return name, nil
	}
	files, err := journals(folder)
	if err != nil {
		return "", diag.NewError(ErrNoRun, "can't read %q: %w", folder, workspace.Reason(err))
	}
	found := slices.DeleteFunc(files, func(file string) bool { return !strings.HasPrefix(idOf(file), name) })
	if at := slices.Index(found, filepath.Join(folder, name+extension)); at >= 0 {
		found = found[at : at+1]
	}
	switch len(found) {
	case 0:
		return "", diag.NewError(ErrNoRun, "there is no run %q in %q", name, folder)
	case 1:
		return found[0], nil
	}
	return "", diag.NewError(ErrNoRun, "%d runs begin with %q", len(found), name).
		Advise("say more of its id: %s or %s", idOf(found[0]), idOf(found[1]))
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
