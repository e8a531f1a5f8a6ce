package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

const mostRows = 150

// accepted has the reviewed differences: a line each with the differential, the case, what differs and
// the reason, separated by tabs. In the case and in what, a * stands for any text.
type accepted struct{ rows []*row }

type row struct {
	line                             int
	differential, name, what, reason string
	names, whats                     *regexp.Regexp
	compared, used                   bool // a case that it names was compared, and differs as it says
}

func readAccepted(name string) (*accepted, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	a := &accepted{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 || slices.Contains(fields, "") {
			return nil, fmt.Errorf(
				"%s:%d: expected differential, case, what and reason, separated by tabs", name, number,
			)
		}
		a.rows = append(
			a.rows,
			&row{
				line:         number,
				differential: fields[0],
				name:         fields[1],
				what:         fields[2],
				reason:       fields[3],
				names:        pattern(fields[1]),
				whats:        pattern(fields[2]),
			},
		)
	}
	if len(a.rows) > mostRows {
		return nil, fmt.Errorf("%s has %d rows; at most %d are allowed", name, len(a.rows), mostRows)
	}
	return a, nil
}

func pattern(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$")
}

// match reports whether a difference was reviewed.
func (a *accepted) match(d difference) bool {
	found := false
	for _, r := range a.rows {
		if r.differential == d.differential && r.names.MatchString(d.name) && r.whats.MatchString(d.what) {
			r.used, found = true, true
		}
	}
	return found
}

// ran records which cases were compared.
func (a *accepted) ran(differential string, cases []string) {
	for _, r := range a.rows {
		r.compared = r.compared || r.differential == differential && slices.ContainsFunc(cases, r.names.MatchString)
	}
}

// stale returns the rows whose cases were compared and no longer differ as they say.
func (a *accepted) stale() []*row {
	var rows []*row
	for _, r := range a.rows {
		if r.compared && !r.used {
			rows = append(rows, r)
		}
	}
	return rows
}

func (r *row) text() string { return r.differential + " " + r.name + " " + r.what }
