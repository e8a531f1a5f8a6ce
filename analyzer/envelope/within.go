package envelope

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// Within says what of a plan, with its parts, leaves an envelope. What nothing bounds counts as too much, except the
// budget of a run that is planned.
func (e *Envelope) Within(f *facts.Facts, parts []plan.Part) []Difference {
	all := e.definitions(parts)
	w := walk{envelope: e, facts: f, used: make([]int, len(e.Calls)), known: &knowledge{}}
	w.plan(f, "", 1)
	all = append(all, w.problems...)
	if !f.Planned {
		all = append(all, e.Budget.exceeded(&f.Worst)...)
	}
	return all
}

// definitions are those that aren't what was approved, and the policies that are gone.
func (e *Envelope) definitions(parts []plan.Part) (all []Difference) {
	approved := map[plan.Part]bool{}
	for _, one := range e.Parts {
		approved[one] = true
		approved[plan.Part{In: one.In, Kind: one.Kind, Name: one.Name}] = true
	}
	for _, one := range parts {
		if !defines(one) || approved[one] {
			continue
		}
		is := "is new"
		if approved[plan.Part{In: one.In, Kind: one.Kind, Name: one.Name}] {
			is = "is another than was approved"
		}
		all = append(all, Difference{What: Definition, Of: one.String(), Is: is})
	}
	for _, one := range e.Parts {
		if one.Kind == compiler.PartPolicy && !slices.ContainsFunc(parts, func(p plan.Part) bool { return p.Kind == one.Kind && p.Name == one.Name }) {
			all = append(all, Difference{What: Definition, Of: one.String(), Is: "is gone"})
		}
	}
	return all
}

func (b *Budget) exceeded(w *facts.Worst) (all []Difference) {
	for i, one := range b.bounds() {
		is := []facts.Bound{w.Calls, w.Ticks, w.Cost, w.Time}[i].Most
		switch {
		case one.most == nil:
		case is == nil:
			all = append(all, Difference{What: Spent, Of: one.what, Is: "unbounded", Approved: number(*one.most)})
		case *is > *one.most:
			all = append(all, Difference{What: Spent, Of: one.what, Is: number(*is), Approved: number(*one.most)})
		}
	}
	return all
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// A walk goes through the calls of a plan and of those that it delegates to.
type walk struct {
	envelope *Envelope
	facts    *facts.Facts
	used     []int // of each allowance
	known    *knowledge
	depth    int
	problems []Difference
}

// plan holds a plan that is run so many times.
func (w *walk) plan(f *facts.Facts, in string, times int) {
	if w.depth > len(w.facts.Delegates) {
		return // within itself, which is an error of its own
	}
	w.depth++
	defer func() { w.depth-- }()
	byName := map[string]*facts.Call{}
	for i := range f.Calls {
		byName[f.Calls[i].Name] = &f.Calls[i]
	}
	given := Given{Beside: func(name string) (*facts.Call, bool) { return byName[name], false }}
	for i := range f.Calls {
		c := &f.Calls[i]
		n := product(times, max(1, c.Tries))
		if c.Each != nil {
			n = product(n, c.Each.Most)
		}
		fits, problems := w.envelope.judge(in, c, given, w.known)
		if len(problems) == 0 {
			if had := w.charge(fits, n); had < n {
				problems = append(problems, tooOften(in, c, n, had))
			}
		}
		w.problems = append(w.problems, problems...)
		if d := w.facts.Delegates[c.Runs.Plan]; d != nil {
			w.plan(d, c.Runs.Plan, n)
		}
	}
}

// charge charges a call that runs so many times to the first allowances with room. It charges nothing where there
// isn't room for all.
func (w *walk) charge(fits []int, times int) (had int) {
	before := slices.Clone(w.used)
	for _, at := range fits {
		n := min(w.envelope.Calls[at].Times-w.used[at], times-had)
		w.used[at] += n
		had += n
	}
	if had < times {
		w.used = before
	}
	return had
}

// tooOften says that a call runs more often than there is room for.
func tooOften(in string, c *facts.Call, times, had int) Difference {
	d := differing(in, c, Times)
	d.Is, d.Approved = timesOf(times), timesOf(had)
	if had == 0 {
		d.Is, d.Approved = "once more", "no more"
	}
	return d
}

func timesOf(n int) string {
	switch {
	case n >= mostTimes:
		return "any number of times"
	case n == 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Given is what is known of a call besides its facts, when a run is about to make it. The
// zero value is of a call that nothing more is known of.
type Given struct {
	// Live is set if the start is the state of a run, so that Writers are known.
	Live bool
	// Writers are the tools that have written what stands at the paths that the call
	// reads, where they are known.
	Writers map[string][]string
	// Values are its parameters; nil where they aren't known yet. Then what only they
	// decide is left for later if Later is set, and else counts as outside.
	Values map[string]any
	Later  bool
	// Instance is the one that it is for; "" as the call says.
	Instance string
	// Tick is that of a run: calls that were done in earlier ones are done.
	Tick int
	// Beside finds a call of the same plan by name, nil where there is none, and says whether
	// a person has approved that it does something else than was approved before.
	Beside func(name string) (call *facts.Call, approved bool)
}

// judge says which allowances cover a call of a plan (in is its delegate); or if none does, the one that it leaves in the
// fewest ways, and what leaves that.
func (e *Envelope) judge(in string, c *facts.Call, g Given, k *knowledge) (fits []int, problems []Difference) {
	j := judge{envelope: e, known: k, call: c, given: &g, in: in, parameters: parametersOf(c)}
	nearest := -1
	for _, least := range []int{0, maxMisses} { // only where none covers the call do misses count
		for at := range e.Calls {
			j.allowance = &e.Calls[at]
			if j.allowance.In != in || j.allowance.Tool != c.Tool {
				continue
			}
			switch j.misses = 0; {
			case !j.counts(least):
			case j.misses == 0:
				fits = append(fits, at)
			case j.misses < least:
				least, nearest = j.misses, at
			}
		}
		if len(fits) > 0 {
			return fits, nil
		}
	}
	if nearest < 0 {
		d := differing(in, c, Tool)
		d.Of, d.Is = c.Tool, described(c)
		return nil, []Difference{d}
	}
	j.telling, j.allowance = true, &e.Calls[nearest]
	j.counts(maxMisses)
	return []int{nearest}, j.problems
}

const maxMisses = 1 << 30

// A judge holds one call against one allowance.
type judge struct {
	envelope   *Envelope
	known      *knowledge
	allowance  *Allowance
	call       *facts.Call
	given      *Given
	in         string
	parameters []parameter
	before     []earlier
	misses     int
	telling    bool // differences are worded, and not only counted
	problems   []Difference
}

// missed notes that the call leaves the allowance, and reports whether to tell how.
func (j *judge) missed() bool {
	j.misses++
	return j.telling
}

func (j *judge) tell(what, of string, is, approved any) {
	d := differing(j.in, j.call, what)
	d.Of, d.Is, d.Approved = of, words(is), words(approved)
	j.problems = append(j.problems, d)
}

func (j *judge) differs(what, of string, is, approved any) {
	if j.missed() {
		j.tell(what, of, is, approved)
	}
}

// counts reports whether the call leaves the allowance in at most so many ways.
func (j *judge) counts(most int) bool {
	a, c := j.allowance, j.call
	if is := cmp.Or(j.given.Instance, c.Instance); a.Instances != nil && !slices.Contains(a.Instances, is) {
		j.differs(Instance, "", cmp.Or(is, "every instance"), a.Instances)
	}
	j.runs()
	if compiler.Risk(c.Effect.Kind) > compiler.Risk(a.Effect) && j.missed() {
		j.tell(Effect, "", c.Effect.Kind, a.Effect)
	}
	if c.Effect.OpenWorld && !a.OpenWorld {
		j.differs(Effect, "", "what it is given may leave the machine", "it stays here")
	}
	j.writes()
	if j.misses <= most {
		j.parameterValues(most)
	}
	if j.misses > most {
		return false
	}
	if c.Each != nil {
		list := []Leaf{leafOf("", &c.Each.List)}
		if a.Each == nil {
			j.differs(List, "", list, "one call")
		} else {
			j.value(List, "", list, nil, a.Each)
		}
	} else if a.Each != nil && !a.Each.mayBeOne() {
		j.differs(List, "", "none", a.Each)
	}
	for _, s := range c.Context {
		if !slices.ContainsFunc(a.Context, func(above string) bool { return above == Any || atOrBelow(s.Path, above) }) {
			j.differs(Context, "", s.Path, a.Context)
		}
	}
	for _, o := range a.DelegateContext {
		if !slices.ContainsFunc(c.Context, func(s facts.Source) bool { return s.Path == o.Path && j.writtenBy(Source{s.Path, s.Tools, s.Start}, o) }) {
			j.differs(Context, o.Path, "left out, or written by others", o)
		}
	}
	if a.Confirm && !c.Confirm {
		j.differs(Confirm, "", "nobody", "a person")
	}
	if j.misses == 0 || j.telling {
		j.order()
		j.condition()
	}
	return j.misses <= most
}

// mayBeOne reports whether what runs for the items of such a list always runs at all.
func (v *Values) mayBeOne() bool {
	return v.Any || len(v.Literals) > 0 && !slices.ContainsFunc(v.Literals, func(l Literal) bool { return string(l.Is) == "[]" })
}

// runs holds what carries the call out. A result in the plan is one of a model that sees everything.
func (j *judge) runs() {
	a, c := j.allowance, j.call
	is := Runs{c.Runs.Kind, c.Runs.Activity, c.Runs.Plan, c.Runs.Alone}
	if is.Kind == facts.Produced {
		result := []Leaf{leafOf("", &facts.Value{Literal: c.Produced})}
		switch {
		case a.Result != nil && j.covers(result, nil, a.Result):
			return
		case (a.Runs == nil || a.Runs.Kind == facts.Model && !a.Runs.Alone) && (slices.Contains(a.Context, Any) || slices.Contains(a.Context, "†state") && slices.Contains(a.Context, "†input")):
			return
		case a.Result != nil:
			j.value(Result, "", result, nil, a.Result)
			return
		}
		j.differs(Result, "", result, a.Runs)
		return
	}
	if a.Runs != nil && (is.Kind != a.Runs.Kind || is.Activity != a.Runs.Activity || is.Plan != a.Runs.Plan || a.Runs.Alone && !is.Alone) {
		j.differs(CarriedOut, "", &is, a.Runs)
	}
}

func (j *judge) writes() {
	a, c := j.allowance, j.call
	is := outputOf(c)
	if slices.Contains(a.Writes, is) {
		return
	}
	outside := is == ""
	for _, route := range c.Writes {
		outside = outside || slices.ContainsFunc(route, func(path string) bool {
			return !slices.ContainsFunc(a.Below, func(above string) bool { return atOrBelow(path, above) })
		})
	}
	if outside && (is != "" || len(a.Below) == 0) && j.missed() {
		j.tell(Path, "", cmp.Or(is, "nothing"), slices.Concat(a.Writes, a.Below))
	}
}

// parameterValues holds what the call is given.
func (j *judge) parameterValues(most int) {
	a, named := j.allowance, 0
	for i := range j.parameters {
		p := &j.parameters[i]
		allowed, ok := a.Parameters[p.name]
		if ok {
			named++
		} else {
			allowed = a.Parameters[Any]
		}
		var value *any
		if v, known := j.given.Values[p.name]; known {
			value = &v
		}
		if j.value(Parameter, p.name, p.leaves, value, &allowed); j.misses > most {
			return
		}
	}
	if _, ok := a.Parameters[Any]; ok {
		named++
	}
	if named == len(a.Parameters) {
		return
	}
	for _, name := range sorted(a.Parameters) {
		if name != Any && !slices.ContainsFunc(j.parameters, func(p parameter) bool { return p.name == name }) {
			allowed := a.Parameters[name]
			j.differs(Parameter, name, "left out", &allowed)
		}
	}
}
