package journal

import (
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// extension is that of a journal, behind the id of its run.
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
	name = marks.ReplaceAllString(strings.ToLower(norm.NFKD.String(name)), "")
	name = strings.TrimLeft(gaps.ReplaceAllString(name, "-"), "-")
	return strings.TrimRight(name[:min(len(name), most)], "-")
}

var marks, gaps = regexp.MustCompile(`\p{Mn}+`), regexp.MustCompile(`[^a-z0-9]+`)

// A Run is the journal of a run, as somebody who looks at it finds it.
type Run struct {
	// Running reports whether a process writes the journal now.
	Running bool
	// Contents are what the journal holds, or nil if there is an error. Of a running one,
	// what isn't wholly written yet doesn't count as torn.
	Contents *Contents
	// Err says why the journal can't be read, often with a *[Fault].
	Err error
}

// Look reads and verifies a journal.
func Look(path string) Run {
	run := Run{Running: Running(path)} // before it is read: what a running one has just begun to write isn't torn
	if run.Contents, run.Err = Read(path); run.Running && run.Err == nil {
		run.Contents.Torn = nil
	}
	return run
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
