package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/runtime/activity"
	"github.com/obelus-dev/obelus/runtime/request"
)

// produce asks the planner for the result of a latent call. An answer that can't be used fails the call, so that
// its plan may handle it. Where there is none to be had the run stops, as with a solution.
func (w *world) produce(ctx context.Context, r *runtime.Request, call activity.Request, e runtime.Event) runtime.Event {
	if w.options.Planner == nil { // it might have been done already, and wasn't
		e.Failure = &runtime.Failure{Code: activity.CodeError,
			Message: "no activity carries out the tool, and without a model nobody can produce its result"}
		return e
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var text strings.Builder
	usage, err := w.options.Planner.Answer(ctx, r, func(piece string) {
		if text.Len()+len(piece) > request.MaxResult {
			giveUp(request.ErrTooLong)
			return
		}
		text.WriteString(piece)
	})
	if errors.Is(context.Cause(ctx), request.ErrTooLong) {
		err = request.ErrTooLong
	}
	e.Usage = &usage
	if e.Failure = answerFailure(err); err != nil && e.Failure == nil {
		e.Text = err.Error()
	}
	if err != nil {
		return e
	}
	root, problems := source.Parse(source.NewFile("result.json", []byte(text.String())), source.DefaultLimits())
	for _, p := range problems {
		e.Failure = &runtime.Failure{Code: activity.CodeBadOutput,
			Message: "the model's answer isn't one JSON value: " + p.Message}
		return e
	}
	result, err := activity.Take(root.Value(), call, "")
	result.End(&e, err)
	return e
}

// answerFailure is what became of a planner's answer that was cut, refused or too long; nil where it is none of these.
func answerFailure(err error) *runtime.Failure {
	var refusal *request.Refused
	switch {
	case errors.Is(err, request.ErrCut):
		return &runtime.Failure{Code: "cut", Message: err.Error()}
	case errors.Is(err, request.ErrTooLong):
		return &runtime.Failure{Code: activity.CodeBadOutput, Message: err.Error()}
	case errors.As(err, &refusal):
		return &runtime.Failure{Code: "refused", Message: refusal.Refusal()}
	}
	return nil
}

// characters gives the whole characters of a text, what is none of them replaced, and what may be the beginning of one.
func characters(text string) (full, rest string) {
	cut := len(text) - source.Unfinished([]byte(text[max(0, len(text)-utf8.UTFMax):]))
	return strings.ToValidUTF8(text[:cut], "\uFFFD"), text[cut:]
}

// ErrNoReviewer says that nobody is there to answer a question.
var ErrNoReviewer = errors.New("there is nobody to ask")

func (w *world) ask(c runtime.Command) {
	if w.options.Answered != nil {
		if d := w.options.Answered(c.Question); d != nil {
			w.began(c, func() {})
			w.batch = append(w.batch, runtime.Answer(c.Question, d))
			return
		}
	}
	if w.options.Confirmer == nil {
		return
	}
	own := w.begin(c)
	answer := w.options.Confirmer.Ask(own, c.Question)
	go func() {
		decided := c.Event(runtime.Decided)
		d, err := answer()
		switch {
		case err == nil:
			decided.Decision = &d
		case own.Err() != nil, errors.Is(err, ErrNoReviewer):
		default:
			w.send(runtime.Event{Kind: runtime.Stopped, Text: string(unasked(c.Question)), Gently: true})
		}
		w.send(decided)
	}()
}

// stuck is why the run can't go on but for answers that nobody is there to give, or "": it continues with all that
// doesn't need them, and stops when nothing else is left.
// What runs of a call that delegates is its calls, and its time-out alone brings nothing.
func (w *world) stuck() runtime.Reason {
	if w.busy > 0 {
		return ""
	}
	for key := range w.timers {
		if key.Call != runtime.Run && w.machine.Status(key) != runtime.Running {
			return ""
		}
	}
	open := w.machine.Questions()
	for _, reason := range []runtime.Reason{runtime.ReasonInFlight, runtime.ReasonPermit, runtime.ReasonConfirmation} {
		if slices.ContainsFunc(open, func(q *runtime.Question) bool { return unasked(q) == reason }) {
			return reason
		}
	}
	return ""
}

func unasked(q *runtime.Question) runtime.Reason {
	if q.InFlight {
		return runtime.ReasonInFlight
	}
	if len(q.Outside) > 0 {
		return runtime.ReasonPermit
	}
	return runtime.ReasonConfirmation
}
