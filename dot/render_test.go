package dot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

var update = flag.Bool("update", false, "rewrite the golden files")

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

// graphviz is the real tool's drawing of DOT text as SVG.
func graphviz(t *testing.T, text string) string {
	t.Helper()
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz isn't installed: .ci/install installs it")
	}
	cmd := exec.Command("dot", "-Tsvg")
	cmd.Stdin = strings.NewReader(text)
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil || trouble.Len() > 0 {
		t.Fatalf("dot: %v: %s\n%s", err, trouble.String(), text)
	}
	return out.String()
}

// drawn is what the real Mermaid makes of a text.
type drawn struct {
	Name, Error, Title string
	Nodes, HTML        map[string]string
	Edges, Frames      []string
	Links              int
	Tags, Attributes   []string
}

// mermaid draws texts with the real library.
func mermaid(t *testing.T, texts ...string) []drawn {
	t.Helper()
	library.Lock()
	defer library.Unlock()
	library.start(t)
	answers := make([]drawn, len(texts))
	for i, text := range texts {
		if err := library.texts.Encode(map[string]string{"name": fmt.Sprint(i), "text": text}); err != nil {
			t.Fatal(err)
		}
		for library.drawings.Scan() && !strings.HasPrefix(library.drawings.Text(), "{") {
			continue // the library's own warnings
		}
		if err := json.Unmarshal(library.drawings.Bytes(), &answers[i]); err != nil || answers[i].Name != fmt.Sprint(i) {
			t.Fatalf("%v, %v: %q", err, library.drawings.Err(), library.drawings.Text())
		}
	}
	return answers
}

// library is the process that draws for all tests: to load the library takes it
// longer than any drawing. It ends with its standard input, as the tests end.
var library libraryProcess

type libraryProcess struct {
	sync.Mutex
	texts    *json.Encoder
	drawings *bufio.Scanner
}

func (l *libraryProcess) start(t *testing.T) {
	t.Helper()
	if l.texts != nil {
		return
	}
	folder := os.Getenv("OBELUS_MERMAID") // set where node_modules stand elsewhere
	if folder == "" {
		folder = filepath.Join("..", ".tools", "mermaid")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "mermaid")); err != nil {
		t.Skip("Mermaid isn't installed: .ci/install installs it, or OBELUS_MERMAID names the folder that has its node_modules")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Mermaid needs node, which isn't installed")
	}
	cmd := exec.Command(node, filepath.Join("testdata", "mermaid.mjs"), folder)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.texts, l.drawings = json.NewEncoder(in), bufio.NewScanner(out)
	l.drawings.Buffer(nil, 1<<26)
}

// hostile are texts that break out of labels where escaping is careless.
var hostile = []string{
	"end", "graph", "class", "call", "click n0 href \"javascript:alert(1)\"", "subgraph", "a--b", "q---o1", "n0 --> n1", `"`, `\"`, `\`, `a\`, `"]; x["`, `">`, `]]>`,
	"<b>bold</b>", "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "&lt;b&gt;", "&amp;amp;", "&#60;", "&quot;", "#lt;", "#60;", "#", "#quot;",
	"*a* _b_ **c** __d__", "`code`", "~~gone~~", "[link](http://x.example)", "![image](http://x.example/y.png)", "https://x.example/?a=1&b=2", "me@x.example",
	"1. one", "- item", "+ item", "* item", "# heading", "## heading", "> quote", "---", "===", "    code", "| a | b |", "```", "\\*", "\\N \\G \\E \\L \\T \\H \\l \\r",
	"$$x^2$$", "$x$", "$$\\href{javascript:alert(1)}{x}$$", "fa:fa-car", ":::danger", "%%{init: {\"theme\": \"dark\"}}%%", "%% comment", "---\ntitle: x\n---",
	"style x fill:#f00;", "style a: b#35;c;", "classDef a:b#1;", "ﬂ°°60¶ß", "ﬂ°lt¶ß", "{{x}}", "{a}", "(a)", "[a]", "[[a]]", "((a))", "{a|b}", "a|b", "a;b", "a:b", "@{shape: rounded}",
	"†state.a[0][\"odd key\"]", "①", "日本語", "👩‍👩‍👧", "café", "e\u0301", "a\u202eb", "\x1b[31mred", "a\x00b", "\xff\xfe", "two\nlines", "tab\tbed", "cr\rlf\r\n", "\u2028", " lead", "trail ", "",
	"}\n  n9 -> n8 [label=\"x\"]\n{", "/* c */", "// c", "# c\n#d", "<", ">", "<>", "<<", ">>", "<!-- c -->", "<![CDATA[x]]>", "&nbsp;", "\"+\"", strings.Repeat("long ", 60), strings.Repeat("\"<&#*", 40),
}

// labelled is a drawing with each text in every place that can have one; the
// nodes of the ith are n(4i) to n(4i+3), its edges 3i to 3i+2.
func labelled(texts ...string) View {
	b := newBuilder(View{Name: texts[0]})
	for _, s := range texts {
		one := b.v.add(Node{Label: s, Detail: s, Kind: Call, Count: 1, Frame: s, Marks: []Mark{{Kind: Error, Code: "OB203", Text: s}}})
		two := b.v.add(Node{Label: s, Kind: Missing})
		three := b.v.add(Node{Label: "x" + s, Kind: Output, Frame: s})
		four := b.v.add(Node{Label: "four", Detail: s, Kind: Effect})
		edge := b.edge(one, two, Data)
		edge.read(s)
		edge.Marks = addMark(nil, Mark{Kind: Warning, Code: "OB211", Text: s})
		b.edge(two, three, Failure).read(s + s)
		b.edge(three, four, Order)
	}
	v := b.view()
	v.Notes, v.Detail = texts, true
	return v
}

// batches cuts texts into drawings of a size that is drawn quickly.
func batches(texts []string) [][]string { return slices.Collect(slices.Chunk(texts, 12)) }

// words is a text as its drawing shows it, blanks aside.
func words(s string, limit int) string { return squeeze(strings.Join(rows(s, limit), " ")) }

// small is the same of the small text of a node.
func small(s string) string { return squeeze(strings.Join(wrapped(s, maxDetail), " ")) }

func squeeze(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '\u00a0' }), " ")
}

// LANGUAGE.md#tools-and-activities: whatever a label holds, the real Graphviz draws the same nodes and
// edges, and the words in them are the label's.
func TestGraphvizDrawsEveryLabel(t *testing.T) {
	t.Parallel()
	for _, batch := range batches(append(randomTexts(60), hostile...)) {
		page := parseSVG(t, graphviz(t, labelled(batch...).DOT()))
		if len(page.nodes) != 4*len(batch) || len(page.edges) != 3*len(batch) {
			t.Errorf("%d nodes and %d edges of %d texts, want 4 and 3 of each", len(page.nodes), len(page.edges), len(batch))
			continue
		}
		for i, s := range batch {
			first, edge := fmt.Sprintf("n%d", 4*i), fmt.Sprintf("n%d->n%d", 4*i, 4*i+1)
			if want := squeeze(words(s, maxLabel) + " " + small(s) + " error OB203"); page.nodes[first] != want {
				t.Errorf("%q is drawn as %q, want %q", s, page.nodes[first], want)
			}
			if want := squeeze(words(s, maxLabel) + " warning OB211"); page.edges[edge] != want {
				t.Errorf("an edge %q is drawn as %q, want %q", s, page.edges[edge], want)
			}
			if s != "" && len(s) < maxTip {
				inOne := strings.ReplaceAll(s, "\n", `\n`)
				if want := squeeze("error OB203: " + words(inOne, maxTip)); squeeze(page.tips[first]) != want {
					t.Errorf("a tooltip %q is %q, want %q", s, page.tips[first], want)
				}
			}
		}
	}
}

type svgPage struct{ nodes, edges, tips map[string]string }

// parseSVG reads the texts out of what dot draws.
func parseSVG(t *testing.T, text string) svgPage {
	t.Helper()
	page := svgPage{map[string]string{}, map[string]string{}, map[string]string{}}
	in := xml.NewDecoder(strings.NewReader(text))
	in.Strict = true
	var class, title, said string
	depth, inTitle, inText := 0, false, false
	for {
		token, err := in.Token()
		if err == io.EOF {
			return page
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if token.Name.Local == "g" && a.Name.Local == "class" {
					class, title, said, depth = a.Value, "", "", 0
				}
				if token.Name.Local == "a" && a.Name.Local == "title" {
					page.tips[title] = a.Value
				}
			}
			if token.Name.Local == "g" {
				depth++
			}
			inTitle, inText = token.Name.Local == "title", token.Name.Local == "text"
		case xml.EndElement:
			if token.Name.Local == "g" {
				if depth--; depth == 0 {
					switch class {
					case "node":
						page.nodes[title] = squeeze(said)
					case "edge":
						page.edges[title] = squeeze(said)
					}
					class = ""
				}
			}
			inTitle, inText = false, false
		case xml.CharData:
			if inTitle {
				title += string(token)
			}
			if inText {
				said += string(token) + " "
			}
		}
	}
}

// LANGUAGE.md#tools-and-activities: whatever a label holds, the real Mermaid draws the same nodes and
// edges, the words in them are the label's, and no element or attribute comes
// from it.
func TestMermaidDrawsEveryLabel(t *testing.T) {
	t.Parallel()
	texts := batches(append(slices.Clone(hostile), randomTexts(20)...))
	texts = texts[:len(texts)/amount.Of(8, 2, 1)] // it takes a while to draw them all
	var jobs []string
	for _, batch := range texts {
		jobs = append(jobs, labelled(batch...).mermaid(false))
	}
	for i, d := range mermaid(t, jobs...) {
		batch := texts[i]
		if d.Error != "" {
			t.Errorf("%s\n%s", d.Error, jobs[i])
			continue
		}
		var frames []string
		for _, s := range d.Frames {
			frames = append(frames, squeeze(s))
		}
		if len(d.Nodes)-1 != 4*len(batch) || len(d.Edges) != 3*len(batch)+1 { // one from the note
			t.Errorf("%d nodes and %d edges of %d texts, want 4 and 3 of each", len(d.Nodes), len(d.Edges), len(batch))
			continue
		}
		title, told := squeeze(d.Title), squeeze(d.Nodes["note0"])
		if want := words(batch[0], maxTitle); title != want && !strings.HasPrefix(told, want) {
			t.Errorf("a title %q is drawn as %q or in %q, want %q", batch[0], title, told, want)
		} else if title == "" {
			told = told[len(want):]
		}
		var notes []string
		for _, s := range batch {
			notes = append(notes, wrapped(s, mermaidNote)...)
		}
		if want := squeeze(strings.Join(notes, " ")); !strings.HasPrefix(squeeze(told), want) {
			t.Errorf("notes %q are drawn as %q, want %q", batch, told, want)
		}
		for i, s := range batch {
			if want := squeeze(words(s, maxLabel)); s != "" && !slices.Contains(frames, want) {
				t.Errorf("the title %q is drawn as none of %q, want %q", s, frames, want)
			}
			if want := squeeze(words(s, maxLabel) + " " + small(s) + " error OB203"); squeeze(d.Nodes[fmt.Sprintf("n%d", 4*i)]) != want {
				t.Errorf("%q is drawn as %q, want %q", s, d.Nodes[fmt.Sprintf("n%d", 4*i)], want)
			}
			if want := words(s, maxLabel); squeeze(d.Nodes[fmt.Sprintf("n%d", 4*i+1)]) != want {
				t.Errorf("%q is drawn as %q, want %q", s, d.Nodes[fmt.Sprintf("n%d", 4*i+1)], want)
			}
			if want := squeeze(words(s, maxLabel) + " warning OB211"); squeeze(d.Edges[3*i]) != want {
				t.Errorf("an edge %q is drawn as %q, want %q", s, d.Edges[3*i], want)
			}
		}
		for _, tag := range d.Tags {
			if !slices.Contains(ourTags, tag) {
				t.Errorf("the labels bring an element %q", tag)
			}
		}
		if len(d.Attributes) > 0 {
			t.Errorf("the labels bring attributes %q", d.Attributes)
		}
	}
}

var ourTags = []string{"b", "br", "circle", "div", "font", "foreignobject", "g", "marker", "p", "path", "polygon", "rect", "small", "span", "style", "text", "tspan", "wbr"}

// randomTexts are short texts of the characters that formats care for.
func randomTexts(n int) []string {
	random := rand.New(rand.NewSource(1))
	alphabet := []rune("ab1 \"'`\\<>&#;:%{}[]()|/*_~!$@-=+.,^?\n†日ﬂ°¶ß")
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 1 + random.Intn(24) {
			b.WriteRune(alphabet[random.Intn(len(alphabet))])
		}
		texts[i] = b.String()
	}
	return texts
}

// What a label can't do to DOT: the text has the same tokens whatever the
// labels hold, and every HTML-like label is well-formed with no element of its
// own.
func FuzzDOT(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	want := tokenKinds(f, labelled("x").DOT())
	f.Fuzz(func(t *testing.T, s string) {
		v := labelled(s)
		if s == "" {
			return // without a label there are fewer tokens
		}
		if got := tokenKinds(t, v.DOT()); got != want {
			t.Fatalf("%q changes the drawing:\n%s\nwant\n%s", s, got, want)
		}
	})
}

// tokenKinds reads DOT by the book: identifiers as they are, strings and
// labels as signs for themselves.
func tokenKinds(t testing.TB, text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) {
				t.Fatalf("a string without end in %s", text)
			}
			i = end + 1
			b.WriteString("S")
		case c == '<':
			depth, end := 0, i
			for ; end < len(text); end++ {
				if text[end] == '<' {
					depth++
				} else if text[end] == '>' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if depth != 0 {
				t.Fatalf("a label without end in %s", text)
			}
			b.WriteString("H(" + elements(t, text[i+1:end]) + ")")
			i = end + 1
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// elements lists the elements of a label, line breaks aside.
func elements(t testing.TB, label string) string {
	in := xml.NewDecoder(strings.NewReader("<l>" + label + "</l>"))
	var names []string
	for {
		token, err := in.Token()
		if err == io.EOF {
			return strings.Join(names[1:], " ")
		}
		if err != nil {
			t.Fatalf("%v in %q", err, label)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local != "BR" {
			names = append(names, start.Name.Local)
		}
	}
}

var (
	mermaidText  = `(?:[^"<>#%{}\[\]|;:&*` + "`" + `\\~$@^\x00-\x1f]|#\d+;)*`
	mermaidLabel = `"(?:` + mermaidText + `|</?(?:b|small|div|font)>|<font color='#[0-9a-f]{6}'>|<br/>|<wbr/>)*"`
	mermaidLine  = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`---`, `title: "[^"\\:#&<>]*"`, `config:`, `  flowchart:`, `    wrappingWidth: 760`, `flowchart TD`, `  end`,
		`  subgraph g\d+ \[` + mermaidLabel + `\]`,
		` +(?:n|note)\d+(?:\[{1,2}|\(\[?|\[/)` + mermaidLabel + `(?:\]{1,2}|\]?\)|/\]):::ob\w+`,
		`  note0 ~~~ n\d+`,
		`  n\d+ (?:--|-\.-|==)>(?:\|` + mermaidLabel + `\|)? n\d+`,
		`  classDef ob\w+ [a-z0-9:#, -]+`, `  linkStyle [0-9,]+ [a-z0-9:#, -]+`,
	}, "|") + `)$`)
)

// What a label can't do to Mermaid: every line is of one of the forms that we
// write, with no character in a label that Mermaid takes for its own, and there
// are as many lines as ever.
func FuzzMermaid(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	lines := func(s string) int {
		text := labelled(s).Mermaid()
		n := strings.Count(text, "\n")
		if strings.HasPrefix(text, "---\ntitle:") {
			n-- // it stands there, and not in the note
		}
		return n
	}
	want := lines("x")
	f.Fuzz(func(t *testing.T, s string) {
		text := labelled(s).Mermaid()
		if s != "" && lines(s) != want {
			t.Fatalf("%q changes the number of lines:\n%s", s, text)
		}
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if !mermaidLine.MatchString(line) {
				t.Fatalf("%q breaks out: %s", s, line)
			}
		}
	})
}
