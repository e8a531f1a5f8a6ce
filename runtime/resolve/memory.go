package resolve

import "encoding/json"

// A Memory finds out which calls of a plan have been done before, where a later plan lists them again. A call is known
// by its key (tool, activity, instance, method and path) and its parameters; of several that are alike the nth repeats
// the nth. It takes no account of what calls read. One that is nil knows nothing.
type Memory struct {
	Completed []Completed        // by earlier ticks; their numbers are from 1
	byKey     map[string][]int32 // their numbers, in order; none of a call that has only items done
	items     map[[2]string][]any
	Listed    []Listed           // the calls of the tick's plan
	alike     map[string][]int32 // those that have a key, in order
	taken     map[[2]string]int  // by key and parameters: how many items of these the tick's calls repeat
}

// A Completed call is one that is done.
type Completed struct {
	Params    map[string]any
	Output    any
	key, text string // the parameters as canonical JSON
	owner     int32  // the call of the tick that lists it again, from 1; or 0
}

// A Listed call is one of the tick.
type Listed struct {
	Key     string
	params  string // once they are known, where it might repeat a done call
	repeats int32
}

// NewMemory is a memory of nothing.
func NewMemory() *Memory {
	m := &Memory{byKey: map[string][]int32{}, items: map[[2]string][]any{}}
	m.NextTick()
	return m
}

// NextTick begins a tick whose plan lists nothing so far.
func (m *Memory) NextTick() {
	m.Listed, m.alike, m.taken = nil, map[string][]int32{}, map[[2]string]int{}
	for i := range m.Completed {
		m.Completed[i].owner = 0
	}
}

func canonical(params map[string]any) string {
	text, err := json.Marshal(params) // objects by key
	if err != nil {
		panic("parameters that aren't JSON: " + err.Error())
	}
	return string(text)
}

// List lists the next call of the tick, and reports whether it may repeat a done one. The key "" repeats nothing.
func (m *Memory) List(key string) bool {
	m.Listed = append(m.Listed, Listed{Key: key})
	nth, numbers := len(m.alike[key]), m.byKey[key]
	m.alike[key] = append(m.alike[key], int32(len(m.Listed)-1))
	if nth >= len(numbers) {
		return false
	}
	m.Completed[numbers[nth]-1].owner = int32(len(m.Listed))
	return true
}

// IsListed reports whether a call of the tick lists a completed one again.
func (m *Memory) IsListed(number int32) bool { return m.Completed[number-1].owner > 0 }

// MayBeListedAfter reports whether a completed call may turn out to be listed after a call of the tick.
func (m *Memory) MayBeListedAfter(number int32, call int) bool {
	one := &m.Completed[number-1]
	return one.key != "" && (one.owner == 0 || int(one.owner-1) > call)
}

// Counts reports whether what a completed call wrote counts for who sees some calls of the tick: where it is listed
// again, only for those who see the call that lists or repeats it.
func (m *Memory) Counts(number int32, sees func(call int) bool) bool {
	owner := int(m.Completed[number-1].owner)
	if owner == 0 || sees(owner-1) {
		return true
	}
	for i := range m.Listed {
		if m.Listed[i].repeats == number && sees(i) {
			return true
		}
	}
	return false
}

// Alike are those of the first n calls of the tick that have the key of one, itself included, if it is known.
func (m *Memory) Alike(call int32, n int) []int32 {
	if m == nil || int(call) >= len(m.Listed) {
		return nil
	}
	key := m.Listed[call].Key
	if _, isKnown := m.byKey[key]; !isKnown {
		return nil
	}
	all := m.alike[key]
	for len(all) > 0 && int(all[len(all)-1]) >= n {
		all = all[:len(all)-1]
	}
	return all
}

// Match finds the completed call that one of the tick repeats, by the calls like it that come before it and whose
// parameters are known, too. Its number is 0 for none.
func (m *Memory) Match(call int32, params map[string]any, before []int32) (number int32) {
	one := &m.Listed[call]
	one.params = canonical(params)
	nth := 0
	for _, i := range before {
		if m.Listed[i].params == one.params {
			nth++
		}
	}
	for _, number := range m.byKey[one.Key] {
		if m.Completed[number-1].text != one.params {
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

// RepeatItem reports whether an item of a call was done before, though the call as a whole wasn't, and what it gave.
func (m *Memory) RepeatItem(call int32, params map[string]any) (output any, yes bool) {
	of := [2]string{m.Listed[call].Key, canonical(params)}
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
		if _, isKnown := m.byKey[key]; !isKnown {
			m.byKey[key] = nil
		}
	}
}

// Add notes a call that is done, and gives its number.
func (m *Memory) Add(key string, params map[string]any, output any) int32 {
	m.Completed = append(m.Completed, Completed{Params: params, Output: output, key: key, text: canonical(params)})
	number := int32(len(m.Completed))
	if key != "" {
		m.byKey[key] = append(m.byKey[key], number)
	}
	return number
}
