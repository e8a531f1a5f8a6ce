package main

import (
	"context"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/examples"
	"github.com/obelus-dev/obelus/runtime"
)

// The schemas of what the tools answer. Objects written by commands may hold more than is
// named here.
const (
	restSchema     = `"leftOut":{"type":"integer","description":"how many entries are left out"},"next":{"type":"integer","description":"give this as \"first\" to see them"}`
	positionSchema = `{"type":["object","null"],"properties":{"line":{"type":"integer"},"column":{"type":"integer"},"offset":{"type":"integer"}}}`
	findingsSchema = `{"type":"object","properties":{"findings":{"type":"array","items":{"type":"object","properties":{"code":{"type":"string"},"name":{"type":"string"},"severity":{"enum":["error","warning","info"]},"message":{"type":"string"},"file":{"type":["string","null"]},"start":` + positionSchema + `,"end":` + positionSchema + `,"call":{"type":["string","null"]},"related":{"type":"array"},"fixes":{"type":"array"},"witness":{},"help":{"type":["string","null"]}},"required":["code","severity","message"]}},"summary":{"type":"object","properties":{"errors":{"type":"integer"},"warnings":{"type":"integer"},"infos":{"type":"integer"},"maturity":{"type":["string","null"]}},"required":["errors","warnings","infos"]},` + restSchema + `},"required":["findings","summary"]}`

	explainedSchema   = `{"type":"object","properties":{"page":{"type":"string","description":"Markdown"}},"required":["page"]}`
	drawnSchema       = `{"type":"object","properties":{"format":{"enum":["text","mermaid"]},"drawing":{"type":"string"}},"required":["format","drawing"]}`
	simulatedSchema   = `{"type":"object","properties":{"scenario":{"type":"object","properties":{"status":{"type":"string"},"makespan":{"type":"number","description":"milliseconds"},"cost":{"type":"number"},"calls":{"type":"array","items":{"type":"object","properties":{"call":{"type":"string"},"tool":{"type":"string"},"status":{"type":"string"},"start":{"type":"number"},"end":{"type":"number"}},"required":["call","tool","status"]}},"output":{},"state":{}},"required":["status","calls"]},"problems":{"type":"array","items":{"type":"object"}},"summary":{"type":"object"},` + restSchema + `},"required":["scenario","summary"]}`
	comparedSchema    = `{"type":"object","properties":{"verdict":{"enum":["fits","never","may-not-fit","unknown"]},"witness":{"description":"a value that the producer accepts and the consumer refuses"},"keyword":{"type":["string","null"]},"reason":{"type":["string","null"]}},"required":["verdict"]}`
	differencesSchema = `{"type":"object","properties":{"differences":{"type":"array","items":{"type":"object","properties":{"change":{"type":"string"},"of":{"type":"string"},"name":{"type":"string"}},"required":["change","of"]}},"summary":{"type":"object","properties":{"same":{"type":"boolean"}},"required":["same"]},` + restSchema + `},"required":["differences","summary"]}`
	ranSchema         = `{"type":"object","properties":{"events":{"type":"array","items":{"type":"object"}},"end":{"type":"object","properties":{"status":{"enum":["done","failed","stopped"]},"run":{"type":"string"},"output":{},"state":{},"errors":{}},"required":["status","run"]},` + restSchema + `},"required":["events","end"]}`
)

// references are the parts of the language's reference, by the resources that they are.
var references = []struct{ name, title, text string }{
	{"language", "the plan language", compiler.Reference},
	{"execution", "how a plan runs", runtime.Reference},
}

var headings = regexp.MustCompile(`(?m)^##+ (.*)$`)

func contentsOf(title, text string) string {
	for _, heading := range headings.FindAllStringSubmatch(text, -1) {
		title += "\n  " + heading[1]
	}
	return title
}

// anchor is a heading as a link names it.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}

func sectionOf(reference, name string) string {
	for _, at := range headings.FindAllStringSubmatchIndex(reference, -1) {
		if anchor(reference[at[2]:at[3]]) != anchor(name) {
			continue
		}
		text, next := reference[at[0]:], "\n## "
		if strings.HasPrefix(text, "###") {
			next = "\n##"
		}
		text, _, _ = strings.Cut(text, next)
		return strings.TrimSpace(text)
	}
	return ""
}

// addResources adds what agents may read: all of it is in this program.
func (s *mcpServer) addResources(to *mcp.Server) {
	const markdown = "text/markdown"
	fixed := func(uri, name, about, kind string, text func() string) {
		to.AddResource(&mcp.Resource{URI: uri, Name: name, Description: about, MIMEType: kind}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return resource(uri, kind, text()), nil
		})
	}
	family := func(of, argument, name, about, kind string, find func(string) string) {
		to.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: of + "{" + argument + "}", Name: name, Description: about, MIMEType: kind}, func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			text := find(strings.TrimPrefix(request.Params.URI, of))
			if text == "" {
				return nil, mcp.ResourceNotFoundError(request.Params.URI)
			}
			return resource(request.Params.URI, kind, text), nil
		})
	}
	for _, one := range references {
		fixed("obelus://"+one.name, one.name, "Contents of the reference: "+one.title, markdown, func() string { return contentsOf(one.title, one.text) })
		for _, heading := range headings.FindAllStringSubmatch(one.text, -1) {
			fixed("obelus://"+one.name+"/"+anchor(heading[1]), heading[1], "A section of the reference: "+one.title, markdown, func() string { return sectionOf(one.text, heading[1]) })
		}
	}
	fixed("obelus://rules", "rules", "All findings: code, severity, name", "text/plain", rulesList)
	family("obelus://rules/", "code", "rule", "What a finding means and how to mend it, such as OB401", markdown, func(code string) string { text, _ := analyzer.Page(code); return text })
	fixed("obelus://examples", "examples", "The names of the example plans", "text/plain", func() string { return strings.Join(exampleNames(), "\n") })
	family("obelus://examples/", "name", "example", "An example, such as weather.yaml", "application/yaml", example)
	fixed("obelus://schemas/plan", "plan.schema.json", "The JSON Schema of plan files", "application/schema+json", func() string { return string(planschema.JSON()) })
}

func resource(uri, kind, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}

func rulesList() string {
	var text strings.Builder
	_ = (&cli{out: &text}).listRules() // to memory
	return text.String()
}

func exampleNames() []string {
	all, err := examples.Plans.ReadDir(".")
	if err != nil {
		panic(err) // it is embedded
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = one.Name()
	}
	return names
}

func example(name string) string {
	text, err := examples.Plans.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}
