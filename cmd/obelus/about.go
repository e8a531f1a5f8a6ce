package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/wording"
)

func listRules() (text string) {
	for _, rule := range rules.Registered {
		severity := rule.Default.String()
		if rule.Optional {
			severity = "off"
		}
		text += fmt.Sprintf("%s  %-8s %s\n", rule.Code, severity, rule.Name)
	}
	return text
}

// explain prints the page of a finding, or lists all findings without a name.
func explain(_ context.Context, c *cli, args []string) error {
	name := strings.Join(args, "")
	if name == "" {
		_, err := fmt.Fprint(c.out, listRules())
		return err
	}
	rule, near := rules.Named(name)
	if rule != nil {
		page, ok := rules.Page(rule.Code)
		if !ok {
			panic("the rule " + rule.Code + " has no page")
		}
		_, err := fmt.Fprintln(c.out, strings.TrimRight(page, "\n"))
		return err
	}
	if strings.EqualFold(name, "maturity") {
		_, err := fmt.Fprintln(c.out, maturities)
		return err
	}
	t := usageErr("there is no finding %q", name)
	if near != "" {
		return t.Advise("did you mean %q?", near)
	}
	return t.Advise("\"obelus explain\" lists all findings")
}

// maturities is what the last line of a check says of a plan without errors.
const maturities = `How mature a plan is, as "obelus check" says in its last line. Each degree includes those before it:

  freeform  nothing says what the state holds
  open      a state schema names some of its paths and allows others
  closed    the state schema names every path
  happy     besides, every alternative that can be taken is handled
  complete  every failure of a tool that isn't a model's has its route as well`

func printSchema(_ context.Context, c *cli, args []string) error {
	texts := map[string]func() []byte{"plan": planschema.JSON, "config": analyzer.ConfigSchema, "policy": policy.Schema}
	kinds := []string{"plan", "config", "policy"}
	kind := append(args, "plan")[0]
	if texts[kind] == nil {
		return usageErr("there is no schema of %q", kind).Advise("there is one of %s", wording.Or(kinds)).
			Suggest(kind, kinds)
	}
	_, err := c.out.Write(texts[kind]())
	return err
}

func printVersion(_ context.Context, c *cli, _ []string) error {
	_, err := fmt.Fprintf(c.out, "obelus %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is the program's own, if it was built from one.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
