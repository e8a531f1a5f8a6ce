package diag

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what was written with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update accepts it\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// spanOf is the place of the nth occurrence (from 0) of a text.
func spanOf(t testing.TB, f *source.File, text string, nth int) source.Span {
	t.Helper()
	at := -1
	for range nth + 1 {
		next := bytes.Index(f.Text[at+1:], []byte(text))
		if next < 0 {
			t.Fatalf("%q doesn't stand %d times in %s", text, nth+1, f.Name)
		}
		at += 1 + next
	}
	return source.Span{File: f, Start: at, End: at + len(text)}
}

const refund = `plan: refund
input: {order: A-17}
calls:
  - _tool: findOrder
    id: †input.order
    _outputPath: order
  - _tool: refund
    amount: †state.ordr.total
    note: "①  für 👩 日本 †state.ordr"
    _outputPath: †state.receipt || †state.error
  - _tool: mail
	text: †state.receipt
`

func findings(t testing.TB) []Diagnostic {
	plan := source.NewFile("plan.yaml", []byte(refund))
	tools := source.NewFile("tools.yaml", []byte("refund:\n  properties:\n    amount: {type: number}\n"))
	long := source.NewFile("long.json", []byte(`{"calls":[{"_tool":"a","text":"`+strings.Repeat("läng ", 60)+`","x":"†state.gone"},{"_tool":"b","y":"`+strings.Repeat("läng ", 60)+`","_outputPath":"gone"}]}`))
	row := source.NewFile("batch.jsonl", []byte(`[{"_tool":"nope"}]`))
	row.Row, row.Base = 1200, 98765
	hostile := source.NewFile("evil\n::error::\x1b[2J.yaml", []byte("- _tool: \"a\u202eb\x1b[31m\xffc\u200b\"\r\n- _tool: \"❤️ ok\"\r\n"))

	dangling := New(DanglingReference, spanOf(t, plan, "†state.ordr", 0), `nothing writes "†state.ordr"`)
	dangling.Call, dangling.Help = "refund#2", `did you mean "†state.order"?`
	dangling.Related = []Note{{spanOf(t, plan, "order", 2), "this is the nearest path that a call writes"}}
	dangling.Fixes = []Fix{{`write "†state.order"`, true, []Edit{{spanOf(t, plan, "ordr", 0), "order"}}}}

	wide := New(DanglingReference, spanOf(t, plan, "†state.ordr", 1), `nothing writes "†state.ordr"`)

	mismatch := New(BadParameter, spanOf(t, plan, "†state.ordr.total", 0), `"amount" wants a number`)
	mismatch.Severity = Warning
	mismatch.Related = []Note{{spanOf(t, tools, "type: number", 0), "declared here"}, {source.Span{}, "no value that the source allows is a number"}}
	mismatch.Witness = map[string]any{"value": "x", "a": 1}

	whole := New(LostWrite, source.Span{File: plan, Start: spanOf(t, plan, "_tool: refund", 0).Start, End: spanOf(t, plan, "†state.error", 0).End}, `the result of "refund" is never read`)
	whole.Related = []Note{{spanOf(t, plan, "†state.receipt", 1), "after the tab: this reads only one alternative of it, and says so in so many words that they have to go below the line that they are about"}}

	far := New(LateWriter, spanOf(t, long, "†state.gone", 0), `"†state.gone" is written later`)
	far.Related = []Note{{spanOf(t, long, `"_outputPath":"gone"`, 0), "here"}}

	inRow := New(UnknownTool, spanOf(t, row, `"nope"`, 0), `no tool is called "nope"`)

	evil := New(ConfusableName, spanOf(t, hostile, "\x1b[31m", 0), "the name \"a\u202eb\x1b[31m\xffc\u200b\" has characters that can't be seen\nerror[OB000]: a line of its own")
	evil.Related = []Note{{spanOf(t, hostile, "ok", 0), "after a heart"}}

	nowhere := New(ToolsNotJudged, source.Span{}, "no tools are declared, so neither tools nor parameters are judged")

	itself := New(Cycle, spanOf(t, plan, "†state.receipt", 0), "two calls wait for each other")
	itself.Related = []Note{{itself.Span, "written here"}, {spanOf(t, plan, "†state.receipt", 1), "read here"}}

	end := New(Syntax, source.Span{File: plan, Start: len(plan.Text), End: len(plan.Text)}, "the text ends too early")
	return []Diagnostic{dangling, wide, mismatch, whole, far, inRow, evil, nowhere, itself, end}
}

// LANGUAGE.md#findings: text for people, with file, line, column, the line, a mark under
// the spot that †, wide characters and tabs don't shift, related places.
func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, findings(t), TextOptions{Width: 80, Fixed: "--fix does it"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "text.golden", b.String())
}

// LANGUAGE.md#findings: colours when asked for, and none otherwise.
func TestTextColor(t *testing.T) {
	var colored, bare bytes.Buffer
	Text(&colored, findings(t)[:1], TextOptions{Color: true, Width: 80, Fixed: "--fix does it"})
	Text(&bare, findings(t)[:1], TextOptions{Width: 80, Fixed: "--fix does it"})
	golden(t, "color.golden", colored.String())
	if strings.Contains(bare.String(), "\x1b") {
		t.Error("escape sequences without colour")
	}
	if got := stripColor(colored.String()); got != bare.String() {
		t.Errorf("colours change the text:\n%s\nwant\n%s", got, bare.String())
	}
}

func stripColor(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

// Of many related places a person sees some, and how many more there are.
func TestTextCountsPlacesLeftOut(t *testing.T) {
	f := source.NewFile("plan.yaml", []byte(strings.Repeat("- _tool: a\n", 40)))
	d := New(WriteConflict, spanOf(t, f, "a", 0), "too many")
	for i := 1; i < 40; i++ {
		d.Related = append(d.Related, Note{spanOf(t, f, "a", i), "and here"})
	}
	var b, j bytes.Buffer
	Text(&b, []Diagnostic{d}, TextOptions{})
	if !strings.Contains(b.String(), "and 31 more related places") || strings.Count(b.String(), "and here") != maxPlaces {
		t.Errorf("got\n%s", b.String())
	}
	JSON(&j, []Diagnostic{d})
	if n := strings.Count(j.String(), "and here"); n != 39 {
		t.Errorf("JSON has %d places, not 39", n)
	}
}

// EXECUTION.md#limits: one finding in a line of many megabytes costs what its window costs.
func TestTextLooksAtAWindowOnly(t *testing.T) {
	f := source.NewFile("big.json", []byte(`["`+strings.Repeat("x", 8<<20)+`†here`+strings.Repeat("y", 8<<20)+`"]`))
	span := spanOf(t, f, "†here", 0)
	span.From()
	d := []Diagnostic{New(BadExpression, span, "long")}
	var b bytes.Buffer
	bytesUsed := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		var out bytes.Buffer
		for range b.N {
			out.Reset()
			Text(&out, d, TextOptions{})
		}
	}).AllocedBytesPerOp()
	if bytesUsed > 1<<20 {
		t.Errorf("one finding takes %d bytes", bytesUsed)
	}
	Text(&b, d, TextOptions{Width: 60})
	golden(t, "window.golden", b.String())
}

// LANGUAGE.md#findings: the keys of a finding, in their order, each always there.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, findings(t)); err != nil {
		t.Fatal(err)
	}
	if err := Summarize(3, findings(t)).JSON(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "findings.jsonl", b.String())

	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for _, line := range lines[:len(lines)-1] {
		for _, key := range []string{"kind", "code", "name", "severity", "message", "file", "start", "end", "call", "related", "fixes", "witness"} {
			if !strings.Contains(line, `"`+key+`":`) {
				t.Errorf("no %q in %s", key, line)
			}
		}
	}
	var last map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last["errors"].(float64)+last["warnings"].(float64)+last["infos"].(float64) != float64(len(lines)-1) {
		t.Errorf("the summary counts %v of %d findings", last, len(lines)-1)
	}
	for _, key := range []string{"kind", "files", "errors", "warnings", "infos"} {
		if _, ok := last[key]; !ok {
			t.Errorf("the summary has no %q", key)
		}
	}
}

// LANGUAGE.md#findings: end is exclusive, offset in bytes from 0 and of the whole file for a
// line of a .jsonl file.
func TestJSONPlaces(t *testing.T) {
	row := source.NewFile("batch.jsonl", []byte(`["†a"]`))
	row.Row, row.Base = 7, 1000
	var b bytes.Buffer
	JSON(&b, []Diagnostic{New(UnknownTool, spanOf(t, row, "†a", 0), "x")})
	var got struct{ Start, End source.Position }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if want := (source.Position{Line: 7, Column: 3, Offset: 1002}); got.Start != want {
		t.Errorf("start is %v, want %v", got.Start, want)
	}
	if want := (source.Position{Line: 7, Column: 5, Offset: 1006}); got.End != want {
		t.Errorf("end is %v, want %v", got.End, want)
	}
}

// LANGUAGE.md#tools: what is hidden or acts on a terminal is spelled out; letters of every
// script stay.
func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain †state.x ① für 日本 émoji 👩": "plain †state.x ① für 日本 émoji 👩",
		"a\x1b[2Jb":                   "a<U+001B>[2Jb",
		"a\nerror: b\r\t":             `a\nerror: b\r\t`,
		"\u202eabc\u2066\u200b\ufeff": "<U+202E>abc<U+2066><U+200B><U+FEFF>",
		"c1 \u009b31m":                "c1 <U+009B>31m",
		"bad \xff \ufffd":             "bad \\xff \ufffd",
		"nbsp\u00a0 line\u2028":       "nbsp<U+00A0> line<U+2028>",
		"❤\ufe0f a\ufe0f":             "❤\ufe0f a<U+FE0F>",
		"tag\U000e0041 filler\u3164":  "tag<U+E0041> filler<U+3164>",
		"\x7f\x00":                    "<U+007F><U+0000>",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

// acts reports whether a printed text has a character that it must not have.
func acts(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\n'
	})
}

var (
	ours     = regexp.MustCompile(`^( *-->| *\d* \|| +=|\.\.\.$|$)`)
	numbered = regexp.MustCompile(`^ *\d+ \|`)
)

// LANGUAGE.md#tools: whatever a file holds and wherever a span lies, the rendering has
// no acting character, no line that the text began, no excerpt wider than asked
// for, and its JSON gives back the message.
func FuzzRender(f *testing.F) {
	f.Add([]byte(refund), 10, 30, 90, "a\x1b[31m\nb", uint8(60))
	f.Add([]byte("a\u202e\r\nb\xff\tc"), 1, 4, 3, "†", uint8(0))
	f.Add([]byte(strings.Repeat("日本", 200)), 500, 520, 3, "far", uint8(44))
	f.Fuzz(func(t *testing.T, text []byte, start, end, other int, message string, width uint8) {
		file := source.NewFile("f.yaml", text)
		clamp := func(n int) int { return min(max(n, 0), len(text)) }
		d := New(Syntax, source.Span{File: file, Start: clamp(start), End: max(clamp(start), clamp(end))}, message)
		d.Related = []Note{{source.Span{File: file, Start: clamp(other), End: clamp(other)}, message}}
		d.Help, d.Call = message, message

		var b bytes.Buffer
		if err := Text(&b, []Diagnostic{d}, TextOptions{Width: int(width)}); err != nil {
			t.Fatal(err)
		}
		if acts(b.String()) || !utf8.Valid(b.Bytes()) {
			t.Fatalf("acting characters in %q", b.String())
		}
		limit := newPrinter(&b, TextOptions{Width: int(width)}).width
		for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")[1:] {
			if !ours.MatchString(line) {
				t.Fatalf("a line of its own: %q", line)
			}
			if numbered.MatchString(line) && Columns(line) > limit {
				t.Fatalf("%d columns, not %d: %q", Columns(line), limit, line)
			}
		}

		b.Reset()
		if err := JSON(&b, []Diagnostic{d}); err != nil {
			t.Fatal(err)
		}
		if acts(b.String()) || strings.Count(b.String(), "\n") != 1 {
			t.Fatalf("acting characters in %q", b.String())
		}
		var back struct{ Message, Call, Help *string }
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(message, "\ufffd"); utf8.ValidString(message) && *back.Message != want {
			t.Fatalf("%q came back as %q", want, *back.Message)
		}
	})
}

// A window shows the spot, marks it, and fits, however wide its characters.
func FuzzWindow(f *testing.F) {
	f.Add("abc †state.x def", 4, 14, 20)
	f.Add(strings.Repeat("日", 100), 150, 153, 40)
	f.Add("\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b", 4, 5, 30)
	f.Add("0\nۧ\xa60\x0e\x01ӝ\x7f", 15, -17, -12)
	f.Add("a "+strings.Repeat("\u0301", 60)+"b", 4, 5, 30)
	f.Add(strings.Repeat(" \u0301", 60), 30, 31, 30)
	f.Fuzz(func(t *testing.T, text string, start, end, room int) {
		room = 30 + min(max(room, 0), 200)
		file := source.NewFile("f", []byte(text))
		start = min(max(start, 0), len(text))
		end = min(max(end, start), len(text))
		for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
			start--
		}
		span := source.Span{File: file, Start: start, End: end}
		w := newWindow(span, room)
		if got := Columns(w.text()); got > room {
			t.Fatalf("%d columns in a room of %d: %q", got, room, w.text())
		}
		if !w.holds(start) {
			t.Fatalf("the window %d to %d (cut %v %v) doesn't hold %d", w.start, w.end, w.cutLeft(), w.cutEnd(), start)
		}
		from, length := w.place(span)
		if from+length > room+1 {
			t.Fatalf("the mark ends at column %d of %d", from+length, room)
		}
		// What stands left of the mark is as wide as the mark is far.
		left := w.columns(w.start, start)
		if w.cutLeft() {
			left++
		}
		if left != from {
			t.Fatalf("marked at column %d, stands at %d", from, left)
		}
	})
}

// Summaries count every finding once.
func TestSummarize(t *testing.T) {
	d := findings(t)
	got := Summarize(2, d)
	want := Summary{Files: 2}
	for _, one := range d {
		*map[Severity]*int{Error: &want.Errors, Warning: &want.Warnings, Info: &want.Infos}[one.Severity]++
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
