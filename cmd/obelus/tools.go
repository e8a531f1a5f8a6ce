package main

import (
	"bytes"
	"errors"
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
	"github.com/spf13/cobra"
)

func (c *cli) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools --check [DIR | CATALOGUE]",
		Short: "import the tools of a service, and report how they have changed since",
		Long: "\"obelus tools import\" makes a catalogue of what a service offers. The catalogue records its\n" +
			"source. --check imports the source again, and reports how its tools differ from the catalogue's.\n" +
			"A difference breaks plans if a value that was valid as a parameter isn't any more, if a result\n" +
			"may come that was ruled out, if a tool is gone or declares worse effects, or if requests have to\n" +
			"be sent otherwise. Other differences are harmless. A tool that the catalogue lacks is new. MCP\n" +
			"servers are started or reached for it if --trust, or a policy, allows that; a run refuses\n" +
			"each of their tools that has changed at all.\n\n" +
			"To see which plans break, import again and check them.\n\n" +
			"The exit status is 0 when nothing has changed or all is harmless, 1 when something breaks plans,\n" +
			"and 2 when a file can't be read.",
		Example: "obelus tools import petstore.json -o petstore.tools.yaml\n" +
			"obelus tools --check\n" +
			"obelus tools --check petstore.tools.yaml",
		Args: counted("", 0, 1),
	}
	check := cmd.Flags().Bool("check", false, "report how tools differ from their catalogues")
	reading := c.addReading(cmd)
	cmd.AddCommand(c.importCommand())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !*check {
			if len(args) > 0 {
				return usageErr("what is tools to do with %q?", args[0]).Advise("usage: %s", cmd.UseLine())
			}
			return cmd.Help()
		}
		return c.checkTools(cmd.Context(), append(args, ".")[0], reading)
	}
	return cmd
}

func (c *cli) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "make a catalogue of an OpenAPI file or of MCP servers",
		Long: "Makes a catalogue of an OpenAPI file (3.0 or 3.1, JSON or YAML): each operation becomes a tool\n" +
			"and an http activity. What can't be sent or read isn't imported, and is reported with the reason\n" +
			"and the place. Keys and tokens are taken from the environment. Nothing but the file is read.\n\n" +
			"Or of a file that defines MCP servers (servers: {docs: {command: [docs-mcp]}}): each is started or\n" +
			"reached, and what it lists as its tools is imported; --only is a server and a tool then, \"docs *\".\n" +
			"The catalogue is written beside the file; an obelus.yaml names the catalogue (tools).\n\n" +
			"Without -o the catalogue goes to standard output, and the report to standard error. Patterns are\n" +
			"texts in which * stands for anything. The exit status is 1 when nothing was imported.",
		Example: "obelus tools import petstore.json -o petstore.tools.yaml\n" +
			"obelus tools import github.json --only \"GET /repos/*\" --tag issues -o github.tools.yaml\n" +
			"obelus tools import api.yaml --server https://api.example.com -o api.tools.yaml",
		Args: oneArg("an OpenAPI file, or one that defines MCP servers"),
	}
	o := importing{}
	flags := cmd.Flags()
	for _, one := range []struct {
		name, word, usage string
		into              *[]string
	}{
		{"only", "PATTERN", "import operations like this: \"GET /users/*\"", &o.Only},
		{"tag", "PATTERN", "import operations with a tag like this", &o.Tags},
		{"name", "PATTERN", "import operations whose tool would be called so", &o.Names},
		{"header", "HEADER", "send a header with every request: \"Authorization: Bearer {$TOKEN}\"", &o.headers},
	} {
		flags.StringArrayVar(one.into, one.name, nil, one.usage+"; may be given several times")
		stands(cmd, one.name, one.word)
	}
	flags.StringVar(&o.server, "server", "", "the address of the service, in the place of the file's first")
	stands(cmd, "server", "URL")
	output := addOutput(cmd)
	reading := c.newReading()
	flags.Var(allowed{&reading.Hosts}, "allow-host", "let requests to an MCP server go to a host that isn't public; may be given several times")
	stands(cmd, "allow-host", "HOST[:PORT]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.output = *output
		if o.output == "-" {
			o.output = ""
		}
		if strings.Contains(args[0], "://") {
			return usageErr("%q is an address, and only files are read", args[0]).Advise("fetch it first: curl -o openapi.json %s", diag.Escape(args[0]))
		}
		if why := openapi.NotAnAddress(o.server); o.server != "" && why != "" {
			return usageErr("--server: %s", why).Advise("write it like https://api.example.com/v1")
		}
		text, err := reading.Text(args[0])
		if err != nil {
			return err
		}
		if args[0] == "-" && o.output != "" {
			return usageErr("standard input can't be read again").Advise("name a file, or leave -o out")
		}
		if args[0] != "-" && definesServers(args[0], text) {
			return c.importServers(cmd.Context(), args[0], reading, o)
		}
		return c.importFile(args[0], text, o)
	}
	return cmd
}

// An importing is what the flags of an import say.
type importing struct {
	Only, Tags, Names []string
	headers           []string
	server, output    string
}

// options are how a document is read.
func (o importing) options() (openapi.Options, error) {
	out := openapi.Options{Server: o.server, Headers: map[string]any{}}
	for _, header := range o.headers {
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
func (c *cli) importFile(name string, text []byte, o importing) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	api, found := openapi.Read(source.NewFile(name, text), options)
	if api == nil {
		return c.faulty(found)
	}
	imported := len(api.Imported())
	if imported > 0 {
		value := api.Catalogue()
		if o.output != "" {
			if value["x-source"], err = o.source(name, text); err != nil {
				return err
			}
		}
		if err := c.writeCatalogue(name, o, value); err != nil {
			return err
		}
	}
	to := c.out
	if o.output == "" {
		to = c.err
	}
	_, err = io.WriteString(to, reportImport(api, name, o.output, terminal.StyleFor(to)))
	if err == nil && imported == 0 {
		return ending(statusFound)
	}
	return err
}

// source is what a catalogue records of the file that it was made of.
func (o importing) source(name string, text []byte) (map[string]any, error) {
	from, bad := filepath.Abs(filepath.Dir(o.output))
	to, worse := filepath.Abs(name)
	relative, err := filepath.Rel(from, to)
	if err = errors.Join(bad, worse, err); err != nil {
		return nil, usageErr("there is no way from %q to %q", from, name)
	}
	out := map[string]any{"file": filepath.ToSlash(relative), "digest": workspace.SumOf(text)}
	if o.server != "" {
		out["server"] = o.server
	}
	for key, list := range map[string][]string{"only": o.Only, "tags": o.Tags, "names": o.Names, "headers": o.headers} {
		if len(list) > 0 {
			out[key] = asAny(list)
		}
	}
	return out, nil
}

func asAny(list []string) (all []any) {
	for _, text := range list {
		all = append(all, text)
	}
	return all
}

// writeCatalogue writes what was made of a file.
func (c *cli) writeCatalogue(name string, o importing, value map[string]any) error {
	text, err := catalogue.YAML(fmt.Sprintf("%s from %s.\n", importedHead, diag.Escape(filepath.Base(name))), value)
	if err != nil {
		return usageErr("no catalogue can be made of %q: %v", name, err)
	}
	if before, err := os.ReadFile(o.output); err == nil && o.output != "" && !bytes.HasPrefix(before, []byte(importedHead)) {
		return usageErr("%q is there already, and wasn't written by obelus tools", o.output).Advise("name another file with -o")
	}
	return c.write(o.output, text)
}

// helps are what to do about operations that aren't imported, by their reasons.
var helps = map[string]string{
	openapi.NoAddress:  "say where the service is with --server https://…",
	openapi.Outside:    "make one document of them first, for instance with npx @redocly/cli bundle FILE -o openapi.yaml",
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
	switch {
	case len(api.Operations) > 0:
	case api.Unwanted > 0:
		out.WriteString("  " + style.Green("help:") + " a pattern is held against all of a method and a path, such as --only \"GET /users*\", or of a tag or name\n")
	default:
		out.WriteString("  " + style.Green("help:") + " the document has no operations; they stand under \"paths\"\n")
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
		if o.Refused != "" {
			line(o.At, o.String()+": "+o.Refused, o.Reason)
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
		for _, v := range api.Variables {
			fmt.Fprintf(&out, "  %s: %s\n", v.Name, diag.Escape(v.Holds))
		}
	}
	return out.String()
}
