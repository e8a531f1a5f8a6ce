package pages

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"github.com/obelus-dev/obelus/dot"
	"github.com/obelus-dev/obelus/dot/page"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/session"
)

// Live is a page that shows a run as it goes, after another observer, and asks its questions. It is served on this
// computer alone, to those who know its secret address, and accepts answers only from itself.
type Live struct {
	Observer
	host   string // the address and the port
	token  string // of the secret address
	who    string // who answers here
	server *http.Server
	run    *session.Session

	mu           sync.Mutex
	page         string // of the plans that stand still; its events come by stream
	drawn, asked int    // how often it was drawn, and questions that were asked
	course       *execution
	posed        []*posed
	over         bool
	changed      chan struct{} // closed when there is something new
}

// An Observer shows a run as it goes.
type Observer interface {
	session.Observer
	End(*runtime.Outcome) error // nil if the run never started
}

// A posed question is open.
type posed struct {
	*runtime.Question
	number int
	answer chan runtime.Decision
}

// Serve begins to serve the page of a run.
func Serve(s *session.Session, who string, next Observer) (*Live, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, diag.NewError(nil, "the page can't be served: %w", workspace.Reason(err))
	}
	l := &Live{Observer: next, host: listener.Addr().String(), token: rand.Text(), who: who, run: s,
		course: newExecution(), changed: make(chan struct{})}
	if err := l.draw(); err != nil {
		return nil, err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{$}", l.show)
	routes.HandleFunc("GET /events", l.stream)
	routes.HandleFunc("POST /answer", l.take)
	l.server = &http.Server{Handler: l.admit(http.StripPrefix("/"+l.token, routes)),
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	go l.server.Serve(listener) // until it is closed
	return l, nil
}

// Address is the secret address.
func (l *Live) Address() string { return "http://" + l.host + "/" + l.token + "/" }

// admit serves those who have the address; it refuses other host names (DNS rebinding) and pages of other origins.
func (l *Live) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret, site := "/"+l.token+"/", r.Header.Get("Sec-Fetch-Site")
		start := r.URL.Path[:min(len(secret), len(r.URL.Path))]
		if subtle.ConstantTimeCompare([]byte(start), []byte(secret)) != 1 || r.Host != l.host ||
			!slices.Contains([]string{"", "http://" + l.host}, r.Header.Get("Origin")) ||
			!slices.Contains([]string{"", "same-origin", "none"}, site) {
			http.Error(w, "there is nothing here", http.StatusNotFound)
			return
		}
		for key, value := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin"} {
			w.Header().Set(key, value)
		}
		next.ServeHTTP(w, r)
	})
}

// draw draws what doesn't change any more: the plan, or those of the ticks that have ended.
// It is done by who steps the run, so that nothing changes meanwhile.
func (l *Live) draw() (err error) {
	l.drawn++
	one := l.course.page(l.run.Program, l.run.Manifest.Options.Planned, dot.Options{MaxNodes: Nodes, MaxEdges: Edges})
	one.Kind, one.Drawn = page.Live, l.drawn
	one.Scenarios = []page.Scenario{{Name: "the run", Events: []json.RawMessage{}}}
	l.page, err = one.HTML()
	return err
}

func (l *Live) show(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	text := l.page
	l.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, text)
}

const (
	pause        = 100 * time.Millisecond // between two messages, so that a page isn't woken for each event
	lastMessages = 5 * time.Second        // how long a page has to read the end of the run
)

// stream tells a page what happens from an event on, as it happens, until the run is over.
func (l *Live) stream(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for {
		l.mu.Lock()
		changed := l.changed
		news := l.course.lines[max(0, min(from, len(l.course.lines))):]
		n := page.News{Events: diag.Listed(news), Questions: []page.Question{}, Drawn: l.drawn, Over: l.over}
		from = len(l.course.lines)
		for _, q := range l.posed {
			n.Questions = append(n.Questions, l.shown(q))
		}
		l.mu.Unlock()
		text, err := json.Marshal(n)
		if err != nil {
			return
		}
		out.SetWriteDeadline(time.Now().Add(30 * time.Second))
		if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", from, text); err != nil || out.Flush() != nil || n.Over {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
		time.Sleep(pause)
	}
}

func (l *Live) shown(q *posed) page.Question {
	asked := *q.Question
	asked.Problem = "" // which has a place of its own, and the page breaks lines
	s := page.Question{
		ID: q.ID, Number: q.number, Key: q.Path(), Text: terminal.Question(&asked, false, 1000),
		Problem: q.Problem, Effects: q.Effects, Again: q.InFlight,
	}
	if !slices.Contains(terminal.Verdicts(q.Question), string(runtime.Change)) {
		return s
	}
	s.Params, s.Plan = q.Params, map[string]string{}
	for _, source := range q.Sources {
		s.Plan[source.Param] = source.Reference
	}
	if tool := q.Definition(); tool != nil && tool.Parameters != nil {
		s.Schema = tool.Parameters.Raw()
	}
	return s
}

// take takes an answer: the first to a question counts, and none that comes later.
func (l *Live) take(w http.ResponseWriter, r *http.Request) {
	var given runtime.Decision
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<20))
	body.DisallowUnknownFields()
	err := body.Decode(&given)
	switch {
	case r.Header.Get("Origin") != "http://"+l.host || r.Header.Get("Content-Type") != "application/json":
		http.Error(w, "answers come from the page", http.StatusForbidden)
		return
	case err != nil || given.ID == "" || given.Verdict == runtime.Replace || given.Check() != nil:
		http.Error(w, "that is no answer", http.StatusBadRequest)
		return
	}
	q := l.withdraw(func(q *posed) bool { return q.ID == given.ID })
	if q == nil {
		// an empty answer says that it counts
		io.WriteString(w, "it has been answered elsewhere, or isn't asked any more")
		return
	}
	given.By, given.Beyond = l.who, ""
	if given.Verdict == runtime.Approve {
		given.Beyond = q.Beyond
	}
	w.Header().Set("Content-Length", "0")
	_ = http.NewResponseController(w).Flush() // it may be the last answer, after which nobody is served any more
	q.answer <- given
}

// Ask shows a question on the page until somebody answers it, or ctx ends.
func (l *Live) Ask(ctx context.Context, q *runtime.Question) func() (runtime.Decision, error) {
	one := &posed{Question: q, answer: make(chan runtime.Decision, 1)}
	l.update(func() {
		l.asked++
		one.number = l.asked
		l.posed = append(l.posed, one)
	})
	return func() (runtime.Decision, error) {
		select {
		case d := <-one.answer:
			return d, nil
		case <-ctx.Done():
		}
		if l.withdraw(func(q *posed) bool { return q == one }) == nil { // somebody has answered meanwhile
			return <-one.answer, nil
		}
		return runtime.Decision{}, ctx.Err()
	}
}

// withdraw gives an open question that isn't open any more; nil if there is none.
func (l *Live) withdraw(which func(*posed) bool) (q *posed) {
	l.update(func() {
		if at := slices.IndexFunc(l.posed, which); at >= 0 {
			q = l.posed[at]
			l.posed = slices.Delete(l.posed, at, at+1)
		}
	})
	return q
}

// update changes what pages show, and wakes those that wait for news.
func (l *Live) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Observe shows what happened.
func (l *Live) Observe(at time.Duration, c runtime.Command) {
	l.Observer.Observe(at, c)
	l.update(func() {
		if l.course.Observe(at, c); c.Kind == runtime.EndTick {
			_ = l.draw() // else the page stays as it was
		}
	})
}

// Waits shows why programs wait.
func (l *Live) Waits(why string) {
	l.Observer.Waits(why)
	l.update(func() { l.course.Waits(why) })
}

// End reports to the pages how the run ended, and serves them no more.
func (l *Live) End(o *runtime.Outcome) error {
	l.update(func() {
		if l.over = true; o != nil {
			_ = l.course.End(o) // which writes into memory
		}
	})
	late, cancel := context.WithTimeout(context.Background(), lastMessages)
	defer cancel()
	_ = l.server.Shutdown(late) // once the pages have what is left
	l.server.Close()
	return l.Observer.End(o)
}
