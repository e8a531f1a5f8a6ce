package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/cobra"
)

func (c *cli) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "tell what a finding means and how to mend it",
		Long: "Tells what a finding means, why it matters, and shows a plan that has it and the same plan\n" +
			"mended. CODE is a finding's code or name, or \"maturity\"; without one all findings are listed.",
		Example: "obelus explain OB401\nobelus explain dangling-reference",
		Args:    counted("", 0, 1),
		RunE:    func(_ *cobra.Command, args []string) error { return c.explain(strings.Join(args, "")) },
	}
}

func (c *cli) listRules() error {
	for _, rule := range analyzer.Rules() {
		severity := rule.Default.String()
		if rule.Optional {
			severity = "off"
		}
		if _, err := fmt.Fprintf(c.out, "%s  %-8s %s\n", rule.Code, severity, rule.Name); err != nil {
			return err
		}
	}
	return nil
}

// explain prints the page of a finding, or lists all findings without a name.
func (c *cli) explain(name string) error {
	if name == "" {
		return c.listRules()
	}
	rule, near := analyzer.Named(name)
	if rule != nil {
		page, ok := analyzer.Page(rule.Code)
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

func (c *cli) schemaCommand() *cobra.Command {
	texts := map[string]func() []byte{"plan": planschema.JSON, "config": analyzer.ConfigSchema, "policy": policy.Schema}
	kinds := []string{"plan", "config", "policy"}
	return &cobra.Command{
		Use:   "schema [plan|config|policy]",
		Short: "print the JSON Schema of plans, of obelus.yaml or of policies, for editors",
		Long: "Prints the JSON Schema (draft 2020-12) of the documents that obelus reads, of its\n" +
			"configuration, or of policies. An editor that is given it completes keys, shows what\n" +
			"they mean, and marks what has the wrong shape.",
		Example: "obelus schema > plan.schema.json\n" +
			"then begin a plan with: # yaml-language-server: $schema=plan.schema.json",
		ValidArgs: kinds,
		Args:      counted("", 0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			of := append(args, "plan")[0]
			if texts[of] == nil {
				return usageErr("there is no schema of %q", of).Advise("there is one of %s", wording.Or(kinds)).Suggest(of, kinds)
			}
			_, err := c.out.Write(texts[of]())
			return err
		},
	}
}

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "print the version", Args: counted("", 0, 0), RunE: func(*cobra.Command, []string) error { return c.printVersion() }}
}

func (c *cli) printVersion() error {
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
