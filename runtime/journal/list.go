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

// Running reports whether a process writes a journal now.
func Running(path string) bool {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return locked(f)
}
