// Package redact hides secrets in text that people, journals and models read. A [Set] learns secret values, and
// replaces each in a text by a label. Values are found as they are, in JSON strings and in URLs.
package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// Hidden is the text that replaces a secret.
func Hidden(label string) string { return "[hidden " + label + "]" }

// A Set is a set of secret values. The nil one and the zero one hide nothing.
// Its methods may be called from many goroutines at once.
type Set struct {
	mu      sync.RWMutex
	labels  map[string]string  // by value
	public  map[string]bool    // values that are shown although they were learned
	forms   map[[3]byte][]form // by their first bytes, the longest first
	longest int                // bytes of a form
}

// A form is one spelling of a secret.
type form struct {
	text, value string
	alone       bool // it counts only between characters that are in no word
	quote       int  // bytes at each end that are no part of the secret
}

// Environment learns the secrets of an environment, given as "NAME=value": the
// values of variables that are named like secrets, and passwords in URLs.
func (s *Set) Environment(environ []string) {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if naming.Secret(name) {
			s.KeepDistinctive(name, value)
		}
		if !strings.Contains(value, "://") {
			continue
		}
		if at, err := url.Parse(value); err == nil && at.User != nil {
			password, _ := at.User.Password()
			s.KeepDistinctive(name, password)
		}
	}
}

// KeepUser makes secret what an address says to show who asks.
func (s *Set) KeepUser(who *url.Userinfo) {
	if who == nil {
		return
	}
	password, _ := who.Password()
	s.KeepDistinctive("password", password)
	s.KeepDistinctive("key", base64.StdEncoding.EncodeToString([]byte(who.Username()+":"+password)))
}

// IsDistinctive reports whether a text is none that occurs by chance, as a word does.
func IsDistinctive(text string) bool {
	return len(text) >= 16 || len(text) >= 8 && strings.ContainsAny(text, "0123456789")
}

// shortest is the fewest bytes of a secret that is hidden within other text.
const shortest = 4

// Learn makes a value a secret. One that may be an ordinary word is hidden only where it stands alone.
func (s *Set) Learn(label, value string) {
	s.add(label, strings.TrimSpace(value), !IsDistinctive(value))
}

// Keep makes a value a secret, whatever it looks like.
func (s *Set) Keep(label, value string) {
	if len(value) >= shortest {
		s.add(label, value, false)
	}
}

// Publish has the name of a call shown in texts although it is the same word as a secret. A
// distinctive one stays hidden.
func (s *Set) Publish(name string) {
	if s == nil || IsDistinctive(name) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.public == nil {
		s.public = map[string]bool{}
	}
	s.public[name] = true
}

// KeepDistinctive makes a value a secret unless it may be an ordinary word.
func (s *Set) KeepDistinctive(label, value string) {
	if IsDistinctive(value) {
		s.Keep(label, value)
	}
}

func (s *Set) add(label, value string, alone bool) {
	if s == nil || value == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.labels == nil {
		s.labels, s.forms = map[string]string{}, map[[3]byte][]form{}
	}
	was, known := s.labels[value]
	if s.labels[value] = min(label, was); !known {
		s.labels[value] = label
	} else if alone {
		return
	}
	if len(value) < shortest {
		for _, text := range []string{`"` + value + `"`, "'" + value + "'", ":" + value + "@"} {
			s.index(form{text, value, false, 1})
		}
		return
	}
	inQuery := url.QueryEscape(value)
	for _, text := range []string{value, inQuery, strings.ReplaceAll(inQuery, "+", "%20"), inJSON(value, false),
		inJSON(value, true)} {
		s.index(form{text, value, alone, 0})
	}
}

func inJSON(value string, escapeHTML bool) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(escapeHTML)
	_ = encoder.Encode(value) // a string
	return b.String()[1 : b.Len()-2]
}

func (s *Set) index(f form) {
	key := [3]byte([]byte(f.text))
	if !slices.Contains(s.forms[key], f) {
		s.forms[key] = append(s.forms[key], f)
		slices.SortStableFunc(s.forms[key],
			func(a, b form) int { return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text)) })
		s.longest = max(s.longest, len(f.text))
	}
}

// Longest is the length in bytes of the longest text that is hidden, 0 when there is none.
func (s *Set) Longest() int {
	if s == nil {
		return 0
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.longest
}

// Text is a text without secrets.
func (s *Set) Text(text string) string {
	var b strings.Builder
	done := 0
	s.Find(text, func(from, to int, label string) {
		b.WriteString(text[done:from] + Hidden(label))
		done = to
	})
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

var hiddenMark = regexp.MustCompile(`^\[hidden( [\w.-]+)?\]`)

// Find gives the places of secrets in a text, in order, with their labels. What replaces a
// secret already isn't looked into.
func (s *Set) Find(text string, found func(from, to int, label string)) {
	if s == nil {
		return
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.labels) == 0 {
		return
	}
	for at := 0; at+3 <= len(text); {
		if text[at] == '[' {
			if mark := hiddenMark.FindString(text[at:min(len(text), at+100)]); mark != "" {
				at += len(mark)
				continue
			}
		}
		f, size := s.match(text, at)
		if size == 0 {
			at++
			continue
		}
		found(at+f.quote, at+size-f.quote, s.labels[f.value])
		at += size
	}
}

// match is the secret that begins at a place of a text, and how many bytes of it are there:
// all, or those before an ellipsis.
func (s *Set) match(text string, at int) (f form, size int) {
	rest := text[at:]
	for _, f := range s.forms[[3]byte([]byte(rest[:3]))] {
		n := 3
		for n < len(f.text) && n < len(rest) && f.text[n] == rest[n] {
			n++
		}
		if !s.public[f.value] && (n == len(f.text) && (!f.alone || standsAlone(text, at, at+n)) ||
			n >= shortest && strings.HasPrefix(rest[n:], "…")) {
			return f, n
		}
	}
	return form{}, 0
}

// standsAlone reports whether a part of a text is no part of a word.
func standsAlone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// Valid is Text as valid UTF-8.
func (s *Set) Valid(text string) string { return strings.ToValidUTF8(s.Text(text), "\uFFFD") }

// Unfinished is how many bytes at the end of a text may begin a secret whose rest is yet to come.
func (s *Set) Unfinished(text string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	longest := 0
	for _, forms := range s.forms {
		for _, f := range forms {
			for n := min(len(f.text)-1, len(text)); n > longest; n-- {
				if strings.HasSuffix(text, f.text[:n]) {
					longest = n
				}
			}
		}
	}
	return longest
}

// Under is the value of a key in what an activity returns. A text under a key that is written like a variable of the
// environment or a header, and named like a secret, is hidden, learned or not: that is how programs show their
// environment. What a plan's own tools call a token or a key is data that the plan may need.
func (s *Set) Under(key, text string) string {
	if len(text) >= shortest && isShouted(key) && naming.Secret(key) {
		return Hidden(key)
	}
	return text
}

// isShouted reports whether a key is written as names of variables and headers are:
// "PGPASSWORD", "Proxy-Authorization". A single general word such as "KEY" isn't.
func isShouted(key string) bool {
	if strings.EqualFold(key, "authorization") || strings.EqualFold(key, "proxy-authorization") ||
		strings.EqualFold(key, "set-cookie") {
		return true
	}
	switch strings.TrimSuffix(key, "S") {
	case "AUTH", "COOKIE", "KEY", "PAS", "PAT", "SESSION", "TOKEN":
		return false
	}
	return len(key) > 3 && key == strings.ToUpper(key) && key != strings.ToLower(key) ||
		strings.HasPrefix(key, "X-") && strings.Count(key, "-") > 1
}

// assignment is a name with its value in text, as in an environment, a header, a command line or JSON.
var assignment = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_-]*)("?\s*[=:]\s*)((?:(?i:Bearer|Basic|Token)\s+)?)` +
	`("(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'|[^\s"',;&]+)`)

// Message is Valid for a text that people read: also the value after the name of a
// secret in it, as in "PGPASSWORD=…" or "Authorization: Bearer …", is hidden.
func (s *Set) Message(text string) string { return Assigned(s.Valid(text)) }

// Assigned is a text without the values after names of secrets in it. In prose, "token: expected a string" has none.
func Assigned(text string) string {
	if !strings.ContainsAny(text, "=:") {
		return text
	}
	return assignment.ReplaceAllStringFunc(text, func(found string) string {
		part := assignment.FindStringSubmatch(found)
		name, sign, value := part[1], part[2], strings.Trim(part[4], `"'`)
		isValue := isShouted(name) || strings.Contains(sign, "=") && !strings.ContainsAny(sign, " \t") ||
			len(value) >= 8 && strings.ContainsAny(value, "0123456789")
		if !naming.Secret(name) || len(value) < shortest || strings.HasPrefix(value, "[hidden") || !isValue {
			return found
		}
		return name + sign + part[3] + Hidden(name)
	})
}
