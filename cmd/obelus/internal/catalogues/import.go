// Package catalogues imports the tools of an OpenAPI document or of MCP servers into catalogues, and reports how a
// document differs from the catalogue of it. It writes no files, and starts the MCP servers of a file.
package catalogues

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// Faulty is the error of a file that has errors.
type Faulty struct{ Found []diag.Diagnostic }

func (f *Faulty) Error() string { return "a file has errors" }

// An Import is what is imported of a source. A catalogue records it, under the names of the fields in lower case.
type Import struct {
	Only    []string `flag:"--only PATTERN: import operations like this: \"GET /users/*\""`
	Tags    []string `flag:"--tag PATTERN: import operations with a tag like this"`
	Headers []string `flag:"--header HEADER: send with every request: \"Authorization: Bearer {$TOKEN}\""`
	Server  string   `flag:"--server URL: the address of the service, in place of the file's first"`
}

// record is the import with other fields of a catalogue's record.
func (o *Import) record(fields map[string]any) map[string]any {
	for name, list := range map[string][]string{"only": o.Only, "tags": o.Tags, "headers": o.Headers} {
		if len(list) > 0 {
			fields[name] = list
		}
	}
	if o.Server != "" {
		fields["server"] = o.Server
	}
	return fields
}

// like reports whether a text is like one of some patterns; without patterns every text is.
func like(patterns []string) func(string) bool {
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	var all []string
	for _, pattern := range patterns {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*"))
	}
	return regexp.MustCompile("^(?s:" + strings.Join(all, "|") + ")$").MatchString
}

// A Result is a catalogue, and what became of the rest of its source.
type Result struct {
	Tools     map[string]any
	Catalogue any
	refused   []string // what isn't imported, with the reasons
	changed   []string // what is imported otherwise
	variables []string // of the environment, with what they are for
}

// Read makes a catalogue of the tools of a file. Output is where it is to be written, "" for nowhere.
func (o *Import) Read(ctx context.Context, name string, reading *project.Reader, output string) (*Result, error) {
	text, err := reading.Text(name)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	var catalogue map[string]any
	if root := parsed(name, text); root.Get("openapi") == nil && root.Get("servers").IsMapping() {
		catalogue, err = o.readServers(ctx, name, reading, output, r)
	} else {
		catalogue, err = o.readDocument(name, text, output, r)
	}
	if err != nil {
		return nil, err
	}
	written, err := json.Marshal(catalogue)
	if err == nil {
		err = json.Unmarshal(written, &r.Catalogue)
	}
	r.Tools = catalogue["tools"].(map[string]any)
	return r, err
}

// parsed is the document of a file, as far as it can be read.
func parsed(name string, text []byte) *source.Node {
	root, _ := source.Parse(source.NewFile(name, text), source.Limits{})
	return root
}

func (o *Import) readDocument(name string, text []byte, output string, r *Result) (map[string]any, error) {
	api, err := o.read(name, text)
	if err != nil {
		return nil, err
	}
	for _, op := range api.Operations {
		if op.Refused != nil {
			r.refused = append(r.refused, op.Refused.At.Where()+": "+op.String()+": "+op.Refused.Message)
		}
	}
	for _, n := range api.Notes {
		r.changed = append(r.changed, n.At.Where()+": "+n.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(api.Variables)) {
		r.variables = append(r.variables, name+": "+api.Variables[name])
	}
	catalogue := api.Catalogue()
	if output == "" {
		return catalogue, nil
	}
	relative, err := project.PathFrom(filepath.Dir(output), name)
	record := map[string]any{"file": filepath.ToSlash(relative), "digest": workspace.SumOf(text)}
	catalogue["x-source"] = o.record(record)
	return catalogue, err
}

func (o *Import) read(name string, text []byte) (*openapi.API, error) {
	if why := openapi.NotAnAddress(o.Server); o.Server != "" && why != "" {
		return nil, diag.NewError(nil, "--server: %s", why).Advise("write it like https://api.example.com/v1")
	}
	options := openapi.Options{Server: o.Server, Headers: map[string]any{}}
	for _, header := range o.Headers {
		key, value, ok := strings.Cut(header, ":")
		if !ok || key == "" {
			return nil, diag.NewError(nil, "--header can't be %q: expected NAME: VALUE", header).
				Advise("write it like --header \"Authorization: Bearer {$TOKEN}\"")
		}
		options.Headers[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	only, tags := like(o.Only), like(o.Tags)
	options.Wanted = func(op *openapi.Operation) bool {
		return only(op.String()) && (len(o.Tags) == 0 || slices.ContainsFunc(op.Tags, tags))
	}
	api, found := openapi.Read(source.NewFile(name, text), options)
	if api == nil {
		return nil, &Faulty{found}
	}
	return api, nil
}

const mostChanged = 20 // that are listed

// Report describes an import to people.
func (r *Result) Report(file, output string, style terminal.Style) string {
	text := style.Bold(wording.Count(len(r.Tools), "tool")) + " of " + diag.Escape(file) + " imported"
	if len(r.refused) > 0 {
		text += fmt.Sprintf(", %d not", len(r.refused))
	}
	if output != "" && len(r.Tools) > 0 {
		text += "; they are in " + diag.Escape(output)
	}
	text += "\n"
	if more := len(r.changed) - mostChanged; more > 0 {
		r.changed = append(r.changed[:mostChanged], fmt.Sprintf("and %d more", more))
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			text += style.Bold(title) + "\n"
		}
		for _, line := range lines {
			text += "  " + diag.Escape(line) + "\n"
		}
	}
	list("not imported:", r.refused)
	list("imported otherwise than they are written:", r.changed)
	list("requests take from the environment:", r.variables)
	return text
}
