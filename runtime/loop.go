package runtime

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/obelus-dev/obelus/analyzer"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/bind"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/label"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/policy"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime/guard"
	"github.com/obelus-dev/obelus/runtime/request"
	"github.com/obelus-dev/obelus/runtime/resolve"
)

// loop is what a machine has besides that is given its calls by a planner: in every tick as they arrive.
type loop struct {
	*Machine
	base    *plan.Plan      // gives tools, schemas and settings
	wanted  map[string]bool // tools about whose calls it has a person asked
	unasked int             // the last tick that no planner of this run was asked for
	paths   *pathtree.Tree
	// what has arrived of the tick's solution, whether more may come, and how many of its calls have been compiled
	stream      *source.Stream
	isStreaming bool
	known       int
	opinions    *guard.Opinions
	tickErrors  []CallError        // structural errors of the tick that no call carries
	refused     bool               // it doesn't end the loop, whatever its output
	changed     bool               // the tick has written something, or carried something out
	still       int                // ticks in a row that changed nothing
	carries     bool               // the strategy is carried from tick to tick
	carried     []request.Standing // the calls of the next request's plan message
	recorded    []request.Object   // what a record says of the first of these
	past        request.Past       // of other calls, for the next requests
	solution    string             // the solution of the first tick, where a record holds it
	ended       bool               // the tick has been judged, and the next not begun
	setting     compiler.Setting   // of the tick
	asked       *Request           // for its solution
	live        *policy.Live       // how worthy of trust what stands there is; nil without policies
}

func newLoop(m *Machine, base *plan.Plan) *loop {
	l := &loop{Machine: m, base: base, live: label.Beginning(base), paths: base.Paths.Clone(),
		wanted: map[string]bool{}, opinions: guard.OpinionsOf(base)}
	for _, tool := range compiler.ConfirmedTools(base) {
		l.wanted[tool] = true
	}
	l.carries = compiler.CarriesStrategy(base)
	if base.Solution != nil {
		l.solution = request.JSON(request.Of(base.Solution))
		return l
	}
	switch {
	case base.PlanMessage.Get("plan") != nil && base.CallsNode == nil: // of the record of a tick
		for _, call := range base.PlanMessage.Get("plan").Items {
			l.carried = append(l.carried, request.Standing{Call: call})
		}
	case l.carries:
		for _, call := range base.Calls {
			l.carried = append(l.carried, request.Standing{Call: call.Node, Name: call.Name})
		}
	}
	if recorded := base.PlanMessage.Get("x-standing"); recorded != nil {
		for _, one := range recorded.Items {
			if said, ok := request.Of(one).(request.Object); ok {
				l.recorded = append(l.recorded, said)
			}
		}
	}
	return l
}

// lazy reports whether nothing of a solution starts before it is whole and without errors.
func (l *loop) lazy() bool { return l.options.PlanOnly || l.base.Mode == plan.Lazy }

func (m *Machine) planning() bool { return m.loop != nil && m.loop.isStreaming }

func (l *loop) nextTick() {
	if overspends(l.Machine, 1) {
		l.stop(ReasonPermit)
		return
	}
	l.renewLive()
	l.tick++
	first := l.stream == nil
	l.stream, l.isStreaming, l.known = source.NewStream(source.DefaultLimits()), true, 0
	l.tickErrors, l.refused, l.changed, l.ended = nil, false, false, false
	l.opinions.NextTick()
	l.plan = l.emptyPlan()
	l.programs = map[*plan.Plan]*resolve.Program{}
	for _, f := range l.roots() {
		f.calls, f.Reads, f.stale, f.unsettled = nil, nil, nil, 0
		f.boundBy, f.orderedBy = links{}, links{}
		f.draft = nil
		if f.Memory != nil {
			f.Memory.NextTick()
		}
		f.setPlan(l.plan)
	}
	if first && len(l.opinions.Recorded()) > 0 {
		l.giveAdvice()
	}
	l.setting = settingFor(l.Machine, func(*frame, *Message) bool { return true })
	if given := l.solution; given != "" {
		l.solution = ""
		l.streamed(Event{Try: Try{Tick: l.tick}, Text: given})
		l.closed(Event{Try: Try{Tick: l.tick}})
		return
	}
	l.asked = composeRequest(l.Machine)
	l.askPlanner(nil)
}

func (s *schedule) setPlan(p *plan.Plan) {
	s.Plan = p
	s.Program = s.machine.program(p)
	s.Log.Follow(&s.Program.Layout)
}

func (l *loop) emptyPlan() *plan.Plan {
	plan, _ := compiler.Setting{Plan: l.base, Paths: l.paths}.Solve(source.NewFile("tick.json", []byte(`{"calls":[]}`)),
		compiler.Options{})
	return plan
}

// askPlanner asks for the solution of the tick, or for the rest of it, with what was there as the tick began.
func (l *loop) askPlanner(received []byte) {
	request := *l.asked
	request.Received = string(received)
	l.emitRun(Plan).Request = &request
}

// settingFor is where the run stands, for those messages that are visible.
func settingFor(m *Machine, visible func(*frame, *Message) bool) compiler.Setting {
	s := compiler.Setting{Plan: m.loop.base, Paths: m.loop.paths, Live: m.loop.live, Data: m.shared.data}
	for _, f := range m.roots() {
		s.Errors = append(s.Errors, f.readable...)
		of := func(kind string) map[string]any {
			return resolve.Mapping(f.Log.SeenBy(kind, func(message *Message) bool { return visible(f, message) }))
		}
		if m.instances == nil {
			s.Input, s.State, s.Data = of("input"), of("state"), of("data")
			continue
		}
		values := plan.Values{Input: of("input"), State: of("state"), Data: of("data")}
		s.Instances = append(s.Instances, plan.Instance{ID: f.site.Instance, Values: values})
	}
	return s
}

// settingOf is where a frame stands, for a plan of its own.
func settingOf(f *frame) compiler.Setting {
	of := func(kind string) map[string]any { return resolve.Mapping(f.Log.Value(kind)) }
	s := compiler.Setting{Plan: f.Plan, Paths: f.Program.Paths, Errors: f.readable, Live: liveLabels(f),
		Input: of("input"), State: of("state"), Data: of("data")}
	if f.machine.loop != nil && f.parent == nil {
		s.Plan = f.machine.loop.base
	} else if s.Paths == f.Plan.Paths {
		s.Paths = f.Plan.Paths.Clone() // the plan isn't ours alone
		f.Program.Paths = s.Paths
	}
	return s
}

func (l *loop) streamed(e Event) {
	if l.stream.Err() != nil {
		return // it has been given up, and not heard yet
	}
	if l.stream.Write(e.Text); l.stream.Err() != nil {
		l.emitRun(Cancel)
	}
	if !l.lazy() {
		l.arrive()
	}
}

func (l *loop) closed(e Event) {
	l.isStreaming = false
	switch problem := l.stream.Err(); {
	case problem != nil: // whatever came of giving it up
		l.reportBroken(diag.OfProblem(*problem))
	case e.Failure != nil:
		l.addTickError(CallError{Code: e.Failure.Code, Message: e.Failure.Message})
	case len(bytes.TrimSpace(l.stream.Text())) == 0:
		l.addTickError(CallError{Code: diag.Syntax.Name, Message: "the answer is empty; expected a solution"})
	}
	p, found := l.finished()
	l.judge(p, func(f *frame, view *plan.Plan) *analyzer.Draft {
		d := analyzer.Screen(view, found, l.rules, func(call *plan.Call) bool {
			return call.Index >= len(f.calls) || f.calls[call.Index].held
		})
		for _, problem := range d.Problems() {
			l.addTickError(CallError{Code: problem.Rule.Name, Message: structural(&problem)})
		}
		l.refused = l.refused || l.lazy() && !d.Sound()
		return d
	})
	switch {
	case !l.opinions.Heard:
		l.skipAll("an advisor's opinion is missing or isn't valid, and no call starts without it")
	case l.lazy() && l.refused:
		l.skipAll("the solution has errors, and in lazy mode none of it is run then")
	case l.options.PlanOnly && len(l.plan.Calls) > 0:
		l.finish(l.outcome(RunDone, ""))
	}
}

func (l *loop) skipAll(reason string) {
	for _, f := range l.roots() {
		for i := range f.calls {
			if f.calls[i].status == Waiting {
				f.settle(int32(i), Settlement{Status: Skipped, Reason: reason})
			}
		}
	}
}

// reportBroken notes why the text of a solution can't be read.
func (l *loop) reportBroken(d diag.Diagnostic) {
	at := fmt.Sprintf("line %d, column %d: ", d.Span.From().Line, d.Span.From().Column)
	l.addTickError(CallError{Code: d.Rule.Name, Message: at + structural(&d)})
}

// addTickError notes what is wrong with a solution as a whole, once.
func (l *loop) addTickError(e CallError) {
	if !slices.Contains(l.tickErrors, e) {
		l.tickErrors = append(l.tickErrors, e)
	}
	l.refused = true
}

// finished is the solution as it is at the end of the stream. Where the text is broken, its calls up to there count.
func (l *loop) finished() (*plan.Plan, []diag.Diagnostic) {
	text := l.stream.Solution()
	if l.stream.Err() != nil {
		text = l.stream.Prefix(l.stream.Calls())
	}
	p, found := l.solve(text)
	if p == nil { // as many calls count as can be read
		isRefused := l.refused
		for _, problem := range diag.AtLeast(diag.Error, found) {
			if !isRefused { // else that the answer broke off says it all
				l.reportBroken(problem)
			}
		}
		unread := sort.Search(l.stream.Calls()+1, func(calls int) bool {
			p, found = l.solve(l.stream.Prefix(calls))
			return p == nil
		})
		if p, found = l.solve(l.stream.Prefix(max(0, unread-1))); p == nil { // nor what stands before the calls
			p, found = l.solve([]byte(`{"calls":[]}`))
		}
	}
	if !l.takeOpinions(p, found) {
		l.reportSilence(false)
	}
	return p, found
}

// takeOpinions takes the opinions of a solution, and reports whether its calls may start.
func (l *loop) takeOpinions(p *plan.Plan, found []diag.Diagnostic) bool {
	if !l.opinions.Heard && l.opinions.Take(p.Opinions, found) {
		l.giveAdvice()
	}
	return l.opinions.Heard
}

// reportSilence notes the opinions that are missing.
func (l *loop) reportSilence(ending bool) {
	for _, one := range l.opinions.Silent(ending) {
		l.addTickError(CallError{Code: diag.BadAdvisor.Name, Message: one.Message, Instance: one.Instance})
	}
}

// giveAdvice puts the advisors' votes together.
func (l *loop) giveAdvice() {
	for at, f := range l.roots() {
		ranking, apart := l.opinions.Ranking(f.site.Instance)
		if at == 0 || apart {
			c := l.emitRun(Advise)
			if c.Frame, c.Ranking = f.number, ranking; apart {
				c.Site = &f.site
			}
		}
		f.ranking = ranking
		weights := make(map[string]any, len(ranking))
		for _, r := range ranking {
			weights[r.Tool] = r.Weight
		}
		f.Log.Give("advice", weights)
	}
}

func viewOf(f *frame, plan *plan.Plan) *plan.Plan {
	if f.machine.instances == nil {
		return plan
	}
	return bind.ForInstance(plan, f.site.Instance)
}

// eachAlone is up to how many calls a solution is looked at with each that comes; a longer one only when it has become
// a quarter longer, so that the cost of an answer grows as its length does.
const eachAlone = 128

// arrive compiles what has arrived of a solution, and judges and schedules the calls that are new in it.
func (l *loop) arrive() {
	calls := l.stream.Calls()
	if calls == l.known || calls > eachAlone && calls < l.known+l.known/4 {
		return
	}
	l.known = calls
	p, found := l.solve(l.stream.Prefix(calls))
	if p == nil || !l.takeOpinions(p, found) {
		return // they stand before the calls, or it takes the whole to tell
	}
	l.judge(p, func(f *frame, view *plan.Plan) *analyzer.Draft {
		if f.draft != nil && len(view.Calls) == len(f.calls) {
			return f.draft
		}
		f.setPlan(view)
		return analyzer.Arriving(view, found, l.rules, f.draft, func(call *plan.Call) bool {
			return mayChange(f, view, call)
		})
	})
}

// judge has a plan judged as each instance is to run it, and the calls that are new in it scheduled. Instances that run
// the same share one draft, unless what is held depends on what they have done.
func (l *loop) judge(p *plan.Plan, draft func(f *frame, view *plan.Plan) *analyzer.Draft) {
	l.plan, l.programs = p, map[*plan.Plan]*resolve.Program{}
	shared := map[*plan.Plan]*analyzer.Draft{}
	for _, f := range l.roots() {
		view := viewOf(f, p)
		d, isOwn := shared[view], f.Memory != nil && len(f.Memory.Completed) > 0
		if d == nil || isOwn {
			d = draft(f, view)
		}
		if f.draft = d; !isOwn {
			shared[view] = d
		}
	}
	for _, f := range l.roots() {
		extendFrame(f, f.draft)
	}
}

// solve compiles the text of a solution; nil if it can't be read.
func (l *loop) solve(text []byte) (*plan.Plan, []diag.Diagnostic) {
	file := source.NewFile(fmt.Sprintf("tick-%d.json", l.tick), text)
	p, found := l.setting.Solve(file, compiler.Options{})
	if p.Root == nil {
		return nil, found
	}
	if l.rematchCompleted(p) { // the writes of calls that are done are no initial values
		// of what was there before the tick, but not the work of calls that it lists again
		l.setting = settingFor(l.Machine, func(f *frame, m *Message) bool {
			return m.Tick < l.tick && (m.Completed == 0 || !f.Memory.IsListed(m.Completed))
		})
		p, found = l.setting.Solve(file, compiler.Options{})
	}
	return p, found
}

// mayChange reports whether what a call, in a plan that is still arriving, reads or writes into may turn out to be
// another call's work. Calls listed before a read come first, then what is there, and only then those listed after it.
// In a carried plan what is there may turn out to be the work of a call that is repeated further down.
func mayChange(f *frame, p *plan.Plan, call *plan.Call) bool {
	for _, at := range call.Reads {
		read := &p.Reads[at]
		if kind := p.Paths.Kind(read.Path); kind != "state" && kind != "data" {
			continue
		}
		later := func(r *frame) bool { return r.mayBeListedLater(read.Path, call, nil) }
		if p.Writes == plan.Once || read.Bound == plan.Later || read.Bound == plan.Initial && !read.Start || later(f) ||
			// it is so from the start in all or none
			call.Instance == "" && slices.ContainsFunc(f.machine.roots(), later) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(call.Output...), func(path plan.Path) bool {
		key := path.ID
		for f.Program.Paths.Depth(key) > 2 {
			key = f.Program.Paths.Parent(key)
		}
		return f.NeedsBase(path.ID, call.Method) && f.mayBeListedLater(key, call, func(m *Message) bool {
			w := plan.Writer{Path: m.Path, Method: m.Method, Sets: m.Method == plan.Set}
			return !f.matters(w, path.ID, call.Method)
		})
	})
}

// extendFrame schedules the new calls of a plan, and binds those that were held until the
// whole plan was there. The others were judged when they came, and may be at work.
func extendFrame(f *frame, d *analyzer.Draft) {
	first := len(f.calls)
	f.setPlan(d.Plan())
	f.takeUp(d)
	from := first
	if d.Complete() {
		from = 0
	}
	for i := from; i < len(f.calls); i++ {
		state, isJudged := &f.calls[i], i >= first
		if state.held && d.Complete() {
			state.held, isJudged = false, true
			f.connect(i)
		}
		if faults := d.Faults(i); isJudged && len(faults) > 0 {
			words := make([]string, len(faults))
			for k := range faults {
				words[k] = structural(&faults[k])
			}
			f.settle(int32(i), Settlement{Status: Failed,
				Failure: &Failure{Code: faults[0].Rule.Name, Message: strings.Join(words, "; ")}})
		} else if isJudged && !state.held {
			checkArrival(f, int32(i))
		}
		f.look(int32(i)) // which of several repeats a done call is known with the entire plan
	}
	if d.Complete() {
		f.releaseWrites() // so is where each has its place
	}
}

// structural says what is wrong in words that a planner can act on.
func structural(d *diag.Diagnostic) string {
	text := d.Message
	if d.Help != "" {
		text += " (" + d.Help + ")"
	}
	return text
}

// endTick decides, when every call of a solution has settled, whether every instance has reached its goal, and else
// asks for the next.
func (l *loop) endTick() {
	reached := true
	var outputs []any
	for _, f := range l.roots() {
		f.Log.Seal()
		keepHistory(f)
		showErrors(f)
		output, problem := outputOf(f)
		judged := func(e CallError) bool { return e.Code == codeMisfit } // of the text, which says the same
		if problem != nil && !(problem.Code == "bad-output" && slices.ContainsFunc(l.tickErrors, judged)) {
			problem.Instance = f.site.Instance
			l.addTickError(*problem)
		}
		outputs = append(outputs, output)
		reached = reached && output != nil
	}
	if l.base.Terminate == plan.TerminateCalls {
		reached = len(l.plan.Calls) == 0
	}
	if reached && !l.refused {
		l.reportSilence(true)
	}
	for _, e := range l.tickErrors {
		l.errors = append(l.errors, runError{e, l.tick, atLast, 0, nil})
	}
	for _, f := range l.roots() {
		for _, e := range l.tickErrors {
			if e.Instance == "" || e.Instance == f.site.Instance {
				f.readable = append(slices.Clip(f.readable), map[string]any{"call": nil,
					"error": map[string]any{"code": e.Code, "message": e.Message, "details": nil}})
			}
		}
		showFailures(f)
	}
	l.emitRun(EndTick).End = &TickEnd{Faults: l.tickErrors, Usage: l.usage}
	if reached && !l.refused || !l.options.Planned {
		for at, f := range l.roots() {
			if l.instances == nil {
				l.finish(outcomeOf(l.Machine, outputs[0]))
				return
			}
			status := RunDone
			if slices.ContainsFunc(f.errors, func(e runError) bool { return e.tick == l.tick }) {
				status = RunFailed
			}
			leaveRun(f, status, outputs[at])
		}
		l.finish(outcomeOf(l.Machine, nil))
		return
	}
	l.still++
	if l.changed {
		l.still = 0
	}
	l.carry()
	l.ended = true
	switch limit := l.base.Limits.Ticks; {
	case l.draining != "":
		l.stop(l.draining)
	case l.still >= 2:
		l.why, l.still = "two ticks in a row wrote nothing and carried nothing out", 0
		l.stop(ReasonStalled)
	case l.tick-l.spent.ticks >= cmp.Or(limit, plan.DefaultTicks):
		l.stop(ReasonTicks)
	default:
		l.nextTick()
	}
}

// renewLive notes what the calls of the last tick left behind: the next solution is judged with the labels of what
// stands there and with what has started before it, and its own text is as good as what its model was shown. They
// follow from the plans and the policies alone, so that a resumed run has the same.
func (l *loop) renewLive() {
	if l.live == nil {
		return
	}
	l.live = l.live.Clone()
	known := map[*plan.Plan]*label.Labels{}
	for _, f := range l.roots() {
		if known[f.Plan] == nil {
			known[f.Plan] = label.Of(f.Plan)
		}
		leaveBehind(f, l.live, known[f.Plan])
		started := f.orders.Totals()
		for i, n := range l.live.Started {
			started[i] = max(started[i], n)
		}
		l.live.Started = started
	}
}

func leaveBehind(f *frame, live *policy.Live, labels *label.Labels) {
	labels.Leave(live, func(call int) bool {
		return call < len(f.calls) && slices.Contains([]Status{Done, Failed, Running}, f.calls[call].status)
	})
}
