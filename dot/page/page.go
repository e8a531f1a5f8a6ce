// Package page writes a drawing as one HTML file, with the facts of its calls and the events of a
// simulation or a run. Its content policy allows its own script and style only: it loads nothing, and
// nothing in a plan can run.
package page

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/dot"
)

var (
	//go:embed page.html
	shell string
	//go:embed page.css
	style string
	//go:embed page.js
	pageScript string
	//go:embed panel.js
	panelScript string
	//go:embed live.js
	liveScript string
)

// A Page is what one file shows.
type Page struct {
	View      dot.View
	Parts     []Part // the plan, or of a run with a planner that of each tick
	Scenarios []Scenario
	Kind      Kind
	Choices   [][]string // of simulations: what may go otherwise, and how, in words; first how it usually goes
	Drawn     int        // of a live page: how often it was drawn
}

// Kind is what the scenarios of a page are.
type Kind string

// The kinds of page.
const (
	Simulation Kind = "simulation" // the first as the plan goes, the others with a call that fails
	Run        Kind = "run"        // one run
	Live       Kind = "live"       // of a run in progress: its events come from where the page does
)

// A Part is a plan whose calls the view has.
type Part struct {
	Prefix   string // before the names of its calls in the view; "2:" of the second tick
	Plan     *plan.Plan
	Facts    *facts.Facts
	Findings []diag.Diagnostic
}

// A Scenario is a simulation or a run.
type Scenario struct {
	Name     string            `json:"name"`
	Picks    [][2]int          `json:"picks,omitempty"`    // the option of every choice that it met
	Together bool              `json:"together,omitempty"` // several things go otherwise that needn't all do
	Fails    string            `json:"fails,omitempty"`    // the call that it lets fail
	Critical []string          `json:"critical,omitempty"` // its critical path, where it is known, and whose it is
	Instance string            `json:"criticalInstance,omitempty"`
	Cost     float64           `json:"cost,omitempty"`
	Events   []json.RawMessage `json:"events"` // EXECUTION.md#events
}

// News is a message to a live page.
type News struct {
	Events    []json.RawMessage `json:"events"`
	Questions []Question        `json:"questions"`
	Drawn     int               `json:"drawn"` // a page that was drawn before that doesn't have all calls
	Over      bool              `json:"over"`
}

// A Question is open. Its text is the one that a terminal shows.
type Question struct {
	ID      string            `json:"id"`
	Number  int               `json:"number"` // another each time it is asked
	Key     string            `json:"key"`    // of its call
	Text    string            `json:"text"`
	Problem string            `json:"problem,omitempty"` // why the last answer couldn't be used
	Effects string            `json:"effects"`
	Params  any               `json:"params,omitempty"` // that may be changed
	Schema  any               `json:"schema,omitempty"` // of these
	Plan    map[string]string `json:"plan,omitempty"`   // by parameter, the reference of the plan
	Again   bool              `json:"again,omitempty"`  // retry or fail is the answer
}

// The form of the block of data, which only the page's own script reads.
type (
	block struct {
		Kind      Kind          `json:"kind"`
		Notes     []string      `json:"notes"`
		Card      facts.Rows    `json:"card,omitempty"`
		Calls     []call        `json:"calls"`
		Drawings  []drawing     `json:"drawings"` // the second has fewer boxes
		Parts     []part        `json:"parts"`
		Findings  []finding     `json:"findings"` // about no call
		Output    []facts.Value `json:"output,omitempty"`
		Advisors  []string      `json:"advisors"`
		Planned   bool          `json:"planned,omitempty"`
		Worst     facts.Worst   `json:"worst"`
		Scenarios []Scenario    `json:"scenarios,omitempty"`
		Choices   [][]string    `json:"choices,omitempty"`
		Drawn     int           `json:"drawn,omitempty"`
	}
	part struct {
		Prefix string                `json:"prefix"`
		Tools  map[string]facts.Tool `json:"tools"`
	}
	drawing struct {
		Nodes []node   `json:"nodes"`
		Edges [][2]int `json:"edges"` // the nodes that each is between
	}
	node struct {
		ID    string   `json:"id"`
		Calls []string `json:"calls,omitempty"`
	}
	call struct {
		Key  string `json:"key"` // as the view names it
		Part int    `json:"part"`
		facts.Call
		To       string    `json:"to"`
		Leaves   bool      `json:"leaves,omitempty"`
		Answered bool      `json:"answered,omitempty"` // its result stands there already, and a model has given it
		Sends    []string  `json:"sends,omitempty"`    // besides its parameters, from the environment, by name
		Findings []finding `json:"findings,omitempty"`
	}
	finding struct {
		Code     string `json:"code"`
		Severity string `json:"severity"`
		Message  string `json:"message"`
		Help     string `json:"help,omitempty"`
	}
)

const (
	mostCalls = 3000 // a page reports, with those of delegates; those of the plan itself are all there
	deepest   = 8    // so many delegates stand within each other at most
	readable  = 1600 // so wide and so high may a drawing be that is read at once
)

// folded is the drawing with fewer boxes of a plan that can't be read at once; no text where all of it can be.
func (p *Page) folded(full string) (view dot.View, svg string) {
	fits := func(svg string) bool {
		var width, height int
		_, size, _ := strings.Cut(svg, `viewBox="`)
		_, err := fmt.Sscanf(size, "0 0 %d %d", &width, &height)
		return err == nil && max(width, height) <= readable
	}
	if fits(full) || len(p.Parts) != 1 || len(p.View.Nodes) < len(p.Parts[0].Plan.Calls) {
		return view, ""
	}
	for _, most := range []int{36, 20, 10} {
		o := dot.Options{MaxNodes: most, MaxEdges: 3 * most}
		view = dot.FromPlan(p.Parts[0].Plan, p.Parts[0].Findings, o)
		if svg = view.SVG(); fits(svg) {
			break
		}
	}
	return view, svg
}

// HTML is the page. The same page always gives the same bytes.
func (p *Page) HTML() (string, error) {
	full := p.View.SVG()
	folded, fewer := p.folded(full)
	block := p.block()
	if fewer != "" {
		block.Drawings = append(block.Drawings, drawingOf(folded))
	}
	text, err := json.Marshal(block) // which leaves no "<" in it
	if err != nil {
		return "", err
	}
	script, connects := pageScript+panelScript, ""
	if p.Kind == Live {
		script, connects = script+liveScript, "; connect-src 'self'"
	}
	policy := "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) + " " +
		hash(dot.SVGStyle) + "; base-uri 'none'; form-action 'none'" + connects
	title := html.EscapeString(cmp.Or(p.View.Name, "plan"))
	return strings.NewReplacer("{{title}}", title, "{{policy}}", policy,
		"{{style}}", style, "{{drawing}}", full, "{{folded}}", fewer, "{{data}}", string(text),
		"{{script}}", script).Replace(shell), nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *Page) block() *block {
	b := &block{
		Kind: p.Kind, Notes: diag.Listed(p.View.Notes), Drawings: []drawing{drawingOf(p.View)},
		Scenarios: slices.Clone(p.Scenarios), Choices: p.Choices, Drawn: p.Drawn,
		Calls: []call{}, Parts: []part{}, Findings: []finding{}, Advisors: []string{},
	}
	for _, one := range p.Parts {
		b.add(one, one.Facts)
		b.Card = one.Facts.Card("", nil)
		b.Output, b.Planned, b.Worst = one.Facts.Output, b.Planned || one.Facts.Planned, one.Facts.Worst
		b.Advisors = diag.Listed(one.Facts.Advisors)
	}
	for i := range b.Scenarios {
		b.Scenarios[i].Events = p.redacted(b.Scenarios[i].Events)
	}
	return b
}

// drawingOf is what the page's script needs of a drawing.
func drawingOf(v dot.View) drawing {
	d := drawing{Nodes: []node{}, Edges: [][2]int{}}
	for _, n := range v.Nodes {
		d.Nodes = append(d.Nodes, node{n.ID, n.Calls})
	}
	for _, e := range v.Edges {
		d.Edges = append(d.Edges, [2]int{e.From, e.To})
	}
	return d
}

// redacted are events without the secrets of the plans; one that is no JSON without them is
// left out.
func (p *Page) redacted(events []json.RawMessage) []json.RawMessage {
	all := make([]json.RawMessage, 0, len(events))
	for _, event := range events {
		text := string(event)
		for _, one := range p.Parts {
			text = compiler.Redact(one.Plan, text)
		}
		if text == string(event) {
			all = append(all, event)
		} else if json.Valid([]byte(text)) {
			all = append(all, json.RawMessage(text))
		}
	}
	return all
}

// add accepts the calls of a plan, and below each those of the plan that it runs.
func (b *block) add(p Part, outermost *facts.Facts) {
	about := map[string][]finding{}
	for _, f := range p.Findings {
		one := finding{f.Rule.Code, f.Severity.String(), compiler.Redact(p.Plan, f.Message),
			compiler.Redact(p.Plan, f.Help)}
		if f.Call == "" {
			b.Findings = append(b.Findings, one)
		} else {
			about[f.Call] = append(about[f.Call], one)
		}
	}
	number := len(b.Parts)
	b.Parts = append(b.Parts, part{p.Prefix, map[string]facts.Tool{}})
	for _, t := range p.Facts.Tools {
		b.Parts[number].Tools[t.Name] = t
	}
	for i := range p.Facts.Calls {
		f := p.Facts.Calls[i]
		c := call{Key: p.Prefix + f.Name, Part: number, Call: f, To: f.Runs.Destination(), Leaves: f.Leaves(),
			Findings: about[f.Name]}
		c.Answered = f.Runs.Kind == facts.Produced && (p.Facts.Planned || p.Facts.IsAnswer())
		if a := p.Plan.Activities[p.Plan.Calls[i].Activity]; a != nil && a.HTTP != nil {
			c.Sends = kinds.SentVariables(a.HTTP)
		}
		b.Calls = append(b.Calls, c)
		inner := p.Plan.Delegates[p.Plan.Calls[i].Delegate]
		if inner == nil || len(b.Calls)+len(inner.Calls) > mostCalls {
			continue
		}
		if known := outermost.Delegates[f.Runs.Plan]; known != nil && strings.Count(c.Key, "/") < deepest {
			b.add(Part{c.Key + "/", inner, known, inner.Found}, outermost)
		}
	}
}
