package activity

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A worker is an activity whose calls share one process: a request a line on
// its stdin, an answer a line on its stdout, in the order of the requests. The
// process is started for the first call, and anew for the next one after it
// has died or was killed.
//
// The timeout of a worker's activity counts from when a call's turn comes: when
// all requests before it are answered.
type worker struct {
	program

	mu     sync.Mutex
	shift  *shift   // the process that takes requests, or nil
	dying  *process // one that has stopped taking them and hasn't ended
	closed bool
}

// A shift is one process of a worker and what it was asked.
type shift struct {
	w       *worker
	p       *process
	queue   []*request    // unanswered, in the order in which they were put
	unsent  int           // how many at the end of queue aren't written yet
	more    chan struct{} // something was put in the queue
	turn    *time.Timer   // ends the shift when the first of queue takes too long
	watched *request      // whom turn is for
	over    bool          // no further requests, no further answers
}

// A request is one call put to a worker. All but the answer is guarded by the
// worker's mutex.
type request struct {
	Request
	line      []byte
	abandoned bool             // nobody waits for the answer any more
	answered  chan workerReply // holds one
}

// A workerReply is what became of a request.
type workerReply struct {
	result Result
	err    error
}

// Run puts a request to the worker and waits for its answer.
func (w *worker) Run(ctx context.Context, r Request) (Result, error) {
	asked := map[string]any{"tool": r.Tool, "params": orEmpty(r.Params)}
	if r.Context != nil {
		asked["context"] = r.Context
	}
	line, err := encode(asked)
	if err != nil {
		return Result{Route: -1}, &Failure{Code: CodeError, Message: fmt.Sprintf("the parameters of activity %q can't be written as JSON: %v", w.name, err)}
	}
	req := &request{Request: r, line: append(line, '\n'), answered: make(chan workerReply, 1)}
	s, err := w.put(ctx, req)
	if err != nil {
		return Result{Route: -1}, err
	}
	select {
	case reply := <-req.answered:
		if reply.err != nil && ctx.Err() != nil { // it died because we were told to stop
			return Result{Route: -1}, interrupted(ctx, w.name)
		}
		return reply.result, reply.err
	case <-ctx.Done():
	}
	s.abandon(req)
	return Result{Route: -1}, interrupted(ctx, w.name)
}

func orEmpty(params map[string]any) map[string]any {
	if params == nil {
		return map[string]any{}
	}
	return params
}

// put gives a request to the process that takes them, starting one if need be.
// A process that is dying is waited for: two at once might be in each other's
// way.
func (w *worker) put(ctx context.Context, req *request) (*shift, error) {
	for {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return nil, &Failure{Code: CodeCancelled, Message: fmt.Sprintf("activity %q was cancelled: %v", w.name, errClosed)}
		}
		if w.dying == nil {
			break
		}
		dying := w.dying
		w.mu.Unlock()
		patience := time.NewTimer(2 * (w.grace + 2*drain))
		defer patience.Stop()
		select {
		case <-dying.done:
			w.forget(dying)
		case <-patience.C: // not even killing it helped
			w.forget(dying)
		case <-ctx.Done():
			return nil, interrupted(ctx, w.name)
		}
	}
	defer w.mu.Unlock()
	if w.shift == nil {
		s := &shift{w: w, more: make(chan struct{}, 1)}
		p, err := launch(w.argv, w.dir, w.environ, w.keptStderr(), s.read)
		if err != nil {
			return nil, cannotStart(w.name, w.argv[0], err)
		}
		s.p = p
		w.shift = s
		go s.write()
	}
	s := w.shift
	s.queue = append(s.queue, req)
	s.unsent++
	select {
	case s.more <- struct{}{}:
	default: // it has been told and hasn't looked yet
	}
	s.watch()
	return s, nil
}

// forget lets go of a process that has ended.
func (w *worker) forget(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dying == p {
		w.dying = nil
	}
}

// write sends requests one by one, until the process has ended.
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

// read takes answers until the process writes no more.
func (s *shift) read(stdout io.Reader) {
	s.w.mu.Lock() // put holds it until the shift is complete
	//lint:ignore SA2001 its being complete is all that is waited for
	s.w.mu.Unlock()
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, maxOutput)
	for lines.Scan() {
		if !s.answer(lines.Bytes()) {
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		s.finish(CodeBadOutput, fmt.Sprintf("wrote a line of more than %d MiB and was killed", maxOutput>>20))
		return
	}
	s.finish(CodeError, "")
}

// answer hands a line to whom it belongs, and tells whether to go on.
func (s *shift) answer(line []byte) bool {
	reply, err := decode(line, maxDepth+1, s.w.hide)
	if err != nil {
		s.finish(CodeBadOutput, fmt.Sprintf("must answer with one JSON object a line and was killed: %v%s", err, s.w.excerpt(line)))
		return false
	}
	s.w.mu.Lock()
	if s.over {
		s.w.mu.Unlock()
		return false
	}
	if len(s.queue) == s.unsent {
		s.w.mu.Unlock()
		s.finish(CodeBadOutput, "wrote a line that answers no request and was killed"+s.w.excerpt(line))
		return false
	}
	req := s.queue[0]
	s.queue = s.queue[1:]
	s.watch()
	s.w.mu.Unlock()
	req.answered <- s.w.reply(req, reply)
	return true
}

// reply reads an answer: {"result": value}, {"error": "text"} or
// {"error": {code, message, details}}.
func (w *worker) reply(req *request, answer any) workerReply {
	object, _ := answer.(map[string]any)
	result, ok := object["result"]
	problem, bad := object["error"]
	if ok == bad {
		return failed(CodeBadOutput, fmt.Sprintf(`activity %q must answer {"result": …} or {"error": …}: got %s`, w.name, keysOf(answer)), nil)
	}
	if ok {
		result, err := route(result, req.Request, w.name, "")
		return workerReply{result, err}
	}
	switch problem := problem.(type) {
	case string:
		return failed(CodeError, w.hide.Message(problem), nil)
	case map[string]any:
		code, coded := problem["code"].(string)
		message, told := problem["message"].(string)
		if !coded || code == "" {
			code = CodeError
		}
		if !told {
			message = fmt.Sprintf("activity %q failed and gave no message", w.name)
		}
		return failed(code, w.hide.Message(message), problem["details"])
	}
	return failed(CodeBadOutput, fmt.Sprintf(`activity %q must say what its "error" is with a string or {code, message, details}`, w.name), nil)
}

func failed(code, message string, details any) workerReply {
	return workerReply{Result{Route: -1}, &Failure{Code: code, Message: message, Details: details}}
}

// keysOf shows what an answer consists of, without its values.
func keysOf(answer any) string {
	object, ok := answer.(map[string]any)
	if !ok {
		return "no object"
	}
	if len(object) == 0 {
		return "{}"
	}
	return fmt.Sprintf("the keys %q", brief(strings.Join(slices.Sorted(maps.Keys(object)), ", ")))
}

// abandon takes a request back that nobody waits for any more. One that the
// process has seen keeps its place, so that its answer isn't taken for
// another's; but it gets no more than the grace time once its turn has come,
// for others wait behind it.
func (s *shift) abandon(req *request) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	at := slices.Index(s.queue, req)
	switch {
	case at < 0:
	case at >= len(s.queue)-s.unsent:
		s.queue = slices.Delete(s.queue, at, at+1)
		s.unsent--
	default:
		req.abandoned = true
		s.watched = nil
	}
	s.watch()
}

// watch sets the clock for the request whose turn it is. The caller holds the
// worker's mutex.
func (s *shift) watch() {
	var first *request
	if len(s.queue) > 0 {
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
	limit := s.w.timeout
	if first.abandoned && (limit == 0 || limit > s.w.grace) {
		limit = s.w.grace
	}
	if limit > 0 {
		s.turn = time.AfterFunc(limit, func() { s.overdue(first) })
	}
}

// overdue ends the shift if it is still that request's turn.
func (s *shift) overdue(req *request) {
	s.w.mu.Lock()
	if len(s.queue) == 0 || s.queue[0] != req {
		s.w.mu.Unlock()
		return
	}
	pending := s.close()
	s.w.mu.Unlock()
	s.p.end(s.w.grace)
	go s.dismiss(pending, CodeTimeout, errOverdue{s.w.timeout}.Error())
}

// finish ends the shift because of what the process did, or because it ended
// by itself (no problem).
func (s *shift) finish(code, problem string) {
	s.w.mu.Lock()
	if s.over {
		s.w.mu.Unlock()
		return
	}
	pending := s.close()
	s.w.mu.Unlock()
	if problem != "" {
		s.p.kill()
	}
	go s.dismiss(pending, code, problem) // not here: the process isn't over before its reader is
}

// close takes the shift from the worker and gives back what it leaves undone.
// The caller holds the worker's mutex.
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
	if problem == "" { // only its stdout has ended; it may take a moment to follow
		patience := time.NewTimer(drain)
		select {
		case <-s.p.done:
		case <-patience.C:
			s.p.end(s.w.grace)
		}
		patience.Stop()
	}
	ended := s.p.wait(s.w.grace)
	stderr := s.p.stderr.text(s.w.hide)
	for i, req := range pending {
		message := fmt.Sprintf("activity %q %s", s.w.name, problem)
		switch {
		case problem == "":
			message = fmt.Sprintf("the worker of activity %q ended before it answered: %s", s.w.name, s.p.ending())
		case i > 0:
			code = CodeError
			message = fmt.Sprintf("the worker of activity %q was ended before it answered this call, because of an earlier one: it %s", s.w.name, problem)
		}
		if !ended {
			message += "; its process doesn't even die when killed"
		}
		req.answered <- failed(code, message+saying(stderr), s.p.details(stderr))
	}
}

// close ends the worker for good: by the end of its input if it is idle, else
// as any process is asked to end.
func (w *worker) close() {
	w.mu.Lock()
	w.closed = true
	p, idle := w.dying, false
	if s := w.shift; s != nil {
		p, idle = s.p, len(s.queue) == 0
	}
	w.mu.Unlock()
	if p == nil {
		return
	}
	p.stdin.Close()
	if idle {
		patience := time.NewTimer(drain)
		defer patience.Stop()
		select {
		case <-p.done:
			return
		case <-patience.C:
		}
	}
	p.end(w.grace)
	p.wait(w.grace)
}
