// Package catalogues imports the tools of an OpenAPI document or of MCP servers into catalogues, and reports how a
// source differs from the catalogue of it. It writes no files; the MCP servers of a file that is trusted are started.
package catalogues

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// Faulty is the error of a file that has errors.
type Faulty struct{ Found []diag.Diagnostic }

func (f *Faulty) Error() string { return "a file has errors" }

// An Import is what is imported of a source. A catalogue records it, under the names of the fields in lower case.
type Import struct {
	Only    []string `flag:"--only PATTERN: import operations like this: \"GET /users/*\""`
	Tags    []string `flag:"--tag PATTERN: import operations with a tag like this"`
	Names   []string `flag:"--name PATTERN: import operations whose tool would have a name like this"`
	Headers []string `flag:"--header HEADER: send a header with every request: \"Authorization: Bearer {$TOKEN}\""`
	Server  string   `flag:"--server URL: the address of the service, in place of the file's first"`
}

// record puts the import into a catalogue's record.
func (o *Import) record(into map[string]any) {
	text, _ := json.Marshal(o)
	var all map[string]any
	_ = json.Unmarshal(text, &all)
	for name, value := range all {
		if value != nil && value != "" {
			into[strings.ToLower(name)] = value
		}
	}
}

// like reports whether a text is like one of some patterns; without patterns every text is.
func like(patterns []string) func(string) bool {
	if len(patterns) == 0 {
		return func(string) bool { return true }
	}
	var all []string
	for _, pattern := range patterns {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*"))
	}
	return regexp.MustCompile("^(?s:" + strings.Join(all, "|") + ")$").MatchString
}

// A Result is a catalogue, and what became of the rest of its source.
type Result struct {
	Catalogue        map[string]any
	kind             string // of what was imported: "operation" or "tool"
	unwanted         int    // that no flag asks for
	refused, changed []remark
	variables        map[string]string // of the environment, with what they are for
}

// A remark is about a part of the source. Each help is shown once.
type remark struct{ text, help string }

const mostRemarks = 20 // about parts that are imported

func (i *Result) Report(file, output string, style terminal.Style) string {
	count := len(i.Catalogue["tools"].(map[string]any))
	text := style.Bold(wording.Count(count, i.kind)) + " of " + diag.Escape(file) + " imported"
	if len(i.refused) > 0 {
		text += fmt.Sprintf(", %d not", len(i.refused))
	}
	if i.unwanted > 0 {
		text += fmt.Sprintf("; %d not asked for", i.unwanted)
	}
	if output != "" && count > 0 {
		text += "; they are in " + diag.Escape(output)
	}
	text += "\n"
	help := "  " + style.Green("help:") + " "
	if count == 0 && len(i.refused) == 0 && i.unwanted > 0 {
		text += help +
			"a pattern covers all of a method and a path, such as --only \"GET /users*\", or of a tag or name\n"
	}
	var helped []string
	add := func(title string, remarks []remark) {
		for n, one := range remarks {
			if n == 0 {
				text += style.Bold(title) + "\n"
			}
			text += "  " + diag.Escape(one.text) + "\n"
			if one.help != "" && !slices.Contains(helped, one.help) {
				text += "  " + help + one.help + "\n"
			}
			helped = append(helped, one.help)
		}
	}
	add("not imported:", i.refused)
	add("imported otherwise than they are written:", i.changed[:min(len(i.changed), mostRemarks)])
	if more := len(i.changed) - mostRemarks; more > 0 {
		text += fmt.Sprintf("  and %d more\n", more)
	}
	var variables []remark
	for _, name := range slices.Sorted(maps.Keys(i.variables)) {
		variables = append(variables, remark{text: name + ": " + i.variables[name]})
	}
	add("requests take from the environment:", variables)
	return text
}
