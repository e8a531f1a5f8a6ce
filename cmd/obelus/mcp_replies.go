package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// What one answer contains.
const (
	usualEntries = 20
	mostEntries  = 200
	mostAnswer   = 64 << 10 // bytes of entries
)

// below is the beginning of the names of the workspace's files here, which clients don't see.
func (r *request) below() string {
	return strings.TrimSuffix(r.server.reading.Root, string(filepath.Separator)) + string(filepath.Separator)
}

// named is a text in which the workspace's files are named from its root.
func (r *request) named(text string) string { return strings.ReplaceAll(text, r.below(), "") }

// lines are what a command wrote for programs, an object a line, the summary apart. Objects that are
// too large for an answer of several are cut.
func (r *request) lines() (all []map[string]any, summary map[string]any) {
	below, _ := json.Marshal(r.below())
	from := append([]byte(`"file":`), below[:len(below)-1]...)
	for line := range bytes.Lines(bytes.ReplaceAll(r.output.Bytes(), from, []byte(`"file":"`))) {
		var object map[string]any
		if json.Unmarshal(line, &object) != nil {
			continue
		}
		if object["kind"] == "summary" {
			summary = object
			continue
		}
		if len(line) > mostAnswer/4 {
			reduced(object)
		}
		all = append(all, object)
	}
	return all, summary
}

// leftOut is how many entries are missing in an answer, and from which on to request them.
type leftOut struct{ count, next int }

func (l leftOut) words(how string) string {
	if l.count == 0 {
		return ""
	}
	return fmt.Sprintf("… and %d more: %s\n", l.count, cmp.Or(how, fmt.Sprintf("ask again with first: %d", l.next)))
}

// portion is the requested part of a list, as much as an answer contains.
func (r *request) portion(all []map[string]any) ([]map[string]any, leftOut) {
	from := min(max(0, r.First), len(all))
	most := min(mostEntries, cmp.Or(max(0, r.Most), usualEntries))
	to := from
	for size := 0; to < len(all) && to-from < most; to++ {
		text, _ := json.Marshal(all[to]) // all of it is JSON
		if size += len(text); size > mostAnswer && to > from {
			break
		}
	}
	return diag.Listed(all[from:to]), leftOut{len(all) - to, to}
}

// answer is a reply with an object, whose text is another one or, below a headline, the object as JSON.
func (l leftOut) answer(value map[string]any, headline, text string) (reply, error) {
	if l.count > 0 {
		value["leftOut"], value["next"] = l.count, l.next
	}
	if text == "" {
		whole, err := json.Marshal(value)
		if err != nil {
			return reply{}, err
		}
		text = headline + "\n" + l.words("") + diag.Escape(string(whole))
	}
	return reply{value, wording.Cut(text, 2*mostAnswer)}, nil
}

func (r *request) checked(ending) (reply, error) {
	lines, summary := r.lines()
	text, left := r.findingsText(lines)
	shown, _ := r.portion(lines)
	counts, _ := json.Marshal(summary) // all of it was JSON
	text += left.words("") + diag.Escape(string(counts))
	return left.answer(map[string]any{"findings": shown, "summary": summary}, "", text)
}

// findingsText is the requested part of findings as text, a line each and their help.
func (r *request) findingsText(lines []map[string]any) (string, leftOut) {
	shown, left := r.portion(lines)
	var text strings.Builder
	for _, line := range shown {
		if line["kind"] != "finding" {
			return "", leftOut{}
		}
		file, _ := line["file"].(string)
		if start, ok := line["start"].(map[string]any); ok && file != "" {
			fmt.Fprintf(&text, "%s:%v:%v: ", diag.Escape(file), start["line"], start["column"])
		}
		message, _ := line["message"].(string)
		fmt.Fprintf(&text, "%s %s: %s\n", line["severity"], line["code"], diag.Escape(message))
		if help, ok := line["help"].(string); ok {
			fmt.Fprintf(&text, "  help: %s\n", diag.Escape(help))
		}
	}
	return text.String(), left
}

func (r *request) explained(ending) (reply, error) {
	return leftOut{}.answer(map[string]any{"page": r.output.String()}, "", r.output.String())
}

func (r *request) drawn(status ending) (reply, error) {
	if status != statusOK {
		return reply{}, status
	}
	drawing := r.output.String()
	if len(drawing) > mostAnswer {
		return reply{}, usageErr("the drawing is too large for an answer: %d bytes", len(drawing)).
			Advise("draw what is near one call (\"focus\")")
	}
	value := map[string]any{"format": r.cmd.Flag("format").Value.String(), "drawing": drawing}
	return leftOut{}.answer(value, "", drawing)
}

func (r *request) ruled(ending) (reply, error) {
	lines, _ := r.lines()
	return leftOut{}.answer(reduced(lines[0]), fmt.Sprint(lines[0]["verdict"]), "")
}

// compared compares two plans, each with files of its own.
func (r *request) compared(ending) (reply, error) {
	var sides [2]side
	for i, name := range []string{"old", "new"} {
		var given map[string]json.RawMessage
		_ = json.Unmarshal(r.flags[name], &given) // it is read as a plan, too
		if err := unknownArgument(name, given, []string{"plan", "path", "files"}); err != nil {
			return reply{}, err
		}
		file, err := r.document([]planArgument{r.Old, r.New}[i])
		if err != nil {
			return reply{}, err
		}
		if sides[i], err = r.cli.compared(file, r.documents, "json"); err != nil {
			return reply{}, err
		}
	}
	differs := facts.Compare(sides[0].facts, sides[1].facts)
	r.output.Write(renderDiff(differs, sides, "json"))
	lines, summary := r.lines()
	shown, left := r.portion(lines)
	text := r.named(wording.Cut(string(renderDiff(differs, sides, "text")), mostAnswer)) + left.words("")
	return left.answer(map[string]any{"differences": shown, "summary": summary}, "", text)
}

// simulated is the answer about simulated runs: all of the first, and of others what goes wrong in them.
func (r *request) simulated(ending) (reply, error) {
	lines, summary := r.lines()
	usual := lines[0]
	value := map[string]any{"scenario": usual, "summary": reduced(summary)}
	var problems []map[string]any
	for _, one := range lines[1:] {
		if one["problem"] != nil {
			of := map[string]any{}
			for _, key := range []string{"problem", "branch", "seen", "status", "errors"} {
				of[key] = one[key]
			}
			problems = append(problems, reduced(of))
		}
	}
	var left leftOut
	if len(problems) > 0 {
		value["problems"], left = r.portion(problems)
		r.First, r.Most = 0, 0
	}
	list, _ := usual["calls"].([]any)
	calls := make([]map[string]any, len(list))
	for i := range list {
		calls[i] = reduced(list[i].(map[string]any))
	}
	shown, more := r.portion(calls)
	if left.count == 0 {
		left = more
	}
	delete(usual, "calls")
	reduced(usual)["calls"] = shown
	notes := r.notes.String()
	if same, ok := summary["deterministic"].(bool); ok && !same {
		notes += "other orders of the same work end differently\n"
	}
	notes += fmt.Sprintf("%v after %v ms of virtual time, cost %v", usual["status"], usual["makespan"], usual["cost"])
	return left.answer(value, notes, "")
}

// reduced is an object with the beginnings of long texts and lists in it.
func reduced(object map[string]any) map[string]any {
	for key, value := range object {
		if list, ok := value.([]any); ok && len(list) > usualEntries {
			object[key], object["more "+key] = list[:usualEntries], len(list)-usualEntries
			value = object[key]
		}
		if text, err := json.Marshal(value); err == nil && len(text) > longestResult {
			object[key] = wording.Cut(string(text), longestResult)
		}
	}
	return object
}

// ran reports how a run went, by its events.
func (r *request) ran(ending) (reply, error) {
	var finished []map[string]any
	var end map[string]any
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
	shown, left := r.portion(finished)
	headline := fmt.Sprintf("%v: run %v\n%s", end["status"], end["run"], r.notes.String())
	return left.answer(map[string]any{"events": shown, "end": end}, strings.TrimSpace(headline), "")
}
