package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/spf13/cobra"
)

// Reading says how documents are read, by the flags of a command.
type reading struct{ project.Reader }

// addReading gives a command the flags that say how plans are read.
func (c *cli) addReading(cmd *cobra.Command) *reading {
	r := c.newReading()
	flags := cmd.Flags()
	addText(cmd, &r.Root, "root", "DIR", "the workspace, which no import leaves; by default the nearest folder with obelus.yaml or .git in it, else the file's own")
	_ = cmd.MarkFlagDirname("root")
	flags.StringArrayVar(&r.Activities, "activities", nil, "a file of activities that are taken before the plan's own; may be given several times")
	stands(cmd, "activities", "FILE")
	flags.StringArrayVar(&r.Policies, "policy", nil, "a file that says what plans may do, in the place of the workspace's obelus.policy.yaml; may be given several times")
	stands(cmd, "policy", "FILE")
	addText(cmd, &r.Config, "config", "FILE", "the configuration; by default the nearest obelus.yaml in the workspace")
	flags.BoolVar(&r.Trust, "trust", false, "let the workspace's obelus.yaml and policy say that something is harmless, as \"obelus trust\" does for good, and OBELUS_TRUST for folders")
	flags.VarP(allowed{&r.Hosts}, "allow-host", "", "let requests go to a host that the workspace's obelus.yaml doesn't list, or to a private or local address; may be given several times")
	stands(cmd, "allow-host", "HOST[:PORT]")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml", "json", "jsonl"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return r
}

// allowed are the hosts that a flag names.
type allowed struct{ list *[]hosts.Entry }

func (a allowed) String() string { return "" }
func (a allowed) Type() string   { return "HOST[:PORT]" }
func (a allowed) Set(text string) error {
	one, err := hosts.Parse(text)
	*a.list = append(*a.list, one)
	return err
}

// newReading reads with the default limits, and says which configurations it passes over.
func (c *cli) newReading() *reading {
	r := &reading{project.Reader{Limits: source.DefaultLimits(), Stdin: c.in, Trusted: trustedFolders()}}
	r.Passed = func(one workspace.Refused) {
		if one.Misnamed {
			fmt.Fprintf(c.err, "obelus: \"%s\" isn't read: %s\n", diag.Escape(one.Name), one.Why)
			return
		}
		fmt.Fprintf(c.err, "obelus: \"%s\" isn't read, since others may have written it: %s; name it with --config if it is meant\n", diag.Escape(one.Name), one.Why)
	}
	return r
}

// trustedFolders are those that the environment lists.
func trustedFolders() []string { return filepath.SplitList(os.Getenv("OBELUS_TRUST")) }

// reason is an error of the file system without the path and the system call.
func reason(err error) string { return workspace.Reason(err) }
