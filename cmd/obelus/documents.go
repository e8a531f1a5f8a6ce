package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// newReading reads documents as the global flags say, and reports which configurations it ignores.
func (c *cli) newReading() *project.Reader {
	if c.documents != nil {
		return c.documents
	}
	r := &project.Reader{
		Limits: source.DefaultLimits(), Stdin: c.in, Trusted: trustedFolders(), Root: c.Root, Config: c.Config,
		Activities: c.Activities, Policies: c.Policies, Trust: c.Trust, Hosts: c.Hosts,
	}
	r.Passed = c.passed
	return r
}

// passed reports a configuration that isn't read.
func (c *cli) passed(one workspace.Refused) {
	why := one.Why
	if !one.Misnamed {
		why = "others may have written it: " + why + "; name it with --config if it is meant"
	}
	fmt.Fprintf(c.err, "obelus: \"%s\" isn't read: %s\n", diag.Escape(one.Name), why)
}

// detail prints a message that only -v asks for.
func (c *cli) detail(format string, name string) {
	if c.Verbose {
		c.note(format, diag.Escape(name))
	}
}

// describe prints which settings apply.
func (c *cli) describe(config *project.Configuration) {
	if config.File != nil {
		c.detail("settings: \"%s\"", config.File.Name)
	}
}

// trustedFolders are those that the environment lists.
func trustedFolders() []string { return filepath.SplitList(os.Getenv("OBELUS_TRUST")) }

// reason is an error of the file system without the path and the system call.
func reason(err error) string { return workspace.Reason(err) }
