package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/catalogues"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/spf13/cobra"
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
	c := &cli{in: stdin, out: terminal.NewScreen(stdout), err: terminal.NewScreen(stderr)}
	return c.execute(ctx, args)
}

func (c *cli) execute(ctx context.Context, args []string) (status int) {
	defer func() {
		if bug := recover(); bug != nil {
			c.err.Print("obelus: internal error: %s\n%s\n"+
				"  this is a fault in obelus and not in your plan; please report it with these lines and the plan\n",
				diag.Escape(fmt.Sprint(bug)), debug.Stack())
			status = statusError
		}
	}()
	root := c.rootCommand()
	root.SetArgs(append([]string{}, args...)) // nil would mean the process's own
	err := root.ExecuteContext(ctx)
	if faulty := new(catalogues.Faulty); errors.As(err, &faulty) {
		c.out.Keep(diag.Text(c.out, faulty.Found, terminal.TextOptions(c.out)))
		err = ending(statusError)
	}
	ended := ending(statusOK)
	if err = cmp.Or(c.out.Err(), err); err != nil && !errors.As(err, &ended) {
		c.showError(err)
		ended = statusError
	}
	return int(ended)
}

// A cli is one invocation: where it reads and writes.
type cli struct {
	in       io.Reader
	out, err *terminal.Screen
	globals
	cmd *cobra.Command

	confined bool      // to the workspace: agents learn nothing of this machine
	second   io.Reader // standard input for the second of two plans; nil for the same
}

// An ending is the exit status of a command that has said all there is to say.
type ending int

func (e ending) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// endFound ends a command, with a status of its own if something was found.
func endFound(found bool) error {
	if found {
		return ending(statusFound)
	}
	return nil
}

// usageErr is a mistake on the command line or a refusal of the world outside, in this program's own words.
func usageErr(format string, args ...any) *diag.UserError {
	return diag.NewError(nil, format, args...)
}

// note prints a message about the work on stderr, which -q leaves out.
func (c *cli) note(format string, args ...any) {
	if !c.Quiet {
		c.err.Print("obelus: "+format+"\n", args...)
	}
}

// showError says on stderr what kept a command from doing its work.
func (c *cli) showError(err error) {
	t := &diag.UserError{Message: err.Error()}
	if errors.As(err, &t); t.Help == "" && errors.Is(err, session.ErrNoRun) {
		t.Advise("%s  # lists them", c.commandLine("runs"))
	}
	c.err.Print("%s %s\n", terminal.StyleFor(c.err).Red("obelus:"), diag.Escape(t.Message))
	if t.Help != "" {
		c.help(diag.Escape(t.Help))
	}
}

// newReading reads documents as the global flags say, and reports which configurations it ignores.
func (c *cli) newReading() *project.Reader {
	return &project.Reader{
		Limits: source.DefaultLimits(), Stdin: c.in, Trusted: trustedFolders(), Root: c.Root, Config: c.Config,
		Activities: c.Activities, Policies: c.Policies, Trust: c.Trust, Hosts: c.Hosts, Confined: c.confined,
		Passed: c.passed,
	}
}

// passed reports a configuration that isn't read.
func (c *cli) passed(one workspace.Refused) {
	c.err.Print("obelus: \"%s\" isn't read: %s\n", diag.Escape(one.Name), one.Why)
}

// detail prints a message about a file that only -v asks for.
func (c *cli) detail(format string, file *source.File) {
	if c.Verbose && file != nil {
		c.note(format, diag.Escape(file.Name))
	}
}

func trustedFolders() []string { return filepath.SplitList(os.Getenv("OBELUS_TRUST")) }
