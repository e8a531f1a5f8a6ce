package main

import (
	"github.com/obelus-dev/obelus/cmd/obelus/internal/simulation"
	"github.com/spf13/cobra"
)

// A group is commands that help lists together.
type group struct {
	title string
	rows  []command
}

// table has every command, in the order in which users meet them. COMMANDS.md describes them.
func table() []group {
	look := []command{
		{use: "check [FILE… | DIR… | -]", short: "find faults in plans before they run",
			aliases: []string{"lint", "validate"}, args: cobra.ArbitraryArgs, global: planFlags,
			exclusive: []string{"fix diff"}, action: &checking{}, tool: checkTool},
		{use: "explain [CODE]", short: "print what a finding means and how to fix it", args: cobra.MaximumNArgs(1),
			action: &explaining{}, tool: explainTool},
		{use: "graph FILE | - | --run RUN", short: "draw a plan or a run: SVG, a page, Graphviz, Mermaid, text",
			args: cobra.MaximumNArgs(1), global: planFlags + "--runs ", action: &graphing{Depth: 1}, tool: graphTool,
			exclusive: []string{"run scheme", "run focus", "run between"}},
		{use: "compile FILE | -", short: "write the compiled plan as canonical JSON", args: cobra.ExactArgs(1),
			global: planFlags, action: &compiling{}},
		{use: "approve FILE | -", short: "show what a plan does, and sign that it may", args: cobra.ExactArgs(1),
			global: planFlags, exclusive: []string{"verify format"}, action: &signing{Expires: "90d"}},
		{use: "diff OLD NEW", short: "compare the behavior of two plans", args: cobra.ExactArgs(2),
			global: planFlags, action: &differing{}, tool: diffTool},
		{use: "tools --check [DIR | CATALOGUE]",
			short: "import the tools of a service, and report how they have changed since",
			args:  cobra.MaximumNArgs(1), action: &toolsFlags{}, below: []command{
				{use: "import FILE", short: "make a catalogue of an OpenAPI file or of MCP servers",
					global: "--allow-host ", args: cobra.ExactArgs(1), action: &importing{}}}},
		{use: "trust [DIR]", short: "trust what a workspace's obelus.yaml and policy declare harmless",
			args: cobra.MaximumNArgs(1), exclusive: []string{"show revoke"}, action: &trusting{}},
		{use: "mcp", short: "serve check, graph, simulate and other commands to agents over MCP",
			args: cobra.ExactArgs(0), global: planFlags, action: &serving{}},
	}
	execute := []command{
		{use: "simulate FILE | -", short: "run a plan on a virtual clock, without running anything",
			aliases: []string{"dry-run"}, args: cobra.ExactArgs(1), global: planFlags,
			exclusive: []string{"branches schedule schedules seeds"},
			action:    &simulating{Flags: simulation.Flags{Seed: 1}}, tool: simTool},
		{use: "run FILE | -", short: "run a plan", args: cobra.ExactArgs(1), global: planFlags + "--runs ",
			exclusive: []string{"auto-approve confirm", "model planner", "continue planner", "plan-only instances",
				"plan-only require-approval", "plan-only permit", "plan-only web", "plan-only out",
				"plan-only approval"}, action: &starting{Planner: "none"}},
		{use: "resume RUN", short: "continue a run that was stopped or killed", args: cobra.ExactArgs(1),
			global: runFlags, exclusive: []string{"auto-approve confirm"}, action: &resuming{}},
		{use: "decide RUN [CALL [approve | reject | change NAME=VALUE… | replace CALL | retry | fail]]",
			short: "answer the questions of a run", args: cobra.MinimumNArgs(1), global: runFlags,
			action: &deciding{}},
		{use: "runs", short: "list runs by their journals", args: cobra.ExactArgs(0), global: "--runs ",
			action: &runListing{}, below: []command{
				{use: "show RUN", short: "describe one run", args: cobra.ExactArgs(1), global: runFlags,
					action: &showing{}}}},
	}
	about := []command{
		{use: "schema [plan|config|policy]",
			short: "print the JSON Schema of plans, obelus.yaml or policies, for editors", args: cobra.MaximumNArgs(1),
			action: &printingSchema{}},
		{use: "version", short: "print the version", args: cobra.ExactArgs(0), action: &printingVersion{}},
	}
	return []group{{"look at a plan", look}, {"run it", execute}, {"about obelus", about}}
}
