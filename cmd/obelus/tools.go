package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

type toolsFlags struct {
	Check bool `flag:"--check: report how tools differ from their catalogues"`
}

func (o *toolsFlags) run(ctx context.Context, c *cli, args []string) error {
	if o.Check {
		return checkTools(ctx, c, append(args, ".")[0])
	}
	if len(args) > 0 {
		return usageErr("tools needs --check to read %q", args[0]).Advise("obelus tools --check %s", args[0])
	}
	return c.cmd.Help()
}

// An importing is the flags of an import. A catalogue records them as its source.
type importing struct {
	Only   []string `flag:"--only PATTERN: import operations like this: \"GET /users/*\""`
	Tags   []string `flag:"--tag PATTERN: import operations with a tag like this"`
	Names  []string `flag:"--name PATTERN: import operations whose tool would have a name like this"`
	Header []string `flag:"--header HEADER: send a header with every request: \"Authorization: Bearer {$TOKEN}\""`
	Server string   `flag:"--server URL: the address of the service, in place of the file's first"`
	outputFlag
}

func (o *importing) run(ctx context.Context, c *cli, args []string) error {
	name := args[0]
	if o.Output == "-" {
		o.Output = ""
	}
	switch why := openapi.NotAnAddress(o.Server); {
	case strings.Contains(name, "://"):
		return usageErr("%q is an address, and only files are read", name).
			Advise("fetch it first: curl -o openapi.json %s", diag.Escape(name))
	case o.Server != "" && why != "":
		return usageErr("--server: %s", why).Advise("write it like https://api.example.com/v1")
	case name == "-" && o.Output != "":
		return usageErr("standard input can't be read again").Advise("name a file, or leave -o out")
	}
	reading := c.newReading()
	text, err := reading.Text(name)
	if err != nil {
		return err
	}
	var result *importResult
	if name != "-" && definesServers(name, text) {
		result, err = o.ofServers(ctx, c, name, reading)
	} else {
		result, err = o.ofDocument(c, name, text)
	}
	if err != nil {
		return err
	}
	count := len(result.catalogue["tools"].(map[string]any))
	if count > 0 {
		if err := o.write(c, name, result.catalogue); err != nil {
			return err
		}
	}
	to := c.out
	if o.Output == "" {
		to = c.err
	}
	_, err = io.WriteString(to, result.report(name, o.Output, terminal.StyleFor(to)))
	if err == nil && count == 0 {
		return ending(statusFound)
	}
	return err
}

// patterns are the lists of the flags, by their names in a catalogue.
func (o *importing) patterns() map[string]*[]string {
	return map[string]*[]string{"only": &o.Only, "tags": &o.Tags, "names": &o.Names, "headers": &o.Header}
}

// record puts the lists of the flags into a catalogue's record.
func (o *importing) record(into map[string]any) {
	for key, list := range o.patterns() {
		for _, text := range *list {
			all, _ := into[key].([]any)
			into[key] = append(all, text)
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

// importedHead begins the catalogues that are written here.
const importedHead = "# Written by obelus tools import"

// write writes the catalogue of a file, and adds it to those of the nearest obelus.yaml.
func (o *importing) write(c *cli, name string, value map[string]any) error {
	text, err := catalogue.YAML(fmt.Sprintf("%s from %s.\n", importedHead, diag.Escape(filepath.Base(name))), value)
	if err != nil {
		return usageErr("no catalogue can be made of %q: %v", name, err)
	}
	before, err := os.ReadFile(o.Output)
	if err == nil && o.Output != "" && !bytes.HasPrefix(before, []byte(importedHead)) {
		return usageErr("%q is there already, and wasn't written by obelus tools", o.Output).
			Advise("name another file with -o")
	}
	if err := c.write(o.Output, text); err != nil || o.Output == "" {
		return err
	}
	place, err := workspace.Locate(filepath.Dir(o.Output), "", "")
	if err != nil || place.Settings == "" {
		return err
	}
	settings := shownPath(place.Settings)
	listed, err := pathFrom(settings, o.Output)
	text, unread := os.ReadFile(settings)
	if err = cmp.Or(err, unread); err == nil {
		text, err = catalogue.AddTo(source.NewFile(settings, text), "tools", listed)
	}
	if err == nil && text != nil {
		err = os.WriteFile(settings, text, 0o644)
		c.note("\"%s\" is added to the tools of \"%s\"", diag.Escape(o.Output), diag.Escape(settings))
	}
	if err != nil {
		return usageErr("%q can't list the catalogue: %s", settings, reason(err)).Advise("add %s to \"tools\"", listed)
	}
	return nil
}

// pathFrom is the path of a file from the folder of another.
func pathFrom(file, name string) (string, error) {
	from, _ := filepath.Abs(filepath.Dir(file)) // without it Rel fails
	to, _ := filepath.Abs(name)
	relative, err := filepath.Rel(from, to)
	return filepath.ToSlash(relative), err
}

// An importResult is a catalogue, and what became of the rest of its source.
type importResult struct {
	catalogue        map[string]any
	kind             string // of what was imported: "operation" or "tool"
	unwanted         int    // that no flag asks for
	refused, changed []remark
	variables        map[string]string // of the environment, with what they are for
}

// A remark is about a part of the source. Each help is shown once.
type remark struct{ text, help string }

const mostRemarks = 20 // about parts that are imported

func (i *importResult) report(file, output string, style terminal.Style) string {
	count := len(i.catalogue["tools"].(map[string]any))
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
		text += help + "a pattern covers all of a method and a path, such as --only \"GET /users*\", or of a tag or name\n"
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
	for name, purpose := range i.variables {
		variables = append(variables, remark{text: name + ": " + purpose})
	}
	slices.SortFunc(variables, func(a, b remark) int { return cmp.Compare(a.text, b.text) })
	add("requests take from the environment:", variables)
	return text
}
