package plan

import (
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

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
