package catalogues

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/runtime/project"
)

// Check reports how OpenAPI documents differ from their catalogues in a file or folder, and whether that breaks plans.
func Check(name string) (text string, breaks bool, err error) {
	files, _ := filepath.Glob(filepath.Join(name, "*.y*ml"))
	if len(files) == 0 {
		files = []string{name}
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", false, project.CantRead(file, err).
				Advise("\"obelus tools import FILE -o CATALOGUE\" makes a catalogue")
		}
		from := parsed(file, content).Get("x-source")
		if from == nil {
			continue
		}
		document := filepath.Join(filepath.Dir(file), filepath.FromSlash(from.Get("file").AsText()))
		found, state, err := compare(document, source.NewFile(file, content), from)
		if err != nil {
			return "", false, err
		}
		text += diag.Escape(document) + ": " + state + "\n"
		for _, why := range slices.Sorted(slices.Values(found)) {
			text += "  " + diag.Escape(why) + "\n"
		}
		breaks = breaks || len(found) > 0
	}
	if text == "" {
		return "", false, diag.NewError(nil, "no catalogue in %q records what it was imported from", name).
			Advise("import the tools again: obelus tools import FILE -o CATALOGUE")
	}
	return text, breaks, nil
}

// A drift says, tool by tool, why a valid plan may not be valid any more.
type drift []string

func (d *drift) add(tool, format string, args ...any) {
	*d = append(*d, tool+": "+fmt.Sprintf(format, args...))
}

// compare imports a document again and compares the tools with those of a catalogue.
func compare(document string, file *source.File, from *source.Node) (d drift, state string, err error) {
	text, err := os.ReadFile(document)
	if err != nil {
		return nil, "", project.CantRead(document, err)
	}
	var o Import
	recorded, _ := json.Marshal(from.Value())
	_ = json.Unmarshal(recorded, &o)
	api, err := o.read(document, text)
	if err != nil || workspace.SumOf(text) == from.Get("digest").AsText() {
		return nil, "as it was", err
	}
	again, err := json.Marshal(api.Catalogue())
	if err != nil {
		return nil, "", err
	}
	before, found := compiler.Compile(file, compiler.Options{Definitions: true})
	now, alsoFound := compiler.Compile(source.NewFile("now.json", again), compiler.Options{Definitions: true})
	if found = append(found, alsoFound...); diag.HasErrors(found) {
		return nil, "", &Faulty{found}
	}
	operations := map[string]*openapi.Operation{}
	for _, o := range api.Operations {
		operations[o.String()] = o
	}
	for _, was := range before.Tools {
		operation := was.Node.Get("x-operation").AsText()
		switch o, is := operations[operation], now.Tool(was.Name); {
		case operation == "": // it wasn't imported
		case o != nil && o.Refused != nil:
			d.add(was.Name, "it can't be imported any more: %s", o.Refused.Message)
		case o == nil || o.Name != was.Name:
			d.add(was.Name, "it isn't there any more")
		default:
			d.compare(was, is)
			isSame := terminal.JSON(was.Parameters.Raw(), "") == terminal.JSON(is.Parameters.Raw(), "")
			if isSame && request(before, was) != request(now, was) {
				d.add(was.Name, "its request changed")
			}
		}
	}
	if len(d) > 0 {
		return d, "breaks plans:", nil
	}
	return d, "changed, and breaks no plans", nil
}

// compare reports how a tool differs from its catalogue: each value of the catalogue's parameters must still be valid,
// no parameter may be required that wasn't, and each result must fit the catalogue's.
func (d *drift) compare(was, is *plan.Tool) {
	for _, name := range was.Parameters.Properties() {
		if !slices.Contains(is.Parameters.Properties(), name) {
			d.add(was.Name, "it has no parameter %q any more", name)
			continue
		}
		before, now := was.Parameters.Part(name).Schema, is.Parameters.Part(name).Schema
		d.fits(was.Name, fmt.Sprintf("parameter %q", name), before, now, "may not be %s any more")
	}
	for _, name := range is.Parameters.Required() {
		if !slices.Contains(was.Parameters.Required(), name) {
			d.add(was.Name, "its parameter %q is required now", name)
		}
	}
	d.fits(was.Name, "result", is.Output, was.Output, "may now be %s, which was ruled out")
}

// fits reports a value that the producer gives and the consumer refuses.
func (d *drift) fits(tool, what string, producer, consumer *schema.Schema, refused string) {
	switch verdict := schema.Contains(producer, consumer, schema.Budget{}); verdict.Relation {
	case schema.Fits:
	case schema.Unknown:
		d.add(tool, "its %s may not fit any more (%s)", what, cmp.Or(verdict.CutShort(), verdict.Keyword))
	default:
		refused = fmt.Sprintf(refused, wording.Cut(terminal.JSON(verdict.Witness, ""), 200))
		if why := consumer.Validate(verdict.Witness); why != nil {
			refused += ": " + why.Message
		}
		d.add(tool, "its %s %s", what, refused)
	}
}

// request is how an activity sends the parameters of its tool.
func request(p *plan.Plan, of *plan.Tool) string {
	if a := p.Activities[of.Name]; a != nil {
		return terminal.JSON(a.Node.Get("http").Value(), "")
	}
	return ""
}
