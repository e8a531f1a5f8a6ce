package source

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// streamed feeds a text in pieces that end at random.
func streamed(text string, r *rand.Rand) *Stream {
	s := NewStream(Limits{})
	for text != "" {
		n := min(1+r.IntN(1+r.IntN(40)), len(text))
		s.Write(text[:n])
		text = text[n:]
	}
	return s
}

// solutionText writes a random solution, so that everything that could be taken
// for the list of calls, or for its end, is somewhere in it.
func solutionText(r *rand.Rand) string {
	var b strings.Builder
	space := func() {
		for r.IntN(4) == 0 {
			b.WriteByte(" \t\n\r"[r.IntN(4)])
		}
	}
	word := func() {
		b.WriteByte('"')
		for range r.IntN(4) {
			b.WriteString([]string{"calls", "a", `\"`, `\\`, "]}", `\u005d`, "†state.x", "😀", `\ud83d\ude00`, "①", "{[", `\n`, "\u00e9", "\u0800", "\uffff", "\U0010ffff"}[r.IntN(16)])
		}
		b.WriteByte('"')
	}
	var value func(depth int)
	list := func(item func(), open, closing string, n int) {
		b.WriteString(open)
		space()
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
				space()
			}
			item()
			space()
		}
		b.WriteString(closing)
	}
	member := func(key string, value func()) {
		b.WriteString(key)
		space()
		b.WriteByte(':')
		space()
		value()
	}
	value = func(depth int) {
		switch kind := r.IntN(8); {
		case kind < 2 && depth < 5:
			n := 0
			list(func() {
				n++
				member([]string{fmt.Sprintf(`"k%d"`, n), fmt.Sprintf(`"\u0063%d"`, n), `"calls"`}[min(r.IntN(2)+2*(n/3), 2)], func() { value(depth + 1) })
			}, "{", "}", r.IntN(4))
		case kind < 4 && depth < 5:
			list(func() { value(depth + 1) }, "[", "]", r.IntN(4))
		case kind < 5:
			b.WriteString([]string{"0", "-0", "12", "-3.25", "1e3", "4E-2", "0.5e+1", "9007199254740991"}[r.IntN(8)])
		case kind < 6:
			b.WriteString([]string{"true", "false", "null"}[r.IntN(3)])
		default:
			word()
		}
	}
	call := func() {
		if r.IntN(5) == 0 {
			value(2)
			return
		}
		n := 0
		list(func() {
			if n++; n == 1 {
				member(`"_tool"`, word)
				return
			}
			member(fmt.Sprintf(`"p%d"`, n), func() { value(3) })
		}, "{", "}", 1+r.IntN(4))
	}
	members := []func(){
		func() { member(`"advisors"`, func() { list(func() { value(2) }, "[", "]", r.IntN(3)) }) },
		func() { member(`"meta"`, func() { value(1) }) },
		func() {
			member([]string{`"calls"`, `"c\u0061lls"`, `"\u0063\u0061\u006c\u006C\u0073"`}[r.IntN(3)], func() { list(call, "[", "]", r.IntN(6)) })
		},
		func() { member(`"output"`, func() { value(1) }) },
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	if r.IntN(3) == 0 {
		at := r.IntN(len(members))
		members = append(members[:at], members[at+1:]...)
	}
	fence := r.IntN(4) == 0
	space()
	if fence {
		b.WriteString([]string{"```json\n", "```\n", "````JSON\r\n", "```json "}[r.IntN(4)])
	}
	at := 0
	list(func() { at++; members[at-1]() }, "{", "}", len(members))
	if fence {
		b.WriteString("\n```")
		if strings.Contains(b.String(), "````") {
			b.WriteString("`")
		}
	}
	space()
	return b.String()
}

// whole reads a solution with the strict reader.
func whole(t *testing.T, text []byte) *Node {
	t.Helper()
	n, problems := Parse(NewFile("solution.json", text), Limits{})
	if len(problems) > 0 {
		t.Fatalf("%s at %d in\n%s", problems[0].Message, problems[0].Span.Start, text)
	}
	return n
}

// checkPrefixes holds what a stream says of the beginning of a solution against the whole: a prefix of so many calls
// ends with the last of them, and what stands in it is the same, at the same places.
func checkPrefixes(t *testing.T, s *Stream, solution *Node) {
	t.Helper()
	objects := calls(solution)
	for k := range s.Calls() + 1 {
		prefix := s.Prefix(k)
		list := whole(t, prefix).Get("calls")
		if list == nil || list.Kind != Array || k > 0 && list.Items[len(list.Items)-1].End != objects[k-1].End {
			t.Fatalf("the prefix of %d calls is another:\n%s", k, prefix)
		}
		for i, item := range list.Items {
			if want := solution.Get("calls").Items[i]; item.Start != want.Start || item.End != want.End ||
				!reflect.DeepEqual(item.Value(), want.Value()) {
				t.Fatalf("item %d of the prefix of %d calls is at %d..%d; it is at %d..%d in\n%s", i, k, item.Start,
					item.End, want.Start, want.End, s.Text())
			}
		}
	}
}

// However a solution is cut into pieces, its calls come to the same ends, and each is known with its last byte.
func TestStreamAnySplit(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 8))
		text := solutionText(r)
		s := streamed(text, r)
		if s.Err() != nil || string(s.Text()) != text {
			t.Fatalf("seed %d: %+v in\n%s", seed, s.Err(), text)
		}
		solution := whole(t, s.Solution())
		checkPrefixes(t, s, solution)

		var ends []int
		for _, item := range calls(solution) {
			ends = append(ends, item.End)
		}
		if !reflect.DeepEqual(s.calls, ends) {
			t.Fatalf("seed %d: calls that end at %v, not %v, in\n%s", seed, s.calls, ends, text)
		}
		one, complete := NewStream(Limits{}), 0
		for at := range len(text) {
			one.Write(text[at : at+1])
			for complete < len(ends) && ends[complete] <= at+1 {
				complete++
			}
			if one.Calls() != complete {
				t.Fatalf("seed %d: after %d bytes %d calls, not %d in\n%s", seed, at+1, one.Calls(), complete, text)
			}
			if r.IntN(20) == 0 {
				checkPrefixes(t, one, solution)
			}
		}
	}
}

// calls are the objects and lists in the list of calls of a solution.
func calls(solution *Node) []*Node {
	list := solution.Get("calls")
	if list == nil || list.Kind != Array {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list.Items), func(n *Node) bool { return n.Kind != Object && n.Kind != Array })
}

// A text that the strict reader accepts as an object is accepted by the stream, whatever has become of it on its way.
func TestStreamAgreesWithParse(t *testing.T) {
	accepted := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 9))
		text := []byte(strings.TrimLeft(solutionText(r), "`JSONjson \t\r\n"))
		for range 1 + r.IntN(2) {
			at := r.IntN(len(text))
			switch r.IntN(4) {
			case 0:
				text[at] = "\"\\{}[],:0-.eutn \x00\x1f\x80\xc3\xed\xf4/`"[r.IntN(23)]
			case 1:
				text = append(text[:at], text[at+1:]...)
			case 2:
				text = append(text[:at:at], append([]byte{text[at]}, text[at:]...)...)
			case 3:
				text = text[:at]
			}
			if len(text) == 0 {
				break
			}
		}
		if agree(t, streamed(string(text), r), text) {
			accepted++
		}
	}
	if accepted < 2000 {
		t.Errorf("only %d texts were accepted", accepted)
	}
}

// agree holds a stream against the strict reader, and reports whether both took the text.
func agree(t *testing.T, s *Stream, text []byte) bool {
	t.Helper()
	s.Prefix(s.Calls())
	n, problems := Parse(NewFile("solution.json", s.Solution()), Limits{})
	if n == nil || n.Kind != Object || len(problems) > 0 {
		return false
	}
	if s.Err() != nil {
		t.Fatalf("the stream refuses %q: %+v", text, s.Err())
	}
	checkPrefixes(t, s, n)
	return true
}

// What surrounds, resembles or interrupts a list of calls.
func TestStreamCases(t *testing.T) {
	for _, c := range []struct {
		text   string
		calls  int
		fault  string
		prefix string // of all its calls
	}{
		{text: "", prefix: `{"calls":[]}`},
		{text: " \n", prefix: " \n" + `{"calls":[]}`},
		{text: "{", prefix: `{"calls":[]}`},
		{text: `{"advisors":[{"id":"a"}`, prefix: `{"calls":[]}`},
		{text: `{"advisors":[{"id":"a"}]`, prefix: `{"advisors":[{"id":"a"}],"calls":[]}`},
		{text: `{"advisors":[],"cal`, prefix: `{"advisors":[],"calls":[]}`},
		{text: `{"advisors":[] , "calls" : [ `, prefix: `{"advisors":[] , "calls" : []}`},
		{text: `{"advisors":null,"calls":[`, prefix: `{"advisors":null,"calls":[]}`},
		{text: `{"calls":[],"advisors":[]`, prefix: `{"calls":[]}`},
		{text: `{"calls":[{"_tool":"a"}`, calls: 1, prefix: `{"calls":[{"_tool":"a"}]}`},
		{text: `{"calls":[{"_tool":"a"},{"_tool":"b"`, calls: 1, prefix: `{"calls":[{"_tool":"a"}]}`},
		{text: `{"calls":[{"_tool":"a","calls":[1,2]}],"output":{"calls":[3]}}`, calls: 1, prefix: `{"calls":[{"_tool":"a","calls":[1,2]}]}`},
		{text: `{"meta":{"calls":[1,2]},"c\u0061lls":[[],"]",12`, calls: 1, prefix: `{"meta":{"calls":[1,2]},"c\u0061lls":[[]]}`},
		{text: `{"output":1,"calls":{"calls":[1]},"meta":[]}`, prefix: `{"output":1,"calls":[]}`},
		{text: `{"calls":[{}],"calls":[[],[]],"output":null}`, calls: 1, prefix: `{"calls":[{}]}`},
		{text: `{"output":12`, prefix: `{"calls":[]}`},
		{text: "```json\n{\"calls\":[{},{}]}\n```\n", calls: 2, prefix: "       \n" + `{"calls":[{},{}]}`},
		{text: "\n````\r\n{\"calls\":[]}````", prefix: "\n    \r\n" + `{"calls":[]}`},
		{text: "```json{\"calls\":[{},", calls: 1, prefix: "       " + `{"calls":[{}]}`},
		{text: "```json\n{}\n``", prefix: "       \n" + `{"calls":[]}`},
		{text: "```json\n{}\n``` and more", fault: "nothing more"},
		{text: "``{}", fault: "``` before it"},
		{text: "```json5.\n{}", fault: "``` before it"},
		{text: "```json\nhere\n{}", fault: "a JSON object"},
		{text: "{}```", fault: "nothing more"},
		{text: `{"calls":[{}]} {`, calls: 1, fault: "nothing more", prefix: `{"calls":[{}]}`},
		{text: `Here is the plan: {"calls":[{}]}`, fault: "a JSON object"},
		{text: `[{"_tool":"a"}]`, fault: "a JSON object"},
		{text: `{"calls":[{}}`, calls: 1, fault: `a comma or "]"`, prefix: `{"calls":[{}]}`},
		{text: "\ufeff{}", fault: "a JSON object"},
		{text: strings.Repeat(`{"a":`, 100) + "1", prefix: `{"calls":[]}`},
		{text: strings.Repeat(`{"a":`, 101), fault: "100 deep"},
		{text: strings.Repeat("`", 100), fault: "a JSON object"},
	} {
		s := NewStream(Limits{})
		for i := range len(c.text) {
			s.Write(c.text[i : i+1])
		}
		message := ""
		if s.Err() != nil {
			message = s.Err().Message
		}
		if s.Calls() != c.calls || (message != "") != (c.fault != "") || !strings.Contains(message, c.fault) {
			t.Errorf("%.60q: %d calls, %q", c.text, s.Calls(), message)
		}
		if got := string(s.Prefix(s.Calls())); c.prefix != "" && got != c.prefix {
			t.Errorf("%.60q: the prefix is %q", c.text, got)
		}
	}
}

// Limits hold while reading, and an error has its place.
func TestStreamLimits(t *testing.T) {
	s := NewStream(Limits{Bytes: 20, Depth: 3})
	s.Write(`{"calls":[{},[],`)
	s.Write(`33333333`)
	s.Write("]}")
	if s.Err() == nil || s.Err().Code != codeLimit || len(s.Text()) != 20 || s.Calls() != 2 {
		t.Errorf("%+v, %d bytes, %d calls", s.Err(), len(s.Text()), s.Calls())
	}
	s = NewStream(Limits{Depth: 3})
	s.Write(`{"calls":[{"a":[`)
	if s.Err() == nil || s.Err().Code != codeLimit || s.Err().Span.Start != 15 {
		t.Errorf("%+v", s.Err())
	}
}

func FuzzStream(f *testing.F) {
	for seed := range uint64(50) {
		f.Add([]byte(solutionText(rand.New(rand.NewPCG(seed, 8)))), seed)
	}
	files, _ := filepath.Glob("testdata/*.json")
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(text, uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, other := streamed(string(text), r), NewStream(Limits{})
		other.Write(string(text))
		if !reflect.DeepEqual(s.calls, other.calls) || (s.Err() == nil) != (other.Err() == nil) {
			t.Fatalf("cut into pieces it reads otherwise: %q", text)
		}
		if s.Err() != nil && !reflect.DeepEqual(s.Err().Span.Start, other.Err().Span.Start) {
			t.Fatalf("cut into pieces it fails elsewhere: %q", text)
		}
		if !bytes.Equal(s.Text(), other.Text()) || s.Err() == nil && !bytes.Equal(s.Text(), text) {
			t.Fatalf("the text has changed: %q", text)
		}
		agree(t, s, text)
	})
}
