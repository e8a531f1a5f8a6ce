package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/activity"
)

// programsGrace is how long a program that outlived a killed run may take to end when
// it is asked to.
const programsGrace = 5 * time.Second

// endPrograms ends what a killed run left at work, before anything that it may be at
// is begun anew (S8.8).
func (c *cli) endPrograms(k *kept) error {
	found, err := activity.EndRegistered(k.programs(), programsGrace)
	for _, one := range found {
		whose := fmt.Sprintf("the worker %q", one.Activity)
		if one.Call != "" {
			whose = "a program of the call " + quoted(one.Call)
		}
		fmt.Fprintf(c.err, "obelus: %s was still at work (%s); it is asked to end\n", whose, counted(len(one.Processes), "process", "processes"))
	}
	if err != nil {
		fmt.Fprintf(c.err, "obelus: %s\n", diag.Escape(err.Error()))
		fmt.Fprintf(c.err, "  %s obelus resume %s goes on once it is gone\n", styleFor(c.err).green("help:"), k.id())
		return ending(statusStopped)
	}
	return nil
}

// programs is the file that names the programs at work, beside the journal.
func (k *kept) programs() string { return strings.TrimSuffix(k.file, ".jsonl") + ".programs" }

// workspaceThere stops a run that can't go on where it stood because the folder of
// an activity, or a program in it, isn't there: when it is back, the run goes on.
func (c *cli) workspaceThere(p compiled, k *kept, o *running) error {
	all := p.located(o.recipe)
	used := activity.InUse(p.plan, o.planner != "none" && o.planner != "")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a := all[name]
		if a.Kind != "exec" || len(a.Argv) == 0 || used != nil && !used(name) {
			continue
		}
		what := ""
		if info, err := os.Stat(filepath.Clean(a.Dir)); err != nil || !info.IsDir() {
			what = fmt.Sprintf("the folder %q", a.Dir)
		} else if program := a.Argv[0]; !found(program, a.Dir) {
			what = fmt.Sprintf("the program %q", program)
		}
		if what != "" {
			fmt.Fprintf(c.err, "obelus: the run can't go on: %s of activity %s isn't there\n", diag.Escape(what), quoted(name))
			fmt.Fprintf(c.err, "  %s put it back; obelus resume %s goes on then\n", styleFor(c.err).green("help:"), k.id())
			return ending(statusStopped)
		}
	}
	return nil
}

// found reports whether a program that is started in a folder is there. One whose name
// holds a value of the environment isn't looked for.
func found(program, dir string) bool {
	switch {
	case strings.Contains(program, "{$"):
		return true
	case filepath.Base(program) == program:
		_, err := exec.LookPath(program)
		return err == nil
	case !filepath.IsAbs(program):
		program = filepath.Join(dir, program)
	}
	info, err := os.Stat(program)
	return err == nil && !info.IsDir()
}
