package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// A browser is a real one, and a script that does in it what people do. One serves all
// tests, and ends with its standard input, as they end.
type browser struct {
	jobs    *json.Encoder
	answers *bufio.Scanner
}

var (
	theBrowser *browser
	atBrowser  sync.Mutex // tests that run side by side take turns
)

// A visit is what is to be done with a page.
type visit struct {
	File     string   `json:"file,omitempty"`
	URL      string   `json:"url,omitempty"`
	By       []string `json:"by,omitempty"`
	Find     string   `json:"find,omitempty"`
	Fails    string   `json:"fails,omitempty"`
	Evaluate string   `json:"evaluate,omitempty"`
	Shot     string   `json:"shot,omitempty"`
	Times    int      `json:"times,omitempty"` // how many look at it at once
	Ready    string   `json:"ready,omitempty"` // holds for all of them before they begin
	Width    int      `json:"width,omitempty"` // of the window; 0 is 1440
	Scheme   string   `json:"scheme,omitempty"`
	Axe      bool     `json:"axe,omitempty"`
	// Steps come before Evaluate: "press", KEY; "type", TEXT; "click", SELECTOR; "fill", SELECTOR, TEXT;
	// "until", EXPRESSION; "save", SELECTOR, FILE; "shot", FILE.
	Steps [][]string `json:"steps,omitempty"`
}

// A view is what was seen.
type seen struct {
	Seen     map[string]any `json:"seen"`
	MS       map[string]int `json:"ms"`
	Said     []string       `json:"said"`
	Requests []string       `json:"requests"`
	Value    any            `json:"value"`
	Axe      []string       `json:"axe"` // what breaks a rule of accessibility
	Error    string         `json:"error"`
}

// here is the folder of this package, wherever a test goes.
var here, _ = os.Getwd()

func startBrowser(t *testing.T) *browser {
	t.Helper()
	atBrowser.Lock()
	defer atBrowser.Unlock()
	if theBrowser != nil {
		return theBrowser
	}
	folder := os.Getenv("OBELUS_BROWSER") // set where node_modules stand elsewhere
	if folder == "" {
		folder = filepath.Join(here, "..", "..", ".tools", "browser")
	}
	for _, name := range []string{"playwright-core", "axe-core"} {
		if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
			t.Skipf("%s isn't installed: .ci/install installs it, or OBELUS_BROWSER names the folder that has its node_modules", name)
		}
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium isn't installed: .ci/install installs it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the browser's tests need node, which isn't installed")
	}
	cmd := exec.Command(node, filepath.Join(here, "testdata", "page", "browse.mjs"), folder, chromium)
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
	theBrowser = &browser{json.NewEncoder(in), bufio.NewScanner(out)}
	theBrowser.answers.Buffer(nil, 1<<26)
	return theBrowser
}

// visits does something with a page, of which nothing may go wrong.
func (b *browser) visits(t *testing.T, v visit) *seen {
	t.Helper()
	atBrowser.Lock()
	defer atBrowser.Unlock()
	if err := b.jobs.Encode(v); err != nil {
		t.Fatal(err)
	}
	if !b.answers.Scan() {
		t.Fatalf("the browser doesn't answer: %v", b.answers.Err())
	}
	var s seen
	if err := json.Unmarshal(b.answers.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	if v.URL != "" { // a live page, whose run may have ended before its last answer comes
		s.Said = slices.DeleteFunc(s.Said, func(text string) bool { return strings.Contains(text, "Failed to load resource: net::ERR_") })
	}
	if s.Error != "" || len(s.Said) > 0 || len(s.Requests) > 0 {
		t.Errorf("%s: %s; on the console: %q; requests: %q", v.File, s.Error, s.Said, s.Requests)
	}
	return &s
}

// pageFile writes the page of a plan, or of a run, beside other files of the test.
func pageFile(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if stdout, stderr, status := obelus(strings.NewReader(""), slices.Concat([]string{"graph"}, args, []string{"-o", file})...); status != statusOK {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	return file
}

// ladder is a plan of n calls in rows of ten, each but those of the first reading from
// two of the row before; c5 may fail, and mend is there for that.
func ladder(n int) string {
	var b strings.Builder
	b.WriteString("plan: ladder\ntools:\n  work: {type: object, properties: {a: {}, b: {}, _output: {type: integer}}, x-simulate: {duration: {p50: 100ms, p95: 300ms}}}\n" +
		"  mend: {type: object, properties: {why: {}, of: {}}, x-simulate: {duration: 50ms}}\ncalls:\n")
	for i := range n - 1 {
		from := func(j int) string {
			if i < 10 {
				return "1"
			}
			return fmt.Sprintf("†state.c%d", i/10*10-10+j%10)
		}
		fails := ""
		if i == 5 {
			fails = " || failed"
		}
		fmt.Fprintf(&b, "- {_id: c%d, _tool: work, a: %s, b: %s, _outputPath: c%d%s}\n", i, from(i), from(i+1), i, fails)
	}
	b.WriteString("- {_id: mend, _tool: mend, why: †state.failed.message, of: †state.failed.code}\n")
	return b.String()
}

// EXECUTION.md#events: what people do with a page, in a real browser from a file: find a call, see where
// its second parameter comes from, see what is skipped where a call fails, step to the
// moment of a failure, and find the critical path.
func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	for _, n := range []int{30, 10, 1000}[:amount.Of(1, 2, 3)] {
		plan := filepath.Join(t.TempDir(), "ladder.yaml")
		if err := os.WriteFile(plan, []byte(ladder(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		find, source, skips := "mend", "c5", ""
		if n > 10 {
			find, source = fmt.Sprintf("c%d", n-12), fmt.Sprintf("c%d", (n-12)/10*10-10+(n-11)%10)
			skips = "c14 is skipped: †state.c5 has no value"
		}
		file := pageFile(t, "--format", "html", plan)
		s := b.visits(t, visit{File: file, By: []string{"mouse", "keys"}, Find: find, Fails: "c5", Shot: os.Getenv("OBELUS_SHOTS")})
		t.Logf("%d calls: %v ms", n, s.MS)
		critical := lastLine(t, printed(t, "simulate", "--format", "json", plan))["criticalPath"]
		first := map[bool]string{true: "c5", false: fmt.Sprintf("c%d", (n-12)/10*10-10+(n-12)%10)}[n == 10]
		if got := s.Seen["edges by keys"]; !reflect.DeepEqual(got, []any{first, "true"}) {
			t.Errorf("%d calls: back along an edge is %v, want %s", n, got, first)
		}
		if got := s.Seen["link by mouse"]; got != "c5" {
			t.Errorf("%d calls: a link leads to %v", n, got)
		}
		for _, by := range []string{"mouse", "keys"} {
			if got := s.Seen["find by "+by]; got != find {
				t.Errorf("%d calls, by %s: found %v, want %s", n, by, got, find)
			}
			if got := s.Seen["source by "+by]; !reflect.DeepEqual(got, []any{source, source}) {
				t.Errorf("%d calls, by %s: the second parameter comes from %v, want %s", n, by, got, source)
			}
			skipped, _ := s.Seen["branch by "+by].([]any)
			if (skips != "" || n == 10 && len(skipped) != 0) && !slices.Contains(skipped, any(skips)) {
				t.Errorf("%d calls, by %s: skipped are %q, want %q", n, by, skipped, skips)
			}
			if got, _ := s.Seen["failure by "+by].(string); !strings.Contains(got, "c5 failed, and handled: it fails in this simulation") {
				t.Errorf("%d calls, by %s: the moment of the failure is %q", n, by, got)
			}
			if got := s.Seen["critical by "+by]; !reflect.DeepEqual(got, critical) {
				t.Errorf("%d calls, by %s: the critical path is %v, want %v", n, by, got, critical)
			}
		}
	}
}

// risky is a plan of n calls in rows, of which every fifth destroys and some ask; it has no errors.
func risky(n int) string {
	var b strings.Builder
	b.WriteString("plan: risky\ninput: {from: old, to: new}\ncalls:\n")
	wide := max(2, n/10)
	for i := range n {
		tool, more := []string{"read", "send", "make", "read", "wipe"}[i%5], ""
		if i%15 == 4 {
			more = ", _confirm: true"
		}
		from := [2]string{"input.from", "input.to"}
		if i >= wide {
			row := i - i%wide - wide
			from = [2]string{fmt.Sprintf("state.r%d", row+i%wide), fmt.Sprintf("state.r%d", row+(i+1)%wide)}
		}
		fmt.Fprintf(&b, "- {_id: %s%d, _tool: %s, x: †%s, y: †%s, _outputPath: r%d%s}\n", tool, i, tool, from[0], from[1], i, more)
	}
	fmt.Fprintf(&b, "output: {last: †state.r%d}\ntools:\n", n-1)
	for _, tool := range []string{"read", "send", "make", "wipe"} {
		fmt.Fprintf(&b, "  %s: {type: object, properties: {x: {}, y: {}}}\n", tool)
	}
	b.WriteString(`activities:
  read: {exec: {argv: [git, log]}}
  make: {exec: {argv: [make]}}
  send: {http: {method: POST, url: "https://mail.example.com/q"}}
  wipe: {http: {method: DELETE, url: "https://k8s.example.com/q"}, annotations: {destructiveHint: true}}
`)
	return b.String()
}

// EXECUTION.md#simulation: a page opens with every call that destroys in view, in boxes that can be read, whatever the
// plan's size; filters show only what destroys, leaves or asks; no rule of accessibility is broken.
func TestPageShowsDangerFirst(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	for _, n := range []int{30, 8, 10, 60, 300}[:amount.Of(1, 5, 5)] {
		for _, v := range []visit{{Scheme: "light"}, {Scheme: "dark"}, {Width: 390}}[:amount.Of(1, 3, 3)] {
			if n != 30 && v.Scheme != "light" {
				continue
			}
			plan := filepath.Join(t.TempDir(), "risky.yaml")
			if err := os.WriteFile(plan, []byte(risky(n)), 0o600); err != nil {
				t.Fatal(err)
			}
			v.File, v.Axe, v.Evaluate = pageFile(t, "--format", "html", plan), true, `(() => {
  const in_ = document.querySelector('#drawing').getBoundingClientRect(), harms = data.calls.filter(c => c.effect.kind === 'destructive');
  const seen = harms.filter(c => { const r = c.place.g.querySelector('rect').getBoundingClientRect(); return r.left >= in_.left && r.right <= in_.right && r.top >= in_.top && r.bottom <= in_.bottom; });
  const dim = () => shown.boxes.filter(b => !b.g.classList.contains('dim')).flatMap(b => b.calls).length, all = dim();
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
  const asks = data.calls.filter(c => c.confirm), left = asks.every(c => !c.place.g.classList.contains('dim')) && dim() < all;
  return [harms.length, seen.length, size.w / box.w > .5, all, left, document.documentElement.scrollWidth <= innerWidth];
})()`
			s := b.visits(t, v)
			harms := float64(n / 5)
			want := []any{harms, harms, true, float64(n), true, true}
			got, _ := s.Value.([]any)
			if v.Width > 0 && len(got) > 1 { // there the drawing begins at its top
				got[1] = harms
			}
			if !reflect.DeepEqual(got, want) || len(s.Axe) > 0 {
				t.Errorf("%d calls, %d wide: %v, want %v; accessibility: %q", n, v.Width, got, want, s.Axe)
			}
		}
	}
}

// EXECUTION.md#simulation: where a call fails, the page names what has been destroyed by then and what still is.
func TestPageNamesWhatHasHappened(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(plan, []byte(`
calls:
- {_id: crm, _tool: wipe, of: crm, _outputPath: crm}
- {_id: check, _tool: look, at: †state.crm, _outputPath: seen}
- {_id: mail, _tool: send, text: †state.seen}
- {_id: bills, _tool: wipe, of: bills, _after: {settled: [check]}}
tools:
  wipe: {type: object, properties: {of: {}}}
  look: {type: object, properties: {at: {}}}
  send: {type: object, properties: {text: {}}}
activities:
  wipe: {http: {method: DELETE, url: "https://example.com/q"}, annotations: {destructiveHint: true}}
  look: {exec: {argv: [look]}}
  send: {http: {method: POST, url: "https://example.com/q"}, annotations: {destructiveHint: false}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startBrowser(t).visits(t, visit{File: pageFile(t, "--format", "html", plan), Evaluate: `(() => {
  setScenario(data.scenarios.findIndex(s => s.fails === 'check'));
  return [document.querySelector('#already').textContent.trim(), document.querySelector('#told .danger').textContent];
})()`})
	want := []any{"▲ already destroyed: crm · ▲ still destroys: bills", "▲ already destroyed: "}
	if !reflect.DeepEqual(s.Value, any(want)) {
		t.Errorf("it tells %q, want %q", s.Value, want)
	}
}

// LANGUAGE.md#tools-and-activities: nothing in a plan runs in a browser that opens its page, and all of it is text.
func TestPageIsInert(t *testing.T) {
	t.Parallel()
	evil := []string{`</script><script>window.hacked=1</script>`, `<img src=x onerror="window.hacked=1">`, `<!--<script>`, `]]></svg><script>window.hacked=1</script>`,
		`"><svg onload=window.hacked=1>`, "javascript:window.hacked=1", "{{title}}{{drawing}}", "\u202egnp.exe", "end\x01\x7f", strings.Repeat("<b>x</b>", 1000)}
	plan := map[string]any{"plan": evil[0], "description": evil[1], "tools": map[string]any{}}
	var calls []any
	for i, text := range evil {
		name := fmt.Sprintf("t%d", i)
		if i < 4 {
			name = text
		}
		plan["tools"].(map[string]any)[name] = map[string]any{"type": "object", "description": text, "properties": map[string]any{"p": map[string]any{"description": text}}}
		calls = append(calls, map[string]any{"_id": fmt.Sprintf("id%d%.200s", i, text), "_tool": name, "p": text, "_reasoningForCall": text})
	}
	plan["calls"] = calls
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "evil.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	page := pageFile(t, "--format", "html", file)
	held, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(pageFile(t, "--format", "html", file)); string(again) != string(held) {
		t.Error("the same plan gives other bytes")
	}
	tags := regexp.MustCompile(`(?i)<(/?script|img|svg|iframe|b>|!--)`).FindAllString(string(held), -1)
	want := []string{"<svg", "<script", "</script", "<script", "</script"}
	if !slices.Equal(tags, want) {
		t.Errorf("the page has the tags %q, want %q", tags, want)
	}
	b := startBrowser(t)
	s := b.visits(t, visit{File: page, Evaluate: `(() => {
  for (const c of data.calls) { choose(c.key); for (const d of document.querySelectorAll('#panel details')) d.open = true; }
  view('table'); view('time');
  return [window.hacked === undefined, document.querySelectorAll('script').length, document.querySelector('h1').textContent, data.calls.map(c => c.values[0].literal)];
})()`})
	var values []any
	for _, text := range evil {
		values = append(values, text)
	}
	if want := []any{true, 2.0, evil[0], values}; !reflect.DeepEqual(s.Value, any(want)) {
		t.Errorf("in the browser it is %.600v", s.Value)
	}
}

// EXECUTION.md#events: what happened in a run is drawn in every form: how each call ended and when, why
// it didn't run, who tried again, and the steps of a run that a model planned.
func TestRunsAreDrawn(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	runs := t.TempDir()
	journal := func(args ...string) string {
		t.Helper()
		end := lastLine(t, printed(t, slices.Concat([]string{"run", "--format", "json", "--runs", runs}, args)...))
		return end["journal"].(string)
	}
	failed := journal("examples/refund.yaml", "--input", "amount=750")
	planned := journal("examples/planned/trip.yaml", "--planner", "replay:examples/planned/trip.solutions.yaml")
	for _, format := range []string{"dot", "mermaid", "svg", "text"} {
		drawing := printed(t, "graph", "--run", failed, "--format", format)
		for _, want := range []string{"done", "skipped", "state.receipt has no value"} {
			if !strings.Contains(drawing, want) {
				t.Errorf("%s doesn't say %q:\n%s", format, want, drawing)
			}
		}
		drawing = printed(t, "graph", "--run", strings.TrimSuffix(filepath.Base(planned), ".jsonl"), "--runs", runs, "--format", format)
		for _, want := range []string{"model plans", "done before"} {
			if !strings.Contains(drawing, want) {
				t.Errorf("of a run that was planned %s doesn't say %q:\n%s", format, want, drawing)
			}
		}
	}
	for _, wrong := range [][]string{{"graph", "--run", failed, "examples/refund.yaml"}, {"graph"}, {"graph", "--run", "nothing", "--runs", runs}} {
		if stdout, stderr, status := obelus(strings.NewReader(""), wrong...); status != statusError || stdout != "" || stderr == "" {
			t.Errorf("%v: status %d, %s%s", wrong, status, stdout, stderr)
		}
	}

	page := func(journal string) *seen {
		return startBrowser(t).visits(t, visit{File: pageFile(t, "--run", journal), Evaluate: `(() => {
  const end = data.calls.map(c => c.key + ' ' + now.play.final(c.key));
  setMoment(-1);
  jump(1, m => m.failed);
  return [end, document.querySelector('#moment').textContent.replace(/^[^·]*· /, ''), now.key];
})()`})
	}
	if got, want := fmt.Sprint(page(failed).Value), "[[refundCard#1 done sendReceipt#2 skipped openTicket#3 done sendApology#4 done] there is no failure ]"; got != want {
		t.Errorf("played back it is %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(page(planned).Value), "[[1:flight#1 done 1:hotel#2 done 1:party#3 done 2:flight#1 done 2:party#2 done 2:hotel#3 done] there is no failure ]"; got != want {
		t.Errorf("played back it is %s, want %s", got, want)
	}
}

// LANGUAGE.md#environment-and-secrets: what a call is made to give, or gave, under the name of a secret isn't in a page.
func TestPageHoldsNoSecret(t *testing.T) {
	dir := t.TempDir()
	plan, page := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "page.html")
	text := "input: {token: zq7Marker-4711}\ntools: {t: {type: object, properties: {n: {}, password: {}, _output: {}}, _mock: {password: zq7Marker-4711}}}\n" +
		"calls: [{_tool: t, n: 1, _outputPath: a}, {_tool: t, password: †input.token, n: a zq7Marker-4711, _outputPath: b}]\noutput: {a: †state.a, b: †state.b}\nactivities: {t: {expr: '{password: \"zq7\" + \"Marker-4711\"}'}}\n"
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	end := lastLine(t, printed(t, "run", "--format", "json", "--runs", dir, plan))
	for _, args := range [][]string{{plan}, {"--run", end["journal"].(string)}} {
		printed(t, slices.Concat([]string{"graph", "-o", page}, args)...)
		held, err := os.ReadFile(page)
		if err != nil || len(held) == 0 || strings.Contains(string(held), "zq7Marker-4711") {
			t.Errorf("graph %v: %v, %d bytes, which hold the secret: %v", args, err, len(held), strings.Contains(string(held), "zq7Marker-4711"))
		}
	}
}

// EXECUTION.md#simulation: several things are set to go otherwise at once, by keys and by mouse; what
// comes of it is what a simulation with these failures comes to, and one key takes all back.
func TestSeveralThingsGoOtherwiseOnAPage(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "ladder.yaml")
	if err := os.WriteFile(plan, []byte(ladder(14)), 0o600); err != nil {
		t.Fatal(err)
	}
	told, _, _ := obelus(strings.NewReader(""), "simulate", plan, "--format", "json", "--fail", "c5", "--fail", "c3")
	first, _, _ := strings.Cut(told, "\n")
	var scenario struct {
		Calls []struct{ Call, Status string }
	}
	if err := json.Unmarshal([]byte(first), &scenario); err != nil {
		t.Fatal(err)
	}
	var want []any
	for _, c := range scenario.Calls {
		want = append(want, c.Call+" "+c.Status)
	}
	s := startBrowser(t).visits(t, visit{File: pageFile(t, "--format", "html", plan), Evaluate: `(() => {
  const key = k => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));
  const tick = words => [...document.querySelectorAll('#switches label')].find(l => l.textContent.trim() === words).querySelector('input').click();
  const shown = () => [document.querySelector('#told').hidden, document.querySelectorAll('#told .chip').length, document.querySelector('#what-if').textContent];
  key('w');
  const opened = document.activeElement.id;
  tick('"c5" fails');
  tick('"c3" fails');
  const both = data.calls.map(c => c.key + ' ' + now.play.final(c.key).replace('handled', 'failed')), set = shown();
  tick('"c10" fails');
  const third = document.querySelector('#told').textContent.includes('"c10" fails');
  document.querySelector('#told .chip').click();
  const one = [...document.querySelectorAll('#told .chip')].map(c => c.textContent);
  document.querySelector('#what-if').focus();
  key('x');
  return [opened, both, set, third, one.length, shown(), [...document.querySelectorAll('#switches input:checked')].length];
})()`})
	if want := []any{"switch-filter", any(want), []any{false, 2.0, "⇄ What if… (2)"}, true, 2.0, []any{true, 0.0, "⇄ What if…"}, 0.0}; !reflect.DeepEqual(s.Value, any(want)) {
		t.Errorf("on the page it is\n%v, want\n%v", s.Value, want)
	}
}

// EXECUTION.md#stopping: the page of a run that stopped with a question shows the calls that wait for its answer, and not
// that they are cancelled.
func TestPageOfOpenQuestion(t *testing.T) {
	dir := t.TempDir()
	plan, page := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "page.html")
	text := "tools: {pay: {properties: {x: {}}}}\nactivities: {pay: {exec: {argv: [sh, -c, 'echo 1']}}}\ncalls: [{_tool: pay, _each: [1, 2], _outputPath: a}, {_tool: pay, x: †state.a}]\n"
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, _, _ := obelus(strings.NewReader(""), "run", "--format", "json", "--runs", dir, plan)
	printed(t, "graph", "-o", page, "--run", lastLine(t, stdout)["journal"].(string))
	held, err := os.ReadFile(page)
	if err != nil || strings.Contains(string(held), `"status":"cancelled"`) || strings.Count(string(held), `"event":"ask"`) != 2 {
		t.Errorf("%v: the page has other events than two questions:\n%s", err, held)
	}
}
