package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groups order the commands as one meets them: look first, then run.
var groups = []*cobra.Group{{ID: "look at a plan"}, {ID: "run it"}, {ID: "about obelus"}}

// commands lists what the program can do.
func (c *cli) commands() (all []*cobra.Command) {
	for i, group := range [][]*cobra.Command{
		{c.checkCommand(), c.explainCommand(), c.graphCommand(), c.compileCommand(), c.approveCommand(), c.diffCommand(), c.compatCommand(),
			c.toolsCommand(), c.trustCommand(), c.mcpCommand()},
		{c.simulateCommand(), c.runCommand(), c.resumeCommand(), c.decideCommand(), c.runsCommand()},
		{c.schemaCommand(), c.versionCommand()},
	} {
		for _, cmd := range group {
			cmd.GroupID = groups[i].ID
			all = append(all, cmd)
		}
	}
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

// help prints what a command does and how it is used, to standard output.
func (c *cli) help(cmd *cobra.Command) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	fmt.Fprintf(c.out, "%s\n\nusage:\n  %s\n", about, usageLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(c.out, "\nalso called %s\n", strings.Join(cmd.Aliases, ", "))
	}
	group := ""
	for _, sub := range cmd.Commands() {
		if title := cmp.Or(sub.GroupID, "more"); sub.IsAvailableCommand() {
			if title != group {
				fmt.Fprintf(c.out, "\n%s:\n", title)
			}
			group = title
			fmt.Fprintf(c.out, "  %-11s %s\n", sub.Name(), sub.Short)
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(c.out, "\nexamples:\n%s\n", strings.ReplaceAll("  "+cmd.Example, "\n", "\n  "))
	}
	fmt.Fprintf(c.out, "\nflags:\n%s", cmd.Flags().FlagUsagesWrapped(helpWidth))
	if cmd.HasSubCommands() {
		fmt.Fprintf(c.out, "\n\"%s COMMAND --help\" tells more about a command.\n", cmd.CommandPath())
	}
}

// helpWidth is how wide flags and values are laid out.
const helpWidth = 90

func usageLine(cmd *cobra.Command) string {
	if cmd.HasSubCommands() && !cmd.HasParent() {
		return cmd.CommandPath() + " COMMAND …"
	}
	return cmd.UseLine()
}

// A wordedValue is called by a word in help and messages.
type wordedValue struct {
	pflag.Value
	word string
}

func (w wordedValue) Type() string { return w.word }

// stands names the value of a flag in help and messages.
func stands(cmd *cobra.Command, flag, word string) {
	f := cmd.Flags().Lookup(flag)
	f.Value, f.DefValue = wordedValue{f.Value, word}, strings.TrimSuffix(f.DefValue, "[]")
}

// addText adds a flag for a text, which help and messages call by a word; without the flag
// it stays as it is.
func addText(cmd *cobra.Command, to *string, name, word, usage string) *string {
	cmd.Flags().StringVar(to, name, *to, usage)
	stands(cmd, name, word)
	return to
}
