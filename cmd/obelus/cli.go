package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit statuses.
const (
	statusOK      = 0
	statusFound   = 1 // findings at or above the threshold, or a run that failed
	statusError   = 2 // usage, files, or a fault of our own
	statusStopped = 3 // a run that was stopped
)

// run carries out one command line and gives its exit status. It touches
// nothing of the process but what it is handed, files and the environment.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	c := &cli{in: stdin, out: stdout, err: stderr}
	defer func() {
		if bug := recover(); bug != nil {
			c.reportPanic(bug)
			status = statusError
		}
	}()
	root := c.rootCommand()
	root.SetArgs(append([]string{}, args...)) // nil would mean the process's own
	err := root.ExecuteContext(ctx)
	var ended ending
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &ended):
		return int(ended)
	}
	c.showError(err)
	return statusError
}

// A cli is one invocation: where it reads and writes.
type cli struct {
	in       io.Reader
	out, err io.Writer
}

// An ending is the exit status of a command that has said all there is to say.
type ending int

func (e ending) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageErr is a mistake on the command line or a refusal of the world outside, in this
// program's own words.
func usageErr(format string, args ...any) *diag.UserError {
	return diag.NewError(nil, format, args...)
}

// showError says on stderr what kept a command from doing its work.
func (c *cli) showError(err error) {
	style := terminal.StyleFor(c.err)
	message, help := inOurWords(err)
	fmt.Fprintf(c.err, "%s %s\n", style.Red("obelus:"), diag.Escape(message))
	if help != "" {
		fmt.Fprintf(c.err, "  %s %s\n", style.Green("help:"), diag.Escape(help))
	}
}

// reportPanic reports a panic of our own: the place, and no stack.
func (c *cli) reportPanic(bug any) {
	fmt.Fprintf(c.err, "obelus: internal error: %s\n", diag.Escape(fmt.Sprint(bug)))
	if at := panicPlace(); at != "" {
		fmt.Fprintf(c.err, "  at %s\n", at)
	}
	fmt.Fprintf(c.err, "  this is a fault in obelus and not in your plan; please report it with these lines and the plan\n")
}

// panicPlace finds the function that panicked, below the runtime's own.
func panicPlace() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	panicking := false
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, "runtime."):
			panicking = panicking || frame.Function == "runtime.gopanic"
		case panicking:
			return fmt.Sprintf("%s, line %d", frame.Function, frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// rootCommand puts the program together. Only what is built is in it.
func (c *cli) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "obelus COMMAND …",
		Short: "check, draw, rehearse and run plans",
		Long: "A plan is a list of tool calls that find each other through the paths that they\n" +
			"write and read. Obelus checks plans, draws them, rehearses and runs them.",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(root *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			return unknownCommand(root, args[0])
		},
	}
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		for _, folder := range trustedFolders() {
			if folder != "" && !filepath.IsAbs(folder) { // it would be another wherever one stands
				return usageErr("OBELUS_TRUST lists %q, which isn't an absolute path", folder).Advise("write the whole path of the folder that is to be trusted")
			}
		}
		return nil
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpCommand(c.helpCommand())
	root.AddGroup(groups...)
	root.SetCompletionCommandGroupID(groups[len(groups)-1].ID)
	root.AddCommand(c.commands()...)
	root.AddCommand(removedCommand("fork", "continue from a tick of a run: obelus resume RUN --at TICK"))
	version := root.Flags().Bool("version", false, "print the version")
	plain := root.RunE
	root.RunE = func(root *cobra.Command, args []string) error {
		if *version {
			return c.printVersion()
		}
		return plain(root, args)
	}
	all := append(root.Commands(), root)
	for _, cmd := range root.Commands() {
		all = append(all, cmd.Commands()...)
	}
	for _, cmd := range all {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Usage = "print this help"
		cmd.DisableFlagsInUseLine = true
	}
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			names = append(append(names, cmd.Name()), cmd.Aliases...)
		}
	}
	t := usageErr("there is no command %q", name).Advise("\"obelus help\" lists the commands")
	if _, err := os.Stat(name); err == nil {
		t.Advise("to check this file: obelus check %s", name)
	}
	return t.Suggest(name, names)
}

// flagError says in plain words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		invalid *pflag.InvalidValueError
	)
	owner := cmd.Name() + " has"
	if !cmd.HasParent() {
		owner = "there is"
	}
	hint := fmt.Sprintf("\"%s --help\" lists the flags", cmd.CommandPath())
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if instead := cmp.Or(removedFlags[path+" --"+name], removedFlags["--"+name]); instead != "" {
			return usageErr("%s no longer has the flag --%s", path, name).Advise("%s", instead)
		}
		if unknown.GetSpecifiedShortnames() != "" {
			return usageErr("%s no flag %q", owner, "-"+name).Advise("%s", hint)
		}
		t := usageErr("%s no flag %q", owner, "--"+name)
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := naming.Nearest(name, names); ok {
			return t.Advise("did you mean %q?", "--"+near)
		}
		return t.Advise("%s", hint)
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		if instead, ok := removedFlags[path+" --"+flag.Name+" "+invalid.GetValue()]; ok {
			return usageErr("%s no longer has --%s %s", path, flag.Name, invalid.GetValue()).Advise("%s", instead)
		}
		wrong := usageErr("expected %s", expectation(flag))
		errors.As(invalid.Unwrap(), &wrong)
		return usageErr("--%s can't be %q: %s", flag.Name, invalid.GetValue(), wrong.Message).Advise("%s", wrong.Help)
	}
	return usageErr("%v", err).Advise("%s", hint)
}

// expectation is what the value of a flag must be.
func expectation(f *pflag.Flag) string {
	value := f.Value
	if n, ok := value.(wordedValue); ok {
		value = n.Value
	}
	switch value.Type() {
	case "bool":
		return "true or false"
	case "int", "int64", "uint64":
		return "a whole number"
	case "duration":
		return "a duration such as 300ms, 30s or 1h30m"
	}
	return f.Value.Type()
}

// counted says how many arguments a command takes, and what they are.
func counted(what string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageErr("%s needs %s", cmd.Name(), what).Advise("usage: %s", cmd.UseLine())
		case len(args) > most:
			return usageErr("%s takes no further argument %q", cmd.Name(), args[most]).Advise("usage: %s", cmd.UseLine())
		case least == 2 && args[0] == "-" && args[1] == "-":
			return usageErr("only one of the two can be standard input")
		}
		return nil
	}
}

func oneArg(what string) cobra.PositionalArgs { return counted(what, 1, 1) }

// A choice is a flag whose value is one of a few words.
type choice struct {
	words []string
	value string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.words, "|") }

func (c *choice) Set(value string) error {
	for _, word := range c.words {
		if value == word {
			c.value = value
			return nil
		}
	}
	return usageErr("expected %s", wording.Or(c.words)).Suggest(value, c.words)
}

// choose adds a flag that takes one of a few words; the first is the default.
func choose(cmd *cobra.Command, name, usage string, words ...string) *string {
	c := &choice{words: words, value: words[0]}
	cmd.Flags().Var(c, name, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	return &c.value
}

// textOptions fit findings to the stream that they are shown on.
func textOptions(stream any) diag.TextOptions {
	o := terminal.TextOptions(stream)
	o.Fixed = "--fix does it"
	return o
}
