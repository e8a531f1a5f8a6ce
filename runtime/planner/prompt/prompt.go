// Package prompt puts requests into words.
package prompt

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/reference"
	"github.com/obelus-dev/obelus/runtime/request"
)

var (
	//go:embed instructions.md
	instructions string
	//go:embed instructions_lazy.md
	instructionsLazy string
	//go:embed instructions_latent.md
	instructionsLatent string
)

// A Prompt is a request in the words in which a model is asked.
type Prompt struct {
	System string // how to answer
	User   string // what is known: headings and JSON
}

// Render puts a request into words. Whatever comes from outside stands as JSON on
// one line in a fence, or as quoted lines, so that none of it can pass for a
// heading.
func Render(r *request.Request) Prompt {
	p := &page{}
	if r.Call != nil {
		p.heading("Call", r.Call.Name)
		p.say("Tool: %s. Parameters:", quoted(r.Call.Tool))
		p.fence(request.JSON(r.Call.Params))
		if len(r.Call.Paths) > 0 {
			p.say(
				"Its result takes one of these paths, the last of which takes failures as well. " +
					"`{\"_outputPath\": path, \"_output\": result}` says which one; a result alone takes the first " +
					"that has room for it.")
			for _, path := range r.Call.Paths {
				p.say("- %s", quoted(path))
			}
		}
	}
	for i, m := range r.Messages {
		var before request.Message
		if i > 0 {
			before = r.Messages[i-1]
		}
		p.message(m, before)
	}
	system := instructions
	switch {
	case r.Call != nil:
		system = instructionsLatent
		p.heading("Your answer", "")
		p.say("Write the result of the call %s.", quoted(r.Call.Name))
	case r.Lazy:
		system += instructionsLazy
		fallthrough
	default:
		p.heading("Your answer", "")
		p.say("Write the solution of tick %d.", r.Tick)
	}
	return Prompt{System: system, User: p.text.String()}
}

// WithSchema adds the schema to a prompt, for endpoints that can't be given one.
func (p Prompt) WithSchema(schema string) Prompt {
	tail := &page{}
	tail.say("It has to be valid against this JSON Schema, its properties in the order of the schema:")
	tail.fence(schema)
	return Prompt{System: p.System, User: p.User + "\n" + tail.text.String()}
}

// quoted is a name from outside, in a line of ours.
func quoted(name string) string { return request.Quoted(diag.Escape(name)) }

type page struct{ text strings.Builder }

func (p *page) message(m, before request.Message) {
	switch m := m.(type) {
	case request.Text:
		p.heading("Task", "")
		p.quote(m.Text)
	case request.Meta:
		p.heading("Meta", "")
		if m.Meta == nil {
			m.Meta = m.More
		}
		p.fence(request.JSON(m.Meta))
	case request.Tools:
		for _, tool := range m {
			p.heading("Tool", tool.Name)
			p.fence(request.JSON(tool.Definition))
		}
	case request.Values:
		p.values(m)
	case request.Plan:
		p.plan(m)
	case request.Advisor:
		p.heading("Advisor", m.ID)
		if m.Role != "" {
			p.quote(m.Role)
		}
		if len(m.More) > 0 {
			p.fence(request.JSON(m.More))
		}
	case request.Past:
		p.past(m)
	case request.Failure:
		if other, ok := before.(request.Failure); !ok || other.Instance != m.Instance {
			p.heading("Errors", "")
			p.instance(m.Instance)
		}
		p.failure(m.Data)
	}
}

func (p *page) instance(id string) {
	if id != "" {
		p.say("Of the instance %s.", quoted(id))
	}
}

func (p *page) values(m request.Values) {
	p.heading(strings.ToUpper(m.Of[:1])+m.Of[1:], m.Kind)
	p.instance(m.Instance)
	if m.About != "" {
		p.quote(m.About)
	}
	if m.Kind != "" && reference.IsBareKey(m.Kind) {
		p.say("Read it as `†%s`.", m.Kind)
	}
	for _, one := range m.Looked {
		scopes := make([]string, len(one.Scopes))
		for i, scope := range one.Scopes {
			scopes[i] = quoted(scope)
		}
		p.say("The advisor %s looks first at %s.", quoted(one.Advisor), strings.Join(scopes, ", "))
	}
	if m.Schema != nil {
		p.say("Schema:")
		p.fence(request.JSON(m.Schema))
	}
	if m.Value == nil {
		p.say("It has no value yet.")
		return
	}
	p.say("Value:")
	p.fence(request.JSON(m.Value))
}

func (p *page) plan(m request.Plan) {
	p.heading("Plan", "")
	if len(m.Calls) == 0 {
		p.say("It has no calls yet.")
		return
	}
	p.say("Its calls:")
	p.fence(lines(m.Calls))
	if len(m.Standings) == 0 {
		p.say("None of them has run.")
		return
	}
	p.say(
		"What has become of them. A call without `_id` is named by its tool and its place in the list, from 1; " +
			"those that aren't named here haven't run.")
	p.fence(lines(m.Standings))
}

// past reports calls that nothing else reports, so that they aren't made again.
func (p *page) past(m request.Past) {
	p.heading("Earlier calls", "")
	p.say("What became of calls of earlier turns that the values above don't show. What is done stays done.")
	p.fence(lines(m.Calls()))
	if len(m.Earlier) > 0 {
		p.say("And before these, by tool, how many:")
		p.fence(request.JSON(m.Earlier))
	}
}

func lines[T any](list []T) string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = request.JSON(item)
	}
	return strings.Join(texts, "\n")
}

func (p *page) failure(data any) {
	get := func(key string) (value any, ok bool) {
		switch data := data.(type) {
		case map[string]any:
			value, ok = data[key]
		case request.Object:
			value, ok = data.Get(key), data.Has(key)
		}
		return value, ok
	}
	reason, given := get("error")
	if !given {
		p.fence(request.JSON(data))
		return
	}
	if call, _ := get("call"); call == nil {
		p.say("Of the solution as a whole:")
	} else {
		p.say("Of the call")
		p.fence(request.JSON(call))
		p.say("the reason:")
	}
	p.fence(request.JSON(reason))
}

// heading begins a section. A name in it is quoted and stays on its line.
func (p *page) heading(title, name string) {
	if s := p.text.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		p.text.WriteByte('\n')
	}
	p.text.WriteString("# " + title)
	if name != "" {
		p.text.WriteString(" " + quoted(name))
	}
	p.text.WriteString("\n\n")
}

func (p *page) say(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// fence writes lines of JSON. None of them begins with a back-tick, so none can
// end the fence.
func (p *page) fence(json string) { p.text.WriteString("```json\n" + json + "\n```\n") }

// lineEnds is what somebody may take for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028",
	"\n", "\u2029", "\n")

// quote writes text from outside, each of its lines behind a mark.
func (p *page) quote(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(lineEnds.Replace(text), "\n"), "\n") {
		p.text.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
	p.text.WriteByte('\n') // or what follows would belong to it
}
