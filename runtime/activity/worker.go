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

// first is the request whose turn it is; nil for none.
func (q *queue) first() *request {
	if len(q.waiting) == 0 {
		return nil
	}
	return q.waiting[0]
}

// A request is one call put to a worker.
type request struct {
	Request
	id        int
	abandoned bool // nobody wants the answer any more
	result    Result
	err       error
	answered  chan struct{} // closed when these are there
}

func (w *worker) start(ctx context.Context, r Request, ended func(Result, error)) {
	c := w.reach(func(c *contact) error {
		err := w.launch(c, func(line []byte) error { return w.take(c, line) })
		w.mu.Lock()
		defer w.mu.Unlock()
		w.watch(c)
		return err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	req := &request{Request: r, id: w.last, answered: make(chan struct{})}
	line, err := encode(struct {
		ID      int            `json:"id"`
		Tool    string         `json:"tool"`
		Params  map[string]any `json:"params"`
		Context map[string]any `json:"context,omitzero"`
	}{req.id, req.Tool, req.Params, req.Context})
	if err != nil {
		go ended(w.fail(CodeError, "has parameters that can't be written as JSON: %v", err))
		return
	}
	c.queue.waiting = append(c.queue.waiting, req)
	w.watch(c)
	c.put(line)
	go func() { ended(w.await(ctx, c, req)) }()
}

// end takes a request off the queue with what came of it. The caller holds the worker's mutex.
func (w *worker) end(c *contact, req *request, result Result, err error) {
	c.queue.waiting = slices.DeleteFunc(c.queue.waiting, func(one *request) bool { return one == req })
	w.watch(c)
	req.result, req.err = result, err
	close(req.answered)
}

// await waits for what comes of a request. One that is given up keeps its place, and has ended when it is answered all
// the same, or the process is gone: until then it is at work. Once its turn has come it gets no more than the grace
// time.
func (w *worker) await(ctx context.Context, c *contact, req *request) (Result, error) {
	select {
	case <-req.answered:
	case <-c.over.Done():
	case <-ctx.Done():
		w.mu.Lock()
		req.abandoned, c.queue.watched = true, nil
		w.watch(c)
		w.mu.Unlock()
		select {
		case <-req.answered:
		case <-c.over.Done():
			c.await()
		}
		return none, w.interrupted(ctx)
	}
	select {
	case <-req.answered:
		return req.result, req.err
	default:
	}
	if <-c.ready; c.err != nil {
		return none, c.err
	}
	return none, w.lost(c, fmt.Sprintf("the worker of activity %q hasn't answered", w.name), req)
}

// take hands a line to whom it belongs. After a line that belongs to nobody none can be trusted.
func (w *worker) take(c *contact, line []byte) error {
	reply, err := w.decode(line, maxDepth+1)
	if err != nil {
		return fmt.Errorf("it must answer with one JSON object a line: %w", err)
	}
	object, _ := reply.(map[string]any)
	id, known := object["id"].(float64)
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := c.queue.waiting
	at := slices.IndexFunc(waiting, func(r *request) bool { return known && float64(r.id) == id })
	switch {
	case !known:
		return errors.New(`it has answered without the "id" of a request`)
	case at < 0:
		return fmt.Errorf(`it has answered with the "id" %v, which is that of no request that waits`, id)
	}
	result, err := w.reply(waiting[at], object)
	w.end(c, waiting[at], result, err)
	return nil
}

// reply reads an answer: {"id", "result": value}, {"id", "error": "text"} or {"id", "error": {code, message, details}}.
func (w *worker) reply(req *request, object map[string]any) (Result, error) {
	result, ok := object["result"]
	problem, bad := object["error"]
	if ok == bad {
		return w.fail(CodeBadOutput, `must answer {"id": …, "result": …} or {"id": …, "error": …}: got the keys %q`,
			brief(strings.Join(slices.Sorted(maps.Keys(object)), ", ")))
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
		return w.fail(CodeBadOutput, `must say what its "error" is with a string or {code, message, details}`)
	}
	message = cmp.Or(message, fmt.Sprintf("activity %q failed and gave no message", w.name))
	return none, &Failure{Code: code, Message: w.hide.Message(message), Details: details}
}

// watch sets the clock for the request whose turn it is. The caller holds the worker's mutex.
func (w *worker) watch(c *contact) {
	q, first := &c.queue, c.queue.first()
	if first == q.watched || c.p == nil {
		return
	}
	if q.watched = first; q.turn != nil {
		q.turn.Stop()
	}
	if first == nil {
		return
	}
	limit, why := w.def.Timeout, "it "+errOverdue{w.def.Timeout}.Error()
	if first.abandoned {
		limit, why = min(cmp.Or(limit, w.options.Grace), w.options.Grace), "it didn't answer a call that was given up"
	}
	if limit > 0 {
		q.turn = time.AfterFunc(limit, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if q.watched == first {
				c.end(&errOver{CodeTimeout, why, first})
			}
		})
	}
}
