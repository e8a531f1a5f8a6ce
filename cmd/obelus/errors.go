package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// byFlag adds commands and flags to errors of the libraries, which know neither: replacements in
// the message, and the help.
var byFlag = []struct {
	kind     error
	from, to string
	help     func(t *diag.UserError) string
}{
	{kind: project.ErrRoot, from: "the workspace ", to: "--root "},
	{kind: project.ErrOutside, help: says("name a folder with --root that holds it")},
	{kind: project.ErrOther, help: says("\"obelus compile --digest --explain\" lists what the digest is over; look at what has changed before you demand another")},
	{kind: project.ErrNotOne, help: says("this command takes one plan; \"obelus check\" takes any number")},
	{kind: session.ErrResults, from: "results: ", to: "--out: ", help: func(t *diag.UserError) string {
		return strings.Replace(t.Help, "when the run is resumed, what is missing is written", "\"obelus resume\" of this run writes what is missing", 1)
	}},
	{kind: session.ErrInstances, from: "the instances can't", to: "--instances can't"},
	{kind: session.ErrLacking, help: func(t *diag.UserError) string { return lacking("--input ", t) }},
	{kind: session.ErrStateLacking, help: func(t *diag.UserError) string { return lacking("--state ", t) }},
	{kind: session.ErrOutside, help: func(t *diag.UserError) string {
		return strings.Replace(t.Help, "have a run with a planner approved", "obelus approve --planner approves one", 1)
	}},
	{kind: session.ErrUnapproved, help: func(t *diag.UserError) string {
		return strings.NewReplacer("name an allowed_signers file that", "name with --signers an allowed_signers file that",
			"approve the plan with that state", "approve the plan with that state (approve --state)").Replace(t.Help)
	}},
	{kind: approval.ErrPlace, help: func(t *diag.UserError) string {
		return strings.Replace(t.Help, "keep it above that folder, or elsewhere", "keep it above that folder, or elsewhere, and name it with --signers", 1)
	}},
	{kind: session.ErrUnanswered, help: says("define one under \"activities\", give a file with --activities, or a model with --model")},
	{kind: session.ErrNoJournal, help: says("name another folder with --runs, or run with --no-journal and give up resuming it")},
	{kind: session.ErrNoRun, help: says("\"obelus runs\" lists them")},
	{kind: session.ErrLocked, help: says("stop that one first, with Ctrl-C")},
	{kind: session.ErrGone, help: says("put it back, or name another file with --activities")},
	{kind: session.ErrChanged, help: func(t *diag.UserError) string {
		return "put it back, or say that the new one is meant: --activities " + t.Name
	}},
	{kind: session.ErrNotThere, help: func(t *diag.UserError) string { return "put it back; obelus resume " + t.Name + " goes on then" }},
	{kind: session.ErrJournalSpace, help: func(t *diag.UserError) string {
		return "nothing is done any more; when there is room again, obelus resume " + t.Name + " goes on from what the journal holds"
	}},
}

// lacking says by which flags the keys are given that a trouble names.
func lacking(flag string, t *diag.UserError) string {
	var flags []string
	for key := range strings.SplitSeq(t.Name, "\n") {
		value := key + "=…"
		if strings.ContainsAny(key, " \"'$`\\") {
			value = fmt.Sprintf("%q", value)
		}
		flags = append(flags, flag+value)
	}
	if len(flags) > 1 {
		flags = append(flags, "(or all in a file: "+flag+"@file.json)")
	}
	return "give " + strings.Join(flags, " ") + strings.TrimPrefix(t.Help, "give it")
}

func says(text string) func(*diag.UserError) string {
	return func(*diag.UserError) string { return text }
}

// inOurWords words a trouble of the libraries as this program does.
func inOurWords(err error) (message, help string) {
	var t *diag.UserError
	if !errors.As(err, &t) {
		return err.Error(), ""
	}
	message, help = t.Message, t.Help
	for _, one := range byFlag {
		if !errors.Is(t.Kind, one.kind) {
			continue
		}
		message = strings.Replace(message, one.from, one.to, 1)
		if one.help != nil {
			help = one.help(t)
		}
	}
	return message, help
}

// withFlags adds to the help of findings which flags are meant.
func withFlags(found []diag.Diagnostic) []diag.Diagnostic {
	found = slices.Clone(found)
	for i := range found {
		help := flagged.Replace(found[i].Help)
		found[i].Help = blockedHost.ReplaceAllString(help, "allow it with --allow-host $1")
	}
	return found
}

var (
	flagged = strings.NewReplacer("give a file of activities", "give a file of activities with --activities",
		"give a run its instances", "give a run its instances with --instances", "and trust it", "and run \"obelus trust\"")
	blockedHost = regexp.MustCompile(`^allow (\S+) for the run`)
)
