package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const extension = ".jsonl"

// ID makes the id of a run: when it began, in UTC, what its plan is called, and
// letters or digits that keep runs of one second apart, as 20261121-093012-refund-4f2a.
// It has lower-case ASCII letters, digits and hyphens only, and sorts by time.
func ID(start time.Time, name, suffix string) string {
	id := start.UTC().Format("20060102-150405")
	if name = slug(name, 40); name == "" {
		name = "run"
	}
	id += "-" + name
	if suffix = slug(suffix, 40); suffix != "" {
		id += "-" + suffix
	}
	return id
}

// slug writes a name with lower-case ASCII letters, digits and single hyphens,
// and at most so many of them. Letters lose their accents.
func slug(name string, most int) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(r)
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		case !unicode.Is(unicode.Mn, r):
			gap = true
		}
	}
	return strings.TrimRight(b.String()[:min(b.Len(), most)], "-")
}

// Path is the file of a run in a folder of runs.
func Path(folder, id string) (string, error) {
	if id == "" || strings.HasPrefix(id, ".") || filepath.Base(id) != id || !filepath.IsLocal(id) {
		return "", fmt.Errorf("%q is no id of a run; an id looks like %s", id, ID(time.Date(2026, 11, 21, 9, 30, 12, 0, time.UTC), "refund", "4f2a"))
	}
	return filepath.Join(folder, id+extension), nil
}

// A Run is one file of a folder of runs.
type Run struct {
	ID   string
	Path string
	// Running reports whether a process writes the journal now.
	Running bool
	// Contents are what the journal holds, or nil if there is an error. Of a running one,
	// what isn't wholly written yet doesn't count as torn.
	Contents *Contents
	// Err says why the journal can't be read, often with a *[Fault].
	Err error
}

// List goes over the runs of a folder, by id and so by time, and reads and verifies each as
// it comes. A missing folder has no runs.
func List(folder string) (iter.Seq[Run], error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the runs can't be listed: %w", err)
	}
	return func(yield func(Run) bool) {
		for _, entry := range entries {
			id, ok := strings.CutSuffix(entry.Name(), extension)
			if ok && !yield(look(id, filepath.Join(folder, entry.Name()))) {
				return
			}
		}
	}, nil
}

// Look reads and verifies a journal.
func Look(path string) Run {
	return look(strings.TrimSuffix(filepath.Base(path), extension), path)
}

// Running reports whether a process writes a journal now.
func Running(path string) bool {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return locked(f)
}

// look reads one run. Whether it is running is asked before: what a running one has just
// begun to write isn't torn.
func look(id, path string) Run {
	run := Run{ID: id, Path: path}
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		run.Err = err
		return run
	}
	run.Running = locked(f)
	f.Close()
	if run.Contents, run.Err = Read(path); run.Running && run.Err == nil {
		run.Contents.Torn = nil
	}
	return run
}
