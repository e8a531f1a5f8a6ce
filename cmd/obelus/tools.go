package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
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

// An importing is what the flags of an import say.
type importing struct {
	Only   []string `flag:"--only PATTERN: import operations like this: \"GET /users/*\""`
	Tags   []string `flag:"--tag PATTERN: import operations with a tag like this"`
	Names  []string `flag:"--name PATTERN: import operations whose tool would have a name like this"`
	Header []string `flag:"--header HEADER: send a header with every request: \"Authorization: Bearer {$TOKEN}\""`
	Server string   `flag:"--server URL: the address of the service, in place of the file's first"`
	outputFlag
}

func (o *importing) run(ctx context.Context, c *cli, args []string) error {
	if o.Output == "-" {
		o.Output = ""
	}
	if strings.Contains(args[0], "://") {
		return usageErr("%q is an address, and only files are read", args[0]).Advise("fetch it first: curl -o openapi.json %s", diag.Escape(args[0]))
	}
	if why := openapi.NotAnAddress(o.Server); o.Server != "" && why != "" {
		return usageErr("--server: %s", why).Advise("write it like https://api.example.com/v1")
	}
	reading := c.newReading()
	text, err := reading.Text(args[0])
	if err != nil {
		return err
	}
	if args[0] == "-" && o.Output != "" {
		return usageErr("standard input can't be read again").Advise("name a file, or leave -o out")
	}
	if args[0] != "-" && definesServers(args[0], text) {
		return o.importServers(ctx, c, args[0], reading)
	}
	return o.importFile(c, args[0], text)
}

// options are how a document is read, with the files of its folder that it refers to.
func (o importing) options(file string) (openapi.Options, error) {
	out := openapi.Options{Server: o.Server, Headers: map[string]any{}}
	if file != "-" {
		out.Open = workspace.Folder{Dir: filepath.Dir(file), Limit: source.DefaultLimits().Bytes}.Open
	}
	for _, header := range o.Header {
		name, value, ok := strings.Cut(header, ":")
		if !ok || name == "" {
			return out, usageErr("--header can't be %q: expected NAME: VALUE", header).Advise("write it like --header \"Authorization: Bearer {$TOKEN}\"")
		}
		out.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	only, tags, names := like(o.Only), like(o.Tags), like(o.Names)
	out.Wanted = func(op *openapi.Operation) bool {
		return only(op.String()) && names(op.Name) && (len(o.Tags) == 0 || slices.ContainsFunc(op.Tags, tags))
	}
	return out, nil
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

// importFile makes a catalogue of a document, and says what became of it.
func (o importing) importFile(c *cli, name string, text []byte) error {
	options, err := o.options(name)
	if err != nil {
		return err
	}
	api, found := openapi.Read(source.NewFile(name, text), options)
	if api == nil {
		return c.faulty(found)
	}
	value := api.Catalogue()
	if o.Output != "" {
		if value["x-source"], err = o.source(name, api.Digest(text)); err != nil {
			return err
		}
	}
	return o.finish(c, name, value, func(style terminal.Style) string {
		return reportImport(api, name, o.Output, style)
	})
}

// patterns are the lists of the flags, by their names in a catalogue.
func (o *importing) patterns() map[string]*[]string {
	return map[string]*[]string{"only": &o.Only, "tags": &o.Tags, "names": &o.Names, "headers": &o.Header}
}

// source is what a catalogue records of the files that it was made of.
func (o importing) source(name, digest string) (map[string]any, error) {
	relative, err := pathFrom(o.Output, name)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"file": relative, "digest": digest}
	if o.Server != "" {
		out["server"] = o.Server
	}
	o.record(out)
	return out, nil
}

// record puts the lists of the flags into a record.
func (o importing) record(into map[string]any) {
	for key, list := range o.patterns() {
		for _, text := range *list {
			all, _ := into[key].([]any)
			into[key] = append(all, text)
		}
	}
}

// finish writes a catalogue that has tools, and a report.
func (o importing) finish(c *cli, name string, value map[string]any, report func(terminal.Style) string) error {
	imported := len(value["tools"].(map[string]any))
	if imported > 0 {
		if err := o.writeCatalogue(c, name, value); err != nil {
			return err
		}
	}
	to := c.out
	if o.Output == "" {
		to = c.err
	}
	_, err := io.WriteString(to, report(terminal.StyleFor(to)))
	if err == nil && imported == 0 {
		return ending(statusFound)
	}
	return err
}

// writeCatalogue writes what was made of a file.
func (o importing) writeCatalogue(c *cli, name string, value map[string]any) error {
	text, err := catalogue.YAML(fmt.Sprintf("%s from %s.\n", importedHead, diag.Escape(filepath.Base(name))), value)
	if err != nil {
		return usageErr("no catalogue can be made of %q: %v", name, err)
	}
	if before, err := os.ReadFile(o.Output); err == nil && o.Output != "" && !bytes.HasPrefix(before, []byte(importedHead)) {
		return usageErr("%q is there already, and wasn't written by obelus tools", o.Output).Advise("name another file with -o")
	}
	if err := c.write(o.Output, text); err != nil || o.Output == "" {
		return err
	}
	return listCatalogue(c, o.Output)
}

// listCatalogue adds a catalogue to those of the obelus.yaml that is nearest to it.
func listCatalogue(c *cli, output string) error {
	place, err := workspace.Locate(filepath.Dir(output), "", "")
	if err != nil || place.Settings == "" {
		return err
	}
	settings := shownPath(place.Settings)
	name, err := pathFrom(settings, output)
	text, unread := os.ReadFile(settings)
	if err = cmp.Or(err, unread); err == nil {
		text, err = catalogue.AddTo(source.NewFile(settings, text), "tools", name)
	}
	if err == nil && text != nil {
		err = os.WriteFile(settings, text, 0o644)
		c.note("\"%s\" is added to the tools of \"%s\"", diag.Escape(output), diag.Escape(settings))
	}
	if err != nil {
		return usageErr("%q can't list the catalogue: %s", settings, reason(err)).Advise("add %s to \"tools\"", name)
	}
	return nil
}

// pathFrom is the path of a file from the folder of another.
func pathFrom(file, name string) (string, error) {
	from, _ := filepath.Abs(filepath.Dir(file)) // without it Rel fails
	to, _ := filepath.Abs(name)
	relative, err := filepath.Rel(from, to)
	if err != nil {
		return "", usageErr("there is no way from %q to %q", from, name)
	}
	return filepath.ToSlash(relative), nil
}

// helps are what to do about operations that aren't imported, by their reasons.
var helps = map[string]string{
	openapi.NoAddress:  "say where the service is with --server https://…",
	openapi.Outside:    "put the file into the folder, or make one document of them, such as with npx @redocly/cli bundle FILE -o openapi.yaml",
	openapi.UnknownKey: "say what shows who asks with --header \"NAME: {$VARIABLE}\"",
	openapi.BadBody:    "define an activity for it yourself, such as an exec of curl",
}

const mostNotes = 20

// reportImport describes the result of an import.
func reportImport(api *openapi.API, file, output string, style terminal.Style) string {
	var out strings.Builder
	imported := len(api.Imported())
	fmt.Fprintf(&out, "%s of %s imported", style.Bold(wording.Count(imported, "operation")), diag.Escape(file))
	if imported < len(api.Operations) {
		fmt.Fprintf(&out, ", %d not", len(api.Operations)-imported)
	}
	if api.Unwanted > 0 {
		fmt.Fprintf(&out, "; %d not asked for", api.Unwanted)
	}
	if output != "" && imported > 0 {
		fmt.Fprintf(&out, "; they are in %s", diag.Escape(output))
	}
	out.WriteString("\n")
	if len(api.Operations) == 0 && api.Unwanted > 0 {
		out.WriteString("  " + style.Green("help:") + " a pattern is held against all of a method and a path, such as --only \"GET /users*\", or of a tag or name\n")
	}
	helped := map[string]bool{}
	line := func(at source.Span, message, reason string) {
		fmt.Fprintf(&out, "  %s: %s\n", diag.Escape(at.Where()), diag.Escape(message))
		if help := helps[reason]; help != "" && !helped[reason] {
			out.WriteString("    " + style.Green("help:") + " " + help + "\n")
		}
		helped[reason] = true
	}
	if imported < len(api.Operations) {
		out.WriteString(style.Bold("not imported:") + "\n")
	}
	for _, o := range api.Operations {
		if o.Refused != nil {
			line(o.Refused.At, o.String()+": "+o.Refused.Message, o.Refused.Reason)
		}
	}
	if len(api.Notes) > 0 {
		out.WriteString(style.Bold("imported otherwise than they are written:") + "\n")
	}
	for i, n := range api.Notes {
		if i == mostNotes {
			fmt.Fprintf(&out, "  and %d more\n", len(api.Notes)-i)
			break
		}
		line(n.At, n.Message, n.Reason)
	}
	if len(api.Variables) > 0 {
		out.WriteString(style.Bold("requests take from the environment:") + "\n")
		for _, name := range slices.Sorted(maps.Keys(api.Variables)) {
			fmt.Fprintf(&out, "  %s: %s\n", name, diag.Escape(api.Variables[name]))
		}
	}
	return out.String()
}
