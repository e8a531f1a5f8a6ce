//go:build unix

package activity

import (
	"context"
	"reflect"
	"testing"

	"github.com/obelus-dev/obelus/compiler/plan"
)

// LANGUAGE.md#delegates-and-scopes: what a call's scopes hand on reaches every kind of activity that can
// take it, an empty context too, and none where there are no scopes.
func TestContextReachesActivities(t *testing.T) {
	params := map[string]any{"n": 1.0}
	full := map[string]any{"state": map[string]any{"history": []any{"a", nil}}, "user": map[string]any{"name": "Ann"}}
	program := func(context map[string]any) any {
		if context == nil {
			return map[string]any{"n": 1.0}
		}
		return map[string]any{"n": 1.0, "_context": context}
	}
	for name, handed := range map[string]map[string]any{"none": nil, "empty": {}, "full": full} {
		t.Run(name, func(t *testing.T) {
			r := Request{Tool: "context", Params: params, Context: handed}
			run := func(s *Set) any {
				t.Helper()
				got, err := s.Run(background, "act", r)
				if err != nil {
					t.Fatal(err)
				}
				return got.Value
			}
			if got, want := run(openOne(t, execDef(helper("echo")...), Options{})), program(handed); !reflect.DeepEqual(got, want) {
				t.Errorf("a program reads %v, want %v", got, want)
			}
			var want any
			if handed != nil {
				want = handed
			}
			if got := run(openOne(t, workerDef(), Options{})); !reflect.DeepEqual(got, want) {
				t.Errorf("a worker reads %v, want %v", got, want)
			}
			funcs := map[string]Func{"act": func(_ context.Context, r Request) (any, error) {
				if r.Context == nil {
					return nil, nil
				}
				return r.Context, nil
			}}
			s, err := Open(nil, funcs, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := run(s); !reflect.DeepEqual(got, want) {
				t.Errorf("a function gets %v, want %v", got, want)
			}
			if len(params) != 1 {
				t.Errorf("the parameters became %v", params)
			}
		})
	}
}

// LANGUAGE.md#activities: a plan is no activity's to run, and keeps the others from nothing.
func TestPlansAreRunElsewhere(t *testing.T) {
	s, err := Open(map[string]*plan.Activity{"digest": {Kind: "plan"}, "act": execDef(helper("say", "1")...)}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.byName["digest"] != nil || s.byName["act"] == nil {
		t.Errorf("there is %v", s.byName)
	}
}
