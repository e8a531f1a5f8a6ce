package agents

import (
	"context"
	"io/fs"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/examples"
	"github.com/obelus-dev/obelus/runtime"
)

// references are the parts of the language's reference, by the resources that they are.
var references = []struct{ name, title, text string }{
	{"language", "the plan language", compiler.Reference},
	{"execution", "how a plan runs", runtime.Reference},
}

var headings = regexp.MustCompile(`(?m)^##+ (.*)$`)

const markdown = "text/markdown"

// AddResources adds what agents may read: all of it is in this program.
func AddResources(to *mcp.Server, findings string) {
	add := func(uri, name, about, kind, text string) {
		one := &mcp.Resource{URI: uri, Name: name, Description: about, MIMEType: kind}
		to.AddResource(one, resource("", kind, func(string) string { return text }))
	}
	for _, one := range references {
		contents := one.title
		for _, at := range headings.FindAllStringSubmatchIndex(one.text, -1) {
			heading, text, next := one.text[at[2]:at[3]], one.text[at[0]:], "\n## "
			contents += "\n  " + heading
			if strings.HasPrefix(text, "###") {
				next = "\n##"
			}
			text, _, _ = strings.Cut(text, next)
			anchor := strings.ReplaceAll(strings.ToLower(heading), " ", "-")
			add("obelus://"+one.name+"/"+anchor, heading, "A section of the reference: "+one.title, markdown,
				strings.TrimSpace(text))
		}
		add("obelus://"+one.name, one.name, "Contents of the reference: "+one.title, markdown, contents)
	}
	names, _ := fs.Glob(examples.Plans, "*")
	add("obelus://rules", "rules", "All findings: code, severity, name", "text/plain", findings)
	add("obelus://examples", "examples", "The names of the example plans", "text/plain",
		strings.Join(names, "\n"))
	add("obelus://schemas/plan", "plan.schema.json", "The JSON Schema of plan files", "application/schema+json",
		string(planschema.JSON()))
	addFamily := func(uri, argument, name, about, kind string, find func(string) string) {
		to.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: uri + "{" + argument + "}", Name: name, Description: about, MIMEType: kind,
		}, resource(uri, kind, find))
	}
	addFamily("obelus://rules/", "code", "rule", "What a finding means and how to fix it, such as OB401", markdown,
		func(code string) string { text, _ := rules.Page(code); return text })
	addFamily("obelus://examples/", "name", "example", "An example, such as weather.yaml", "application/yaml", example)
}

// resource answers with the text of a resource, found by the part of its address below another.
func resource(below, kind string, find func(string) string) mcp.ResourceHandler {
	return func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := request.Params.URI
		text := find(strings.TrimPrefix(uri, below))
		if text == "" {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}, nil
	}
}

func example(name string) string {
	text, _ := examples.Plans.ReadFile(name) // nothing for another name
	return string(text)
}
