package source

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
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

// checkPrefixes holds what a stream says of the beginning of a solution against
// the whole: as many calls, the same ones, at the same places.
func checkPrefixes(t *testing.T, s *Stream, solution *Node) {
	t.Helper()
	calls := solution.Get("calls")
	for k := range s.Calls() + 1 {
		prefix := s.Prefix(k)
		got := whole(t, prefix).Get("calls")
		if got == nil || got.Kind != Array || len(got.Items) != k {
			t.Fatalf("the prefix of %d calls holds others:\n%s", k, prefix)
		}
		for i, item := range got.Items {
			if want := calls.Items[i]; item.Start != want.Start || item.End != want.End || !reflect.DeepEqual(item.Value(), want.Value()) {
				t.Fatalf("call %d of the prefix of %d is at %d..%d; it is at %d..%d in\n%s", i, k, item.Start, item.End, want.Start, want.End, s.Text())
			}
		}
	}
}

// However a solution is cut into pieces, its calls come to the same ends, and
// each is known with its last byte.
func TestStreamAnySplit(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 8))
		text := solutionText(r)
		s := streamed(text, r)
		if s.Err() != nil || !s.Done() || string(s.Text()) != text {
			t.Fatalf("seed %d: done %v, %+v in\n%s", seed, s.Done(), s.Err(), text)
		}
		solution := whole(t, s.Solution())
		checkPrefixes(t, s, solution)

		var ends []int
		advised := 0
		calls, advisors := solution.Get("calls"), solution.Get("advisors")
		if calls != nil {
			for _, item := range calls.Items {
				end := item.End
				if item.Kind < String {
					end++ // it may go on
				}
				ends = append(ends, end)
			}
		}
		if advisors != nil && (calls == nil || advisors.Start < calls.Start) {
			advised = advisors.End
		}
		if s.Calls() != len(ends) || s.Advisors() != (advised > 0) {
			t.Fatalf("seed %d: %d calls, advisors %v in\n%s", seed, s.Calls(), s.Advisors(), text)
		}
		one := NewStream(Limits{})
		complete := 0
		for at := range len(text) {
			one.Write(text[at : at+1])
			for complete < len(ends) && ends[complete] <= at+1 {
				complete++
			}
			if one.Calls() != complete || one.Advisors() != (advised > 0 && advised <= at+1) || one.Done() != (solution.End <= at+1) {
				t.Fatalf("seed %d: after %d bytes %d calls, not %d (advisors %v, done %v) in\n%s", seed, at+1, one.Calls(), complete, one.Advisors(), one.Done(), text)
			}
			if r.IntN(20) == 0 {
				checkPrefixes(t, one, solution)
			}
		}
	}
}

// A text is refused by the stream if and only if the strict reader refuses it,
// whatever has become of it on its way.
func TestStreamAgreesWithParse(t *testing.T) {
	refused := 0
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
		s := streamed(string(text), r)
		if accepted := agree(t, s, text); !accepted {
			refused++
		}
	}
	if refused < 5000 {
		t.Errorf("only %d texts were refused", refused)
	}
}

// agree holds a stream against the strict reader, and reports whether both took
// the text.
func agree(t *testing.T, s *Stream, text []byte) bool {
	t.Helper()
	n, problems := Parse(NewFile("solution.json", s.Solution()), Limits{})
	if len(problems) >= MaxProblems {
		return false
	}
	sound := n != nil && n.Kind == Object
	if sound != (s.Done() && s.Err() == nil) {
		t.Fatalf("the reader: %v %+v\nthe stream: done %v, %+v\nof %q", sound, problems, s.Done(), s.Err(), text)
	}
	if sound && s.Calls() > 0 && s.Calls() != len(n.Get("calls").Items) {
		t.Fatalf("%d calls, not %d, in %q", s.Calls(), len(n.Get("calls").Items), text)
	}
	for _, k := range []int{0, s.Calls() / 2, s.Calls()} {
		prefix := s.Prefix(k)
		n, problems := Parse(NewFile("solution.json", prefix), Limits{})
		if n == nil || len(n.Get("calls").Items) != k {
			t.Fatalf("%+v of the prefix of %d calls of %q:\n%s", problems, k, text, prefix)
		}
	}
	return sound
}

// What surrounds, resembles or interrupts a list of calls.
func TestStreamCases(t *testing.T) {
	for _, c := range []struct {
		text     string
		calls    int
		advisors bool
		done     bool
		fault    string
		prefix   string // of all its calls
	}{
		{text: "", prefix: `{"calls":[]}`},
		{text: " \n", prefix: " \n" + `{"calls":[]}`},
		{text: "{", prefix: `{"calls":[]}`},
		{text: `{"advisors":[{"id":"a"}`, prefix: `{"calls":[]}`},
		{text: `{"advisors":[{"id":"a"}]`, advisors: true, prefix: `{"advisors":[{"id":"a"}],"calls":[]}`},
		{text: `{"advisors":[],"cal`, advisors: true, prefix: `{"advisors":[],"calls":[]}`},
		{text: `{"advisors":[] , "calls" : [ `, advisors: true, prefix: `{"advisors":[] , "calls" : []}`},
		{text: `{"advisors":null,"calls":[`, prefix: `{"advisors":null,"calls":[]}`},
		{text: `{"calls":[],"advisors":[]`, prefix: `{"calls":[]}`},
		{text: `{"calls":[{"_tool":"a"}`, calls: 1, prefix: `{"calls":[{"_tool":"a"}]}`},
		{text: `{"calls":[{"_tool":"a"},{"_tool":"b"`, calls: 1, prefix: `{"calls":[{"_tool":"a"}]}`},
		{text: `{"calls":[{"_tool":"a","calls":[1,2]}],"output":{"calls":[3]}}`, calls: 1, done: true, prefix: `{"calls":[{"_tool":"a","calls":[1,2]}]}`},
		{text: `{"meta":{"calls":[1,2]},"c\u0061lls":[[],"]",12`, calls: 2, prefix: `{"meta":{"calls":[1,2]},"c\u0061lls":[[],"]"]}`},
		{text: `{"calls":[12 `, calls: 1, prefix: `{"calls":[12]}`},
		{text: `{"output":1,"calls":{"calls":[1]},"meta":[]}`, done: true, prefix: `{"output":1,"calls":[]}`},
		{text: `{"calls":[1],"calls":[2,3],"output":null}`, calls: 1, done: true, prefix: `{"calls":[1]}`},
		{text: `{"output":12`, prefix: `{"calls":[]}`},
		{text: "```json\n{\"calls\":[1,2]}\n```\n", calls: 2, done: true, prefix: "       \n" + `{"calls":[1,2]}`},
		{text: "\n````\r\n{\"calls\":[]}````", done: true, prefix: "\n    \r\n" + `{"calls":[]}`},
		{text: "```json{\"calls\":[1,", calls: 1, prefix: "       " + `{"calls":[1]}`},
		{text: "```json\n{}\n``", done: true, prefix: "       \n" + `{"calls":[]}`},
		{text: "```json\n{}\n````", done: true, fault: "the end of the fence"},
		{text: "```json\n{}\n```\n```", done: true, fault: "nothing more"},
		{text: "```json\n{}\n`` `", done: true, fault: "the end of the fence"},
		{text: "``{}", fault: "``` around it"},
		{text: "```json5.\n{}", fault: "opens the fence"},
		{text: "```json\nhere\n{}", fault: "a JSON object"},
		{text: "{}```", done: true, fault: "nothing more"},
		{text: `{"calls":[1]} {`, calls: 1, done: true, fault: "nothing more", prefix: `{"calls":[1]}`},
		{text: `Here is the plan: {"calls":[1]}`, fault: "a JSON object"},
		{text: `[{"_tool":"a"}]`, fault: "a JSON object"},
		{text: `{"calls":[1,]}`, calls: 1, fault: "a JSON value", prefix: `{"calls":[1]}`},
		{text: `{"calls":[1}`, calls: 1, fault: `a comma or "]"`, prefix: `{"calls":[1]}`},
		{text: `{"calls":[1] "output"`, calls: 1, fault: `a comma or "}"`, prefix: `{"calls":[1]}`},
		{text: `{"calls":[{"a":"\x"`, fault: "doesn't exist", prefix: `{"calls":[]}`},
		{text: `{"calls":[{"a":"\u12g"`, fault: "hexadecimal"},
		{text: `{"calls":[{"a":"\u0000"`, fault: "NUL"},
		{text: `{"calls":[{"a":"\udc00"`, fault: "surrogate"},
		{text: `{"calls":[{"a":"\ud83d"`, fault: "surrogate"},
		{text: "{\"calls\":[{\"a\":\"\n", fault: "control character"},
		{text: "{\"calls\":[{\"a\":\"\xc0\"", fault: "UTF-8"},
		{text: "{\"calls\":[{\"a\":\"\xc3\xc0\"", fault: "UTF-8"},
		{text: "{\"calls\":[{\"a\":\"\xe2\x82\xc0\"", fault: "UTF-8"},
		{text: "\ufeff{}", fault: "a JSON object"},
		{text: strings.Repeat(`{"a":`, 100) + "1", prefix: `{"calls":[]}`},
		{text: strings.Repeat(`{"a":`, 101), fault: "100 deep"},
		{text: `{"` + strings.Repeat("x", DefaultLimits().Scalar) + `"`, fault: "a scalar of"},
	} {
		shown := c.text[:min(len(c.text), 60)]
		for _, pieces := range [][]string{{c.text}, strings.Split(c.text, "")} {
			if len(pieces) > 1000 {
				continue
			}
			s := NewStream(Limits{})
			for _, piece := range pieces {
				for i := range len(piece) {
					s.Write(piece[i : i+1])
				}
			}
			message := ""
			if s.Err() != nil {
				message = s.Err().Message
			}
			if s.Calls() != c.calls || s.Advisors() != c.advisors || s.Done() != c.done || (message != "") != (c.fault != "") || !strings.Contains(message, c.fault) {
				t.Errorf("%q: %d calls, advisors %v, done %v, %q", shown, s.Calls(), s.Advisors(), s.Done(), message)
			}
			if got := string(s.Prefix(s.Calls())); c.prefix != "" && got != c.prefix {
				t.Errorf("%q: the prefix is %q", shown, got)
			}
		}
	}
}

// Limits hold while reading, and an error has its place.
func TestStreamLimits(t *testing.T) {
	s := NewStream(Limits{Bytes: 20, Depth: 3})
	s.Write(`{"calls":[1,2,`)
	s.Write(`33333333`)
	if s.Err() == nil || s.Err().Code != codeLimit || len(s.Text()) != 20 || s.Calls() != 2 {
		t.Errorf("%+v, %d bytes, %d calls", s.Err(), len(s.Text()), s.Calls())
	}
	s.Write("]}")
	if len(s.Text()) != 20 || s.Calls() != 2 {
		t.Errorf("it went on after the limit: %s", s.Text())
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
		if s.Calls() != other.Calls() || s.Advisors() != other.Advisors() || s.Done() != other.Done() || !reflect.DeepEqual(s.calls, other.calls) || (s.Err() == nil) != (other.Err() == nil) {
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

func BenchmarkStream(b *testing.B) {
	for _, calls := range []int{1_000, 10_000} {
		_, text := planText(calls)
		for _, size := range []int{4, len(text)} {
			b.Run(fmt.Sprintf("calls=%d/piece=%d", calls, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					s := NewStream(Limits{})
					for at := 0; at < len(text); at += size {
						s.Write(text[at:min(at+size, len(text))])
					}
					if s.Calls() != calls || !s.Done() {
						b.Fatal(s.Calls(), s.Err())
					}
				}
			})
		}
	}
}
