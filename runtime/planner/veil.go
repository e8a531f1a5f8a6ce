package planner

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A veil hides secrets in text: keys, in the first place (S11.9). It learns them
// from the requests that carry them, wherever they came from.
type veil struct {
	mu      sync.RWMutex
	secrets []string // the longest first
}

const hidden = "[hidden key]"

// harmless are the headers whose values are nobody's secret.
var harmless = []string{
	"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Type", "Openai-Organization", "Openai-Project", "User-Agent",
}

// learn takes what is secret about a request: the values of all headers but
// well-known harmless ones, and what its address says besides host and path.
func (v *veil) learn(r *http.Request) {
	for name, values := range r.Header {
		if slices.Contains(harmless, name) {
			continue
		}
		for _, value := range values {
			scheme, credentials, two := strings.Cut(value, " ")
			if !two {
				credentials = value
			}
			v.add(credentials)
			if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil && strings.EqualFold(scheme, "basic") {
				_, password, _ := strings.Cut(string(plain), ":")
				v.add(password)
			}
		}
	}
	v.learnAddress(r.URL)
}

// learnAddress takes what is secret about an address.
func (v *veil) learnAddress(at *url.URL) {
	if password, set := at.User.Password(); set {
		v.add(password)
	}
	for _, values := range at.Query() {
		for _, value := range values {
			v.add(value)
		}
	}
}

// add learns a secret, unless it looks like an ordinary word, whose every use
// would else be hidden.
func (v *veil) add(secret string) {
	if len(secret) < 8 || len(secret) < 16 && !strings.ContainsAny(secret, "0123456789") {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.Contains(v.secrets, secret) {
		return
	}
	v.secrets = append(v.secrets, secret)
	slices.SortFunc(v.secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
}

// over is s without secrets.
func (v *veil) over(s string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, secret := range v.secrets {
		s = strings.ReplaceAll(s, secret, hidden)
	}
	return s
}

// unsure is how many bytes at the end of s may be the beginning of a secret.
func (v *veil) unsure(s string) int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	longest := 0
	for _, secret := range v.secrets {
		for n := min(len(secret)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, secret[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// An outlet hands out an answer's text: without secrets, also where one is
// split among pieces, and as valid UTF-8.
type outlet struct {
	veil *veil
	emit func(string)    // nil gathers the text instead, which then nobody has seen
	text strings.Builder // what was gathered
	held string          // the end of what came, which may begin a secret
	sent int             // bytes
}

func (o *outlet) write(piece string) {
	s := o.veil.over(o.held + piece)
	keep := len(s) - o.veil.unsure(s)
	o.held = s[keep:]
	o.send(s[:keep])
}

// flush hands out what was held back: nothing follows. Most of a secret is as
// good as all of it.
func (o *outlet) flush() {
	s := o.held
	o.held = ""
	if len(s) >= 8 {
		s = hidden
	}
	o.send(s)
}

// seen tells whether somebody has seen a part of the answer.
func (o *outlet) seen() bool { return o.sent > 0 && o.emit != nil }

// restart forgets what came, which nobody has seen.
func (o *outlet) restart() {
	o.text.Reset()
	o.held, o.sent = "", 0
}

func (o *outlet) send(s string) {
	if s == "" {
		return
	}
	o.sent += len(s)
	s = strings.ToValidUTF8(s, "\uFFFD")
	if o.emit == nil {
		o.text.WriteString(s)
		return
	}
	o.emit(s)
}
