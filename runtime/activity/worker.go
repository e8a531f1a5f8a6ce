package activity

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/compiler/kinds"
)

// A worker is an activity whose calls share one process: a request a line on its stdin, each with an id, and an answer
// a line on its stdout, each with the id of what it answers, in any order. Requests reach it in the order of their
// calls. The process is started for the first call, and anew for the next one after it has died or was killed.
//
// The timeout of a worker's activity counts from when a call's turn comes: when all requests before it are answered.
type worker struct {
	program

	mu    sync.Mutex
	last  int      // id
	shift *shift   // the process that takes requests, or is on its way; or nil
	dying *process // one that has stopped taking them and hasn't ended
}

// A shift is one process of a worker and what it was asked.
type shift struct {
	w       *worker
	p       *process      // nil as long as it is on its way
	queue   []*request    // unanswered, in the order in which they were put
	unsent  int           // how many at the end of queue aren't written yet
	more    chan struct{} // something was put in the queue
	turn    *time.Timer   // ends the shift when the first of queue takes too long
	watched *request      // whom turn is for
	over    bool          // no further requests, no further answers
}

// A request is one call put to a worker. All but the answer is guarded by the worker's mutex.
type request struct {
	Request
	id        int
	line      []byte
	abandoned bool // nobody wants the answer any more
	result    Result
	err       error
	answered  chan struct{} // closed when these are there
}

func (r *request) answer(result Result, err error) {
	r.result, r.err = result, err
	close(r.answered)
}

// start puts a request to the worker, and waits for its answer in a goroutine.
func (w *worker) start(ctx context.Context, r Request, ended func(Result, error)) {
	req := w.put(r)
	go func() { ended(w.await(ctx, req)) }()
}

// await waits for the answer to a request. One that is given up has ended when it is
// answered all the same, or the process is gone: until then it is at work.
func (w *worker) await(ctx context.Context, req *request) (Result, error) {
	select {
	case <-req.answered:
		if req.err != nil && ctx.Err() != nil { // it died because we were told to stop
			return none, interrupted(ctx, w.name)
		}
		return req.result, req.err
	case <-ctx.Done():
	}
	if !w.abandon(req) {
		<-req.answered
	}
	return none, interrupted(ctx, w.name)
}

// put gives a request to the process that takes them, or has one started.
func (w *worker) put(r Request) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	line, err := encode(struct {
		ID      int            `json:"id"`
		Tool    string         `json:"tool"`
		Params  map[string]any `json:"params"`
		Context map[string]any `json:"context,omitzero"`
	}{w.last, r.Tool, r.Params, r.Context})
	req := &request{Request: r, id: w.last, line: append(line, '\n'), answered: make(chan struct{})}
	if w.over.Err() != nil {
		err = w.isClosed()
	} else if err != nil {
		_, err = fail(CodeError, "the parameters of activity %q can't be written as JSON: %v", w.name, err)
	}
	if err != nil {
		req.answer(none, err)
		return req
	}
	if w.shift == nil {
		w.shift = &shift{w: w, more: make(chan struct{}, 1)}
		go w.shift.open(w.dying)
	}
	w.shift.take(req)
	return req
}

func (w *worker) isClosed() error {
	return &Failure{Code: CodeCancelled, Message: fmt.Sprintf("activity %q was cancelled: %v", w.name, errClosed)}
}

// open starts the process. The one before it, if it is still dying, is waited for: two at once might be in each
// other's way.
func (s *shift) open(dying *process) {
	w := s.w
	if dying != nil {
		dying.wait(2 * (w.grace + 2*drain)) // else not even killing it helped
	}
	ready := make(chan struct{})
	defer close(ready)
	argv, _ := kinds.Arguments(w.def, nil, w.env.get) // it takes no parameters
	p, err := w.launch(argv, nil, func(stdout io.Reader) {
		<-ready
		s.read(stdout)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		failure := error(cannotStart(fmt.Sprintf("activity %q", w.name), argv[0], err))
		if w.over.Err() != nil {
			failure = w.isClosed()
		}
		for _, req := range s.close() {
			req.answer(none, failure)
		}
		return
	}
	s.p, w.dying = p, nil
	go s.write()
	s.watch()
	if w.over.Err() != nil { // meanwhile
		p.end(w.grace)
	}
}

// take puts a request in the queue. The caller holds the worker's mutex.
func (s *shift) take(req *request) {
	s.queue = append(s.queue, req)
	s.unsent++
	select {
	case s.more <- struct{}{}:
	default: // it has been told and hasn't looked yet
	}
	s.watch()
}

func (s *shift) write() {
	for {
		s.w.mu.Lock()
		var line []byte
		if s.unsent > 0 && !s.over {
			line = s.queue[len(s.queue)-s.unsent].line
			s.unsent--
		}
		s.w.mu.Unlock()
		if line != nil {
			s.p.stdin.Write(line) // if it fails the process is dead or deaf, and its other end shows that
			continue
		}
		select {
		case <-s.more:
		case <-s.p.done:
			return
		}
	}
}

func (s *shift) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, maxOutput)
	for lines.Scan() {
		if !s.answer(lines.Bytes()) {
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		s.finish(CodeBadOutput, fmt.Sprintf("wrote a line of more than %d MiB and was killed", maxOutput>>20), nil)
		return
	}
	s.finish(CodeError, "", nil)
}

// answer hands a line to whom it belongs, and reports whether to go on. After a line that
// belongs to nobody none can be trusted.
func (s *shift) answer(line []byte) bool {
	reply, err := decode(line, maxDepth+1, s.w.hide)
	if err != nil {
		s.finish(CodeBadOutput, fmt.Sprintf("must answer with one JSON object a line and was killed: %v%s", err,
			s.w.excerpt(line)), nil)
		return false
	}
	object, _ := reply.(map[string]any)
	id, known := object["id"].(float64)
	s.w.mu.Lock()
	if s.over {
		s.w.mu.Unlock()
		return false
	}
	sent := s.queue[:len(s.queue)-s.unsent]
	at := slices.IndexFunc(sent, func(req *request) bool { return known && float64(req.id) == id })
	if at < 0 {
		s.w.mu.Unlock()
		what := `wrote a line without the "id" of a request`
		if known {
			what = fmt.Sprintf(`wrote a line with the "id" %v, which is of no request that waits for an answer,`, id)
		}
		s.finish(CodeBadOutput, what+" and was killed"+s.w.excerpt(line), nil)
		return false
	}
	req := sent[at]
	s.queue = slices.Delete(s.queue, at, at+1)
	s.watch()
	s.w.mu.Unlock()
	req.answer(s.w.reply(req, object))
	return true
}

// reply reads an answer: {"id", "result": value}, {"id", "error": "text"} or {"id", "error": {code, message, details}}.
func (w *worker) reply(req *request, object map[string]any) (Result, error) {
	result, ok := object["result"]
	problem, bad := object["error"]
	if ok == bad {
		return fail(CodeBadOutput,
			`activity %q must answer {"id": …, "result": …} or {"id": …, "error": …}: got the keys %q`,
			w.name, brief(strings.Join(slices.Sorted(maps.Keys(object)), ", ")))
	}
	if ok {
		return route(result, req.Request, w.name, "")
	}
	code, message, details := CodeError, "", any(nil)
	switch problem := problem.(type) {
	case string:
		message = problem
	case map[string]any:
		message, _ = problem["message"].(string)
		own, _ := problem["code"].(string)
		code, details = cmp.Or(own, code), problem["details"]
	default:
		return fail(CodeBadOutput, `activity %q must say what its "error" is with a string or {code, message, details}`,
			w.name)
	}
	message = cmp.Or(message, fmt.Sprintf("activity %q failed and gave no message", w.name))
	return none, &Failure{Code: code, Message: w.hide.Message(message), Details: details}
}

// abandon takes a request back that nobody waits for any more, and reports whether that is all: what the process hasn't
// seen is as if it had never been put. One that it has seen keeps its place. Once its turn has come it gets no more
// than the grace time while others wait behind it, and a moment when nobody does.
func (w *worker) abandon(req *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.shift
	if s == nil {
		return false
	}
	at := slices.Index(s.queue, req)
	switch {
	case at < 0:
		return false
	case at >= len(s.queue)-s.unsent:
		s.queue = slices.Delete(s.queue, at, at+1)
		s.unsent--
	default:
		req.abandoned = true
		s.watched = nil
	}
	s.watch()
	return !req.abandoned
}

// watch sets the clock for the request whose turn it is. The caller holds the worker's mutex.
func (s *shift) watch() {
	var first *request
	if len(s.queue) > 0 && s.p != nil {
		first = s.queue[0]
	}
	if first == s.watched {
		return
	}
	s.watched = first
	if s.turn != nil {
		s.turn.Stop()
		s.turn = nil
	}
	if first == nil {
		return
	}
	limit := s.w.def.Timeout
	problem := errOverdue{limit}.Error()
	if first.abandoned {
		problem = "didn't answer a call that was given up"
		most := s.w.grace
		if !slices.ContainsFunc(s.queue, func(req *request) bool { return !req.abandoned }) {
			most = min(most, drain)
		}
		if limit == 0 || limit > most {
			limit = most
		}
	}
	if limit > 0 {
		s.turn = time.AfterFunc(limit, func() { s.finish(CodeTimeout, problem, first) })
	}
}

// finish ends the shift because of what the process did, because it ended by itself (no problem), or because a request
// takes too long whose turn it still has to be.
func (s *shift) finish(code, problem string, overdue *request) {
	s.w.mu.Lock()
	if s.over || overdue != nil && (len(s.queue) == 0 || s.queue[0] != overdue) {
		s.w.mu.Unlock()
		return
	}
	pending := s.close()
	s.w.mu.Unlock()
	if overdue != nil {
		s.p.end(s.w.grace)
	} else if problem != "" {
		s.p.kill()
	}
	go s.dismiss(pending, code, problem) // not here: the process isn't over before its reader is
}

// close takes the shift from the worker and gives back what it leaves undone. The caller holds the worker's mutex.
func (s *shift) close() []*request {
	pending := s.queue
	s.over, s.queue, s.unsent = true, nil, 0
	s.watch()
	s.w.shift, s.w.dying = nil, s.p
	return pending
}

// dismiss waits for the process's end and tells those who still wait why there
// is no answer. The first of them is the one that the process was at.
func (s *shift) dismiss(pending []*request, code, problem string) {
	ended := s.p.finish(drain, s.w.grace) // perhaps only its stdout has ended, and it takes a moment to follow
	stderr := s.p.stderr.text(s.w.hide)
	for i, req := range pending {
		message := fmt.Sprintf("activity %q %s", s.w.name, problem)
		switch {
		case problem == "":
			message = fmt.Sprintf("the worker of activity %q ended before it answered: %s", s.w.name, s.p.ending())
		case i > 0:
			code = CodeError
			message =
				fmt.Sprintf(
					"the worker of activity %q was ended before it answered this call, because of another: it %s",
					s.w.name, problem)
		}
		if !ended {
			message += "; its process doesn't even die when killed"
		}
		req.answer(none, &Failure{Code: code, Message: message + saying(stderr), Details: s.p.details(stderr)})
	}
}

// close ends the worker for good: by the end of its input if it is idle, else as any process is asked to end.
func (w *worker) close() {
	w.mu.Lock()
	p, patience := w.dying, time.Duration(0)
	if s := w.shift; s != nil && s.p != nil {
		if p = s.p; len(s.queue) == 0 {
			patience = drain
		}
	}
	w.mu.Unlock()
	if p != nil {
		p.stdin.Close()
		p.finish(patience, w.grace)
	}
}
