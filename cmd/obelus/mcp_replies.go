package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// What one answer contains.
const (
	mostAnswer = 64 << 10 // bytes of entries
	mostItems  = 20       // of a list, and
	mostText   = 4 << 10  // bytes of a value, of an entry that is too long
)

// An object is a line that a command writes for programs, or an answer.
type object = map[string]any

// reply is the answer, and a text about it: what the command wrote, or why it did nothing.
func (r *request) reply(err error) (answer object, text string, failed bool) {
	written := r.output.String()
	fields := strings.Fields(r.row.tool.fields)
	if err == nil && len(fields) == 1 && len(written) > mostAnswer {
		err = usageErr("the drawing is too large for an answer: %d bytes", len(written)).
			Advise("draw it as text, or what is near one call (\"focus\")")
		written = ""
	}
	status := ending(statusOK)
	hasEnded := err == nil || errors.As(err, &status)
	if !hasEnded {
		r.showError(err)
	}
	notes := r.fromRoot(r.notes.String(), "")
	switch failed = !hasEnded || status == statusError || status != statusOK && len(fields) == 1; {
	case !hasEnded || failed && len(fields) == 1:
		return nil, notes + r.fromRoot(written, ""), true
	case len(fields) == 1:
		written = r.fromRoot(r.fromRoot(written, "<title>"), `"file":"`) // where drawings say it
		return object{fields[0]: written}, notes + written, false
	}
	var entries []object
	for line := range strings.Lines(written) {
		if r.row.tool == diffTool || strings.HasPrefix(line, `{"kind":"finding"`) { // others have values of runs
			line = r.fromRoot(line, `"file":"`)
		}
		one := object{}
		if json.Unmarshal([]byte(line), &one) == nil {
			entries = append(entries, one)
		}
	}
	answer = object{}
	if n := len(entries) - 1; n >= 0 { // the last is about all of them
		if journal, ok := entries[n]["journal"].(string); ok {
			entries[n]["journal"] = r.fromRoot(journal, "")
			entries[n]["run"] = strings.TrimSuffix(filepath.Base(journal), ".jsonl")
		}
		answer[fields[1]], entries = reduced(entries[n]), entries[:n]
	}
	fit := 0
	for size := 0; fit < len(entries); fit++ {
		entries[fit] = reduced(entries[fit])
		if size += len(terminal.JSON(entries[fit], "")); size > mostAnswer && fit > 0 {
			answer["leftOut"] = len(entries) - fit
			break
		}
	}
	answer[fields[0]] = diag.Listed(entries[:fit])
	text = notes + inWords(answer, fields[0])
	if failed {
		answer = nil
	}
	return answer, text, failed
}

// fromRoot is a text in which the workspace's files are named from its root, where they follow another text: clients
// don't see where it is.
func (r *request) fromRoot(text, before string) string {
	separator := string(filepath.Separator)
	root := strings.TrimSuffix(r.server.reading.Root, separator)
	if root == "" { // of all files: any separator would be taken for it
		return text
	}
	return strings.ReplaceAll(text, before+root+separator, before)
}

// reduced is an object, or if it is long the beginnings of its texts and lists.
func reduced(one object) object {
	if len(terminal.JSON(one, "")) <= mostAnswer/4 {
		return one
	}
	for key, value := range one {
		if list, ok := value.([]any); ok && len(list) > mostItems {
			value = list[:mostItems]
			one[key], one["more "+key] = value, len(list)-mostItems
		}
		if text := terminal.JSON(value, ""); len(text) > mostText {
			one[key] = wording.Cut(text, mostText)
		}
	}
	return one
}

// inWords is an answer as JSON, after its findings, a line each and their help.
func inWords(answer object, list string) (text string) {
	entries, rest := answer[list].([]object), maps.Clone(answer)
	for _, one := range entries {
		if one["kind"] != "finding" {
			break
		}
		delete(rest, list)
		if start, ok := one["start"].(object); ok && one["file"] != nil {
			text += fmt.Sprintf("%s:%v:%v: ", diag.Escape(fmt.Sprint(one["file"])), start["line"], start["column"])
		}
		text += diag.Escape(fmt.Sprintf("%s %s: %s", one["severity"], one["code"], one["message"])) + "\n"
		if help, ok := one["help"].(string); ok {
			text += "  help: " + diag.Escape(help) + "\n"
		}
	}
	if answer["leftOut"] != nil {
		text += fmt.Sprintf("… and %d more\n", answer["leftOut"])
	}
	return text + diag.Escape(terminal.JSON(rest, ""))
}
