package activity

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/web"
)

// Missing is what an activity starts and this machine lacks, in words: its folder and its program; or "" for each that
// is. The folder is as this process sees it; of a program that would be in a missing folder nothing is known.
func Missing(a *plan.Activity) (folder, program string) {
	if len(a.Argv) == 0 {
		return "", ""
	}
	if info, err := os.Stat(filepath.Clean(a.Dir)); err != nil || !info.IsDir() {
		folder = fmt.Sprintf("the folder %q", a.Dir)
	}
	name := a.Argv[0].Texts[0]
	if below := filepath.Base(name) != name && !filepath.IsAbs(name); !(below && folder != "") && !found(name, a.Dir) {
		program = fmt.Sprintf("the program %q", name)
	}
	return folder, program
}

// found reports whether a program that is started in a folder is there. One whose name
// a variable holds isn't looked for.
func found(program, dir string) bool {
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program, _ = filepath.Abs(filepath.Join(dir, program)) // else it is looked for in PATH
	}
	_, err := exec.LookPath(program)
	return err == nil || strings.Contains(program, "{") || errors.Is(err, fs.ErrPermission)
}

// telling takes what keeps an activity from being carried out.
type telling func(what, help string, at source.Span)

// Unrunnable tells all that keeps an activity from being carried out on this machine: it is of a kind that this version
// can't run, or what it starts, uses or takes of the environment is missing, or it may not go to its host.
func Unrunnable(a *plan.Activity, files plan.Files, rules hosts.Rules, tell func(what, help string, at source.Span)) {
	at := cmp.Or(a.NameNode, a.Node).Span()
	kind, known := registered[a.Kind]
	switch {
	case a.Kind == "": // a finding of the document
		return
	case !known:
		tell("it is of kind "+a.Kind+", which this version can't run",
			"let a program do it (exec), or give the run another activity of that name", at)
		return
	}
	if kind.missing != nil {
		kind.missing(a, at, files, tell)
	}
	lacking(a, rules, readEnvironment(os.Environ()), tell)
}

// lacking tells which host an activity may not reach, and which variables it takes that the environment doesn't have.
func lacking(a *plan.Activity, rules hosts.Rules, env environment, tell telling) {
	if refusal := refusedHost(a, rules); refusal != nil {
		definition := a.Node.Get(a.Kind)
		if a.Server != nil {
			definition = a.Server.Node
		}
		tell(refusal.Why, refusal.Help, definition.Get("url").Span())
	}
	for _, v := range a.Variables {
		if _, there := env[v.Name]; !there {
			tell(fmt.Sprintf("the environment variable %s isn't set", v.Name),
				"set it, or define the activity without it", v.Node.Span())
		}
	}
}

// refusedHost is why an activity may not go to its host, if known.
func refusedHost(a *plan.Activity, rules hosts.Rules) *hosts.Refusal {
	base := ""
	switch {
	case a.Server != nil:
		base = a.Server.Host()
	case a.HTTP != nil:
		base = a.HTTP.Base()
	}
	at, err := url.Parse(base)
	if err != nil || base == "" {
		return nil
	}
	return rules.Refuse(at.Hostname(), web.Port(at), false)
}

// missingProgram tells which program, folder or files that an activity names are missing.
func missingProgram(a *plan.Activity, at source.Span, files plan.Files, tell telling) {
	exec, argv := a.Node.Get("exec"), "argv"
	if a.Server != nil {
		exec, argv = a.Server.Node, "command"
	}
	folder, program := Missing(a)
	help := "install it, or write its path, which is relative to the folder of the file that defines the activity"
	if argv := exec.Get(argv); argv != nil && len(argv.Items) > 0 {
		first := argv.Items[0]
		if at = first.Span(); first.Kind != source.String {
			program = "" // which is an error of its own (OB104)
		} else if strings.Contains(first.Text, " ") && !strings.Contains(first.Text, "/") {
			help = "write each word as an item of its own: there is no shell"
		}
	}
	if folder != "" {
		tell(folder+" doesn't exist", "create it before the run", cmp.Or(exec.Get("cwd"), exec.Get(argv)).Span())
	}
	if program != "" {
		tell(program+" isn't found", help, at)
	}
	for _, pattern := range a.Files {
		what := fmt.Sprintf("no file of the workspace matches %q", pattern.Text)
		names, err := files.Glob(pattern.Text)
		if err != nil {
			what = fmt.Sprintf("files that match %q can't be found: %v", pattern.Text, err)
		}
		if len(names) == 0 {
			tell(what, "a pattern is relative to the workspace's root: lib/*.sh, or lib/** for all files below lib",
				pattern.Span())
		}
	}
}
