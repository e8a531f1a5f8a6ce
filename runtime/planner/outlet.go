package planner

import (
	"strings"

	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/runtime/request"
)

// An outlet hands out an answer's text: without secrets, also where one is split among pieces, and as valid UTF-8.
type outlet struct {
	hide *redact.Set
	emit func(string)    // nil gathers the text instead, which then nobody has seen
	text strings.Builder // what was gathered
	held string          // the end of what came, which may begin a secret
	sent int             // bytes

	tooLong bool // there was more to gather than a result may be long
}

func (o *outlet) write(piece string) {
	s := o.hide.Text(o.held + piece)
	keep := len(s) - o.hide.Unfinished(s)
	o.held = s[keep:]
	o.send(s[:keep])
}

// flush hands out what was held back: nothing follows. Most of a secret is as good as all of it.
func (o *outlet) flush() {
	s := o.held
	o.held = ""
	if len(s) >= 8 {
		s = redact.Hidden("key")
	}
	o.send(s)
}

func (o *outlet) send(s string) {
	if s == "" {
		return
	}
	o.sent += len(s)
	s = strings.ToValidUTF8(s, "\uFFFD")
	if o.emit != nil {
		o.emit(s)
	} else if o.tooLong = o.tooLong || o.text.Len()+len(s) > request.MaxResult; !o.tooLong {
		o.text.WriteString(s)
	}
}
