// Package flow computes which values may occur at each place of a plan before it runs: at what calls and the output
// read, in the results of calls, and in the results of expressions. No other package of the analyzer follows data
// from schemas and values of the document through calls to their readers.
//
// It accepts a compiled plan and the facts that errors hide, and returns variants with a schema and an origin. It
// reports no findings and knows no rules. If nothing is known, the variant has no schema.
package flow

import (
	"slices"
	"sync"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A Variant is one source of a value, and what is known about the value before the run. A read or an expression has a
// list of variants; each run uses one. In an empty list, or without a schema, nothing is known.
type Variant struct {
	Schema *schema.Schema // accepts every value that may come; nil when nothing is known
	// Wide: the schema may accept more than can come, so that only what holds for all of its values can
	// be concluded.
	Wide bool
	// Uncounted: the number of items of the list isn't known.
	Uncounted bool
	// Uncertain: items of the list, or of the list that it is an item of, may be null; or it is written
	// in parts, so that the state schema never checks all of it. Only a sample run decides.
	Uncertain bool
	// Rare: it may come, and isn't what the plan is about: a failure record, the
	// result of a call that another one may exclude. It keeps a mismatch from being
	// certain and never makes one.
	Rare bool
	// External: it comes with a run, and no call has written it.
	External bool
	// Sample: the schema is one value that the document gives; another run may
	// have another, such as Like describes.
	Sample bool
	Like   *schema.Schema

	Read    *plan.Read        // what reads it; nil for an operand that is no reference
	Operand Operand           // what it is then
	From    compiler.Origin   // the writer; its call is nil for what no call writes
	Parts   []compiler.Origin // the writers of what is put together from parts
}

// An Operand is a part of an expression, or a value that isn't one.
type Operand struct {
	Node       *source.Node
	Start, End int
}

// At is where a variant's reference or operand is in the text.
func (v *Variant) At() source.Span {
	if v.Read != nil {
		return v.Read.Span()
	}
	return v.Operand.Node.Within(v.Operand.Start, v.Operand.End)
}

// Name is the text of a variant's reference or operand; "" when it has none.
func (v *Variant) Name() string {
	switch o := v.Operand; {
	case v.Read != nil:
		return v.Read.Ref.String()
	case o.Node != nil && o.Node.Kind == source.String:
		return o.Node.Text[o.Start:o.End]
	}
	return ""
}

// Sure reports whether all values of the variant's schema may come, and no others.
func (v *Variant) Sure() bool { return v.Schema != nil && !v.Sample && !v.Wide }

func unknown() []Variant { return []Variant{{}} }

// maxVariants limits the variants of one place.
const maxVariants = 64

// Facts are what is known of the values of one plan.
type Facts struct {
	*Schemas
	Start
	Branches

	reads    [][]Variant        // by read; nil where it wasn't asked
	types    []*expression.Type // by read, where typed
	typed    []bool
	given    map[pathtree.ID]Variant
	state    map[pathtree.ID]schema.Place
	implied  map[implication]*schema.Schema
	listings map[*plan.Call]Listing
	listing  int // how many are being worked out
}

// New begins the facts about a plan; errors leave some unknown. Facts about several plans that share tools
// may share schemas.
func New(p *plan.Plan, hidden diag.Facts, schemas *Schemas) *Facts {
	f := &Facts{
		Schemas: schemas, Start: Start{Plan: p, Hidden: hidden},
		given: map[pathtree.ID]Variant{}, state: map[pathtree.ID]schema.Place{},
		implied: map[implication]*schema.Schema{}, listings: map[*plan.Call]Listing{},
	}
	f.Branches = Branches{of: f, certain: map[*plan.Call]bool{}}
	f.HasBranches = sync.OnceValue(f.hasBranches)
	return f
}

// Read is what may be at one read: what its bound writers give and, where it can still be seen, what is
// there from the start.
func (f *Facts) Read(index int) []Variant {
	if n := len(f.Plan.Reads); f.reads == nil {
		f.reads, f.types, f.typed = make([][]Variant, n), make([]*expression.Type, n), make([]bool, n)
	}
	if f.reads[index] == nil {
		r := &f.Plan.Reads[index]
		variants := f.into(r)
		for i := range variants {
			variants[i].Read = r
		}
		f.reads[index] = variants
	}
	return f.reads[index]
}

func (f *Facts) into(r *plan.Read) []Variant {
	if r.Path == pathtree.Root {
		return unknown()
	}
	switch depth := f.Plan.Paths.Depth(r.Path); f.Plan.Paths.Kind(r.Path) {
	case "input":
		if !f.Unknown(diag.Input) {
			return []Variant{f.Initial(r.Path)}
		}
	case "state", "data":
		switch {
		case f.Unknown(diag.State|diag.Writes|diag.Order) || depth < 2:
		case len(r.Writers) == 0:
			return []Variant{f.Initial(r.Path)}
		default:
			return f.fromCalls(r)
		}
	case "item", "index":
		return f.OfItem(r)
	case "advice":
		if depth == 2 {
			return []Variant{{Schema: vote}}
		}
	}
	return unknown() // errors come with a run
}

// vote is the result of the advisors' votes on a tool.
var vote = schema.OfKinds(schema.Number)

// Initial is the document's schema of a path, or its value there as an example. An empty text, and a null
// of the input, is a blank to be filled in. A null of the state may be read until a call writes there.
func (f *Facts) Initial(id pathtree.ID) Variant {
	return Once(f.given, id, func() Variant { return f.described(f.Plan.Paths.Segments(id)) })
}

func (f *Facts) described(path []expression.Segment) Variant {
	p := f.Plan
	if s, below := p.SchemaOf(path); s != nil {
		at, v := f.At(s, below), Variant{}
		if at.Possible && at.Schema != nil {
			v.Schema = at.Schema
			if path[0].Key != "data" {
				v.External = true
			}
		}
		return v
	}
	value, _ := p.Of(path[0].Key)
	value, ok := pathtree.Walk(value, path[1:])
	if !ok || value == nil && path[0].Key != "state" || value == "" || len(p.Instances) > 1 {
		return Variant{}
	}
	return Variant{
		Schema: schema.Const(value), Sample: true, Like: f.Likeness(typeOfValue(value, typeDepth)),
	}
}

// StateAt is what the schema of the state, or of a kind of data, says of a path: a value that it rejects is
// never written there.
func (f *Facts) StateAt(id pathtree.ID) schema.Place {
	if f.Plan.StateSchema == nil && f.Plan.DataSchemas == nil || f.Unknown(diag.State) {
		return schema.Place{Possible: true}
	}
	return Once(f.state, id, func() schema.Place {
		if over, below := f.Plan.SchemaOf(f.Plan.Paths.Segments(id)); over != nil {
			if at := f.At(over, below); at.Possible {
				return at
			}
		}
		return schema.Place{Possible: true} // what isn't possible is a finding of its own
	})
}

// Written is what a call may write at a path: of its results those that the state schema accepts there.
func (f *Facts) Written(call *plan.Call, at pathtree.ID) *schema.Schema {
	if call.Tool == nil {
		return nil
	}
	return f.Meet(call.Tool.Output, f.StateAt(at).Schema)
}

// manyWriters bounds how many writers of one read are looked at for its domain.
const manyWriters = 500

// Domain is what the value of a read may be that isn't null, on whatever branch: from schemas of results, and from
// values like those in the document.
func (f *Facts) Domain(r *plan.Read) (d branch.Domain) {
	paths := f.Plan.Paths
	isItem := compiler.ReadsItem(f.Plan, r)
	isKind := r.Path == pathtree.Root || paths.Depth(r.Path) < 2 || paths.Kind(r.Path) == "error"
	if f.Unknown(diag.State|diag.Writes|diag.Input) || !isItem && isKind || len(r.Writers) > manyWriters {
		return branch.Domain{}
	}
	d.Sure = true
	var all []*schema.Schema
	add := func(s *schema.Schema, sure bool) { all, d.Sure = append(all, s), d.Sure && sure }
	if isItem {
		for _, one := range f.OfItem(r) {
			if !one.Sure() {
				return branch.Domain{}
			}
			add(one.Schema, true)
		}
	} else if _, held := paths.Walk(f.Plan.State, r.Path); len(r.Writers) == 0 || r.Start || held {
		given := f.Initial(r.Path)
		if given.Sample { // a value in the document is only an example
			given.Schema = given.Like
		}
		add(given.Schema, given.Schema != nil && !given.Sample)
	}
	declared := f.StateAt(r.Path).Schema
	for _, o := range compiler.Origins(f.Plan, r) {
		appends := o.Path.ID == r.Path && (o.Call.Method == plan.Push || o.Call.Method == plan.Concat)
		switch given := f.results(nil, r, o); {
		case !o.Failure && appends:
			add(f.Meet(AList, declared), true)
		case o.Below || !o.Failure && o.Call.Method != plan.Set || len(given) == 0:
			add(declared, declared != nil)
		default:
			for _, v := range given {
				add(v.Schema, v.Schema != nil)
			}
		}
	}
	if len(all) == 1 {
		d.Schema = f.NotNull(all[0])
	} else if !slices.Contains(all, nil) {
		d.Schema = f.NotNull(schema.AnyOf(all...))
	}
	return d
}

// FailureSample represents the records of failures.
var FailureSample any = map[string]any{"code": "error", "message": "it failed", "details": nil}

// Type is what is known of the value of a read, for the checking of expressions; nil is nothing.
func (f *Facts) Type(read int) *expression.Type {
	if all := f.Read(read); !f.typed[read] {
		f.types[read], f.typed[read] = f.typeOfAll(all), true
	}
	return f.types[read]
}

// Check is the type of what an expression gives, and what is wrong with it.
func (f *Facts) Check(t *plan.Template) expression.Checked {
	return t.Expr.Check(func(i int) *expression.Type { return f.Type(t.Reads[i]) })
}

// TypeOfPart is what is known of the value of a part of an expression.
func (f *Facts) TypeOfPart(t *plan.Template, part *expression.Node) *expression.Type {
	return t.Expr.CheckPart(part, func(i int) *expression.Type { return f.Type(t.Reads[i]) })
}

// LookedInto returns the steps from where a call writes a described result to a path at or below it. A
// merged null is null (RFC 7396).
func (f *Facts) LookedInto(call *plan.Call, at pathtree.ID) (rest []expression.Segment, ok bool) {
	path, ok := OutputOver(f.Plan, call, at)
	if !ok || call.Tool == nil || call.Tool.Output == nil || call.Method != plan.Set && call.Method != plan.Merge ||
		!f.Plan.Paths.IsAbove(path.ID, at) {
		return nil, false
	}
	return f.Plan.Paths.Segments(at)[f.Plan.Paths.Depth(path.ID):], true
}

// MeetsNull reports whether a schema allows null above a read or, with itself set, at the read.
func (f *Facts) MeetsNull(r *plan.Read, itself bool) bool {
	paths := f.Plan.Paths
	along := func(of *schema.Schema, rest []expression.Segment) bool {
		for i := range len(rest) + 1 {
			if i == len(rest) && !itself {
				break
			}
			if s := f.At(of, rest[:i]).Schema; s != nil && s.Kinds()&schema.Null != 0 && s.Kinds() != schema.Anything {
				return true
			}
		}
		return false
	}
	s := f.Plan.InputSchema
	if s != nil && !compiler.ReadsItem(f.Plan, r) && r.Path != pathtree.Root && paths.Kind(r.Path) == "input" {
		return along(s, paths.Segments(r.Path)[1:])
	}
	return slices.ContainsFunc(r.Writers, func(w int32) bool {
		call := f.Plan.Calls[w]
		rest, ok := f.LookedInto(call, r.Path)
		return ok && along(call.Tool.Output, rest)
	})
}

// OutputOver is the first of a call's output paths that overlaps a path.
func OutputOver(p *plan.Plan, call *plan.Call, id pathtree.ID) (plan.Path, bool) {
	for _, path := range call.Paths() {
		if p.Paths.Overlap(path.ID, id) {
			return path, true
		}
	}
	return plan.Path{}, false
}
