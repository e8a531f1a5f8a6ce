package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/pages"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// What one answer contains.
const (
	usualEntries = 20
	mostEntries  = 200
	mostAnswer   = 64 << 10 // bytes of entries
)

// A reply is what a tool answers: an object, and a text about it.
type reply struct {
	value object
	text  string
}

// An object is a line that a command writes for programs, or an answer.
type object = map[string]any

// inFull is a reply whose text has a headline and the object as JSON.
func inFull(value object, headline string) (reply, error) {
	text := strings.TrimSpace(headline) + "\n" + leftOut(value) + diag.Escape(terminal.JSON(value, ""))
	return reply{value, text}, nil
}

// fromRoot is a text in which the workspace's files are named from its root: clients don't see where it is.
func (r *request) fromRoot(text string) string {
	separator := string(filepath.Separator)
	return strings.ReplaceAll(text, strings.TrimSuffix(r.server.reading.Root, separator)+separator, "")
}

// lines are the objects that a command wrote, the summary apart.
func (r *request) lines() (all []object, summary object) {
	for line := range bytes.Lines(r.output.Bytes()) {
		var one object
		if json.Unmarshal(line, &one) != nil {
			continue
		}
		if file, ok := one["file"].(string); ok {
			one["file"] = r.fromRoot(file)
		}
		if one["kind"] == "summary" {
			summary = one
		} else {
			all = append(all, one)
		}
	}
	return all, summary
}

// put puts the requested part of a list into an answer, as much as an answer contains.
func (r *request) put(answer object, key string, all []object) {
	from := min(max(0, r.First), len(all))
	most := min(mostEntries, cmp.Or(max(0, r.Most), usualEntries))
	to := from
	for size := 0; to < len(all) && to-from < most; to++ {
		if len(terminal.JSON(all[to], "")) > mostAnswer/4 {
			reduced(all[to])
		}
		if size += len(terminal.JSON(all[to], "")); size > mostAnswer && to > from {
			break
		}
	}
	answer[key] = diag.Listed(all[from:to])
	if to < len(all) {
		answer["leftOut"], answer["next"] = len(all)-to, to
	}
}

// leftOut is how many entries are missing in an answer, and how to request them.
func leftOut(answer object) string {
	if answer["leftOut"] == nil {
		return ""
	}
	return fmt.Sprintf("… and %d more: ask again with first: %d\n", answer["leftOut"], answer["next"])
}

// reduced is an object with the beginnings of long texts and lists in it.
func reduced(one object) object {
	for key, value := range one {
		if list, ok := value.([]any); ok && len(list) > usualEntries {
			value = list[:usualEntries]
			one[key], one["more "+key] = value, len(list)-usualEntries
		}
		if text := terminal.JSON(value, ""); len(text) > pages.LongestResult {
			one[key] = wording.Cut(text, pages.LongestResult)
		}
	}
	return one
}

// why is what kept a request from being answered: the findings of a plan that has errors, or the error.
func (r *request) why(err error) string {
	if ended := ending(0); !errors.As(err, &ended) {
		r.showError(err)
	}
	lines, _ := r.lines()
	answer := object{}
	r.First, r.Most = 0, 0
	r.put(answer, "findings", lines)
	text := findingsText(answer)
	if text == "" {
		text = r.notes.String() + r.output.String()
	}
	return r.fromRoot(text)
}

// findingsText is the findings of an answer as text, a line each and their help.
func findingsText(answer object) (text string) {
	for _, one := range answer["findings"].([]object) {
		if one["kind"] != "finding" {
			return ""
		}
		if start, ok := one["start"].(object); ok && one["file"] != nil {
			text += fmt.Sprintf("%s:%v:%v: ", diag.Escape(fmt.Sprint(one["file"])), start["line"], start["column"])
		}
		text += diag.Escape(fmt.Sprintf("%s %s: %s", one["severity"], one["code"], one["message"])) + "\n"
		if help, ok := one["help"].(string); ok {
			text += "  help: " + diag.Escape(help) + "\n"
		}
	}
	return text + leftOut(answer)
}

func (r *request) checked() (reply, error) {
	lines, summary := r.lines()
	answer := object{"summary": summary}
	r.put(answer, "findings", lines)
	return reply{answer, findingsText(answer) + diag.Escape(terminal.JSON(summary, ""))}, nil
}

func (r *request) explained() (reply, error) {
	return reply{object{"page": r.output.String()}, r.output.String()}, nil
}

func (r *request) drawn() (reply, error) {
	drawing := r.output.String()
	switch {
	case r.status != statusOK:
		return reply{}, r.status
	case len(drawing) > mostAnswer:
		return reply{}, usageErr("the drawing is too large for an answer: %d bytes", len(drawing)).
			Advise("draw what is near one call (\"focus\")")
	}
	return reply{object{"format": r.cmd.Flag("format").Value.String(), "drawing": drawing}, drawing}, nil
}

// compared compares two plans, each with files of its own.
func (r *request) compared() (reply, error) {
	var sides [2]side
	for i, name := range []string{"old", "new"} {
		var given map[string]json.RawMessage
		_ = json.Unmarshal(r.named[name], &given) // it is read as a plan, too
		if err := unknownArgument(name, given, []string{"plan", "path", "files"}); err != nil {
			return reply{}, err
		}
		reading, file, err := r.document([]planArgument{r.Old, r.New}[i])
		if err == nil {
			sides[i], err = r.cli.compared(file, reading, "json")
		}
		if err != nil {
			return reply{}, err
		}
	}
	differs := facts.Compare(sides[0].facts, sides[1].facts)
	r.output.Write(renderDiff(differs, sides, "json"))
	lines, summary := r.lines()
	answer := object{"summary": summary}
	r.put(answer, "differences", lines)
	text := wording.Cut(string(renderDiff(differs, sides, "text")), mostAnswer)
	return reply{answer, r.fromRoot(text) + leftOut(answer)}, nil
}

// simulated is the answer about simulated runs: all of the first, and of others what goes wrong in them.
func (r *request) simulated() (reply, error) {
	lines, summary := r.lines()
	usual := lines[0]
	var calls, problems []object
	for _, call := range usual["calls"].([]any) {
		calls = append(calls, reduced(call.(object)))
	}
	for _, one := range lines[1:] {
		if one["problem"] != nil {
			problems = append(problems, reduced(object{
				"problem": one["problem"], "branch": one["branch"], "seen": one["seen"], "status": one["status"],
				"errors": one["errors"],
			}))
		}
	}
	answer := object{"summary": reduced(summary)}
	delete(usual, "calls")
	answer["scenario"] = reduced(usual)
	r.put(answer, "calls", calls)
	if usual["calls"] = answer["calls"]; len(problems) > 0 {
		r.put(answer, "problems", problems)
	}
	delete(answer, "calls")
	headline := r.notes.String()
	if same, ok := summary["deterministic"].(bool); ok && !same {
		headline += "other orders of the same work end differently\n"
	}
	headline += fmt.Sprintf("%v after %v ms of virtual time, cost %v", usual["status"],
		usual["makespan"], usual["cost"])
	return inFull(answer, headline)
}

// ran reports how a run went, by its events.
func (r *request) ran() (reply, error) {
	var finished []object
	var end object
	lines, _ := r.lines()
	for _, event := range lines {
		switch {
		case event["event"] == "end":
			journal, _ := event["journal"].(string)
			event["run"] = strings.TrimSuffix(path.Base(filepath.ToSlash(journal)), ".jsonl")
			end = reduced(event)
		case event["event"] == "call" && event["status"] != "started", event["event"] == "ask":
			finished = append(finished, reduced(event))
		}
	}
	answer := object{"end": end}
	r.put(answer, "events", finished)
	return inFull(answer, fmt.Sprintf("%v: run %v\n%s", end["status"], end["run"], r.notes.String()))
}
