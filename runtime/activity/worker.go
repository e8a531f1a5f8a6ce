package activity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A worker is an activity whose calls share one process: a request a line on its stdin, each with an id, and an answer
// a line on its stdout, each with the id of what it answers, in any order.
//
// The timeout of a worker's activity counts from when a call's turn comes: when all requests before it are answered.
type worker struct {
	peer
	last int // id
}

// A queue is what a worker's process was asked. The worker's mutex guards it.
type queue struct {
	waiting []*request  // for an answer, in the order in which they were put
	turn    *time.Timer // ends the process when the first of them takes too long
	watched *request    // whom turn is for
}

// A request is one call put to a worker.
type request struct {
	Request
	id        int
	sent      bool // the process may have seen it
	abandoned bool // nobody wants the answer any more
	result    Result
	err       error
	answered  chan struct{} // closed when these are there
}

func (w *worker) start(ctx context.Context, r Request, ended func(Result, error)) {
	c := w.reach(func(c *contact) error {
		return w.launch(c, func(line []byte) error { return w.take(c, line) })
	})
	w.inTurn(ctx, c, ended, func(sent func()) (Result, error) { return w.put(ctx, c, r, sent) })
}

// put asks the process and waits for its answer. A request that is given up has ended when it is answered all the
// same, or the process is gone: until then it is at work.
func (w *worker) put(ctx context.Context, c *contact, r Request, sent func()) (Result, error) {
	w.mu.Lock()
	w.last++
	req := &request{Request: r, id: w.last, answered: make(chan struct{})}
	line, err := encode(struct {
		ID      int            `json:"id"`
		Tool    string         `json:"tool"`
		Params  map[string]any `json:"params"`
		Context map[string]any `json:"context,omitzero"`
	}{w.last, r.Tool, r.Params, r.Context})
	if err == nil {
		c.queue.waiting = append(c.queue.waiting, req)
		c.out.put(func() []byte {
			w.mu.Lock()
			defer w.mu.Unlock()
			if req.sent = slices.Contains(c.queue.waiting, req); req.sent {
				return line
			}
			return nil
		})
		w.watch(c)
	}
	w.mu.Unlock()
	if err != nil {
		return fail(CodeError, "the parameters of activity %q can't be written as JSON: %v", w.name, err)
	}
	sent()
	select {
	case <-req.answered:
	case <-c.over.Done():
	case <-ctx.Done():
		w.abandon(c, req)
		select {
		case <-req.answered:
		case <-c.over.Done():
			<-c.gone
		}
		return none, interrupted(ctx, w.name)
	}
	select {
	case <-req.answered:
		return req.result, req.err
	default:
		return none, w.lost(c, fmt.Sprintf("the worker of activity %q hasn't answered", w.name), req)
	}
}

// take hands a line to whom it belongs. After a line that belongs to nobody none can be trusted.
func (w *worker) take(c *contact, line []byte) error {
	reply, err := decode(line, maxDepth+1, w.hide)
	if err != nil {
		return fmt.Errorf("it must answer with one JSON object a line: %w", err)
	}
	object, _ := reply.(map[string]any)
	id, known := object["id"].(float64)
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := c.queue.waiting
	at := slices.IndexFunc(waiting, func(r *request) bool { return known && r.sent && float64(r.id) == id })
	switch {
	case !known:
		return errors.New(`it has answered without the "id" of a request`)
	case at < 0:
		return fmt.Errorf(`it has answered with the "id" %v, which is that of no request that waits`, id)
	}
	req := waiting[at]
	c.queue.waiting = slices.Delete(waiting, at, at+1)
	w.watch(c)
	req.result, req.err = w.reply(req, object)
	close(req.answered)
	return nil
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
		return Take(result, req.Request, w.name)
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

// abandon takes a request back that nobody waits for any more. One that the process may have seen keeps its place. Once
// its turn has come it gets no more than the grace time while others wait behind it, and a moment when nobody does.
func (w *worker) abandon(c *contact, req *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.Index(c.queue.waiting, req)
	if at >= 0 && !req.sent {
		c.queue.waiting = slices.Delete(c.queue.waiting, at, at+1)
		close(req.answered)
	} else {
		req.abandoned, c.queue.watched = true, nil
	}
	w.watch(c)
}

// watch sets the clock for the request whose turn it is. The caller holds the worker's mutex.
func (w *worker) watch(c *contact) {
	q := &c.queue
	var first *request
	if len(q.waiting) > 0 {
		first = q.waiting[0]
	}
	if first == q.watched {
		return
	}
	q.watched = first
	if q.turn != nil {
		q.turn.Stop()
	}
	if first == nil {
		return
	}
	limit := w.def.Timeout
	over := &errOver{CodeTimeout, "it " + errOverdue{limit}.Error(), first}
	if first.abandoned {
		over.why = "it didn't answer a call that was given up"
		most := w.grace
		if !slices.ContainsFunc(q.waiting, func(req *request) bool { return !req.abandoned }) {
			most = min(most, drain)
		}
		limit = min(cmp.Or(limit, most), most)
	}
	if limit > 0 {
		q.turn = time.AfterFunc(limit, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if q.watched == first {
				c.end(over)
			}
		})
	}
}
