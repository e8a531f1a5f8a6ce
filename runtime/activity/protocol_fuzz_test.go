//go:build unix

package activity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
)

// fuzzedSecret is what nothing that comes of a program may hold.
const fuzzedSecret = "hunter2hunter2"

// What a worker in a script does besides writing, each behind a NUL.
const (
	takesCall = 'c' // one more call is put to it
	givenUp   = 'g' // the oldest call that waits is given up
	waits     = 'w' // it is silent for 7 s
	complains = 's' // up to the next NUL it writes to stderr
)

// FuzzWorker: whatever a worker writes, in whatever pieces and however its answers
// lie among the calls, every call ends once, within bounded time: with the result
// that a line with its id holds, or with a failure that has a code and words. None
// shows a secret. Worker and pipes are in memory, and live in virtual time.
func FuzzWorker(f *testing.F) {
	for _, script := range []string{
		`{"id":1,"result":{"a":[1,null,"x"]}}` + "\n" + `{"result":"hunter2hunter2","id":2}` + "\r\n" +
			`{"id":3,"error":"hunter2hunter2"}` + "\n",
		`{"id":3,"result":3}` + "\n" + `{"id":1,"error":{"code":"declined","message":"m","details":{"try":2}}}` + "\n" +
			`{"id":2,"result":{"_outputPath":"†state.b","_output":7}}` + "\n",
		`{"id":2,"result":{"_outputPath":"†state.nowhere","_output":7}}` + "\n" +
			`{"id":1,"result":{"_outputPath":[],"_output":7}}` + "\n",
		`{"id":1,"result":1}` + "\n" + `{"id":1,"result":2}` + "\n",
		`{"id":9,"result":1}` + "\n", `{"id":"1","result":1}` + "\n", `{"id":1.5,"result":1}` + "\n",
		`{"id":1e0,"result":1}` + "\n",
		`{"id":1,"result":1,"error":2}` + "\n" + `{"id":2}` + "\n" + `{"id":3,"error":null}` + "\n",
		`{"id":1,"error":""}` + "\n" + `{"id":2,"error":{"message":""}}` + "\n",
		`{"id":1,"result":9007199254740993}` + "\n", `{"id":1,"id":2,"result":1}` + "\n",
		`{"id":1,"result":"` + "\xff" + `"}` + "\n", `{"id":1,"result":"\u0000"}` + "\n",
		"loading the model hunter2hunter2\n", "\n", "[1]\n", `{"id":1,"result"`, `{"id":1,"result":1}`, "",
		"\x00w\x00w\x00w\x00w\x00w\x00w" + `{"id":1,"result":1}` + "\n",
		"\x00g" + `{"id":1,"result":1}` + "\n\x00g\x00w\x00w" + `{"id":2,"result":1}` + "\n\x00c\x00c" +
			`{"id":5,"result":1}` + "\n" + `{"id":4,"result":1}` + "\n",
		"\x00sout of memory: hunter2\x00shunter2\x1b[31m\x00",
		"no\n\x00c" + `{"id":4,"result":1}` + "\n\x00c\x00w" + `{"id":4,"result":1}` + "\n",
		`{"id":1,"result":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + "}\n" + `{"id":2,"result":` +
			strings.Repeat("[", 101) + strings.Repeat("]", 101) + "}\n",
	} {
		for i, hangs := range []bool{false, true} {
			f.Add([]byte(script), byte(3), byte(i*7), hangs)
		}
	}
	f.Fuzz(func(t *testing.T, script []byte, calls, piece byte, hangs bool) {
		if len(script) > 64<<10 {
			t.Skip("there is a test of floods")
		}
		synctest.Test(t, func(t *testing.T) {
			null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer null.Close()
			hide := &redact.Set{}
			hide.Keep("secret", fuzzedSecret)
			w := &worker{peer: peer{program: program{base: base{&common{options: Options{Grace: 2 * time.Second}, hide: hide, over: t.Context()}, "act",
				&plan.Activity{Argv: texts([]string{"act"}), Timeout: 20 * time.Second}}}}}
			stage := &stage{w: w, null: null, piece: int(piece), hangs: hangs}
			for range 1 + calls%5 {
				stage.call()
			}
			stage.play(script)
			for _, c := range stage.calls {
				<-c.ended
				c.judge(t)
			}
			synctest.Wait()
		})
	})
}

// A stage is where a worker plays a script.
type stage struct {
	w     *worker
	null  *os.File // where requests go: nothing waits in writing to it
	piece int
	hangs bool
	calls []*stagedCall

	p     *process
	out   *io.PipeWriter
	lines lines
}

// A stagedCall is one call of a worker, and what may become of it by what was written.
type stagedCall struct {
	giveUp context.CancelFunc
	began  time.Time
	ended  chan struct{}
	times  int
	result Result
	err    error
	took   time.Duration

	is   *any // the result that a line gave it, where that is beyond doubt
	gave bool // such a line was there
}

// call puts one more call to the worker, or to the next process when it has ended.
func (s *stage) call() {
	synctest.Wait()
	s.w.mu.Lock()
	here := s.w.now != nil && s.w.now.over.Err() == nil
	s.w.mu.Unlock()
	if !here {
		s.begin()
	}
	ctx, giveUp := context.WithCancel(context.Background())
	c := &stagedCall{giveUp: giveUp, began: time.Now(), ended: make(chan struct{})}
	s.calls = append(s.calls, c)
	s.lines.pending = append(s.lines.pending, c)
	s.lines.first = len(s.calls) - len(s.lines.pending) + 1
	s.w.start(ctx, Request{Call: "a", Tool: "t", Params: map[string]any{}, Paths: []string{"†state.a", "†state.b"}},
		func(result Result, err error) {
			c.times++
			c.result, c.err, c.took = result, err, time.Since(c.began)
			close(c.ended)
		})
	synctest.Wait()
}

// begin has a process of the worker at work. It has no id that a signal could reach.
func (s *stage) begin() {
	s.finish()
	s.p = &process{cmd: &exec.Cmd{}, stdin: s.null, done: make(chan struct{}), reaped: true}
	s.p.stderr.keep = (quotedStderr + 64 + 2*s.w.hide.Longest())
	s.lines = lines{}
	stdout, out := io.Pipe()
	s.out = out
	c := newContact()
	close(c.ready)
	s.w.attend(c, s.p)
	go func(p *process) {
		s.w.read(c, stdout, func(line []byte) error { return s.w.take(c, line) })
		stdout.Close()
		close(p.done)
	}(s.p)
	s.w.mu.Lock()
	s.w.now = c
	s.w.mu.Unlock()
}

// finish ends the process, if there is one.
func (s *stage) finish() {
	if s.out != nil {
		s.lines.end()
		s.out.Close()
		synctest.Wait()
	}
}

// play has the worker do what a script says.
func (s *stage) play(script []byte) {
	for i, part := range bytes.Split(script, []byte{0}) {
		if i > 0 && len(part) > 0 {
			what := part[0]
			part = part[1:]
			switch what {
			case takesCall:
				s.call()
			case givenUp:
				for _, c := range s.calls {
					select {
					case <-c.ended:
						continue
					default:
					}
					c.giveUp()
					break
				}
				s.lines.doubt = true // whoever was given up may hear of it first
			case waits:
				time.Sleep(7 * time.Second)
				s.lines.doubt = true
			case complains:
				s.p.stderr.Write(part)
				continue
			}
		}
		s.write(part)
	}
	if s.hangs {
		time.Sleep(time.Hour)
		s.lines.doubt = true
	}
	s.finish()
}

func (s *stage) write(text []byte) {
	s.lines.take(text)
	for len(text) > 0 {
		n := len(text)
		if s.piece > 0 {
			n = min(n, s.piece)
		}
		if _, err := s.out.Write(text[:n]); err != nil {
			return
		}
		text = text[n:]
	}
	synctest.Wait()
}

// lines reads what a worker writes as the contract has it, by the standard library's
// reader of JSON: as long as lines are beyond doubt.
type lines struct {
	text    []byte
	pending []*stagedCall
	first   int // the id of the first of pending
	doubt   bool
}

func (l *lines) take(text []byte) {
	l.text = append(l.text, text...)
	for !l.doubt {
		line, rest, whole := bytes.Cut(l.text, []byte("\n"))
		if !whole {
			return
		}
		l.text = rest
		l.line(line)
	}
}

func (l *lines) end() {
	if !l.doubt && len(l.text) > 0 {
		l.line(l.text)
	}
}

func (l *lines) line(line []byte) {
	var v any
	l.doubt = true
	if json.Unmarshal(line, &v) != nil || bytes.Contains(line, []byte(`\u0000`)) ||
		bytes.Contains(line, []byte("hunter")) {
		return
	}
	var again bytes.Buffer
	to := json.NewEncoder(&again)
	to.SetEscapeHTML(false)
	if to.Encode(v) != nil || !bytes.Equal(bytes.TrimSpace(again.Bytes()), line) { // it may be read in two ways
		return
	}
	object, _ := v.(map[string]any)
	id, ok := object["id"].(float64)
	at := int(id) - l.first
	if !ok || float64(int(id)) != id || at < 0 || at >= len(l.pending) || l.pending[at].gave {
		return
	}
	c := l.pending[at]
	c.gave = true
	result, has := object["result"]
	_, bad := object["error"]
	if has && !bad && plainResult(result, 0) {
		c.is = &result
	}
	l.doubt = false
}

// plainResult reports whether a result is what it is, without doubt.
func plainResult(v any, depth int) bool {
	switch v := v.(type) {
	case float64:
		return v < 1<<50 && v > -1<<50
	case []any:
		for _, item := range v {
			if !plainResult(item, depth+1) {
				return false
			}
		}
	case map[string]any:
		for key, item := range v {
			// a path of its own, or named like a secret
			if key == "" || key[0] < 'a' || key[0] > 'z' || !plainResult(item, depth+1) {
				return false
			}
		}
	}
	return depth < maxDepth
}

// judge looks at how a call has ended.
func (c *stagedCall) judge(t *testing.T) {
	if c.times != 1 {
		t.Errorf("a call ended %d times", c.times)
	}
	// Its turn comes after those before it, each of which may take its time.
	if c.took > 10*(20+2*(2+2))*time.Second+2*time.Hour {
		t.Errorf("a call took %v", c.took)
	}
	sound(t, c.result, c.err, 2)
	switch {
	case c.is == nil:
	case c.err != nil:
		t.Errorf("the result %v came, and the call ended with %v", *c.is, c.err)
	case !reflect.DeepEqual(c.result.Value, *c.is):
		t.Errorf("the result %v came, and the call has %v", *c.is, c.result.Value)
	}
}

// sound looks at what came of a call that offers some paths.
func sound(t *testing.T, result Result, err error, paths int) {
	t.Helper()
	var shown []byte
	if err == nil {
		if result.Route < -1 || result.Route >= paths {
			t.Errorf("it takes the path %d of %d", result.Route, paths)
		}
		var wrong error
		if shown, wrong = encode(result.Value); wrong != nil {
			t.Errorf("%v is no result: %v", result.Value, wrong)
		}
		if back, wrong := (&common{}).decode(shown, maxDepth); wrong != nil || !reflect.DeepEqual(back, result.Value) {
			t.Errorf("%v is read again as %v, %v", result.Value, back, wrong)
		}
	} else {
		var f *Failure
		if !errors.As(err, &f) {
			t.Fatalf("%v isn't a failure", err)
		}
		if result.Route != -1 || f.Code == "" || f.Message == "" || !utf8.ValidString(f.Message) ||
			!utf8.ValidString(f.Code) {
			t.Errorf("%+v, %+v", result, f)
		}
		details, wrong := encode(f.Details)
		if wrong != nil {
			t.Errorf("the details of %v: %v", f, wrong)
		}
		shown = append(details, f.Code+f.Message...)
	}
	if bytes.Contains(shown, []byte(fuzzedSecret)) {
		t.Errorf("a secret is shown: %s", shown)
	}
}

// FuzzProgram: whatever a program writes and however it ends, its call has a result
// that JSON can write, or a failure with a code and words, and neither shows a
// secret; what the standard library's reader takes for one plain value is the result
// of a program that writes JSON and ends well.
func FuzzProgram(f *testing.F) {
	var ends []*os.ProcessState
	for _, script := range []string{"exit 0", "exit 1", "exit 127", "kill -9 $$"} {
		cmd := exec.Command("sh", "-c", script)
		_ = cmd.Run()
		if cmd.ProcessState == nil {
			f.Skip("there is no shell")
		}
		ends = append(ends, cmd.ProcessState)
	}
	for i, stdout := range []string{`{"a": 1}`, "", "  \n", "{}{}", `{"_outputPath":"†state.a","_output":[1]}`,
		`{"_outputPath":"a","_output":{"_outputPath":"b","_output":1}}`, `{"_outputPath":1,"_output":1}`,
		`"hunter2hunter2"`, `{"API_TOKEN":"abcdefgh12345","hunter2hunter2":1}`, "{\"\x7fAPI_TOKEN\":\"abcdefgh12345\"}", "\xff", "1e400", "9007199254740993", strings.Repeat("[", 200), `"\ud800"`, "\xef\xbb\xbf1"} {
		f.Add([]byte(stdout), []byte("warning\x1b[1m "+fuzzedSecret), byte(i), i%4 == 0)
		f.Add([]byte(stdout), []byte("hu\r\rnter2hunter2"), byte(i<<6), false)
		f.Add([]byte(stdout), []byte("hu\r\rnter2hunter2"), byte(192), false)
	}
	hide := &redact.Set{}
	hide.Keep("secret", fuzzedSecret)
	forms := []string{plan.StreamJSON, plan.StreamText, plan.StreamLines, plan.StreamNone}
	x := &program{base: base{&common{hide: hide}, "act", &plan.Activity{}}}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, end byte, tooMuch bool) {
		p := &process{cmd: &exec.Cmd{ProcessState: ends[int(end)%len(ends)]}, done: make(chan struct{}), reaped: true}
		p.stderr.keep = (quotedStderr + 64 + 2*x.hide.Longest())
		for piece := range bytes.SplitAfterSeq(stderr, []byte{0}) {
			p.stderr.Write(piece)
		}
		close(p.done)
		output := bytes.Clone(stdout)
		if tooMuch {
			output = make([]byte, maxOutput+1)
		}
		result, err := x.outcome(Request{Call: "a", Paths: []string{"†state.a", "b && c"}}, p, forms[int(end)>>6], output, nil)
		sound(t, result, err, 2)
		if tooMuch || int(end)%len(ends) != 0 {
			if err == nil {
				t.Errorf("it didn't end well, and gives %v", result.Value)
			}
			return
		}
		if forms[int(end)>>6] != plan.StreamJSON {
			return
		}
		var l lines
		c := &stagedCall{}
		l.pending, l.first = []*stagedCall{c}, 1
		l.line([]byte(`{"id":1,"result":` + string(stdout) + "}"))
		if c.is != nil && (err != nil || !reflect.DeepEqual(result.Value, *c.is)) {
			t.Errorf("it wrote %s, and gives %v, %v", stdout, result.Value, err)
		}
	})
}
