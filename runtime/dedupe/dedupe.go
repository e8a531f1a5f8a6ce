// Package dedupe finds out which calls of a plan have been done before, where a later plan lists them again. A call is
// known by its key (tool, activity, instance, method and path) and its parameters; of several that are alike the nth
// repeats the nth. It takes no account of what calls read, and runs nothing.
package dedupe

import "encoding/json"

// A Memory is what is known of the calls that a run, or an instance of one, has done.
type Memory struct {
	completed []done              // by earlier ticks
	byKey     map[string][]int32  // their numbers, from 1, in order; none of a call that has only items done
	items     map[[2]string][]any // what items that are done gave, by key and parameters

	calls  []listed           // of the tick's plan
	alike  map[string][]int32 // those that have a key, in order
	owners map[int32]int32    // by number: the call of the tick that lists a completed one again
	taken  map[[2]string]int  // by key and parameters: how many items of these the tick's calls repeat
}

type done struct {
	key, text string // the parameters as canonical JSON
	params    map[string]any
	output    any
}

type listed struct {
	key, params string // the parameters once they are known, where it might repeat a done call
	repeats     int32
}

// New is a memory of nothing.
func New() *Memory {
	m := &Memory{byKey: map[string][]int32{}, items: map[[2]string][]any{}}
	m.NextTick()
	return m
}

// NextTick begins a tick whose plan lists nothing so far.
func (m *Memory) NextTick() {
	m.calls, m.alike, m.owners, m.taken = nil, map[string][]int32{}, map[int32]int32{}, map[[2]string]int{}
}

// IsEmpty reports whether earlier ticks have done nothing.
func (m *Memory) IsEmpty() bool { return len(m.completed) == 0 }

func canonical(params map[string]any) string {
	text, err := json.Marshal(params) // objects by key
	if err != nil {
		panic("parameters that aren't JSON: " + err.Error())
	}
	return string(text)
}

// Key is that of a call of the tick.
func (m *Memory) Key(call int) string { return m.calls[call].key }

// Listed is how many calls of the tick's plan have been listed.
func (m *Memory) Listed() int { return len(m.calls) }

// List lists the next call of the tick, and reports whether it may repeat a done one. A call with the key "" is never
// taken for a repetition.
func (m *Memory) List(key string) bool {
	i := int32(len(m.calls))
	m.calls = append(m.calls, listed{key: key})
	nth, numbers := len(m.alike[key]), m.byKey[key]
	if m.alike[key] = append(m.alike[key], i); nth >= len(numbers) {
		return false
	}
	m.owners[numbers[nth]] = i
	return true
}

// IsListed reports whether a call of the tick lists a completed one again.
func (m *Memory) IsListed(number int32) bool {
	_, yes := m.owners[number]
	return yes
}

// MayBeListedAfter reports whether a completed call may turn out to be listed after a call of the tick.
func (m *Memory) MayBeListedAfter(number, call int32) bool {
	if m.completed[number-1].key == "" {
		return false
	}
	owner, listed := m.owners[number]
	return !listed || owner > call
}

// Counts reports whether what a completed call wrote counts for who sees some calls of the tick: where it is listed
// again, only for those who see the call that lists or repeats it.
func (m *Memory) Counts(number int32, sees func(call int) bool) bool {
	owner, isListed := m.owners[number]
	if !isListed || sees(int(owner)) {
		return true
	}
	for i := range m.calls {
		if m.calls[i].repeats == number && sees(i) {
			return true
		}
	}
	return false
}

// Knows reports whether earlier ticks have done a call that is like one of the tick, its parameters aside, or items of
// such a call.
func (m *Memory) Knows(call int32) bool {
	_, yes := m.byKey[m.calls[call].key]
	return yes
}

// Alike are the calls of the tick that have the key of one, itself included.
func (m *Memory) Alike(call int32) []int32 { return m.alike[m.calls[call].key] }

// Match finds the completed call that one of the tick repeats, by the calls like it that come before it and whose
// parameters are known, too. Its number is 0 for none.
func (m *Memory) Match(call int32, params map[string]any, before []int32) (number int32) {
	one := &m.calls[call]
	one.params = canonical(params)
	nth := 0
	for _, i := range before {
		if m.calls[i].params == one.params {
			nth++
		}
	}
	for _, number := range m.byKey[one.key] {
		if m.completed[number-1].text != one.params {
			continue
		}
		if nth == 0 {
			one.repeats = number
			return number
		}
		nth--
	}
	return 0
}

// Output is what a completed call gave.
func (m *Memory) Output(number int32) any { return m.completed[number-1].output }

// Params are the parameters of a completed call.
func (m *Memory) Params(number int32) map[string]any { return m.completed[number-1].params }

// RepeatItem reports whether an item of a call was done before, though the call as a whole wasn't, and what it gave.
func (m *Memory) RepeatItem(call int32, params map[string]any) (output any, yes bool) {
	of := [2]string{m.calls[call].key, canonical(params)}
	outputs, nth := m.items[of], m.taken[of]
	if nth >= len(outputs) {
		return nil, false
	}
	m.taken[of]++
	return outputs[nth], true
}

// AddItem notes an item that a call with a key has done.
func (m *Memory) AddItem(key string, params map[string]any, output any) {
	if key != "" {
		of := [2]string{key, canonical(params)}
		m.items[of] = append(m.items[of], output)
		if _, known := m.byKey[key]; !known {
			m.byKey[key] = nil
		}
	}
}

// Add notes a call that is done, and gives its number.
func (m *Memory) Add(key string, params map[string]any, output any) int32 {
	m.completed = append(m.completed, done{key, canonical(params), params, output})
	number := int32(len(m.completed))
	if key != "" {
		m.byKey[key] = append(m.byKey[key], number)
	}
	return number
}
