package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/planschema"
	"github.com/obelus-dev/obelus/examples"
	"github.com/obelus-dev/obelus/runtime"
)

// addResources adds what agents may read: all of it is in this program.
func addResources(to *mcp.Server) {
	add := func(name, about, kind, text string) {
		uri := "obelus://" + name
		to.AddResource(&mcp.Resource{URI: uri, Name: name, Description: about, MIMEType: kind},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				content := &mcp.ResourceContents{URI: uri, MIMEType: kind, Text: text}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
			})
	}
	add("language", "the reference of the plan language", "text/markdown", compiler.Reference)
	add("execution", "the reference of how a plan runs", "text/markdown", runtime.Reference)
	add("schemas/plan", "the JSON Schema of plan files", "application/schema+json", string(planschema.JSON()))
	names, _ := fs.Glob(examples.Plans, "*")
	for _, name := range names {
		text, _ := examples.Plans.ReadFile(name)
		add("examples/"+name, "an example", "application/yaml", string(text))
	}
}

// escaped writes JSON without characters that could act on what shows it.
type escaped struct{ io.Writer }

func (e escaped) Write(line []byte) (int, error) {
	_, err := e.Writer.Write(append(diag.EscapeJSON(bytes.TrimSuffix(line, []byte("\n"))), '\n'))
	return len(line), err
}

func (escaped) Close() error { return nil }
