package main

// removedCommands no longer exist; each gives one error that says what to use instead.
var removedCommands = map[string]string{
	"compat": "\"obelus check\" compares the schemas that a plan connects (OB505, OB506)",
	"fork":   "continue from a tick of a run: obelus resume RUN --at TICK",
}

// removedFlags are flags, "command --flag" or "--flag" of all commands, and values of flags, "command --flag value",
// that no longer exist, with what to use instead. They aren't registered; each gives one error.
var removedFlags = map[string]string{
	"--limit": "a document has at most 64 MiB, 100 levels, 8 MiB in one text and 40 " +
		"characters in one number",
	"approve --out":     "--approval names the file of the approval",
	"diff --format png": toPNG,
	"graph --critical": "\"obelus simulate PLAN\" prints the critical path, and \"obelus graph PLAN -o " +
		"FILE.html\" shows it on a page",
	"graph --delegates": "the calls of delegates are drawn where the drawing has at most 30 calls; draw " +
		"the file of a delegate",
	"graph --paths":      "--detail writes the paths on the edges",
	"graph --format png": toPNG,
	"graph --labels":     "\"obelus check PLAN\" reports the ways that a policy forbids (OB701, OB702)",
	"graph --layout":     "draw with Graphviz: obelus graph PLAN --format dot | dot -Tsvg",
	"runs --verify":      "\"obelus runs\" verifies every record of every journal",
	"runs show --at": "continue from a tick of a run: obelus resume RUN --at TICK; \"obelus runs " +
		"show RUN --format json\" lists its events in order",
	"simulate --format dot":     toPage,
	"simulate --format html":    toPage,
	"simulate --format mermaid": toPage,
	"simulate --format png":     toPage,
	"simulate --format svg":     toPage,
	"simulate --from":           "compute statistics of a run from its events: obelus run PLAN --format json | jq",
	"simulate --runs":           "compute statistics of a run from its events: obelus run PLAN --format json | jq",
	"tools import --format":     "the report is text; the tools are in the catalogue (-o)",
	"tools --format":            "the report is text; the exit status is 1 when something breaks plans",
	"tools --plan": "import the tools again and check the plan: obelus tools import FILE -o " +
		"CATALOGUE, then obelus check PLAN",
	"trust --format": "\"obelus trust --show\" prints text; its exit status is 1 when something " +
		"isn't trusted",
	"version --format": "\"obelus version\" prints one line: the version, Go's version and the platform",
}

const (
	toPNG  = "draw with Graphviz: obelus graph PLAN --format dot | dot -Tpng -o FILE"
	toPage = "--format text draws the times; obelus graph PLAN -o FILE.html draws what happens when a call fails"
)
