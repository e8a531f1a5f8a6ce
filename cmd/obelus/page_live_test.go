package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// A liveRun goes on in the background, with a page.
type liveRun struct {
	t    *testing.T
	page string // its address
	stop context.CancelFunc
	done chan struct{}
	out  strings.Builder
}

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+/`)

// runLive runs a plan with a page.
func runLive(t *testing.T, plan string, args ...string) *liveRun {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &liveRun{t: t, stop: stop, done: make(chan struct{})}
	said, err := io.Pipe()
	go func() {
		defer close(r.done)
		defer err.Close()
		run(ctx, append([]string{"run", "--page", "--no-journal", "--as", "ada", "--format", "json", file}, args...), strings.NewReader(""), &r.out, err)
	}()
	t.Cleanup(func() { stop(); <-r.done })
	lines := bufio.NewReader(said)
	first, _ := lines.ReadString('\n')
	go io.Copy(io.Discard, lines)
	if r.page = pageAddress.FindString(first); r.page == "" {
		t.Fatalf("no address of a page: %s", first)
	}
	return r
}

// ended waits for the end of the run, and gives its last event.
func (r *liveRun) ended() map[string]any {
	r.t.Helper()
	<-r.done
	return lastLine(r.t, r.out.String())
}

// ask makes a request to the page's server.
func (r *liveRun) ask(method, path, body string, header ...string) (status int, answer string) {
	r.t.Helper()
	request, err := http.NewRequest(method, r.page+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if request.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			request.Host = header[i+1]
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

// Tidings are what the stream of a live page tells.
type tidings struct {
	Events    []map[string]any
	Questions []struct{ ID, Key, Text string }
	Over      bool
}

// listen reads the stream until it tells what is waited for, or ends.
func (r *liveRun) listen(until func(*tidings) bool) (all []map[string]any, last tidings) {
	r.t.Helper()
	response, err := http.Get(r.page + "events")
	if err != nil {
		r.t.Error(err)
		return nil, last
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		last = tidings{}
		if err := json.Unmarshal([]byte(text), &last); err != nil {
			r.t.Error(err)
			return nil, last
		}
		if all = append(all, last.Events...); until(&last) {
			break
		}
	}
	return all, last
}

const asking = `
tools:
  write: {type: object, properties: {n: {type: integer}, _output: {type: string}}, required: [n]}
calls:
- {_id: one, _tool: write, n: 1, _outputPath: a}
- {_id: two, _tool: write, n: 2, _outputPath: b}
output: {a: †state.a, b: †state.b || null}
activities:
  write: {exec: {argv: [sh, -c, 'cat >/dev/null; printf "\"done %s\"" "$1"', sh, "{n}"]}}
`

// EXECUTION.md#web-page: the page of a run answers its questions: the first answer counts, and the page
// alone gives answers: no other page, and nobody who doesn't have its address.
func TestLivePageTakesAnswers(t *testing.T) {
	r := runLive(t, asking)
	_, open := r.listen(func(n *tidings) bool { return len(n.Questions) == 2 })
	if len(open.Questions) != 2 || !strings.Contains(open.Questions[0].Text, `may "one" run?`) {
		t.Fatalf("the questions are %+v", open)
	}
	origin := "http://" + strings.Split(r.page, "/")[2]
	approve := fmt.Sprintf(`{"id":%q,"verdict":"approve"}`, open.Questions[0].ID)
	kind := []string{"Content-Type", "application/json"}
	for name, one := range map[string]struct {
		method, path, body string
		header             []string
		status             int
	}{
		"another page":             {"POST", "answer", approve, append(kind, "Origin", "http://evil.example"), 404},
		"no page":                  {"POST", "answer", approve, kind, 403},
		"a form":                   {"POST", "answer", approve, []string{"Origin", origin, "Content-Type", "text/plain"}, 403},
		"another name of the host": {"POST", "answer", approve, append(kind, "Origin", origin, "Host", "evil.example"), 404},
		"another site's frame":     {"GET", "", "", []string{"Sec-Fetch-Site", "cross-site"}, 404},
		"without the token":        {"GET", "../", "", nil, 404},
		"half the token":           {"GET", "../" + strings.Split(r.page, "/")[3][:10] + "/", "", nil, 404},
		"no answer":                {"POST", "answer", `{"id":"x","verdict":"maybe"}`, append(kind, "Origin", origin), 400},
		"what isn't asked":         {"POST", "answer", `{"id":"x","verdict":"approve"}`, append(kind, "Origin", origin), 200},
	} {
		if status, answer := r.ask(one.method, one.path, one.body, one.header...); status != one.status || answer == "" {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
	}
	var taken sync.Map
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			verdict := []string{"approve", "reject"}[i%2]
			if _, answer := r.ask("POST", "answer", fmt.Sprintf(`{"id":%q,"verdict":%q}`, open.Questions[0].ID, verdict), append(kind, "Origin", origin)...); answer == "" {
				taken.Store(verdict, i)
			}
		})
	}
	all.Wait()
	events, last := r.listen(func(n *tidings) bool {
		if len(n.Questions) == 1 { // nobody is served after it
			if _, answer := r.ask("POST", "answer", fmt.Sprintf(`{"id":%q,"verdict":"change","params":{"n":7}}`, open.Questions[1].ID), append(kind, "Origin", origin)...); answer != "" {
				t.Errorf("the last answer: %s", answer)
			}
		}
		return false
	})
	end := r.ended()
	var who []string
	for _, e := range events {
		if d, ok := e["decision"].(map[string]any); ok && e["call"] == "one" {
			who = append(who, fmt.Sprint(d["verdict"], " by ", d["by"]))
		}
	}
	_, approved := taken.Load("approve")
	want := map[bool]string{true: "[approve by ada]", false: "[reject by ada]"}[approved]
	if n := 0; fmt.Sprint(who) != want {
		taken.Range(func(any, any) bool { n++; return true })
		t.Errorf("decided is %v, want %s; %d kinds of answer were taken", who, want, n)
	}
	if output := end["output"].(map[string]any); output["b"] != "done 7" || !last.Over {
		t.Errorf("the run ends with %v; the page was told: %v", end, last.Over)
	}
}

// EXECUTION.md#web-page: a run that ends while a question is open takes it back, and the page is told of the end.
func TestLivePageOfRunThatStops(t *testing.T) {
	r := runLive(t, asking)
	ended, listening := make(chan tidings, 1), make(chan struct{})
	go func() {
		var once sync.Once
		_, last := r.listen(func(n *tidings) bool {
			if len(n.Questions) == 2 {
				once.Do(func() { close(listening) })
			}
			return false
		})
		ended <- last
	}()
	<-listening
	r.stop()
	if last := <-ended; !last.Over || len(last.Questions) != 0 {
		t.Errorf("the page is told %+v", last)
	}
	if end := r.ended(); end["status"] != "stopped" {
		t.Errorf("the run ends with %v", end)
	}
}

// EXECUTION.md#web-page: a page that reads every event gets each once, and one that reads none keeps the
// run from nothing.
func TestLivePageKeepsUp(t *testing.T) {
	calls := amount.Of(2_000, 10_000, 100_000)
	var plan strings.Builder
	plan.WriteString("tools: {count: {type: object, properties: {n: {type: integer}, _output: {type: integer}}, required: [n]}}\nactivities: {count: {expr: n + 1}}\noutput: {n: †state.n}\ncalls:\n- {_id: gate, _tool: count, n: 0, _outputPath: n, _confirm: true}\n")
	for range calls {
		plan.WriteString("- {_tool: count, n: †state.n}\n")
	}
	r := runLive(t, plan.String())
	asleep, err := http.Get(r.page + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer asleep.Body.Close()
	settled := map[any]int{}
	answered := false
	r.listen(func(n *tidings) bool {
		for _, e := range n.Events {
			if e["event"] == "call" && e["status"] == "done" {
				settled[e["call"]]++
			}
		}
		if len(n.Questions) == 1 && !answered {
			answered = true
			r.ask("POST", "answer", fmt.Sprintf(`{"id":%q,"verdict":"approve"}`, n.Questions[0].ID), "Origin", "http://"+strings.Split(r.page, "/")[2], "Content-Type", "application/json")
		}
		return false
	})
	if end := r.ended(); end["status"] != "done" || len(settled) != calls+1 {
		t.Errorf("%d calls of %d were told; the run is %v", len(settled), calls+1, end["status"])
	}
	for call, times := range settled {
		if times != 1 {
			t.Fatalf("%v was told %d times", call, times)
		}
	}
}

// EXECUTION.md#web-page: in two real browsers, which answer at the same time.
func TestLivePageInBrowser(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	r := runLive(t, asking)
	s := b.visits(t, visit{URL: r.page, Times: 2, Ready: "now.play.records.size === 2", Evaluate: `(async () => {
  const until = async test => { while (!test()) await new Promise(done => setTimeout(done, 20)); };
  const press = (call, words) => [...document.querySelectorAll('.question')].filter(q => q.querySelector('h2').textContent.endsWith(call)).forEach(q => [...q.querySelectorAll('button')].find(b => b.textContent.includes(words)).click());
  press('one', 'Approve');
  press('two', 'Reject');
  await until(() => document.querySelector('#live').textContent.includes('ended'));
  return [data.calls.map(c => now.play.final(c.key)).join(' '), document.querySelectorAll('.question').length];
})()`})
	if got, want := fmt.Sprint(s.Value), "[[done rejected 0] [done rejected 0]]"; got != want {
		t.Errorf("in the browsers it is %s, want %s", got, want)
	}
	if end := r.ended(); end["calls"].(map[string]any)["rejected"] != 1.0 {
		t.Errorf("the run ends with %v", end)
	}
}

// EXECUTION.md#web-page: focus goes on to the next question when it comes, also where none was open meanwhile.
func TestLivePageGoesOnToTheNextQuestion(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	r := runLive(t, strings.NewReplacer("n: 2,", "n: 2, _after: one,", "cat >/dev/null;", "cat >/dev/null; sleep 1;").Replace(asking))
	b.visits(t, visit{URL: r.page, Ready: "document.querySelectorAll('.question').length === 1", Evaluate: "true", Steps: [][]string{
		{"click", ".question .approve"}, {"until", "!document.querySelector('.question')"},
		{"until", "document.activeElement.textContent.endsWith('about two')"}, {"click", ".question .approve"}}})
	r.ended()
}

// EXECUTION.md#web-page: what isn't shown whole is approved by nobody before it has been scrolled to its end.
func TestLivePageShowsAllFirst(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	r := runLive(t, strings.NewReplacer("n: 2,", `n: 2, text: "`+strings.Repeat(`line\n`, 999)+`",`, "{n: {", "{text: {}, n: {").Replace(asking))
	s := b.visits(t, visit{URL: r.page, Ready: "now.play.records.size === 2", Evaluate: `(() => {
  const of = call => [...document.querySelectorAll('.question')].find(q => q.querySelector('h2').textContent.endsWith(call));
  const disabled = call => [...of(call).querySelectorAll('button')].filter(b => b.disabled).map(b => b.textContent).join();
  const text = of('two').querySelector('pre'), before = [disabled('one'), disabled('two')];
  text.scrollTop = text.scrollHeight;
  text.dispatchEvent(new Event('scroll'));
  return [...before, disabled("two")];
})()`})
	if got, want := fmt.Sprint(s.Value), "[ ✓ Approve ]"; got != want {
		t.Errorf("the buttons that can't be pressed are %s, want %s", got, want)
	}
}

// EXECUTION.md#web-page: a question is a form. An answer that can't be used is asked for again, with the reason; focus
// goes on to the next question; the run can be saved at its end. By keys and by mouse, also on a small window.
func TestLivePageIsAForm(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	keys := func(presses ...string) (steps [][]string) {
		for _, key := range presses {
			steps = append(steps, []string{"press", key})
		}
		return steps
	}
	problem := []string{"until", "document.querySelector('.problem')"}
	next := []string{"until", "document.querySelectorAll('.question').length === 1 && document.activeElement.textContent.includes('two')"}
	saved := []string{"until", "document.querySelector('#keep')"}
	approve := []string{"click", ".question .approve"}
	for _, one := range []struct {
		by    string
		width int
		steps [][]string
	}{
		{"keys", 0, slices.Concat(
			keys("Tab", "Tab", "Control+A", "9", "Tab", "Tab", "Enter"), [][]string{problem},
			keys("Tab", "Tab", "Control+A", "4", "Tab", "Tab", "Enter"), [][]string{next},
			keys("Tab", "Tab", "Tab", "Tab", "Enter"), [][]string{saved})},
		{"mouse", 390, [][]string{
			{"fill", ".question input >> nth=0", "x"}, approve, {"until", "document.querySelector('[role=alert]').textContent.includes('not a number')"},
			{"fill", ".question input >> nth=0", "9"}, approve, problem, {"fill", ".question input >> nth=0", "4"}, approve, next, approve, saved}},
	} {
		r := runLive(t, strings.Replace(asking, "{n: {type: integer}", "{n: {type: integer, maximum: 5}", 1))
		file := filepath.Join(t.TempDir(), "run.html")
		s := b.visits(t, visit{
			URL: r.page, Width: one.width, Axe: true, Ready: "document.querySelectorAll('.question').length === 2",
			Steps: append(one.steps, []string{"save", "#keep", file}), Evaluate: "document.documentElement.scrollWidth <= innerWidth",
		})
		if s.Value != true || len(s.Axe) > 0 {
			t.Errorf("by %s: it fits: %v; accessibility: %q", one.by, s.Value, s.Axe)
		}
		if output := r.ended()["output"].(map[string]any); output["a"] != "done 4" || output["b"] != "done 2" {
			t.Errorf("by %s: the run ends with %v", one.by, output)
		}
		kept := b.visits(t, visit{File: file, Evaluate: "[data.kind, data.calls.map(c => now.play.final(c.key)).join(' ')]"})
		if got := fmt.Sprint(kept.Value); got != "[run done done]" {
			t.Errorf("by %s: what was saved shows %s", one.by, got)
		}
	}
}
