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
	base, definition := "", a.Node.Get(a.Kind)
	if a.Server != nil {
		base, definition = a.Server.Host(), a.Server.Node
	} else if a.HTTP != nil {
		base = a.HTTP.Base()
	}
	if at, err := url.Parse(base); err == nil && base != "" {
		if refusal := rules.Refuse(at.Hostname(), web.Port(at), false); refusal != nil {
			tell(refusal.Why, refusal.Help, definition.Get("url").Span())
		}
	}
	for _, v := range a.Variables {
		if _, there := env[v.Name]; !there {
			tell(fmt.Sprintf("the environment variable %s isn't set", v.Name),
				"set it, or define the activity without it", v.Node.Span())
		}
	}
}

// missingProgram tells which program, folder or files that an activity names are missing. Of a program that would be in
// a missing folder, or whose name a variable holds, nothing is known.
func missingProgram(a *plan.Activity, at source.Span, files plan.Files, tell telling) {
	definition, argv := a.Node.Get("exec"), a.Node.Get("exec").Get("argv")
	if a.Server != nil {
		definition, argv = a.Server.Node, a.Server.Node.Get("command")
	}
	if len(a.Argv) == 0 || argv != nil && argv.Items[0].Kind != source.String { // which is an error of its own (OB104)
		return
	}
	if argv != nil {
		at = argv.Items[0].Span()
	}
	name := a.Argv[0].Texts[0]
	program, isKnown := name, !strings.Contains(name, "{")
	isInFolder := filepath.Base(name) != name && !filepath.IsAbs(name) // else it is looked for in PATH
	if isInFolder {
		program, _ = filepath.Abs(filepath.Join(a.Dir, name))
	}
	if info, err := os.Stat(filepath.Clean(a.Dir)); err != nil || !info.IsDir() {
		isKnown = isKnown && !isInFolder
		tell(fmt.Sprintf("the folder %q doesn't exist", a.Dir), "create it before the run",
			cmp.Or(definition.Get("cwd"), argv).Span())
	}
	if _, err := exec.LookPath(program); err != nil && isKnown && !errors.Is(err, fs.ErrPermission) {
		help := "install it, or write its path, which is relative to the folder of the file that defines the activity"
		if strings.Contains(name, " ") && !strings.Contains(name, "/") {
			help = "write each word as an item of its own: there is no shell"
		}
		tell(fmt.Sprintf("the program %q isn't found", name), help, at)
	}
	for _, pattern := range a.Files {
		names, err := files.Glob(pattern.Text)
		switch help := "a pattern is relative to the workspace's root: lib/*.sh, or lib/** for all files below lib"; {
		case err != nil:
			tell(fmt.Sprintf("files that match %q can't be found: %v", pattern.Text, err), help, pattern.Span())
		case len(names) == 0:
			tell(fmt.Sprintf("no file of the workspace matches %q", pattern.Text), help, pattern.Span())
		}
	}
}
