// Package redact keeps secrets out of what is shown, journaled, recorded or sent
// to a model. A [Redactor] learns the secrets of a run, and replaces
// each in every text by a word that says whose place it takes.
//
// What a variable of the environment holds is secret when its name says so
// ([naming.Secret]) or when an activity takes it as {$NAME}; so is the password in a
// URL. A value that looks like an ordinary word is hidden only where it was named
// outright: with PASSWORD=password every use of the word would else be replaced.
package redact

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// Hidden is what stands in a secret's place; label says whose.
func Hidden(label string) string { return "[hidden " + label + "]" }

// A Redactor replaces secrets in text. The nil one and the zero one hide nothing.
// Its methods may be called from many goroutines at once.
type Redactor struct {
	mu       sync.RWMutex
	labels   map[string]string // by secret
	secrets  []string          // the longest first
	replacer *strings.Replacer // over secrets; nil when it has to be made anew
}

// Environment learns the secrets of an environment, given as "NAME=value": the
// values of variables that are named like secrets, and passwords in URLs.
func (r *Redactor) Environment(environ []string) {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if naming.Secret(name) {
			r.Learn(name, value)
		}
		if !strings.Contains(value, "://") {
			continue
		}
		if at, err := url.Parse(value); err == nil && at.User != nil {
			if password, _ := at.User.Password(); password != "" {
				r.Learn(name, password)
			}
		}
	}
}

// Learn makes a value a secret, unless it looks like an ordinary word, whose
// every use would else be hidden.
func (r *Redactor) Learn(label, value string) {
	if len(value) >= 16 || len(value) >= 8 && strings.ContainsAny(value, "0123456789") {
		r.Keep(label, value)
	}
}

// shortest is the fewest bytes of a secret: to replace every "a" or "10" would
// hide nothing and spoil everything.
const shortest = 4

// Keep makes a value a secret, whatever it looks like.
func (r *Redactor) Keep(label, value string) {
	if len(value) < shortest {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.labels[value]; known {
		return
	}
	if r.labels == nil {
		r.labels = map[string]string{}
	}
	r.labels[value] = label
	r.secrets = append(r.secrets, value)
	// Of secrets that begin alike the longest must be found first.
	slices.SortFunc(r.secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.replacer = nil
}

// Longest is the length of the longest secret in bytes, 0 when there is none.
func (r *Redactor) Longest() int {
	if r == nil {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.secrets) == 0 {
		return 0
	}
	return len(r.secrets[0])
}

// Secrets are what the redactor hides, sorted.
func (r *Redactor) Secrets() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(slices.Values(r.secrets))
}

// Text is s without secrets.
func (r *Redactor) Text(s string) string {
	if r == nil || len(s) < shortest {
		return s
	}
	r.mu.RLock()
	replacer, none := r.replacer, len(r.secrets) == 0
	r.mu.RUnlock()
	if none {
		return s
	}
	if replacer == nil {
		replacer = r.prepare()
	}
	return replacer.Replace(s)
}

func (r *Redactor) prepare() *strings.Replacer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replacer == nil {
		pairs := make([]string, 0, 2*len(r.secrets))
		for _, secret := range r.secrets {
			pairs = append(pairs, secret, Hidden(r.labels[secret]))
		}
		r.replacer = strings.NewReplacer(pairs...)
	}
	return r.replacer
}

// Valid is Text as valid UTF-8.
func (r *Redactor) Valid(s string) string {
	if s = r.Text(s); !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// Unsure is how many bytes at the end of s may be the beginning of a secret, of
// which the rest is yet to come.
func (r *Redactor) Unsure(s string) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	longest := 0
	for _, secret := range r.secrets {
		for n := min(len(secret)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, secret[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// Under is the value of a key in what an activity hands over. A text under a key
// that is written like a variable of the environment or a header, and named like a
// secret, is hidden, learned or not: that is how programs show their environment.
// What a plan's own tools call a token or a key is data that the plan may need.
func (r *Redactor) Under(key, text string) string {
	if len(text) >= shortest && shouted(key) && naming.Secret(key) {
		return Hidden(key)
	}
	return text
}

// shouted reports whether a key is written as names of variables and headers are:
// "PGPASSWORD", "Proxy-Authorization". A single general word such as "KEY" isn't.
func shouted(key string) bool {
	if strings.EqualFold(key, "authorization") || strings.EqualFold(key, "proxy-authorization") || strings.EqualFold(key, "set-cookie") {
		return true
	}
	switch strings.TrimSuffix(key, "S") {
	case "AUTH", "COOKIE", "KEY", "PAS", "PAT", "SESSION", "TOKEN":
		return false
	}
	return len(key) > 3 && key == strings.ToUpper(key) && key != strings.ToLower(key) ||
		strings.HasPrefix(key, "X-") && strings.Count(key, "-") > 1
}

// assignment is a name with its value in text, as in an environment, a header, a
// command line or JSON.
var assignment = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_-]*)("?\s*[=:]\s*)((?:(?i:Bearer|Basic|Token)\s+)?)("(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'|[^\s"',;&]+)`)

// Message is Valid for a text that people read: also what follows a name of a
// secret in it, as in "PGPASSWORD=…" or "Authorization: Bearer …", is hidden.
func (r *Redactor) Message(s string) string { return Assigned(r.Valid(s)) }

// Assigned is s without what follows a name of a secret in it.
func Assigned(s string) string {
	if !strings.ContainsAny(s, "=:") {
		return s
	}
	return assignment.ReplaceAllStringFunc(s, func(found string) string {
		part := assignment.FindStringSubmatch(found)
		name, value := part[1], part[4]
		plain := strings.Trim(value, `"'`)
		if !naming.Secret(name) || len(plain) < shortest || strings.HasPrefix(plain, "[hidden") || !telling(name, part[2], plain) {
			return found
		}
		return name + part[2] + part[3] + Hidden(name)
	})
}

// telling reports whether what follows a name in prose is its value: "token:
// expected a string" says something else than "token=9f8e7d6c".
func telling(name, sign, value string) bool {
	if shouted(name) || strings.Contains(sign, "=") && !strings.ContainsAny(sign, " \t") {
		return true
	}
	return len(value) >= 8 && strings.ContainsAny(value, "0123456789")
}
