package main

import (
	"cmp"
	"context"
	_ "embed" // COMMANDS.md
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A command is a row of the table, of which the command line, its help, COMMANDS.md and the tools for agents are made.
type command struct {
	use, short string
	aliases    []string
	args       cobra.PositionalArgs
	global     string   // the global flags that it reads, besides those of all commands
	exclusive  []string // groups of flags that can't be given together
	action     action   // its own flags, with their defaults
	tool       *tool    // what agents are offered; nil for nothing
	below      []command
}

// An action is a struct of the flags of a command ([addFlags]), and what it does.
type action interface {
	run(ctx context.Context, c *cli, args []string) error
}

//go:embed COMMANDS.md
var commandReference string

// describe finds the text of a command and its examples in COMMANDS.md.
func describe(name string) (text, examples string) {
	_, section, _ := strings.Cut(commandReference, "\n## "+name+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	section, _, _ = strings.Cut(section, "\n```text\n") // its flags
	text, examples, _ = strings.Cut(section, "\n```sh\n")
	return strings.TrimSpace(text), strings.TrimSuffix(strings.TrimSpace(examples), "\n```")
}

func (row *command) name() string {
	name, _, _ := strings.Cut(row.use, " ")
	return name
}

func (c *cli) cobra(row *command, above string) *cobra.Command {
	name := above + row.name()
	long, examples := describe(name)
	cmd := &cobra.Command{
		Use: row.use, Short: row.short, Long: long, Example: examples, Aliases: row.aliases, Args: cobra.ArbitraryArgs,
		DisableFlagsInUseLine: true, Annotations: map[string]string{"global": row.global},
	}
	addFlags(cmd.Flags(), reflect.ValueOf(row.action).Elem())
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "print this help"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.cmd = cmd
		if err := row.args(cmd, args); err != nil {
			return usageErr("%s has the wrong arguments: %s", cmd.Name(), cmp.Or(wording.Names(args, 5), "none")).
				Advise("usage: %s", cmd.UseLine())
		}
		for _, group := range row.exclusive {
			both := slices.DeleteFunc(strings.Fields(group), func(name string) bool { return !c.changed(name) })
			if len(both) > 1 {
				return usageErr("--%s and --%s can't be given together", both[0], both[1])
			}
		}
		return row.action.run(cmd.Context(), c, args)
	}
	for i := range row.below {
		cmd.AddCommand(c.cobra(&row.below[i], name+" "))
	}
	return cmd
}

// helping prints the help of the program.
type helping struct{}

func (helping) run(_ context.Context, c *cli, args []string) error {
	if len(args) > 0 {
		return usageErr("there is no command %q", args[0]).Advise("\"obelus help\" lists the commands").
			Suggest(args[0], c.cmd.SuggestionsFor(args[0]))
	}
	return c.cmd.Help()
}

// oldNames are earlier names of flags, which help doesn't show.
var oldNames = map[string]string{
	"parallel": "concurrency", "answer-within": "answer-timeout", "page": "web", "envelope": "permit",
}

func (c *cli) rootCommand() *cobra.Command {
	root := c.cobra(&command{use: "obelus COMMAND …", short: "check, draw, simulate and run plans",
		args: cobra.ArbitraryArgs, action: &helping{}}, "")
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(oldNames[name], name))
	})
	root.SilenceErrors, root.SilenceUsage, root.Version = true, true, versionLine()
	root.SuggestionsMinimumDistance = 2
	root.Flags().Bool("version", false, "print the version")
	root.SetVersionTemplate("{{.Version}}")
	addFlags(root.PersistentFlags(), reflect.ValueOf(&c.globals).Elem())
	root.PersistentPreRunE = c.begin
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Short: "print help for a command", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			c.cmd = root
			if found, rest, _ := root.Find(args); len(rest) == 0 {
				return found.Help()
			}
			return helping{}.run(root.Context(), c, args)
		}})
	for _, g := range table() {
		root.AddGroup(&cobra.Group{ID: g.title})
		root.SetCompletionCommandGroupID(g.title)
		for i := range g.rows {
			cmd := c.cobra(&g.rows[i], root.Name()+" ")
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	return root
}

// begin applies the global flags before a command starts.
func (c *cli) begin(cmd *cobra.Command, _ []string) (err error) {
	read := everywhere + cmd.Annotations["global"]
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !strings.Contains(read, "--"+f.Name+" ") {
			err = noFlag(cmd, f.Name)
		}
	})
	for _, folder := range trustedFolders() {
		if folder != "" && !filepath.IsAbs(folder) { // it would depend on the current folder
			err = usageErr("OBELUS_TRUST lists %q, which isn't an absolute path", folder).
				Advise("write the whole path of the folder that is to be trusted")
		}
	}
	if c.Folder != "" && err == nil {
		if err = os.Chdir(c.Folder); err != nil {
			err = usageErr("--chdir can't be %q: %w", c.Folder, workspace.Reason(err))
		}
	}
	c.out.Color, c.err.Color = c.Color, c.Color
	return err
}

func noFlag(cmd *cobra.Command, name string) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != name {
			names = append(names, "--"+f.Name)
		}
	})
	name = strings.Repeat("-", min(2, len(name))) + name
	return usageErr("%s has no flag %q", cmd.Name(), name).Advise("\"%s --help\" lists the flags", cmd.CommandPath()).
		Suggest(name, names)
}

// flagError says which flag there isn't, or what is wrong with one.
func flagError(cmd *cobra.Command, err error) error {
	if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
		return noFlag(cmd, unknown.GetSpecifiedName())
	}
	return usageErr("%v", err).Advise("\"%s --help\" lists the flags", cmd.CommandPath())
}

// helpTemplate is what a command does and how it is used.
const helpTemplate = `{{or .Long .Short}}

usage:
  {{.UseLine}}
{{with .Aliases}}
also called {{join . ", "}}
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
{{.LocalFlags.FlagUsagesWrapped 90}}{{if .HasParent}}
global flags, which "obelus --help" explains:
  {{.Annotations.global}}-C --color -q -v
{{end}}{{if .HasSubCommands}}
"{{.CommandPath}} COMMAND --help" describes a command.
{{end}}`

func init() {
	cobra.AddTemplateFunc("indented", func(text string) string { return strings.ReplaceAll("  "+text, "\n", "\n  ") })
	cobra.AddTemplateFunc("join", strings.Join)
	cobra.EnableCommandSorting = false // commands are listed in the order of their use
}
