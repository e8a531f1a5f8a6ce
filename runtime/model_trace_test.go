package runtime_test

import "slices"

// A feature is something that a run of the model can be seen to do. A property
// test counts them, so that it notices when the plans that it generates stop
// exercising part of the contract.
type feature string

const (
	fallbackEarly      feature = "a fallback taken before its later operands settled"
	gateClosed         feature = "a gate with an operand that isn't there"
	conditionFalse     feature = "a _when that is absent or not true"
	callSkipped        feature = "a skipped call"
	afterHeld          feature = "a call started after calls that it names"
	afterUndone        feature = "a call skipped because one that it comes after isn't done"
	alternativeNamed   feature = "an alternative named by its activity"
	fannedOut          feature = "a result written to several paths"
	failureRouted      feature = "a failure written to its route"
	failureUnrouted    feature = "a failure that no route took"
	recordYields       feature = "several failure records on one path"
	retried            feature = "a second try"
	outputRejected     feature = "a result that its schema rejects"
	structuralFailure  feature = "parameters that their schema rejects"
	writeRefused       feature = "a result that its path can't take"
	onceRejected       feature = "an offer that the policy once rejects"
	pathNested         feature = "a message on a nested path"
	pathRewritten      feature = "a path set by one call after another"
	patched            feature = "a message that isn't a set"
	resultKept         feature = "a result that is kept until others have settled"
	nullPassed         feature = "a null parameter"
	forwardReferenced  feature = "a reader listed before its writer"
	startedOutOfOrder  feature = "a call started before one that it may read"
	outputLeafLeftOut  feature = "an output with an absent leaf"
	waitedForOverlap   feature = "a decided call that waits to write"
	memberReadFromList feature = "an index read"
	textMade           feature = "a text with values in it"
	textRefused        feature = "a text with a value that has no form there"
)

// features are those that occurred in a run, in the order of their names.
func features(o Outcome) []feature {
	var found []feature
	for f, times := range o.Trace {
		if times > 0 {
			found = append(found, f)
		}
	}
	slices.Sort(found)
	return found
}

func (m *model) note(f feature) { m.out.Trace[f]++ }

func (m *model) noteWhen(condition bool, f feature) {
	if condition {
		m.note(f)
	}
}

func (m *model) noteStart(c *callModel, early bool) {
	m.noteWhen(early, fallbackEarly)
	m.noteWhen(len(c.after) > 0, afterHeld)
	m.noteWhen(!m.allSettled(c.needs), startedOutOfOrder)
	for _, r := range c.references() {
		m.noteWhen(slices.ContainsFunc(r.path, func(s segment) bool { return s.isIndex }), memberReadFromList)
		for writer := range m.plan.bound(c.place, r) {
			m.noteWhen(writer > c.place, forwardReferenced)
		}
	}
	for _, value := range m.resolve(c.params, c.place).value.(map[string]any) {
		m.noteWhen(value == nil, nullPassed)
	}
}

// noteGates looks for a closed gate among the parameters of a skipped call.
func (m *model) noteGates(c *callModel) {
	for _, value := range c.params {
		for _, e := range formulasIn(value) {
			m.noteWhen(e.kind == gateExpression && m.evaluate(e, c.place).absent, gateClosed)
		}
	}
}

// noteWrites looks at the whole log when the run is over.
func (m *model) noteWrites() {
	for i, msg := range m.log {
		m.noteWhen(len(msg.path) > 1, pathNested)
		m.noteWhen(msg.method != "set", patched)
		for _, older := range m.log[:i] {
			samePath := older.path.equal(msg.path)
			m.noteWhen(samePath && msg.record && older.record, recordYields)
			m.noteWhen(samePath && !msg.record && !older.record && msg.method == "set" && older.call != msg.call, pathRewritten)
			m.noteWhen(older.call == msg.call, fannedOut)
		}
	}
	if m.plan.output != nil {
		m.noteWhen(m.resolve(m.plan.output, len(m.plan.calls)).absent, outputLeafLeftOut)
	}
}
