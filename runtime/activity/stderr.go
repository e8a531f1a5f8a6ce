package activity

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/wording"
)

// quotedStderr is how much of the end of stderr a failure quotes, in bytes.
const quotedStderr = 2 << 10

type tail struct {
	mu   sync.Mutex
	keep int // bytes
	end  []byte
	lost bool // something came before end
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, text...)
	if over := len(t.end) - t.keep; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
		t.lost = true
	}
	return len(text), nil
}

// text is the end of what was written, without secrets, with every character
// that a terminal would act on escaped; line ends and tabs stay.
func (t *tail) text(hide *redact.Set) string {
	t.mu.Lock()
	raw, lost := string(t.end), t.lost
	t.mu.Unlock()
	s := hide.Text(raw)
	// of CRLF, or a progress bar: the text continues, and so may a secret
	s = hide.Text(strings.ReplaceAll(s, "\r", ""))
	// the kept part may begin inside a secret, which then wasn't recognised
	if lost {
		s = s[min(len(s), max(0, hide.Longest()-1)):]
	}
	s = redact.Assigned(s)
	s = strings.TrimSpace(s)
	if over := len(s) - quotedStderr; over > 0 {
		for over < len(s) && !utf8.RuneStart(s[over]) {
			over++
		}
		s = s[over:]
	}
	quoted := strconv.Quote(s)
	return unquoted.Replace(quoted[1 : len(quoted)-1])
}

// unquoted takes back of a quoted text what no terminal acts on.
var unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t")

// saying is how a message ends that quotes stderr: one line, whatever was in it.
func saying(stderr string) string {
	if stderr == "" {
		return "; it wrote nothing to stderr"
	}
	return "; the end of its stderr: " + oneLine(stderr)
}

func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s) }

// quote is the beginning of somebody else's text, in one line and without secrets, which are hidden before it is cut:
// most of one is as good as all of it.
func (c *common) quote(text string, most int) string {
	if len(text) >= maxRefusal { // it may be cut within one
		text = text[:maxRefusal]
		text = text[:len(text)-c.hide.Unfinished(text)]
	}
	return wording.Cut(diag.Escape(c.hide.Message(text)), most)
}

// excerpt is how a message quotes what was written in the place of what should have been.
func (c *common) excerpt(output []byte) string {
	if output = bytes.TrimSpace(output); len(output) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it begins %q)", c.quote(string(output[:min(len(output), maxRefusal)]), maxQuoted))
}
