package source

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func lineColumn(p Position) string { return strings.Join([]string{itoa(p.Line), itoa(p.Column)}, ":") }

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// TestAmbiguous shows which scalars keep their 1.2 meaning and earn a warning, and which mean the same to both.
func TestAmbiguous(t *testing.T) {
	for text, want := range map[string]any{
		"yes": "yes", "No": "No", "on": "on", "OFF": "OFF",
		"0777": 777.0, "-0777": -777.0, "0888": 888.0, "00": 0.0, "1_000": "1_000", "-1_0.5": "-1_0.5",
		"1:20": "1:20", "190:20:30": "190:20:30", "1:20.5": "1:20.5",
	} {
		for _, layout := range []string{"k: ?\n", "- ?\n", "[a, ?]\n"} {
			n, problems := parse(YAML, strings.Replace(layout, "?", text, -1))
			if len(problems) != 1 || problems[0].Code != "OB107" || !problems[0].Warning || problems[0].Span.Text() != text {
				t.Errorf("%s: %v", text, problems)
			}
			if got := lastValue(n); !reflect.DeepEqual(got, want) {
				t.Errorf("%s is %#v, expected %#v", text, got, want)
			}
		}
	}
	for text, want := range map[string]any{
		"y": "y", "n": "n", "nope": "nope", "2024-01-31": "2024-01-31", "2024-01-31T10:00:00Z": "2024-01-31T10:00:00Z",
		"0": 0.0, "-0x": "-0x", "12": 12.0, "+12": 12.0, "0x1F": 31.0, "0.5": 0.5, ".5": 0.5, "5.": 5.0, "00.5": 0.5, "1.0e+3": 1000.0,
		"1.2.3": "1.2.3", "a_b": "a_b", "_1": "_1", "1_": "1_", "10:61": "10:61", "http://x": "http://x", "a:20": "a:20", "-": nil,
		"'yes'": "yes", `"0777"`: "0777", "TRUE": true, "~": nil, "Null": nil, "nULL": "nULL",
	} {
		if text == "-" || text == "1_" {
			continue // no scalar; and what 1.1 takes for 1
		}
		n, problems := parse(YAML, "k: "+text+"\n")
		if len(problems) > 0 {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		if got := lastValue(n); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, expected %#v", text, got, want)
		}
	}
	for _, keys := range []string{"yes: 1\non: 2\n", "{no: 1}", "1:20: x\n"} {
		if _, problems := parse(YAML, keys); len(problems) > 0 {
			t.Errorf("keys of %q: %v", keys, problems)
		}
	}
	if _, problems := parse(YAML, "{a:1, b: 2}"); len(problems) != 1 || !problems[0].Warning || problems[0].Span.Text() != "a:1" {
		t.Errorf("a key without a space: %v", problems)
	}
}

func lastValue(n *Node) any {
	if n == nil {
		return "nothing"
	}
	if n.Kind == Array {
		return n.Items[len(n.Items)-1].Value()
	}
	return n.Fields[0].Value.Value()
}

// The core schema in the words of YAML 1.2's chapter 10.3.2.
var coreSchema = []struct {
	kind    Kind
	pattern *regexp.Regexp
}{
	{Null, regexp.MustCompile(`^(null|Null|NULL|~|)$`)},
	{Bool, regexp.MustCompile(`^(true|True|TRUE|false|False|FALSE)$`)},
	{Number, regexp.MustCompile(`^[-+]?[0-9]+$`)},
	{Number, regexp.MustCompile(`^0o[0-7]+$`)},
	{Number, regexp.MustCompile(`^0x[0-9a-fA-F]+$`)},
	{Number, regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)},
	{Number, regexp.MustCompile(`^[-+]?(\.inf|\.Inf|\.INF)$`)},
	{Number, regexp.MustCompile(`^(\.nan|\.NaN|\.NAN)$`)},
}

// FuzzResolve holds the resolution of plain scalars to the core schema.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"", "~", "nul", "True", "12", "-1.5e+3", "0o7", "0o8", "0x", "0xG", ".", "..", "-.5", "1.e1", "+.inf", "-.nan", ".NaN", "1e", "e1", "--1", "1-", "٣", "0o", "1:20", "1_0.5", "-0b1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := String
		for _, c := range coreSchema {
			if c.pattern.MatchString(text) {
				want = c.kind
				break
			}
		}
		if got, _, _, _ := resolve(text); got != want {
			t.Fatalf("%q is %v, expected %v", text, got, want)
		}
		ambiguous(text, want)
	})
}

// TestSurvivors shows what is left of the tree behind a problem that isn't the
// end of the reading, and that all such problems are reported, in order.
func TestSurvivors(t *testing.T) {
	root, problems := parse(YAML, "a: 1\na: 2\nb: *none\nc: .nan\n<<: {d: 1}\n7: x\nf: yes\n")
	want := map[string]any{"a": 1.0, "b": nil, "c": nil, "7": "x", "f": "yes"}
	if !reflect.DeepEqual(root.Value(), want) {
		t.Errorf("left is %v", root.Value())
	}
	var codes []string
	for _, p := range problems {
		codes = append(codes, p.Code+"@"+itoa(p.Span.From().Line))
	}
	if got := strings.Join(codes, " "); got != "OB103@2 OB101@3 OB101@4 OB101@5 OB101@6 OB107@7" {
		t.Error(got)
	}
	if related := problems[0].Related; len(related) != 1 || lineColumn(related[0].Span.From()) != "1:1" {
		t.Errorf("related: %v", related)
	}
	if root, problems := parse(YAML, "a: yes\nb: [\n"); root != nil || len(problems) != 2 {
		t.Errorf("behind a syntax error: %v, %v", root, problems)
	}
}

// TestLines shows places in a .jsonl file.
func TestLines(t *testing.T) {
	text := "{\"†\": 1}\r\n\n  \n{\"①\": [1, 2,]}\n[3]"
	var got []string
	for f := range Lines("x.jsonl", []byte(text)) {
		_, problems := Parse(f, DefaultLimits())
		line := itoa(f.Row) + "+" + itoa(f.Base)
		for _, p := range problems {
			at := p.Span.From()
			line += " " + lineColumn(at) + " " + itoa(at.Offset) + text[at.Offset:at.Offset+1]
		}
		if f.Format != JSON || f.Name != "x.jsonl" || f.Line(f.Row) != string(f.Text) {
			t.Errorf("%+v", f)
		}
		got = append(got, line)
	}
	if want := []string{"1+0", "4+16 4:12 29,", "5+33"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	for range Lines("x", []byte("1\n2\n")) {
		break
	}
}

// TestLineReader shows that no more of a line is kept than its reader has to see, and that one that
// never ends isn't waited for.
func TestLineReader(t *testing.T) {
	lines := NewLineReader("x", strings.NewReader(strings.Repeat("1", 700)+"\n2\n"+strings.Repeat("3", 1<<20)), 100)
	var kept []string
	for {
		line, err := lines.Next()
		if err != nil {
			if len(kept) != 3 || !strings.Contains(err.Error(), "line 3 goes on behind") {
				t.Errorf("%q, %v", kept, err)
			}
			return
		}
		if kept = append(kept, string(line.Text)); len(line.Text) > 101 {
			t.Errorf("%d bytes are kept of line %d", len(line.Text), line.Row)
		}
	}
}

// TestComments shows that comments are found where they are comments.
func TestComments(t *testing.T) {
	f := NewFile("x.yaml", []byte("#one\na: b # two † \nc: 'd # no'\ne: f#no\ng: | # three\n  # no\n# four\nh: [ # five\n  1]\n#"))
	if _, problems := Parse(f, DefaultLimits()); len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, c := range f.Comments() {
		got = append(got, c.Text+"@"+lineColumn(c.Span.From())+c.Span.Text()[:1])
	}
	want := []string{"one@1:1#", "two †@2:6#", "three@5:6#", "four@7:1#", "five@8:6#", "@10:1#"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// TestFormat shows how a file's format is chosen.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"a.json", "a: 1", JSON}, {"A.JSON", "", JSON}, {"a.yaml", "{}", YAML}, {"-", " \n[1]", JSON}, {"-", "{}", JSON}, {"-", "a: 1", YAML}, {"-", "", YAML},
	} {
		if got := NewFile(c.name, []byte(c.text)).Format; got != c.want {
			t.Errorf("%s %q is %v", c.name, c.text, got)
		}
	}
}

// TestPositions shows lines and columns with every kind of line end.
func TestPositions(t *testing.T) {
	f := NewFile("x", []byte("\uFEFFa†\r\n😀b\rc\n\nd"))
	for text, want := range map[string]Position{"a": {1, 1, 3}, "\r\n": {1, 3, 7}, "b": {2, 2, 13}, "c": {3, 1, 15}, "d": {5, 1, 18}} {
		offset := strings.Index(string(f.Text), text)
		if got := f.Position(offset); got != want {
			t.Errorf("%q at %v, expected %v", text, got, want)
		}
	}
	if f.Line(1) != "a†" || f.Line(2) != "😀b" || f.Line(4) != "" || f.Line(5) != "d" || f.Line(9) != "" {
		t.Error("lines are off")
	}
	if p := f.Position(99); p != (Position{5, 2, 19}) {
		t.Errorf("behind the end: %v", p)
	}
	long := NewFile("x", []byte(strings.Repeat("†", 5000)+"x"))
	if p := long.Position(15000); p.Column != 5001 {
		t.Errorf("far out on a line: %v", p)
	}
}
