package resolve

import (
	"maps"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/pathtree"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// Unfit is what the plan's schemas don't admit of an input and of an initial state, and which one ("input", "state");
// nil if all of it fits. Such values would only make calls skip or fail later, where the cause is harder to see. The
// state may still lack what its schema requires: the calls bring it. What instances share may lack anything.
func Unfit(p *plan.Plan, input, state map[string]any, shared bool) (what string, why *schema.Violation) {
	if shared {
		why = UnfitKeys(p.InputSchema, input)
	} else if p.InputSchema != nil {
		why = redacted(p.InputSchema.Validate(input), input, p.InputSchema)
	}
	if why != nil {
		return "input", why
	}
	return "state", UnfitKeys(p.StateSchema, state)
}

// Missing are the required keys that an input and an initial state lack: of the state those that no call writes.
func Missing(p *plan.Plan, input, state map[string]any) (ofInput, ofState []string) {
	required := func(s *schema.Schema, values map[string]any) (keys []string) {
		if s != nil {
			keys = slices.DeleteFunc(s.Required(), func(key string) bool { _, there := values[key]; return there })
		}
		return keys
	}
	root, _ := p.Paths.Lookup(pathtree.Root, expression.Segment{Key: "state"})
	return required(p.InputSchema, input), slices.DeleteFunc(required(p.StateSchema, state), func(key string) bool {
		id, known := p.Paths.Lookup(root, expression.Segment{Key: key})
		return known && len(p.Writers(id)) > 0 || len(p.WritersAt(root)) > 0
	})
}

// UnfitKeys is what a schema doesn't admit of the values of an object that needn't be whole; nil if all of them fit.
func UnfitKeys(s *schema.Schema, values map[string]any) *schema.Violation {
	if s == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		place := s.Part(key)
		if !place.Possible {
			return &schema.Violation{Path: []schema.Step{schema.Key(key)}, Message: "there is no place for it"}
		}
		if place.Schema == nil {
			continue
		}
		if v := redacted(place.Schema.Validate(values[key]), values, s); v != nil {
			v.Path = slices.Concat([]schema.Step{schema.Key(key)}, v.Path)
			return v
		}
	}
	return nil
}

func redacted(v *schema.Violation, values map[string]any, s *schema.Schema) *schema.Violation {
	if v != nil {
		secrets := &redact.Set{}
		compiler.LearnSecrets(secrets, nil, values, s)
		v.Message = secrets.Text(v.Message)
	}
	return v
}

// Lacking are the references to keys of the input that are missing although a call that runs whatever comes can't do
// without them, the first to each key: it would be skipped. Of a call that may not run, for its condition, for what it
// comes after or for what another may not write, nothing is asked, and of items nothing: they may never be missed.
func Lacking(p *plan.Plan, input, state map[string]any) (lacking []*plan.Read) {
	given := map[string]any{"input": input, "state": state, "data": any(p.Data)}
	certain, seen := make([]bool, len(p.Calls)), map[string]bool{}
	for _, i := range p.Graph.Order() {
		call := p.Calls[i]
		certain[i] = (call.When == nil || call.When.Value == true) && len(call.Choices) == 0 &&
			!slices.ContainsFunc(call.After, func(a plan.After) bool { return !a.Settled && !certain[a.Call] })
		var required []*plan.Read
		reads := call.Reads
		if call.Each != nil {
			reads = call.Each.List.Reads
		}
		for _, at := range reads {
			r := &p.Reads[at]
			if _, there := p.Paths.Walk(given[r.Ref.Kind], r.Path); there || !r.Ref.Required {
				continue
			}
			if r.Ref.Kind == "input" && len(r.Ref.Path) > 0 {
				required = append(required, r)
				continue
			}
			certain[i] = certain[i] && slices.ContainsFunc(r.Writers, func(w int32) bool {
				writer := p.Calls[w]
				return certain[w] && len(writer.Output) == 1 && slices.ContainsFunc(writer.Output[0],
					func(path plan.Path) bool { return p.Paths.IsAbove(r.Path, path.ID) })
			})
		}
		for _, r := range required {
			if key := r.Ref.Path[0].Key; certain[i] && !seen[key] {
				lacking, seen[key] = append(lacking, r), true
			}
		}
		certain[i] = certain[i] && call.Each == nil
	}
	return lacking
}
