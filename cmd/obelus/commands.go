package main

import (
	"math"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/simulation"
)

// A group is commands that help lists together.
type group struct {
	title string
	rows  []command
}

// table has every command, in the order in which users meet them. COMMANDS.md describes them.
func table() []group {
	plan, run := counted("a plan", 1, 1), counted("a run", 1, 1)
	look := []command{
		{use: "check [FILE… | DIR… | -]", short: "find faults in plans before they run",
			aliases: []string{"lint", "validate"},
			args:    counted("", 0, math.MaxInt), global: planFlags, exclusive: [][]string{{"fix", "diff"}},
			action: func() action { return &checking{} }, tool: checkTool},
		{use: "explain [CODE]", short: "print what a finding means and how to fix it", args: counted("", 0, 1),
			action: plain(explain), tool: explainTool},
		{use: "graph FILE | - | --run RUN", short: "draw a plan or a run: SVG, a page, Graphviz, Mermaid, text",
			global: planFlags + "runs ", exclusive: [][]string{{"run", "scheme"}},
			action: func() action { return &graphing{Depth: 1} }, tool: graphTool},
		{use: "compile FILE | -", short: "write the compiled plan as canonical JSON", args: plan, global: planFlags,
			action: func() action { return &compiling{} }},
		{use: "approve FILE | -", short: "show what a plan does, and sign that it may", args: plan, global: planFlags,
			exclusive: [][]string{{"verify", "format"}},
			action:    func() action { return &signing{Expires: "90d"} }},
		{use: "diff OLD NEW", short: "compare the behavior of two plans", args: counted("two plans", 2, 2),
			global: planFlags,
			action: func() action { return &differing{} }, tool: diffTool},
		{use: "tools --check [DIR | CATALOGUE]",
			short: "import the tools of a service, and report how they have changed since",
			args:  counted("", 0, 1), global: planFlags, action: func() action { return &toolsFlags{} },
			below: []command{
				{use: "import FILE", short: "make a catalogue of an OpenAPI file or of MCP servers",
					global: "allow-host ",
					args:   counted("an OpenAPI file, or one that defines MCP servers", 1, 1),
					action: func() action { return &importing{} }}}},
		{use: "trust [DIR]", short: "trust what a workspace's obelus.yaml and policy declare harmless",
			args:      counted("", 0, 1),
			exclusive: [][]string{{"show", "revoke"}}, action: func() action { return &trusting{} }},
		{use: "mcp", short: "serve check, graph, simulate and other commands to agents over MCP",
			args:   counted("", 0, 0),
			global: planFlags, action: func() action { return &serving{} }},
	}
	execute := []command{
		{use: "simulate FILE | -", short: "run a plan on a virtual clock, without running anything",
			aliases: []string{"dry-run"},
			args:    plan, global: planFlags, exclusive: [][]string{{"branches", "schedule", "schedules", "seeds"}},
			action: func() action { return &simulating{Flags: simulation.Flags{Seed: 1}} }, tool: simulateTool},
		{use: "run FILE | -", short: "run a plan", args: plan, global: planFlags + "runs ",
			exclusive: [][]string{{"model", "planner"}, {"continue", "planner"}, {"plan-only", "instances"},
				{"plan-only", "require-approval"}, {"plan-only", "permit"}, {"plan-only", "web"}, {"plan-only", "out"},
				{"plan-only", "approval"}},
			action: func() action { return &starting{Planner: "none"} }},
		{use: "resume RUN", short: "continue a run that was stopped or killed", args: run, global: runFlags,
			action: func() action { return &resuming{} }},
		{use: "decide RUN [CALL [approve | reject | change NAME=VALUE… | replace CALL | retry | fail]]",
			short: "answer the questions of a run", args: counted("a run", 1, math.MaxInt), global: runFlags,
			action: func() action { return &deciding{} }},
		{use: "runs", short: "list runs by their journals", args: counted("", 0, 0), global: "runs ",
			action: func() action { return &runListing{} }, below: []command{
				{use: "show RUN", short: "describe one run", args: run, global: runFlags,
					action: func() action { return &showing{} }}}},
	}
	about := []command{
		{use: "schema [plan|config|policy]",
			short: "print the JSON Schema of plans, obelus.yaml or policies, for editors",
			args:  counted("", 0, 1), action: plain(printSchema)},
		{use: "version", short: "print the version", args: counted("", 0, 0), action: plain(printVersion)},
	}
	return []group{{"look at a plan", look}, {"run it", execute}, {"about obelus", about}}
}
