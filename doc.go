// Package obelus is what a program needs that embeds plans: it loads, checks, draws,
// simulates, runs and resumes them, with activities that are Go functions of its own.
//
//	plan, err := obelus.Load("refund.yaml", obelus.LoadOptions{Functions: functions})
//	if err != nil {
//		return err // no file, or not within its workspace
//	}
//	if err := plan.Check(); err != nil {
//		return err // what is wrong, with its place; plan.Findings has all of it
//	}
//	result, err := plan.Run(ctx, obelus.RunOptions{Input: input, Journals: "runs"})
//
// [Resume] continues a run from its journal after it was stopped, or its process killed.
//
// What is reachable from here is stable from the first release on; structs may get
// further fields. Planners of their own, or an engine that isn't this process, find
// what they need in runtime/session, project, analyzer and runtime, which may change.
//
// # Ten nouns
//
// Who changes obelus itself needs ten nouns. In one sentence: text becomes Nodes; Nodes become a
// Plan; a Plan has a Graph; over the Graph it is known which Values may be where; rules turn that
// into Findings; a plan without errors is Verified; a Machine steps it; a World carries out what
// the Machine commands; a Session keeps the run; a View shows any of it.
//
// Node ([compiler/source.Node]) is a value of a document, YAML or JSON, with its exact place in
// the text. source.Parse bounds size and depth before anything else looks at the text. Whatever a
// message points at later, and whatever a fix replaces, is the place of a Node.
//
// Plan ([compiler/plan.Plan]) is a document of any accepted form as data: tools, activities,
// calls, their reads and writes, schemas, settings, and what a run begins with. It decides nothing.
// compiler.Compile makes it in a visible list of passes, binds every reference to the calls whose
// writes it can read, and never fails: what is wrong is in its findings.
//
// Graph ([compiler/dag.Graph]) says which call waits for which. Nobody writes it down: it follows
// from what calls read and write, and from "_after". It finds cycles, order and components without
// recursion, for a million calls.
//
// Value ([analyzer/flow.Variant]) is what may be at a place before anything has run: a schema, where
// it comes from, and whether it may be absent. flow.Facts works it out on demand, for reads, results
// and expressions; analyzer/internal/branch says under which conditions calls run together.
//
// Finding ([compiler/diag.Diagnostic]) is what a rule reports: a code, a severity, a place, a message,
// help that can be copied, and fixes. A rule is one file in analyzer/rules with its page beside it.
// What a plan's text has wrong is reported the same way; errors of Go are for trouble outside of it.
//
// Verified ([analyzer.Verified]) is a plan without errors, and the only thing that runs. Only
// analyzer.Analyze makes one. So nothing runs unchecked, no matter who wrote it: what a model answers is
// compiled and analyzed call by call as it arrives.
//
// Machine ([runtime.Machine]) runs a Verified. Step takes an event, such as an attempt that ended or a
// person's decision, and gives commands, such as to start an attempt or to ask a person. It has no
// goroutine, clock, file, network or chance: the same events give the same run. Guards
// ([runtime/guard.Guard]) are asked before every attempt: bounds, order, policy and permit.
//
// World ([runtime.World]) carries out commands and reports events; runtime.Drive is the loop between
// the two. There is the local one with programs and people (runtime/local), one on a virtual clock
// (runtime/simulate), and the journal of an earlier run. A workflow engine can be another.
//
// Session ([runtime/session.Session]) is what every front end needs of a run: it begins, keeps a
// journal, stops for questions, takes answers, and continues where a run stopped or was killed. An event
// is in the journal before what follows from it is done.
//
// View ([dot.View]) is a plan, a difference or a run as nodes, edges, marks and frames, and dot.Formats
// are the forms in which one is written. Nothing else draws.
//
// A plan file passes down this list once, and an event of a run goes up from the World to the Machine
// and back. ARCHITECTURE.md says where each is, what imports what, and which test holds what.
package obelus
