package review

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// ExecutionOf is what is started to carry a call out with parameters.
func ExecutionOf(p *plan.Plan, call *plan.Call, params map[string]any) Execution {
	e := Execution{Kind: "model"}
	a := p.Activities[call.Activity]
	switch {
	case call.Delegate != "":
		e.Kind, e.Text = "plan", call.Delegate
	case a == nil:
		return e
	case len(a.Argv) > 0:
		e.Kind, e.Folder, e.Worker, e.Inherit, e.Text = a.Kind, a.Dir, a.Worker, a.Inherit, a.Remote
		e.Argv, _ = kinds.Arguments(a, params, kinds.AsWritten)
		if a.Stdin != plan.StreamJSON {
			e.Stdin = a.Stdin
		}
		for _, set := range a.Env {
			e.Env = append(e.Env, set.Name+"="+set.Value)
		}
	case a.Kind == "expr":
		e.Kind, e.Text = a.Kind, a.Node.Get("expr").Text
	case a.Server != nil:
		e.Kind, e.URL, e.Text = a.Kind, a.Server.URL, a.Remote
		e.Headers = make(map[string]string, len(a.Server.Headers))
		for _, h := range a.Server.Headers {
			e.Headers[h.Name] = h.Value
		}
	default:
		e.Kind = a.Kind
		if a.HTTP != nil {
			if r, err := kinds.ShownRequest(a.HTTP, params); err == nil {
				e.Method, e.URL = r.Method, r.URL
			}
		}
		if n := a.Node.Get(a.Kind); n != nil {
			text, _ := json.Marshal(n.Value())
			e.Text = string(text)
		}
	}
	if url := wording.WithoutPasswords(e.URL); url != e.URL {
		e.URL, e.hides = url, e.URL
	}
	e.Text = wording.WithoutPasswords(e.Text)
	if a != nil && a.NameNode != nil {
		at := a.NameNode.Span()
		e.Defined = fmt.Sprintf("%s:%d", at.File.Name, at.From().Line)
	}
	return e
}

// Provenance is where a call's parameters and scopes get their values, by what tells who wrote what a read reads.
func Provenance(p *plan.Plan, call *plan.Call, origins func(*plan.Read) []string) ([]Source, []ScopeSource) {
	var sources []Source
	for _, field := range call.Params.Fields {
		sources = addSources(p, sources, origins, field.Key, field.Value)
	}
	var scopes []ScopeSource
	if call.Scopes != nil {
		scopes = []ScopeSource{}
	}
	for _, s := range call.Scopes {
		scopes = append(scopes, ScopeSource{s.Node.Text, origins(&p.Reads[s.Read])})
	}
	return sources, scopes
}

func addSources(p *plan.Plan, all []Source, origins func(*plan.Read) []string, param string,
	t *plan.Template) []Source {
	if t.Expr != nil {
		s := Source{Param: param, Reference: t.Node.Text}
		for _, read := range t.Reads {
			for _, from := range origins(&p.Reads[read]) {
				if !slices.Contains(s.From, from) {
					s.From = append(s.From, from)
				}
			}
		}
		return append(all, s)
	}
	for _, field := range t.Fields {
		all = addSources(p, all, origins, param+"."+field.Key, field.Value)
	}
	for at, item := range t.Items {
		all = addSources(p, all, origins, fmt.Sprintf("%s[%d]", param, at), item)
	}
	return all
}
