package branch

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

// Implies reports whether one condition of a call provably implies another, for all values. Both are
// texts of _when.
func Implies(condition, other string) bool {
	type call struct {
		Tool string `json:"_tool"`
		When string `json:"_when"`
	}
	text, err := json.Marshal(map[string][]call{"calls": {{"a", condition}, {"b", other}}})
	if err != nil {
		return false
	}
	plan, found := compiler.Compile(source.NewFile("conditions.json", text), compiler.Options{})
	if diag.HasErrors(found) || len(plan.Calls) != 2 {
		return false
	}
	if !holdsWherever(condition, other) {
		return false
	}
	e := New(plan, Nothing{})
	return e.SolveOne(e.And(e.Runs(plan.Calls[0]), e.Runs(plan.Calls[1]).Not()), false).Impossible
}

// mostTried bounds how many references two conditions may have that are tried, and of how
// many values each is tried with.
const (
	mostTried  = 3
	mostValues = 10
)

// holdsWherever tries whether one condition holds wherever another one does, with values of
// every type: conditions are solved as if all that they read had the type that they ask
// for, and one that fails with another type doesn't hold.
func holdsWherever(condition, other string) bool {
	one, err := expression.Parse(condition, expression.Limits{})
	two, failed := expression.Parse(other, expression.Limits{})
	if err != nil || failed != nil {
		return false
	}
	var names []string
	for _, e := range []*expression.Expr{one, two} {
		for _, r := range e.References() {
			if name := r.String(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > mostTried {
		return false
	}
	values := []any{missing{}, nil, true, false, []any{}, "-"}
	for _, text := range constants.FindAllString(condition+" "+other, -1) {
		var v any = strings.Trim(text, `'"`)
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			v = n
		}
		if len(values) < mostValues && !slices.ContainsFunc(values, func(known any) bool { return reflect.DeepEqual(known, v) }) {
			values = append(values, v)
		}
	}
	at := map[string]any{}
	holds := func(e *expression.Expr) bool {
		v, presence, failed := e.Eval(func(ref int) (any, expression.Presence) {
			v := at[e.References()[ref].String()]
			if v == (missing{}) {
				return nil, expression.Absent
			}
			return v, expression.There
		})
		return failed == nil && presence == expression.There && v == true
	}
	var try func(names []string) bool
	try = func(names []string) bool {
		if len(names) == 0 {
			return !holds(one) || holds(two)
		}
		for _, v := range values {
			if at[names[0]] = v; !try(names[1:]) {
				return false
			}
		}
		return true
	}
	return try(names)
}

// missing is an absent value.
type missing struct{}

// constants are the numbers and texts of an expression.
var constants = regexp.MustCompile(`\d+(\.\d+)?|'[^']*'|"[^"]*"`)

// Nothing is known of a plan beside itself.
type Nothing struct{}

// The methods are those of [Facts].
func (Nothing) Item(*compiler.Read) (*schema.Schema, bool) { return nil, false }
func (Nothing) Unknown(diag.Facts) bool                    { return false }
func (Nothing) MayBeThere(*compiler.Read) bool             { return true }
func (Nothing) Begins([]expression.Segment) bool           { return false }
func (Nothing) InResult(*compiler.Tool, pathtree.ID, int) schema.Place {
	return schema.Place{Possible: true}
}
func (Nothing) InState(pathtree.ID) *schema.Schema       { return nil }
func (Nothing) Given(pathtree.ID) (*schema.Schema, bool) { return nil, false }
func (Nothing) Both(_, b *schema.Schema) *schema.Schema  { return b }
func (Nothing) NotNull(s *schema.Schema) *schema.Schema  { return s }
