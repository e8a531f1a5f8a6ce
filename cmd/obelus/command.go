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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// A command is a row of the table. The command line, its help, the lists of flags in COMMANDS.md and
// the tools of the MCP server are made from it.
type command struct {
	use, short string
	aliases    []string
	args       cobra.PositionalArgs
	global     string        // the global flags that it reads
	exclusive  [][]string    // flags that can't be given together
	action     func() action // its own flags, with their defaults
	tool       *tool         // what agents are offered; nil for nothing
	below      []command
}

// An action is the flags of a command, and what it does.
type action interface {
	run(ctx context.Context, c *cli, args []string) error
}

// A plainAction is a command without flags.
type plainAction func(ctx context.Context, c *cli, args []string) error

func (f plainAction) run(ctx context.Context, c *cli, args []string) error { return f(ctx, c, args) }

// plain is the action of a command without flags.
func plain(f func(ctx context.Context, c *cli, args []string) error) func() action {
	return func() action { return plainAction(f) }
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

// cobra makes a command of a row, below another.
func (c *cli) cobra(row *command, above string) *cobra.Command {
	name := above + row.name()
	long, examples := describe(name)
	cmd := &cobra.Command{
		Use: row.use, Short: row.short, Long: long, Example: examples, Aliases: row.aliases, Args: row.args,
		DisableFlagsInUseLine: true, Annotations: map[string]string{"global": row.global + everywhere},
	}
	act := row.bind(cmd)
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "print this help"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.cmd = cmd
		for _, group := range row.exclusive {
			given := slices.DeleteFunc(slices.Clone(group), func(name string) bool { return !c.changed(name) })
			if len(given) > 1 {
				return usageErr("--%s and --%s can't be given together", given[0], given[1])
			}
		}
		return act.run(cmd.Context(), c, args)
	}
	for i := range row.below {
		cmd.AddCommand(c.cobra(&row.below[i], name+" "))
	}
	return cmd
}

func (row *command) name() string {
	name, _, _ := strings.Cut(row.use, " ")
	return name
}

// bind makes an action of a row, and gives a command its flags.
func (row *command) bind(cmd *cobra.Command) action {
	act := row.action()
	if flags := reflect.ValueOf(act); flags.Kind() == reflect.Pointer {
		addFlags(cmd.Flags(), flags.Elem())
	}
	return act
}

// rootCommand makes the program of the table.
func (c *cli) rootCommand() *cobra.Command {
	root := c.cobra(&command{
		use: "obelus COMMAND …", short: "check, draw, simulate and run plans", args: cobra.ArbitraryArgs,
		action: plain(func(_ context.Context, c *cli, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c.cmd, args[0])
			}
			return c.cmd.Help()
		}),
	}, "")
	root.SilenceErrors, root.SilenceUsage, root.Version = true, true, versionLine()
	root.Flags().Bool("version", false, "print the version")
	root.SetVersionTemplate("{{.Version}}")
	addFlags(root.PersistentFlags(), reflect.ValueOf(&c.globals).Elem())
	root.PersistentPreRunE = c.begin
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Short: "print help for a command", Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, _ := root.Find(args)
			if len(rest) > 0 {
				return unknownCommand(found, rest[0])
			}
			return found.Help()
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
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !reads(cmd, f.Name) {
			err = cmp.Or(err, noFlag(cmd, f.Name))
		}
	})
	if err != nil {
		return err
	}
	for _, folder := range trustedFolders() {
		if folder != "" && !filepath.IsAbs(folder) { // it would depend on the current folder
			return usageErr("OBELUS_TRUST lists %q, which isn't an absolute path", folder).
				Advise("write the whole path of the folder that is to be trusted")
		}
	}
	if c.Folder != "" {
		if err := os.Chdir(c.Folder); err != nil {
			return usageErr("--chdir can't be %q: %w", c.Folder, reason(err))
		}
	}
	c.out.Color, c.err.Color = c.Color, c.Color
	return nil
}

// reads reports whether a command reads a global flag.
func reads(cmd *cobra.Command, flag string) bool {
	return slices.Contains(strings.Fields(cmd.Annotations["global"]), flag)
}

func unknownCommand(above *cobra.Command, name string) error {
	var names []string
	for _, cmd := range above.Commands() {
		if !cmd.Hidden {
			names = append(append(names, cmd.Name()), cmd.Aliases...)
		}
	}
	t := usageErr("there is no command %q", name).Advise("\"obelus help\" lists the commands")
	if _, err := os.Stat(name); err == nil {
		t.Advise("to check this file: obelus check %s", wording.ShellWord(name))
	}
	return t.Suggest(name, names)
}

// noFlag reports a flag that a command doesn't have.
func noFlag(cmd *cobra.Command, name string) error {
	owner := cmd.Name() + " has"
	if !cmd.HasParent() {
		owner = "there is"
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != name && (cmd.InheritedFlags().Lookup(f.Name) == nil || reads(cmd, f.Name)) {
			names = append(names, "--"+f.Name)
		}
	})
	name = strings.Repeat("-", min(2, len(name))) + name
	return usageErr("%s no flag %q", owner, name).Advise("\"%s --help\" lists the flags", cmd.CommandPath()).
		Suggest(name, names)
}

// flagError reports in plain words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *diag.UserError
	switch {
	case errors.As(err, &unknown):
		return noFlag(cmd, unknown.GetSpecifiedName())
	case errors.As(err, &invalid):
		return invalid
	}
	return usageErr("%v", err).Advise("\"%s --help\" lists the flags", cmd.CommandPath())
}

// counted says how many arguments a command takes, and what they are.
func counted(what string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageErr("%s needs %s", cmd.Name(), what).Advise("usage: %s", cmd.UseLine())
		case len(args) > most:
			t := usageErr("%s accepts no further argument %q", cmd.Name(), args[most]).
				Advise("usage: %s", cmd.UseLine())
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if f.Shorthand == f.Name[:1] && strings.Contains(f.Value.String(), f.Name[1:]) { // -input
					t.Advise("did you mean --%s?", f.Name)
				}
			})
			return t
		}
		return nil
	}
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
{{.LocalFlags.FlagUsagesWrapped 90}}{{with globalFlags .}}
global flags, which "obelus --help" explains:
  {{.}}
{{end}}{{if .HasSubCommands}}
"{{.CommandPath}} COMMAND --help" describes a command.
{{end}}`

// globalFlags names the global flags that a command reads.
func globalFlags(cmd *cobra.Command) string {
	var names []string
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		if reads(cmd, f.Name) {
			names = append(names, name)
		}
	})
	return strings.Join(names, " ")
}

func init() {
	cobra.AddTemplateFunc("indented", func(text string) string { return strings.ReplaceAll("  "+text, "\n", "\n  ") })
	cobra.AddTemplateFunc("globalFlags", globalFlags)
	cobra.AddTemplateFunc("join", strings.Join)
	cobra.EnableCommandSorting = false // commands are listed in the order of their use
}
