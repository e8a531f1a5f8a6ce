package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// journals lets the oracle begin runs, which stop at a question or are killed, and lets both programs resume
// each. The new program may refuse one, with a sentence.
func journals(old, changed program, m *material) (result outcome, refused int, err error) {
	type beginning struct {
		name string
		make func() (journal string, err error)
	}
	var all []beginning
	begin := func(name string, make func() (string, error)) { all = append(all, beginning{name, make}) }
	for i, args := range m.runnable() {
		if strings.HasPrefix(args[0], examples) || strings.HasPrefix(args[0], generated) && i%8 == 0 {
			begin("journal of "+strings.Join(args, " ")+" stopped", func() (string, error) { return old.stop(args) })
		}
	}
	for _, plan := range m.slow {
		for after := 2; after < 16; after += 3 {
			name := fmt.Sprintf("journal of %s killed after event %d", plan, after)
			begin(name, func() (string, error) { return old.kill(plan, after) })
		}
	}
	found, refusals := make([][]difference, len(all)), atomic.Int32{}
	each(len(all), func(i int) {
		journal, err := all[i].make()
		if err != nil {
			found[i] = []difference{{name: all[i].name, what: "no journal", old: err.Error()}}
			return
		}
		if journal == "" { // the run needed no answer, or there is no plan
			return
		}
		copied, err := copyOf(journal)
		if err != nil {
			found[i] = []difference{{name: all[i].name, what: "no journal", old: err.Error()}}
			return
		}
		before := old.run("resume", "--confirm", "never", "--in-flight", "retry", "--format", "json", journal)
		after := changed.run("resume", "--confirm", "never", "--in-flight", "retry", "--format", "json", copied)
		switch {
		case before.status == after.status:
			found[i] = compareLines(all[i].name, linesOf(before.out, lineOf), linesOf(after.out, lineOf))
		case after.status == 2 && isSentence(after.err):
			refusals.Add(1)
		default:
			found[i] = []difference{exits(all[i].name, before, after)}
		}
	})
	for i, b := range all {
		result.cases = append(result.cases, b.name)
		result.differences = append(result.differences, found[i]...)
	}
	return result, int(refusals.Load()), nil
}

// isSentence reports whether an error is one sentence, besides what to do.
func isSentence(text string) bool {
	return strings.HasPrefix(text, "obelus: ") && strings.Count(text, "obelus: ") == 1 &&
		!strings.Contains(text, "goroutine ")
}

// folderOfRun makes a folder for the journal of one run.
func (p program) folderOfRun() (string, error) {
	if err := os.MkdirAll(p.runs, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(p.runs, p.role+"-")
}

// stop begins a run that stops at its first question, since nobody answers. It returns its journal, or
// nothing if it came to its end.
func (p program) stop(args []string) (journal string, err error) {
	folder, err := p.folderOfRun()
	if err != nil {
		return "", err
	}
	a := p.run(append([]string{"run", "--runs", folder, "--format", "json", "--confirm", "always"}, args...)...)
	if a.status != 3 {
		return "", nil
	}
	return journalIn(folder)
}

// kill begins a run and kills it once it has printed so many events.
func (p program) kill(plan string, after int) (journal string, err error) {
	folder, err := p.folderOfRun()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(p.path, "run", "--runs", folder, "--format", "json", "--confirm", "never", plan)
	cmd.Dir, cmd.Env = p.plans, p.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	events := bufio.NewScanner(out)
	events.Buffer(nil, 1<<20)
	for i := 0; i < after && events.Scan(); i++ {
	}
	killing := cmd.Process.Kill() // what the run still printed counts for nothing
	cmd.Wait()
	if killing != nil {
		return "", killing
	}
	return journalIn(folder)
}

func journalIn(folder string) (string, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("%s has %d journals", folder, len(names))
	}
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// copyOf copies a journal with all that lies beside it.
func copyOf(journal string) (string, error) {
	folder := filepath.Dir(journal) + "-copy"
	if err := os.CopyFS(folder, os.DirFS(filepath.Dir(journal))); err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.Base(journal)), nil
}
