package activity

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A veil replaces secrets in text (S11.9). The zero of it, nil, hides nothing.
type veil struct {
	replacer *strings.Replacer
	longest  int // bytes of the longest secret
}

// secretWords are the words of an environment variable's name that say that
// its value is nobody's business.
var secretWords = []string{
	"APIKEY", "COOKIE", "CREDENTIAL", "CREDENTIALS", "KEY", "KEYS", "PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PAT",
	"SECRET", "SECRETS", "TOKEN", "TOKENS",
}

// newVeil finds the secrets of an environment: values of variables that are
// named like secrets, and passwords in URLs.
func newVeil(environ, more []string) *veil {
	named := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		words := strings.Split(strings.ToUpper(name), "_")
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) }) && telling(value) {
			named[value] = name
			continue
		}
		if !strings.Contains(value, "://") {
			continue
		}
		if at, err := url.Parse(value); err == nil && at.User != nil {
			if password, _ := at.User.Password(); telling(password) {
				named[password] = name
			}
		}
	}
	for _, value := range more {
		if _, known := named[value]; !known && value != "" {
			named[value] = "secret"
		}
	}
	if len(named) == 0 {
		return nil
	}
	v := &veil{}
	values := make([]string, 0, len(named))
	for value := range named {
		values = append(values, value)
		v.longest = max(v.longest, len(value))
	}
	// Of secrets that begin alike the longest must be found first.
	slices.SortFunc(values, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, value := range values {
		pairs = append(pairs, value, "[hidden "+named[value]+"]")
	}
	v.replacer = strings.NewReplacer(pairs...)
	return v
}

// telling is whether a value is unlike an ordinary word, whose every use would
// else be replaced: PASSWORD=password hides nothing.
func telling(value string) bool {
	return len(value) >= 16 || len(value) >= 8 && strings.ContainsAny(value, "0123456789")
}

// text is s without secrets, as valid UTF-8.
func (v *veil) text(s string) string {
	if v != nil && v.replacer != nil {
		s = v.replacer.Replace(s)
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// quotedStderr is how much of the end of stderr a failure quotes, in bytes.
const quotedStderr = 2 << 10

// A tail keeps the end of what is written to it.
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
func (t *tail) text(hide *veil) string {
	t.mu.Lock()
	raw, lost := string(t.end), t.lost
	t.mu.Unlock()
	s := raw
	if hide != nil {
		s = hide.replacer.Replace(raw)
		if lost { // the kept part may begin inside a secret, which then wasn't recognised
			s = s[min(len(s), hide.longest-1):]
		}
	}
	s = strings.TrimSpace(s)
	if over := len(s) - quotedStderr; over > 0 {
		for over < len(s) && !utf8.RuneStart(s[over]) {
			over++
		}
		s = s[over:]
	}
	var out strings.Builder
	for i, r := range s {
		switch {
		case r == '\n', r == '\t':
			out.WriteRune(r)
		case r == '\r': // of CRLF, or a progress bar: the text goes on
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"), !strconv.IsPrint(r):
			quoted := strconv.QuoteToASCII(s[i : i+runeLen(s[i:])])
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func runeLen(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// saying is how a message ends that quotes stderr: one line, whatever was in
// it.
func saying(stderr string) string {
	if stderr == "" {
		return "; it wrote nothing to stderr"
	}
	return "; the end of its stderr: " + oneLine(stderr)
}

func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s) }
