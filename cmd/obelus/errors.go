package main

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// byKind adds commands and flags to errors of the libraries, which know neither: a replacement in the message, and the
// help, in which NAME is what the error is about. A flag gives the values that are lacking.
var byKind = []struct {
	kind                 error
	from, to, help, flag string
}{
	{kind: project.ErrRoot, from: "the workspace ", to: "--root "},
	{kind: project.ErrOutside, help: "name a folder with --root that holds it"},
	{kind: project.ErrOther, help: "\"obelus compile --digest --explain\" lists what the digest is over; " +
		"look at what has changed before you demand another"},
	{kind: project.ErrNotOne, help: "this command takes one plan; \"obelus check\" takes any number"},
	{kind: session.ErrResults, from: "results: ", to: "--out: "},
	{kind: session.ErrInstances, from: "the instances can't", to: "--instances can't"},
	{kind: session.ErrLacking, flag: "--input "},
	{kind: session.ErrStateLacking, flag: "--state "},
	{kind: session.ErrUnanswered, help: "define one under \"activities\", give a file with --activities, " +
		"or a model with --model"},
	{kind: session.ErrNoJournal, help: "name another folder with --runs, or run with --no-journal and give up " +
		"resuming it"},
	{kind: session.ErrNoRun, help: "\"obelus runs\" lists them"},
	{kind: session.ErrLocked, help: "stop that one first, with Ctrl-C"},
	{kind: session.ErrGone, help: "put it back, or name another file with --activities"},
	{kind: session.ErrChanged, help: "put it back, or use the new one: --activities NAME"},
	{kind: session.ErrNotThere, help: "put it back, then run \"obelus resume NAME\""},
	{kind: session.ErrJournalSpace, help: "free disk space, then run \"obelus resume NAME\""},
}

// flagged adds commands and flags to the help of errors and findings.
var flagged = strings.NewReplacer(
	"when the run is resumed, what is missing is written", "\"obelus resume\" of this run writes what is missing",
	"have a run with a planner approved", "obelus approve --planner approves one",
	"name an allowed_signers file that", "name with --signers an allowed_signers file that",
	"approve the plan with that state", "approve the plan with that state (approve --state)",
	"keep it above that folder, or elsewhere", "keep it above that folder, or elsewhere, and name it with --signers",
	"give a run its instances", "give a run its instances with --instances",
	"and trust it", "and run \"obelus trust\"",
)

// lacking says by which flags the keys are given that a trouble names.
func lacking(flag string, t *diag.UserError) string {
	var flags []string
	for key := range strings.SplitSeq(t.Name, "\n") {
		flags = append(flags, flag+shellWord(key+"=…"))
	}
	if len(flags) > 1 {
		flags = append(flags, "(or all in a file: "+flag+"@file.json)")
	}
	return "give " + strings.Join(flags, " ") + strings.TrimPrefix(t.Help, "give it")
}

// inOurWords is the message of an error of the libraries and its help, with commands and flags.
func inOurWords(err error) (message, help string) {
	var t *diag.UserError
	if !errors.As(err, &t) {
		return err.Error(), ""
	}
	message, help = t.Message, flagged.Replace(t.Help)
	for _, one := range byKind {
		if errors.Is(t.Kind, one.kind) {
			message = strings.Replace(message, one.from, one.to, 1)
			help = cmp.Or(strings.Replace(one.help, "NAME", t.Name, 1), help)
			if one.flag != "" {
				help = lacking(one.flag, t)
			}
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

var blockedHost = regexp.MustCompile(`^allow (\S+) for the run`)

// removedCommands no longer exist; each gives one error that says what to use instead.
var removedCommands = map[string]string{
	"compat": "\"obelus check\" compares the schemas that a plan connects (OB505, OB506)",
	"fork":   "continue from a tick of a run: obelus resume RUN --at TICK",
}

// removedFlags are flags, "command --flag" or "--flag" of all commands, and values of flags, "command --flag value",
// that no longer exist, with what to use instead. They aren't registered; each gives one error.
var removedFlags = map[string]string{
	"--limit":                   "a document has at most 64 MiB, 100 levels, 8 MiB in one text and 40 characters in one number",
	"approve --out":             "--approval names the file of the approval",
	"graph --delegates":         "the calls of delegates are drawn where the drawing has at most 30 calls; draw the file of a delegate",
	"graph --paths":             "--detail writes the paths on the edges",
	"graph --format png":        toPNG,
	"graph --layout":            "draw with Graphviz: obelus graph PLAN --format dot | dot -Tsvg",
	"runs --verify":             "\"obelus runs\" verifies every record of every journal",
	"runs show --at":            "continue from a tick of a run: obelus resume RUN --at TICK; \"obelus runs show RUN --format json\" lists its events in order",
	"simulate --format dot":     toPage,
	"simulate --format html":    toPage,
	"simulate --format mermaid": toPage,
	"simulate --format png":     toPage,
	"simulate --format svg":     toPage,
	"simulate --from":           "compute statistics of a run from its events: obelus run PLAN --format json | jq",
	"simulate --runs":           "compute statistics of a run from its events: obelus run PLAN --format json | jq",
	"tools import --format":     "the report is text; the tools are in the catalogue (-o)",
	"tools --format":            "the report is text; the exit status is 1 when something breaks plans",
	"tools --plan":              "import the tools again and check the plan: obelus tools import FILE -o CATALOGUE, then obelus check PLAN",
	"trust --format":            "\"obelus trust --show\" prints text; its exit status is 1 when something isn't trusted",
	"version --format":          "\"obelus version\" prints one line: the version, Go's version and the platform",
}

const (
	toPNG  = "draw with Graphviz: obelus graph PLAN --format dot | dot -Tpng -o FILE"
	toPage = "--format text draws the times; obelus graph PLAN -o FILE.html draws what happens when a call fails"
)
