package plan

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Written is what a call of an earlier tick wrote, as one message of a context holds it: a value at a path, with the
// call under "_call". One that wrote nothing has a message without a path.
type Written struct {
	Path    pathtree.ID // [pathtree.Root] where nothing was written
	Method  Method
	Value   any
	Failure bool // the path is one of those that failures of the call go to
	Message *source.Node

	// Call is the call as it ran: "_tool", "_id", "_tick", its parameters, and as it was listed "_outputPath" and what
	// else tells it from others.
	Call           *source.Node
	Tool, Activity string // "" for the activity of a latent call
	Identity       string // what it has in common with a call that repeats it, its parameters aside
	Failed         bool   // what was written is the record of a failure
	// Number tells calls that are done from each other, from 1 in the order in which they
	// were listed; it is 0 for one that a later plan can't repeat.
	Number int
}

// Params are the parameters that the call ran with.
func (w *Written) Params() map[string]any {
	params := map[string]any{}
	for _, f := range w.Call.Fields {
		if key := f.Key.Text; !strings.HasPrefix(key, "_") || key == "_each" { // of each item
			params[f.Key.Text] = f.Value.Value()
		}
	}
	return params
}

// Items gives those items of a call with "_each" that are done, of each what it ran with and gave.
func (w *Written) Items(give func(params map[string]any, output any)) {
	params, _ := w.Params()["_each"].([]any)
	outputs, _ := w.Output().([]any)
	places, _ := w.Call.Get("_items").Value().([]any)
	for _, place := range places {
		if at, ok := place.(float64); ok && at >= 0 && int(at) < min(len(params), len(outputs)) {
			if of, ok := params[int(at)].(map[string]any); ok {
				give(of, outputs[int(at)])
			}
		}
	}
}

// Output is the result of the call.
func (w *Written) Output() any {
	if w.Path != pathtree.Root {
		return w.Value
	}
	return w.Call.Get("_output").Value()
}

// Advice says how votes are put together, and what results from them.
type Advice struct {
	Aggregate    string  `key:"aggregate" words:"mean,sum,min"` // mean by default
	Threshold    float64 `key:"threshold"`
	HasThreshold bool
	// what becomes of a call of a tool below the threshold; off by default
	Enforce string `key:"enforce" words:"off,warn,ask"`
}

// A Rank is what the advisors make of one tool.
type Rank struct {
	Tool   string  `json:"tool"`
	Weight float64 `json:"weight"`
	Votes  []Vote  `json:"votes"` // by advisor and instance
}

// A Vote is one advisor's weight of a tool.
type Vote struct {
	Advisor  string  `json:"advisor"`
	Instance string  `json:"instance,omitempty"`
	Weight   float64 `json:"weight"`
}

// An Advisor gives opinions on what to do next.
type Advisor struct {
	ID          string
	Role        string `key:"role"`
	Description string `key:"description"`

	On        string         `key:"on" words:"start,finish,request" null:"allowed"` // when it speaks; "" on demand
	Schema    *schema.Schema // of what it says besides its votes; nil when it has none, or a broken one
	Instanced bool           `key:"isInstanced"` // it speaks once for each instance
	Scopes    []Scope        // what it looks at first; they hide nothing
	Node      *source.Node   // as the document writes it
	IDNode    *source.Node   `key:"id" need:"give it a name: id: critic"`
	Said      []*source.Node // in a record: what it has said before

	Plan *Plan // which has the tools that it votes on
}

// Advisor is the advisor of an id, or nil.
func (p *Plan) Advisor(id string) *Advisor {
	at := slices.IndexFunc(p.Advisors, func(a *Advisor) bool { return a.ID == id })
	if at < 0 {
		return nil
	}
	return p.Advisors[at]
}

// An Opinion is what one advisor said in a solution.
type Opinion struct {
	Advisor  string             `json:"advisor"`
	Instance string             `json:"instance,omitempty"`
	Votes    map[string]float64 `json:"votes,omitempty"` // by tool; none is an abstention
	Said     map[string]any     `json:"said,omitempty"`  // the rest, which its schema describes
}
