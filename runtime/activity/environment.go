package activity

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
)

// everybodys are the variables that every program gets: it couldn't be
// found, find its files, or speak the user's language without.
var everybodys = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// An environment is what variables hold, by name.
type environment map[string]string

func readEnvironment(environ []string) environment {
	e := make(environment, len(environ))
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e[name] = value
		}
	}
	return e
}

func (e environment) get(name string) string { return e[name] }

// program is the environment that a program is started with. What the program is given as {$NAME} is secret from now
// on, and so is what stands there outright under a name that says so.
func (e environment) program(def *plan.Activity, hide *redact.Set) []string {
	e.hideVariables(def, hide)
	given := environment{}
	for _, name := range slices.Concat(everybodys, def.Inherit) {
		if value, there := e[name]; there {
			given[name] = value
		}
	}
	for _, one := range def.Env {
		given[one.Name] = kinds.Filled(one.Value, e.get)
		if naming.Secret(one.Name) {
			hide.KeepDistinctive(one.Name, one.Value)
		}
	}
	environ := make([]string, 0, len(given))
	for name, value := range given {
		environ = append(environ, name+"="+value)
	}
	slices.Sort(environ)
	return environ
}

// InUse reports of an activity, by the name under which it is opened ([Of]), whether a run of the plan may call it: one
// of its calls does, or it is planned, so that a model may.
func InUse(p *plan.Plan, planned bool) func(name string) bool {
	if planned {
		return nil
	}
	used := map[string]bool{}
	for _, call := range p.Calls {
		used[call.Activity] = true
	}
	for path, plan := range p.AllDelegates() {
		for _, call := range plan.Calls {
			used[Of(path, call.Activity)] = true
		}
	}
	return func(name string) bool { return used[name] }
}
