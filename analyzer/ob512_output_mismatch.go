package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/internal/branch"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
)

var _ = register(Rule{
	Rule: &diag.Rule{Code: "OB512", Name: "output-mismatch", Default: diag.Error},
	Run:  outputMismatches,
})

// outputMismatches reports what of the plan's output its schema refuses, and
// required parts of it that may be left out.
func outputMismatches(p *Pass) {
	for _, j := range p.judgeOutput() {
		switch j.relation {
		case schema.Never:
			f := p.Report(j.place(), "%s never fits %s: %s", j.called(), j.of(), j.because()).As(diag.Error).
				Advise("give what \"outputSchema\" asks for, or mend the schema")
			f.Witness = j.witness
			p.note(f, &j)
		case schema.MayNotFit:
			f := p.Report(j.place(), "%s may not fit %s: %s", j.called(), j.of(), j.because()).As(diag.Warning).
				Advise("narrow what the source may give, or widen \"outputSchema\"")
			f.Witness = j.witness
			p.note(f, &j)
		case schema.Unknown:
			p.cutShort(j.place(), "whether %s fits %s isn't fully analysed: %s", j.called(), j.of(), j.cutShort)
		}
	}
}

// of is what to call the part of the output that is judged.
func (j *judgement) of() string {
	if j.to.part == "" {
		return "\"outputSchema\""
	}
	return quote(strings.TrimPrefix(j.to.part, ".")) + " of \"outputSchema\""
}

// judgeOutput judges the flows into the plan's output.
func (p *Pass) judgeOutput() []judgement {
	s := p.Plan.OutputSchema
	if s == nil || p.Plan.Output == nil || s.Compile() != nil || p.Unknown(diag.Reads) {
		return nil
	}
	before := len(p.found)
	p.outputPart(p.Plan.Output, nil, s, "")
	if !p.Plan.Output.Live() {
		return nil
	}
	return p.judgeTemplate(p.Plan.Output, target{schema: s}, len(p.found) == before)
}

// outputPart judges what of the plan's output holds no expression: literals,
// properties that are missing or not allowed, and required ones that are left
// out on some branch.
func (p *Pass) outputPart(t *compiler.Template, key *source.Node, s *schema.Schema, name string) {
	wrong := func(at source.Span, severity diag.Severity, why string) {
		where := "the output"
		if name != "" {
			where = quote(strings.TrimPrefix(name, "."))
		}
		f := p.Report(at, "%s isn't what \"outputSchema\" wants: %s", where, why).As(severity).
			Advise("give what \"outputSchema\" asks for, or mend the schema")
		if n := p.Plan.Root.Get("outputSchema"); p.Plan.Root.Kind == source.Object && n != nil {
			f.Note(headOf(n.Span()), "the output's schema is here")
		}
	}
	switch {
	case s == nil || t.Opaque():
	case !t.Live():
		if bad := s.Validate(t.Value); bad != nil {
			name += bad.Where()
			wrong(placeAt(key, t.Node, bad.Path), diag.Error, bad.Message)
		}
	case t.Items != nil:
		if s.Kinds()&schema.Array == 0 {
			wrong(placeAt(key, t.Node, nil), diag.Error, "expected "+s.Kinds().String()+", got a list")
			return
		}
		for i, item := range t.Items {
			if at := s.At([]schema.Step{schema.Index(i)}); at.Possible {
				p.outputPart(item, nil, at.Schema, fmt.Sprintf("%s[%d]", name, i))
			}
		}
	default:
		if s.Kinds()&schema.Object == 0 {
			wrong(placeAt(key, t.Node, nil), diag.Error, "expected "+s.Kinds().String()+", got a mapping")
			return
		}
		for _, required := range s.Required() {
			at := slices.IndexFunc(t.Fields, func(f compiler.TemplateField) bool { return f.Key == required })
			if at < 0 {
				wrong(placeAt(key, t.Node, nil), diag.Error, "the property "+quote(required)+" is missing")
			} else if when := p.leftOut(t.Fields[at].Value); when != "" {
				field := t.Fields[at]
				wrong(placeAt(field.Node, field.Value.Node, nil), diag.Warning, "the property "+quote(required)+" is left out when "+when)
			}
		}
		for _, f := range t.Fields {
			if at := s.At([]schema.Step{schema.Key(f.Key)}); at.Possible {
				p.outputPart(f.Value, f.Node, at.Schema, name+"."+f.Key)
			} else {
				wrong(f.Node.Span(), diag.Error, "the property "+quote(f.Key)+" isn't allowed")
			}
		}
	}
}

// leftOut is a branch, in words, on which an expression of the output has no
// value; "" when there is none, or it isn't known.
func (p *Pass) leftOut(t *compiler.Template) string {
	if t.Expr == nil || p.Unknown(branch.Needed) || !p.hasBranches() {
		return ""
	}
	e := p.conditions()
	lacks := e.There(t).Not()
	found := e.SolveOne(lacks, true)
	if !found.Possible {
		return ""
	}
	return told(e.Decisions(lacks, found.Assignment))
}
