// Package terminal is the person in front of the program: what they are shown while a
// plan runs, what they are asked and how they answer, and how text and values are laid
// out for them. It knows neither commands nor flags.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime"
)

// errStopAsked is how a dialogue says that the person wants the run to stop.
var errStopAsked = errors.New("the person who was asked stopped the run")

// errNoReviewer reports that the terminal is gone: no question can be asked any more.
var errNoReviewer = errors.New("the terminal is gone, and nobody can be asked any more")

// CanAsk reports whether there is a person to ask: keys can be read and
// questions shown on a terminal that does more than plain lines, the program
// isn't in the background, and this is no build on a server.
func CanAsk(stdin, stderr any) bool {
	in, readable := Of(stdin)
	_, writable := Of(stderr)
	return readable && writable && keysCanBeAwaited && inForeground(in) && !automated()
}

// automated reports whether the environment says that no person is looking.
func automated() bool {
	switch strings.ToLower(os.Getenv("CI")) {
	case "", "0", "false", "no":
		return false
	}
	return true
}

// A dialogue asks a person on a terminal what is to become of calls.
// It is safe for concurrent use: one question at a time is open, and others
// wait for their turn.
type Dialogue struct {
	*Sheet
	console *console
	beside  *Gate  // what else writes on the terminal; nil for nothing
	who     string // the person, as decisions name them

	over    context.Context // ends with close
	end     context.CancelFunc
	line    line
	closing sync.Once
	stopped atomic.Bool // the person has stopped the run, and isn't asked again

	trusted map[trust]bool // belongs to the question whose turn it is
}

// NewDialogue asks on a terminal for which [CanAsk] holds. While a question is
// open, beside is held: it keeps what it has to show. The person is known by a name. Of a
// tool's calls, tools tells more than a question does; it may give nil.
func NewDialogue(stdin io.Reader, stderr io.Writer, beside *Gate, who string, tools func(*runtime.Question) *compiler.Tool) *Dialogue {
	over, end := context.WithCancel(context.Background())
	c := &console{in: stdin.(*os.File), out: stderr.(*os.File), style: StyleFor(stderr)}
	return &Dialogue{
		over: over, end: end,
		Sheet:   &Sheet{style: c.style, width: c.width, tools: tools, more: moreByKey},
		console: c, beside: beside, who: who, trusted: map[trust]bool{},
	}
}

// Trust is what all calls share that are approved with one: the plan that they
// stand in, their tool, what carries them out with all that starts it, the scopes
// that hand them more than their parameters, and what is said of their effects. A
// call that the advisors have turned against since is another matter, and so is one
// that a person put in the place of another. Values may differ.
type trust struct {
	delegate, tool, activity, runs, scopes string
	effects, by, claimed, replaces         string
	openWorld, doubted                     bool
}

func trustOf(q *runtime.Question) trust {
	scopes := "none"
	if q.Scopes != nil {
		names := make([]string, len(q.Scopes))
		for i, s := range q.Scopes {
			names[i] = s.Scope
		}
		scopes = JSON(names, "")
	}
	runs := q.Runs
	runs.Argv = runs.Argv[:min(1, len(runs.Argv))] // the others may hold values, and are what its definition says
	return trust{q.Delegate, q.Tool, q.Activity, JSON(runs, ""), scopes, q.Effects, q.EffectsBy, q.Claimed, q.Replaces, q.OpenWorld, q.Doubt != ""}
}

// Ask puts a question in line, and gives a function that waits for its answer; that
// calls shown when the question has had its turn and stands on the terminal. When
// ctx ends before that, the question is taken back and the error is that of ctx.
// [errStopAsked] says that the run is to stop, also to those who ask after that;
// [errNoReviewer] that the terminal is gone.
func (d *Dialogue) Ask(ctx context.Context, q *runtime.Question, shown func()) (answer func() (runtime.Decision, error)) {
	at := d.line.join(q, shown, q.Problem != "" || q.Replaces != "")
	return func() (runtime.Decision, error) {
		defer d.line.leave(at)
		return d.await(ctx, at)
	}
}

// await asks a question when its turn comes.
func (d *Dialogue) await(ctx context.Context, at *place) (runtime.Decision, error) {
	q := at.asked
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.over, func() { cancel(nil) })()
	select {
	case <-at.turn:
	case <-ctx.Done():
	}
	switch {
	case ctx.Err() != nil:
		return runtime.Decision{}, ctx.Err()
	case d.stopped.Load():
		return runtime.Decision{}, errStopAsked
	}
	if d.beside != nil {
		d.beside.hold()
		defer d.beside.release()
	}
	if d.trusted[trustOf(q)] && !q.InFlight && len(q.Outside) == 0 && q.Problem == "" {
		d.console.say(d.console.style.Green("✓"), fmt.Sprintf("%s: approved, as all calls of %s", Quoted(q.Path()), Quoted(q.Tool)))
		return runtime.Decision{Verdict: runtime.Approve, By: d.who}, nil
	}
	decision, err := d.open(ctx, at)
	if err != nil {
		return runtime.Decision{}, err
	}
	decision.By = d.who
	return decision, nil
}

// open shows a question and reads lines until one of them answers it.
func (d *Dialogue) open(ctx context.Context, at *place) (decision runtime.Decision, err error) {
	c, q := d.console, at.asked
	if err := c.drain(ctx); err != nil {
		return decision, err
	}
	text, hidden := d.Brief(q)
	c.print("\n" + text)
	at.shown()
	for {
		key, err := d.key(ctx, q, &hidden)
		if err == nil {
			var answered bool
			if decision, answered, err = d.carryOut(ctx, q, key); answered {
				c.print("\n")
				return decision, nil
			}
		}
		if err != nil && !errors.Is(err, errBack) {
			if errors.Is(err, errStopAsked) {
				d.stopped.Store(true)
			}
			d.takeBack(ctx, err)
			return decision, err
		}
	}
}

// key waits for a key that answers a question. One that approves what wasn't shown completely shows it first.
func (d *Dialogue) key(ctx context.Context, q *runtime.Question, hidden *int) (rune, error) {
	key, err := d.choose(ctx, answersTo(q))
	switch {
	case err != nil:
	case key == '?':
		*hidden = 0
	case *hidden > 0 && approves(q, key):
		d.console.say(d.console.style.Yellow("!"), wording.Counted(*hidden, "value wasn't", "values weren't")+" shown completely; read all of it, and answer again")
		key, *hidden = '?', 0
	}
	return key, err
}

// An option is a key that answers, and what it does in words.
type option struct {
	key   rune
	words string
}

// answersTo lists the keys that a question takes.
func answersTo(q *runtime.Question) []option {
	if q.InFlight {
		return []option{{'r', "run it again"}, {'f', "count it as failed"}, {'?', "more"}, {'q', "stop the run"}}
	}
	if len(q.Outside) > 0 {
		return []option{{'y', "approve what leaves it"}, {'n', "reject"}, {'?', "more"}, {'q', "stop the run"}}
	}
	return []option{
		{'y', "approve"}, {'n', "reject"}, {'e', "change parameters"}, {'r', "replace"},
		{'a', "approve all of this tool"}, {'?', "more"}, {'q', "stop the run"},
	}
}

// approves reports whether a key lets a call run as it is.
func approves(q *runtime.Question, key rune) bool {
	return key == 'y' || key == 'a' || key == 'r' && q.InFlight
}

// carryOut does what a key stands for. The question stays open unless it is
// answered; errBack says that the person changed their mind.
func (d *Dialogue) carryOut(ctx context.Context, q *runtime.Question, key rune) (decision runtime.Decision, answered bool, err error) {
	c, s := d.console, d.console.style
	switch {
	case key == '?':
		c.print("\n" + d.Full(q))
		return decision, false, nil
	case key == 'q':
		return decision, false, errStopAsked
	case key == 'r' && q.InFlight:
		c.say(s.Yellow("↻"), "to be run again")
		return runtime.Decision{Verdict: runtime.Retry}, true, nil
	case key == 'f':
		c.say(s.Red("✗"), "counted as failed")
		return runtime.Decision{Verdict: runtime.Fail}, true, nil
	case key == 'y':
		c.say(s.Green("✓"), "approved")
		return runtime.Decision{Verdict: runtime.Approve, Beyond: q.Beyond}, true, nil
	case key == 'a':
		d.trusted[trustOf(q)] = true
		c.say(s.Green("✓"), fmt.Sprintf("approved, and all further calls of %s in this run", Quoted(q.Tool)))
		return runtime.Decision{Verdict: runtime.Approve}, true, nil
	case key == 'n':
		c.hint("Enter alone gives no reason")
		reason, err := c.line(ctx, "why?")
		if err != nil {
			return decision, false, err
		}
		c.say(s.Yellow("✗"), "rejected")
		return runtime.Decision{Verdict: runtime.Reject, Reason: reason}, true, nil
	case key == 'e':
		decision, err = d.change(ctx, q)
	case key == 'r':
		decision, err = d.replace(ctx, q)
	}
	return decision, err == nil, err
}

// choose shows the keys until one of them is entered.
func (d *Dialogue) choose(ctx context.Context, options []option) (rune, error) {
	d.legend(options)
	for {
		line, err := d.console.line(ctx, d.console.style.Yellow(">"))
		if err != nil {
			return 0, err
		}
		for _, o := range options {
			if strings.EqualFold(line, string(o.key)) {
				return o.key, nil
			}
		}
		if line != "" {
			d.console.hint("enter one of the letters above")
		}
	}
}

// legend shows what the keys do and how many other questions wait, in as many lines as that needs.
func (d *Dialogue) legend(options []option) {
	c := d.console
	p := &page{width: c.width()}
	const between = " · "
	line, columns := "", 0
	for _, o := range options {
		words := string(o.key) + " " + o.words
		if 4+columns+diag.Columns(words) > p.width && columns > 0 {
			p.line(2, line)
			line, columns = "", 0
		}
		if columns > 0 {
			line += c.style.Faint(between)
			columns += diag.Columns(between)
		}
		words = Cut(words, p.width-2)
		line += c.style.Bold(words[:1]) + words[1:]
		columns += diag.Columns(words)
	}
	p.line(2, line)
	if waiting := d.line.length(); waiting > 0 {
		p.text(2, c.style.Faint, wording.Counted(waiting, "question is", "questions are")+" waiting")
	}
	c.print(p.b.String())
}

// takeBack leaves a clean line where a question wasn't answered, and says why.
func (d *Dialogue) takeBack(ctx context.Context, err error) {
	words := "no longer asked"
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, errStopAsked):
		words = "the run stops here"
	case errors.Is(err, errNoReviewer):
		return
	case ctx.Err() == nil || cause == context.Canceled:
	case cause == context.DeadlineExceeded:
		words = "nobody answered in time"
	default:
		words = diag.Escape(cause.Error())
	}
	d.console.say(d.console.style.Faint("–"), words)
	d.console.print("\n")
}

// Stopped reports whether the person has stopped the run.
func (d *Dialogue) Stopped() bool { return d.stopped.Load() }

// InEditor reports whether an editor has the terminal. A Ctrl-C is for the editor then.
func (d *Dialogue) InEditor() bool { return d.console.lent.Load() }

// Close takes back the question that is open, if one is. Nothing is asked after it.
func (d *Dialogue) Close() {
	d.closing.Do(func() {
		d.end()
		<-d.line.join(nil, nil, true).turn
	})
}
