// Command differential compares two programs: the oracle, which is obelus before it was made smaller
// (make oracle), and the program of this tree. Both read the same plans, and each differential
// compares one kind of output. Run it from the top of the repository:
//
//	make differential
//	go run ./testdata/differential -old PROGRAM -new PROGRAM -only D1,D7
//
// A difference that was reviewed has a row in testdata/accepted.tsv. The exit status is 1 where a
// difference has no row, or where a row has no difference.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A differential compares one kind of output of two programs over cases.
type differential struct {
	name, title string
	compare     func(old, changed program, m *material) (outcome, error)
}

// An outcome is the result of one differential: the cases that were compared, by name, and what differs.
type outcome struct {
	cases       []string
	differences []difference
	note        string // for people, such as how many verdicts became unknown
}

// A difference is one change of one case. What says the kind of change in words that stay the same when
// messages change; rows of the accepted file match it. Old and changed are for people.
type difference struct {
	differential, name, what string
	old, changed             string
}

var differentials = []differential{
	{"D1", "findings", findings},
	{"D2", "digests", digests},
	{"D3", "runs", runs},
	{"D4", "states", states},
	{"D5", "facts", facts},
	{"D6", "drawings", drawings},
	{"D7", "schemas", schemas},
	{"D8", "evaluation", evaluation},
}

type options struct {
	old, changed, only, accepted, examples, folder, source, shared string
	self                                                           bool
}

func main() {
	var o options
	flag.StringVar(&o.old, "old", ".tools/oracle/obelus", "the oracle")
	flag.StringVar(&o.changed, "new", ".tools/differential/obelus", "the program to compare with it")
	flag.StringVar(&o.only, "only", "", "the differentials to run, such as D1,D7 [all]")
	flag.StringVar(&o.accepted, "accepted", "testdata/accepted.tsv", "the reviewed differences")
	flag.StringVar(&o.examples, "examples", ".tools/differential/differences.txt", "where each difference is written")
	flag.StringVar(&o.folder, "folder", ".tools/differential", "the folder for plans, journals and results")
	flag.StringVar(
		&o.source, "source", ".tools/oracle/source",
		"the oracle's repository: its examples, cases and rule pages are the plans",
	)
	flag.StringVar(&o.shared, "shared", "../shared/corpus", "the shared corpus")
	flag.BoolVar(&o.self, "self", true, "compare the oracle with itself first")
	flag.Parse()
	failed, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func run(o options) (failed bool, err error) {
	rows, err := readAccepted(o.accepted)
	if err != nil {
		return false, err
	}
	m, err := prepare(o)
	if err != nil {
		return false, err
	}
	if m.temporary, err = os.MkdirTemp("", "differential-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(m.temporary)
	old, err := newProgram(o.old, m, "old")
	if err != nil {
		return false, err
	}
	again := old
	again.role, again.answers = "again", nil
	if old.answers, err = openAnswers(old.path, m); err != nil {
		return false, err
	}
	changed, err := newProgram(o.changed, m, "new")
	if err != nil {
		return false, err
	}
	changed.answers = &answers{kept: map[string]answer{}} // of this run alone: D6 reads what D1 found
	if err := os.MkdirAll(filepath.Dir(o.examples), 0o755); err != nil {
		return false, err
	}
	file, err := os.Create(o.examples)
	if err != nil {
		return false, err
	}
	defer file.Close()
	fmt.Printf(
		"%-4s %-11s %9s %7s %7s %9s %10s %6s %6s\n", "", "", "itself", "cases", "equal", "accepted",
		"different", "time", "cpu",
	)
	for _, d := range selected(o.only) {
		bad, err := one(d, o, rows, old, again, changed, m, file)
		if err != nil {
			return false, fmt.Errorf("%s: %w", d.name, err)
		}
		failed = failed || bad
		if err := old.answers.save(); err != nil {
			return false, err
		}
	}
	for _, note := range m.absent {
		fmt.Println(note)
	}
	for _, r := range rows.stale() {
		failed = true
		fmt.Printf("%s:%d no longer differs: %s\n", o.accepted, r.line, r.text())
	}
	if failed {
		fmt.Printf("each difference is in %s\n", o.examples)
	}
	return failed, nil
}

// one runs a differential, prints its line of the table and writes its differences to a file.
func one(
	d differential, o options, rows *accepted, old, again, changed program, m *material, file *os.File,
) (failed bool, err error) {
	began, spent := time.Now(), processorTime.Load()
	itself := "-"
	if o.self && d.name != "D8" { // which runs tests of this tree
		result, err := d.compare(old, again, m.sample())
		if err != nil {
			return false, err
		}
		itself = fmt.Sprintf("%d/%d", len(result.cases)-len(casesOf(result.differences)), len(result.cases))
		failed = len(result.differences) > 0
		write(file, "the oracle itself, "+d.name, result.differences)
	}
	result, err := d.compare(old, changed, m)
	if err != nil {
		return false, err
	}
	var open, reviewed []difference
	for i := range result.differences {
		result.differences[i].differential = d.name
		if rows.match(result.differences[i]) {
			reviewed = append(reviewed, result.differences[i])
		} else {
			open = append(open, result.differences[i])
		}
	}
	rows.ran(d.name, result.cases)
	different := casesOf(open)
	onlyAccepted := 0
	for name := range casesOf(reviewed) {
		if !different[name] {
			onlyAccepted++
		}
	}
	equal := len(result.cases) - len(different) - onlyAccepted
	fmt.Printf(
		"%-4s %-11s %9s %7d %7d %9d %10d %5.0fs %5.0fs  %s\n", d.name, d.title, itself, len(result.cases),
		equal, onlyAccepted, len(different), time.Since(began).Seconds(),
		time.Duration(processorTime.Load()-spent).Seconds(), result.note,
	)
	write(file, d.name+" different", open)
	write(file, d.name+" accepted", reviewed)
	return failed || len(open) > 0, nil
}

func casesOf(differences []difference) map[string]bool {
	names := map[string]bool{}
	for _, d := range differences {
		names[d.name] = true
	}
	return names
}

func selected(only string) []differential {
	if only == "" {
		return differentials
	}
	var chosen []differential
	for _, name := range strings.Split(only, ",") {
		at := slices.IndexFunc(differentials, func(d differential) bool { return d.name == name })
		if at < 0 {
			fmt.Fprintln(os.Stderr, errors.New("there is no differential "+name))
			os.Exit(2)
		}
		chosen = append(chosen, differentials[at])
	}
	return chosen
}

// write lists differences: a line for the case and what differs, then both outputs, shortened.
func write(file *os.File, title string, differences []difference) {
	if len(differences) == 0 {
		return
	}
	fmt.Fprintf(file, "== %s: %d ==\n", title, len(differences))
	for _, d := range differences {
		fmt.Fprintf(file, "%s\t%s\n", d.name, d.what)
		for _, side := range [][2]string{{"old", d.old}, {"new", d.changed}} {
			if side[1] != "" {
				fmt.Fprintf(file, "    %s: %s\n", side[0], short(side[1]))
			}
		}
	}
	fmt.Fprintln(file)
}

func short(text string) string {
	const most = 1500
	if len(text) > most {
		text = text[:most] + " …"
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n         ")
}
