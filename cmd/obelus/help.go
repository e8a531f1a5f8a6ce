package main

import (
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

// helpTemplate is what a command does and how it is used.
const helpTemplate = `{{or .Long .Short}}

usage:
  {{.UseLine}}
{{range .Aliases}}
also called {{.}}
{{end}}{{range $group := .Groups}}
{{.ID}}:
{{range $.Commands}}{{if and .IsAvailableCommand (eq .GroupID $group.ID)}}  {{rpad .Name 11}} {{.Short}}
{{end}}{{end}}{{end}}{{if and .HasAvailableSubCommands (not .Groups)}}
more:
{{range .Commands}}{{if .IsAvailableCommand}}  {{rpad .Name 11}} {{.Short}}
{{end}}{{end}}{{end}}{{if .Example}}
examples:
{{indented .Example}}
{{end}}
flags:
{{.Flags.FlagUsagesWrapped 90}}{{if .HasSubCommands}}
"{{.CommandPath}} COMMAND --help" tells more about a command.
{{end}}`

func init() {
	cobra.AddTemplateFunc("indented", func(text string) string { return strings.ReplaceAll("  "+text, "\n", "\n  ") })
	cobra.EnableCommandSorting = false // commands are listed in the order of their use
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
