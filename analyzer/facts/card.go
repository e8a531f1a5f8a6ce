package facts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

const (
	mostCardRows  = 25
	mostNames     = 4  // of calls and values in one row
	mostActs      = 6  // rows about what destroys, each; more are one row with all names
	mostCardText  = 70 // characters of a text of the plan
	mostCardInput = 6
)

// A dealer makes a card.
type dealer struct {
	facts      *Facts
	calls      []*Call // of the plan and those that it runs, without those that only run a plan
	conditions []string
	rows       Rows
}

// Card is what a reviewer needs first of facts that [Of] collected, in at most 25 rows: what destroys is never cut.
// Values are those that alone are approved; without them the card has the plan's own input.
func (f *Facts) Card(digest string, values []string) Rows {
	d := &dealer{facts: f}
	x := indexOf(f)
	for _, a := range x.calls {
		c := *a.Call
		for at := a; len(x.runners[at.plan]) == 1; { // under the conditions of the only call that runs its plan
			at = x.calls[x.runners[at.plan][0]]
			c.Conditions = merged(slices.Clip(at.Conditions), c.Conditions...)
		}
		c.Name, c.Tool = join(a.plan, c.Name), join(a.plan, c.Tool)
		if c.Runs.Plan == "" && c.Runs.Kind != Produced {
			d.calls = append(d.calls, &c)
		}
	}
	for _, t := range f.Tools {
		if f.Planned {
			chosen := []Value{{Models: []string{}}}
			d.calls = append(d.calls, &Call{Name: t.Name, Tool: t.Name, Effect: t.Effect, Runs: t.Runs, Values: chosen})
		}
	}
	d.head(digest, values)
	model := func(c *Call) bool { return c.Runs.Kind == Model }
	effect := func(kind string) func(*Call) bool {
		return func(c *Call) bool { return c.Effect.Kind == kind && !model(c) }
	}
	d.list("▲", "DESTROYS", effect(effects.Destructive), d.act)
	d.list("▲", "MAY DESTROY, no trusted source describes", effect(effects.Unknown), d.act)
	d.list("↗", "LEAVES the machine by", func(c *Call) bool { return c.Leaves() && !model(c) }, d.passes)
	d.list("✎", "WRITES by", effect(effects.Writes), nil)
	d.list("✦", "MODELS answer", model, nil)
	if f.Planned || len(f.Advisors) > 0 {
		d.rows = append(d.rows, Row{Sign: "✦", Text: "MODELS plan or advise " + brief(f.Advisors)})
	}
	d.list("✋", "ASKS a person about", func(c *Call) bool { return c.Confirm }, nil)
	d.list("⚠", "WARNING: a person is asked, and nothing waits for the answer about", func(c *Call) bool {
		return c.Confirm && c.Writes != nil && !c.used && c.group() != destroying
	}, nil)
	unseen := func(c *Call) bool { return len(c.Runs.Unseen) > 0 }
	d.list("⚠", "WARNING: the digest doesn't cover the files of shell code in", unseen, nil)
	d.unfinished()
	d.bounds()
	var conditions Rows
	for i, text := range d.conditions {
		conditions = append(conditions, Row{Text: conditionName(i) + " " + text})
	}
	if conditions != nil {
		d.rows = append(d.rows, Row{Text: "CONDITIONS", Rows: conditions})
	}
	return d.cut()
}

// head is the plan, what it is for, and what it is run with.
func (d *dealer) head(digest string, values []string) {
	about, _ := d.facts.Settings["description"].value().(string)
	title := cmp.Or(d.facts.Plan, "plan")
	if about != "" {
		title += ": " + wording.Cut(about, 2*mostCardText)
	}
	row := Row{Text: diag.Escape(title) + "  " + digest}
	text := "with "
	if len(values) == 0 {
		text = "input, if a run passes no other: "
		input, _ := d.facts.Settings["input"].value().(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(input)) {
			values = append(values, name+" "+string(Compact(input[name])))
		}
	}
	if len(values) > 0 {
		row.Rows = Rows{{Text: text + first(values, mostCardInput)}}
	}
	d.rows = append(d.rows, row)
}

// brief are the first of some texts, escaped and cut.
func brief(texts []string) string { return first(texts, mostNames) }

func first(texts []string, most int) string {
	all := slices.Clone(texts[:min(len(texts), most)])
	for i, text := range all {
		all[i] = diag.Escape(wording.Cut(text, mostCardText))
	}
	if more := len(texts) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

// grouped are the keys of some calls in their order, with the calls that have each.
func grouped(all []*Call, key func(*Call) string) (keys []string, by map[string][]*Call) {
	by = map[string][]*Call{}
	for _, c := range all {
		k := key(c)
		if by[k] = append(by[k], c); len(by[k]) == 1 {
			keys = append(keys, k)
		}
	}
	return keys, by
}

// namesOf are those of some calls, several of one tool as one.
func namesOf(all []*Call) []string {
	tools, by := grouped(all, func(c *Call) string { return c.Tool })
	for i, tool := range tools {
		if tools[i] = by[tool][0].Name; len(by[tool]) > 1 {
			tools[i] = fmt.Sprintf("%s ×%d", tool, len(by[tool]))
		}
	}
	return tools
}

// list adds a row for the calls that pass a test: with all names, or above a row for those that do the same.
func (d *dealer) list(sign, head string, test func(*Call) bool, what func(*Call) string) {
	all := slices.DeleteFunc(slices.Clone(d.calls), func(c *Call) bool { return !test(c) })
	if len(all) == 0 {
		return
	}
	row := Row{Sign: sign, Text: head + " " + wording.Count(len(all), "call")}
	if what == nil {
		row.Text += ": " + brief(namesOf(all))
		d.rows = append(d.rows, row)
		return
	}
	most, known := mostNames, len(d.conditions)
	if sign == "▲" {
		most = len(all)
	}
	keys, by := grouped(all, what)
	for _, k := range keys {
		row.Rows = append(row.Rows, Row{Text: first(namesOf(by[k]), most) + k})
	}
	if sign == "▲" && len(keys) > mostActs {
		row.Rows, d.conditions = Rows{{Text: first(namesOf(all), most)}}, d.conditions[:known]
	}
	d.rows = append(d.rows, row)
}

// act is what a call does, how often, and under which conditions.
func (d *dealer) act(c *Call) string {
	text := "  " + brief([]string{strings.Replace(c.Runs.Destination(), "https://", "", 1)})
	if c.Each != nil {
		text += ", for each of up to " + wording.Count(c.Each.Most, "item")
	}
	if c.Tries > 1 {
		text += fmt.Sprintf(", up to %d attempts", c.Tries)
	}
	if slices.ContainsFunc(c.Values, func(v Value) bool { return v.Models != nil }) {
		text += ", ✦ models may choose its values"
	}
	if c.Confirm {
		text += ", asked first"
	}
	var under []string
	for _, one := range c.Conditions {
		under = merged(under, d.condition(one))
	}
	if under != nil {
		text += ", only if " + strings.Join(under, " and ")
	}
	return text
}

// condition is the name of a condition, which the card spells out once.
func (d *dealer) condition(c Condition) string {
	if c.More == "for" { // it must hold for a call that this one requires
		c.More, c.Path = "", ""
	}
	text := wording.Cut(strings.TrimPrefix(c.text(), "if "), 2*mostCardText)
	at := slices.Index(d.conditions, text)
	if at < 0 {
		at = len(d.conditions)
		d.conditions = append(d.conditions, text)
	}
	return conditionName(at)
}

func conditionName(i int) string { return fmt.Sprintf("[%c%s]", 'A'+i%26, strings.Repeat("'", i/26)) }

// passes is who receives what of a call.
func (d *dealer) passes(c *Call) string {
	var paths []string
	for _, v := range c.inputs() {
		for _, s := range v.Sources {
			if v != c.When {
				paths = merged(paths, s.Path)
			}
		}
	}
	for _, name := range c.Runs.Variables {
		paths = append(paths, "$"+name)
	}
	what := "fixed values"
	if slices.ContainsFunc(c.Values, func(v Value) bool { return v.Models != nil }) {
		what = "what a model writes"
	}
	return " → " + brief([]string{c.Runs.Destination()}) + " receives " + cmp.Or(brief(paths), what)
}

// bounds adds counts, cost and time.
func (d *dealer) bounds() {
	var all []string
	names, bounds := d.facts.Worst.bounds()
	for i, b := range bounds {
		text := strings.Replace(names[i], "tries", "attempts", 1)
		switch {
		case text == "ticks" && !d.facts.Planned:
			continue
		case b.Most != nil:
			text += fmt.Sprintf(" ≤ %.6g", *b.Most)
		case b.silent > 0:
			text += fmt.Sprintf(" known ≤ %.6g; %s nothing", b.known,
				wording.Counted(b.silent, "call declares", "calls declare"))
		default:
			text += " unbounded"
		}
		all = append(all, text)
	}
	d.rows = append(d.rows, Row{Text: strings.Join(all, " · ")})
}

// cut shortens the longest lists until the card has its length.
func (d *dealer) cut() (rows Rows) {
	for most := mostCardRows; most > 0; most-- {
		rows = nil
		count := len(d.rows)
		for _, row := range d.rows {
			if n := len(row.Rows); n > most && row.Sign != "▲" {
				row.Rows = append(row.Rows[:most-1:most-1], Row{Text: fmt.Sprintf("and %d more", n-most+1)})
			}
			count += len(row.Rows)
			rows = append(rows, row)
		}
		if count <= mostCardRows {
			break
		}
	}
	return rows
}

// mostFollowed is how many calls a plan has at most whose failures are followed.
const mostFollowed = 500

// unfinished adds what each failure, rejection or stop leaves half done: the calls that may have changed something by
// then, or do so all the same, since a failure stops only the calls that require its result; and those that never run.
func (d *dealer) unfinished() {
	calls := d.facts.Calls
	if len(calls) > mostFollowed {
		d.rows = append(d.rows, Row{Text: "what failures leave half done isn't listed for so many calls"})
		return
	}
	impacts, needs := indexOf(d.facts).impacts(), needsOf(calls)
	excludes := func(i, j int) bool { // each requires another alternative of a call, or what the other excludes
		for call, path := range needs[i] {
			if other := needs[j][call]; path != "" && other != "" && path != other {
				return true
			}
		}
		return calls[i].asks.contradicts(calls[j].asks)
	}
	var causes []*Call
	endings := map[*Call]string{}
	for i := range calls {
		if needs[i] == nil || slices.Contains([]string{"expr", Produced}, calls[i].Runs.Kind) {
			continue
		}
		var done, never []*Call
		for j := range calls {
			_, needed := needs[j][int32(i)]
			switch {
			case i == j || needs[j] == nil || impacts[j]&acted == 0 || excludes(i, j):
			case needed:
				never = append(never, &calls[j])
			default:
				done = append(done, &calls[j])
			}
		}
		if done == nil || never == nil && impacts[i]&acted == 0 {
			continue
		}
		ending := " → done anyway: " + brief(namesOf(done))
		if never != nil {
			ending += "; never: " + brief(namesOf(never))
		}
		causes, endings[&calls[i]] = append(causes, &calls[i]), ending
	}
	keys, by := grouped(causes, func(c *Call) string { return endings[c] })
	row := Row{Sign: "!", Text: "LEFT HALF DONE, also by a stop between these calls"}
	for _, ending := range keys {
		fails := " fails"
		if slices.ContainsFunc(by[ending], func(c *Call) bool { return c.Confirm }) {
			fails += " or is rejected"
		}
		row.Rows = append(row.Rows, Row{Text: brief(namesOf(by[ending])) + fails + ending})
	}
	if row.Rows != nil {
		d.rows = append(d.rows, row)
	}
}

// needsOf are the calls that each of some calls can't run without, each with the path that it must write if it may
// write others; nil for a call that runs only after a failure.
func needsOf(calls []Call) []map[int32]string {
	all, met := make([]map[int32]string, len(calls)), make([]bool, len(calls))
	var visit func(i int32)
	visit = func(i int32) {
		if met[i] {
			return
		}
		met[i] = true
		needs := map[int32]string{}
		for _, r := range calls[i].requires {
			if visit(r.call); r.branch.More == failing || all[r.call] == nil {
				return
			}
			for call, path := range all[r.call] {
				needs[call] = cmp.Or(needs[call], path)
			}
			needs[r.call] = cmp.Or(needs[r.call], r.branch.Path)
		}
		all[i] = needs
	}
	for i := range calls {
		visit(int32(i))
	}
	return all
}

// A question is what a condition asks of one value: whether it is true, or compares with another.
type question struct {
	asked   string // "" for none
	equals  string // what is compared for equality with a constant
	expects bool   // the answer for which the condition holds
}

func (g *gatherer) question(t *plan.Template) (q question) {
	if t == nil || t.Expr == nil {
		return q
	}
	shape := func(n *expression.Node) string {
		return t.Expr.Shape(n, func(ref int) string {
			r := &g.plan.Reads[t.Reads[ref]]
			return fmt.Sprint(r.Path, listOf(r.Writers))
		})
	}
	n := t.Expr.Root()
	for q.expects = true; n.Op == expression.OpNot; n = n.Args[0] {
		q.expects = !q.expects
	}
	if q.asked = shape(n); !n.Op.Compares() {
		return q
	}
	op := n.Op
	if positive, is := negated[op]; is {
		op, q.expects = positive, !q.expects
	}
	if q.asked = fmt.Sprint(op, shape(n.Args[0]), shape(n.Args[1])); op == expression.OpEqual && n.Args[1].Constant {
		q.equals = shape(n.Args[0])
	}
	return q
}

// negated are comparisons by their opposites.
var negated = map[expression.Op]expression.Op{expression.OpUnequal: expression.OpEqual,
	expression.OpMoreEqual: expression.OpLess, expression.OpLessEqual: expression.OpMore}

// contradicts reports whether two conditions can't both hold.
func (q question) contradicts(o question) bool {
	if q.asked == o.asked {
		return q.asked != "" && q.expects != o.expects
	}
	return q.equals != "" && q.equals == o.equals && q.expects && o.expects
}
