package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groups order the commands as one meets them: look first, then run.
var groups = []*cobra.Group{
	{ID: "look", Title: "look at a plan"},
	{ID: "run", Title: "run it"},
	{ID: "about", Title: "about obelus"},
}

// commands lists what the program can do.
func (c *cli) commands() []*cobra.Command {
	in := func(group string, cmds ...*cobra.Command) []*cobra.Command {
		for _, cmd := range cmds {
			cmd.GroupID = group
		}
		return cmds
	}
	var all []*cobra.Command
	all = append(all, in("look", c.checkCommand(), c.explainCommand(), c.graphCommand(), c.compileCommand(), c.approveCommand(), c.diffCommand(), c.compatCommand(), c.toolsCommand(), c.trustCommand(), c.mcpCommand())...)
	all = append(all, in("run", c.simulateCommand(), c.runCommand(), c.resumeCommand(), c.decideCommand(), c.runsCommand())...)
	all = append(all, in("about", c.schemaCommand(), c.completionCommand(), c.versionCommand())...)
	return all
}

func (c *cli) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "print help for a command",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				return root.Help()
			}
			asked, rest, err := root.Find(args)
			if err != nil || asked == root || len(rest) > 0 {
				return unknownCommand(root, args[0])
			}
			return asked.Help()
		},
	}
}

// helpWidth is how wide help is laid out.
const helpWidth = 90

// help prints what a command does and how it is used, to standard output.
func (c *cli) help(cmd *cobra.Command) {
	style := terminal.StyleFor(c.out)
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	fmt.Fprintf(c.out, "%s\n\n%s\n  %s\n", about, style.Bold("usage:"), usageLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(c.out, "\nalso called %s\n", strings.Join(cmd.Aliases, ", "))
	}
	for _, group := range cmd.Groups() {
		var rows [][2]string
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID && sub.IsAvailableCommand() {
				rows = append(rows, [2]string{sub.Name(), sub.Short})
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(c.out, "\n%s\n", style.Bold(group.Title+":"))
			table(c.out, rows)
		}
	}
	if cmd.HasParent() && cmd.HasSubCommands() {
		var rows [][2]string
		for _, sub := range cmd.Commands() {
			rows = append(rows, [2]string{cmd.Name() + " " + sub.Name(), sub.Short})
		}
		fmt.Fprintf(c.out, "\n%s\n", style.Bold("more:"))
		table(c.out, rows)
	}
	if cmd.Example != "" {
		fmt.Fprintf(c.out, "\n%s\n%s\n", style.Bold("examples:"), strings.TrimRight(indent(cmd.Example), "\n"))
	}
	var flags [][2]string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, flagRow(f))
		}
	})
	fmt.Fprintf(c.out, "\n%s\n", style.Bold("flags:"))
	table(c.out, flags)
	if cmd.HasSubCommands() {
		fmt.Fprintf(c.out, "\n\"%s COMMAND --help\" tells more about a command.\n", cmd.CommandPath())
	}
}

func usageLine(cmd *cobra.Command) string {
	if cmd.HasSubCommands() && !cmd.HasParent() {
		return cmd.CommandPath() + " COMMAND …"
	}
	return cmd.UseLine()
}

func flagRow(f *pflag.Flag) [2]string {
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	usage := f.Usage
	if f.Value.Type() != "bool" {
		name += " " + placeholder(f)
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "0" {
			usage += " (" + f.DefValue + " by default)"
		}
	}
	return [2]string{name, usage}
}

// placeholder is the word for a flag's value in help. Flags whose values
// aren't one of a few words carry it as an annotation.
func placeholder(f *pflag.Flag) string {
	if words := f.Annotations[placeholderKey]; len(words) == 1 {
		return words[0]
	}
	return f.Value.Type()
}

const placeholderKey = "placeholder"

// stands names the value of a flag in help and messages.
func stands(cmd *cobra.Command, flag, word string) {
	if err := cmd.Flags().SetAnnotation(flag, placeholderKey, []string{word}); err != nil {
		panic(err)
	}
}

// addText adds a flag for a text, which help and messages call by a word; without the flag
// it stays as it is.
func addText(cmd *cobra.Command, to *string, name, word, usage string) *string {
	cmd.Flags().StringVar(to, name, *to, usage)
	stands(cmd, name, word)
	return to
}

// table prints rows in two columns, the second wrapped.
func table(w io.Writer, rows [][2]string) {
	left := 0
	for _, row := range rows {
		left = max(left, diag.Columns(row[0]))
	}
	for _, row := range rows {
		for i, line := range terminal.Fold(strings.Join(strings.Fields(row[1]), " "), helpWidth-left-5) {
			if i > 0 {
				row[0] = ""
			}
			fmt.Fprintf(w, "  %s%s   %s\n", row[0], strings.Repeat(" ", left-diag.Columns(row[0])), line)
		}
	}
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
