package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/compiler/policy"
)

// explaining prints the page of a finding, or lists all findings without a name.
type explaining struct{}

func (explaining) run(_ context.Context, c *cli, args []string) error {
	name := strings.Join(args, "")
	if name == "" {
		for _, rule := range rules.Registered {
			c.out.Print("%s  %s\n", rule.Code, rule.Name)
		}
		return nil
	}
	rule, near := rules.Find(rules.Registered, name)
	if rule == nil {
		t := usageErr("there is no finding %q", name).Advise("\"obelus explain\" lists all findings")
		if near != "" {
			t.Advise("did you mean %q?", near)
		}
		return t
	}
	page, _ := rules.Page(rule.Code)
	c.out.Print("%s\n", strings.TrimRight(page, "\n"))
	return nil
}

type printingSchema struct{}

func (printingSchema) run(_ context.Context, c *cli, args []string) error {
	texts := map[string]func() []byte{"plan": planschema.JSON, "config": analyzer.ConfigSchema, "policy": policy.Schema}
	kind := append(args, "plan")[0]
	if texts[kind] == nil {
		return usageErr("there is no schema of %q", kind).Advise("there is one of plan, config or policy")
	}
	c.out.Print("%s", texts[kind]())
	return nil
}

type printingVersion struct{}

func (printingVersion) run(_ context.Context, c *cli, _ []string) error {
	c.out.Print("%s", versionLine())
	return nil
}

func versionLine() string {
	return fmt.Sprintf("obelus %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the program's own, if it was built from one.
func version() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(strings.Trim(build.Main.Version, "()"), "devel")
	}
	return "devel"
}
