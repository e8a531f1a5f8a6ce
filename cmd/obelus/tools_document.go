package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// helps are what to do about operations that aren't imported, by their reasons.
var helps = map[string]string{
	openapi.NoAddress: "say where the service is with --server https://…",
	openapi.Outside: "put the file into the folder, or make one document of them, such as with " +
		"npx @redocly/cli bundle FILE -o openapi.yaml",
	openapi.UnknownKey: "say what shows who asks with --header \"NAME: {$VARIABLE}\"",
	openapi.BadBody:    "define an activity for it yourself, such as an exec of curl",
}

// read reads an OpenAPI document, with the files of its folder that it refers to.
func (o *importing) read(c *cli, name string, text []byte) (*openapi.API, error) {
	options := openapi.Options{Server: o.Server, Headers: map[string]any{}}
	if name != "-" {
		options.Open = workspace.Folder{Dir: filepath.Dir(name), Limit: source.DefaultLimits().Bytes}.Open
	}
	for _, header := range o.Header {
		name, value, ok := strings.Cut(header, ":")
		if !ok || name == "" {
			return nil, usageErr("--header can't be %q: expected NAME: VALUE", header).
				Advise("write it like --header \"Authorization: Bearer {$TOKEN}\"")
		}
		options.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	only, tags, names := like(o.Only), like(o.Tags), like(o.Names)
	options.Wanted = func(op *openapi.Operation) bool {
		return only(op.String()) && names(op.Name) && (len(o.Tags) == 0 || slices.ContainsFunc(op.Tags, tags))
	}
	api, found := openapi.Read(source.NewFile(name, text), options)
	if api == nil {
		return nil, c.faulty(found)
	}
	return api, nil
}

// ofDocument makes a catalogue of an OpenAPI document.
func (o *importing) ofDocument(c *cli, name string, text []byte) (*importResult, error) {
	api, err := o.read(c, name, text)
	if err != nil {
		return nil, err
	}
	result := &importResult{
		catalogue: api.Catalogue(), kind: "operation", unwanted: api.Unwanted, variables: api.Variables,
	}
	about := func(at source.Span, message, reason string) remark {
		return remark{diag.Escape(at.Where()) + ": " + message, helps[reason]}
	}
	for _, op := range api.Operations {
		if op.Refused != nil {
			message := op.String() + ": " + op.Refused.Message
			result.refused = append(result.refused, about(op.Refused.At, message, op.Refused.Reason))
		}
	}
	for _, n := range api.Notes {
		result.changed = append(result.changed, about(n.At, n.Message, n.Reason))
	}
	if o.Output == "" {
		return result, nil
	}
	relative, err := pathFrom(o.Output, name)
	record := map[string]any{"file": relative, "digest": api.Digest(text)}
	if o.Server != "" {
		record["server"] = o.Server
	}
	o.record(record)
	result.catalogue["x-source"] = record
	return result, err
}
