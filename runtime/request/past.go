package request

import (
	"fmt"
	"slices"
	"strings"
)

// Past is what became of calls of earlier ticks where nothing else shows it:
// calls that did something and wrote nothing, and decisions of people. It stays small:
// the newest are given in full, and of those before them how many there were.
type Past struct {
	Settled []Settled // oldest first
	Earlier Object    // by tool, how many more there were before
}

// A Settled call is one that has ended.
type Settled struct {
	Standing
	Tool   string
	Tick   int
	Params map[string]any // as they were resolved; nil where the call is given as it was written
	Result any
}

const (
	maxSettled = 32    // calls that are given in full
	maxNoted   = 1_000 // bytes of JSON of what they were given, and of what they gave
)

// Add adds one more call.
func (p *Past) Add(one Settled) {
	if p.Settled = append(p.Settled, one); len(p.Settled) <= maxSettled {
		return
	}
	oldest := p.Settled[0]
	p.Settled = p.Settled[1:] // requests hold the list as it was, and none of it is written over
	before, _ := p.Earlier.Get(oldest.Tool).(float64)
	p.Earlier = slices.DeleteFunc(slices.Clone(p.Earlier), func(m Member) bool { return m.Key == oldest.Tool }).
		With(oldest.Tool, before+1)
}

// pastMessages are what became of earlier calls, and what failed.
func (s Context) pastMessages() (messages []Object) {
	if len(s.Past.Settled) > 0 {
		messages = append(messages, s.Past.object())
	}
	add := func(errors []any, instance string) {
		for _, e := range errors {
			messages = append(messages, Object{{"type", "error"}, {"data", e}}.WithText("_instance", instance))
		}
	}
	add(s.Errors, "")
	for _, one := range s.Instances {
		add(one.Errors, one.ID)
	}
	return messages
}

// object is a meta message: a text would be taken for the task, and a plan for one to be carried on.
func (p Past) object() Object {
	calls := make([]any, len(p.Settled))
	for i, one := range p.Settled {
		calls[i] = one.object()
	}
	meta := Object{{"settled", calls}}
	if len(p.Earlier) > 0 {
		meta = meta.With("earlier", p.Earlier)
	}
	return Object{{"type", "meta"},
		{"description", "calls of earlier ticks that neither the state nor the plan tells of"}, {"meta", meta}}
}

func (one Settled) object() Object {
	call := any(shown(one.Call))
	if one.Params != nil {
		call = brief(Object{{"_tool", one.Tool}}.WithAll(one.Params))
	}
	out := Object{{"tick", float64(one.Tick)}, {"call", call}}
	out = append(out, one.noted()[1:]...).WithText("_instance", one.Instance) // without its name
	if one.Result != nil {
		out = out.With("result", brief(one.Result))
	}
	return out
}

// brief is a value, or the beginning of its JSON where that is long.
func brief(value any) any {
	text := JSON(value)
	if len(text) <= maxNoted {
		return value
	}
	return fmt.Sprintf("%s … (%d bytes of JSON in all)", strings.ToValidUTF8(text[:maxNoted], ""), len(text))
}
