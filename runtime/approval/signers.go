package approval

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"golang.org/x/crypto/ssh"
)

// Namespace is what the SSH signatures of approvals are made for, so that one that was
// made for something else, such as a commit, approves of nothing.
const Namespace = "obelus-plan"

// mostList is how large a list of signers or of revoked keys may be.
const mostList = 4 << 20

// Signers are the people whose signatures count: the lines of an allowed_signers file,
// in the format that ssh-keygen(1) describes under ALLOWED SIGNERS.
type Signers struct{ lines []signerLine }

type signerLine struct {
	principals    []string // patterns
	key           ssh.PublicKey
	authority     bool     // of certificates
	namespaces    []string // patterns; nil is any
	after, before time.Time
}

// ReadSigners reads an allowed_signers file. Unlike ssh-keygen, which passes over what
// follows a line that it doesn't understand, it refuses the whole of such a file. Times
// without a Z are of a time zone, which is usually [time.Local].
func ReadSigners(name string, text []byte, zone *time.Location) (*Signers, error) {
	s := &Signers{}
	err := eachLine(name, text, func(line string) error {
		one, err := readSigner(line, zone)
		s.lines = append(s.lines, one)
		return err
	})
	if err == nil && len(s.lines) == 0 {
		err = diag.Troubled(ErrSigners, "%q lists nobody", name).About(name)
	}
	return s, err
}

// eachLine hands on the lines of a list that aren't empty and no comments.
func eachLine(name string, text []byte, each func(string) error) error {
	if len(text) > mostList {
		return diag.Troubled(ErrSigners, "%q is larger than %d bytes", name, mostList).About(name)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		one := strings.Trim(string(line), " \t\r\n")
		if one == "" || one[0] == '#' {
			continue
		}
		if err := each(one); err != nil {
			return diag.Troubled(ErrSigners, "%s:%d: %v", name, number, err).About(name)
		}
	}
	return nil
}

func readSigner(line string, zone *time.Location) (s signerLine, err error) {
	var principals string
	if strings.HasPrefix(line, `"`) {
		var closed bool
		if principals, line, closed = strings.Cut(line[1:], `"`); !closed {
			return s, errors.New("the quote around the principals isn't closed")
		}
		line = strings.TrimLeft(line, " \t")
	} else {
		principals, line = word(line)
	}
	s.principals = strings.Split(principals, ",")
	if slices.Contains(s.principals, "") {
		return s, errors.New("a principal is empty")
	}
	if s.key, err = publicKey(line); err == nil || keyType.MatchString(line) {
		return s, err
	}
	if line, err = s.options(line, zone); err != nil {
		return s, err
	}
	s.key, err = publicKey(line)
	return s, err
}

// keyType begins what is meant as a key.
var keyType = regexp.MustCompile(`^(ssh|ecdsa|sk|rsa)-[^= \t,"]*([ \t]|$)`)

// word is the first field of a line, and the rest of it.
func word(line string) (first, rest string) {
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimLeft(line[end:], " \t")
}

// publicKey reads a key: its type, and its base64.
func publicKey(line string) (ssh.PublicKey, error) {
	kind, line := word(line)
	encoded, _ := word(line)
	if encoded == "" {
		return nil, errors.New("there is no key; expected principals, options, the type of a key, and the key")
	}
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("the key isn't base64")
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, fmt.Errorf("%q isn't a key that is understood", kind)
	}
	if key.Type() != kind {
		return nil, fmt.Errorf("the key is said to be of the type %q and is of %q", kind, key.Type())
	}
	return key, nil
}

// options reads the options before a key, and gives what follows them.
func (s *signerLine) options(line string, zone *time.Location) (rest string, err error) {
	for {
		end := strings.IndexAny(line, "=, \t")
		if end < 0 {
			return "", errors.New("there is no key; expected principals, options, the type of a key, and the key")
		}
		name := line[:end]
		line = line[end:]
		value, valued := "", line[0] == '='
		if valued {
			if value, line, err = quoted(line[1:]); err != nil {
				return "", fmt.Errorf("the option %q: %w", name, err)
			}
		}
		if err := s.option(strings.ToLower(name), value, valued, zone); err != nil {
			return "", err
		}
		if line == "" || line[0] != ',' {
			if next := strings.TrimLeft(line, " \t"); next != line {
				break
			}
			return "", fmt.Errorf("after the option %q there is neither a comma nor a key", name)
		}
		line = line[1:]
	}
	if !s.after.IsZero() && !s.before.IsZero() && !s.after.Before(s.before) {
		return "", errors.New("\"valid-before\" isn't after \"valid-after\"")
	}
	return strings.TrimLeft(line, " \t"), nil
}

func (s *signerLine) option(name, value string, valued bool, zone *time.Location) (err error) {
	switch {
	case name == "cert-authority" && !valued:
		s.authority = true
	case name == "namespaces" && valued && s.namespaces == nil:
		s.namespaces = strings.Split(value, ",")
	case name == "valid-after" && valued && s.after.IsZero():
		s.after, err = moment(value, zone)
	case name == "valid-before" && valued && s.before.IsZero():
		s.before, err = moment(value, zone)
	case slices.Contains([]string{"namespaces", "valid-after", "valid-before"}, name) && valued:
		return fmt.Errorf("the option %q is there twice", name)
	default:
		return fmt.Errorf("there is no option %q; known are cert-authority, namespaces=\"…\", valid-after=\"…\" and valid-before=\"…\"", name)
	}
	return err
}

// quoted reads a text in quotes, in which \" stands for one.
func quoted(line string) (text, rest string, err error) {
	if line == "" || line[0] != '"' {
		return "", "", errors.New("its value isn't in quotes")
	}
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '"':
			return strings.ReplaceAll(line[1:i], `\"`, `"`), line[i+1:], nil
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '"':
			i++
		}
	}
	return "", "", errors.New("the quote around its value isn't closed")
}

// moment reads YYYYMMDD[Z] or YYYYMMDDHHMM[SS][Z].
func moment(text string, zone *time.Location) (time.Time, error) {
	digits := text
	for _, utc := range []string{"Z", "UTC"} {
		if n := len(text) - len(utc); n > 0 && strings.EqualFold(text[n:], utc) {
			digits, zone = text[:n], time.UTC
			break
		}
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(layout) != len(digits) {
			continue
		}
		if at, err := time.ParseInLocation(layout, digits, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q isn't a time; expected YYYYMMDD or YYYYMMDDHHMM[SS], and Z where it is UTC", text)
}

// An identity is how a list of signers knows the holder of a key: the patterns of
// principals that its line has, or the principals of a certificate.
type identity []string

// named reports whether a person of a name may be the holder.
func (id identity) named(name string) bool { return listed(id, name) }

// distinct reports whether two holders can't be the same person. Of two patterns it can't
// be told.
func (id identity) distinct(other identity) bool {
	for _, a := range id {
		for _, b := range other {
			wild := strings.ContainsAny(a, "*?") && strings.ContainsAny(b, "*?")
			if wild || glob(a, b) || glob(b, a) {
				return false
			}
		}
	}
	return true
}

// holder finds who may sign with a key at a time; the error says why nobody may.
func (s *Signers) holder(key ssh.PublicKey, at time.Time) (identity, error) {
	var id identity
	why := error(diag.Troubled(ErrUnknownKey, "its key isn't one of a signer"))
	if s == nil {
		return nil, diag.Troubled(ErrUnknownKey, "its key isn't one of a signer: nobody is named whose approval counts")
	}
	for i := range s.lines {
		line := &s.lines[i]
		principals, err := line.admits(key, at)
		switch {
		case err != nil:
			why = err
		case principals != nil:
			id = append(id, principals...)
		}
	}
	if len(id) > 0 {
		return id, nil
	}
	return nil, why
}

// admits gives the principals that a line knows a key by; none if the line isn't about it.
func (line *signerLine) admits(key ssh.PublicKey, at time.Time) (identity, error) {
	certificate, _ := key.(*ssh.Certificate)
	principals := identity(line.principals)
	switch {
	case !line.authority && certificate == nil && same(key, line.key):
	case line.authority && certificate != nil && same(certificate.SignatureKey, line.key):
		var err error
		if principals, err = certified(certificate, line.principals, at); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	switch {
	case line.namespaces != nil && !listed(line.namespaces, Namespace):
		return nil, diag.Troubled(ErrNamespace, "its key may sign %s, and not %s", strings.Join(line.namespaces, ","), Namespace)
	case !line.after.IsZero() && at.Before(line.after):
		return nil, diag.Troubled(ErrNotYet, "its key isn't valid before %s", stamp(line.after))
	case !line.before.IsZero() && at.Truncate(time.Second).After(line.before):
		return nil, diag.Troubled(ErrExpired, "its key isn't valid after %s", stamp(line.before))
	}
	return principals, nil
}

// certified gives those principals of a user's certificate that its authority may speak
// for.
func certified(c *ssh.Certificate, patterns []string, at time.Time) (id identity, err error) {
	for _, name := range c.ValidPrincipals {
		if listed(patterns, name) {
			id = append(id, name)
		}
	}
	switch {
	case c.CertType != ssh.UserCert:
		return nil, diag.Troubled(ErrUnknownKey, "its certificate isn't one of a person")
	case len(id) == 0:
		return nil, diag.Troubled(ErrUnknownKey, "its certificate is for %q, for whom the authority can't speak", c.ValidPrincipals)
	case c.ValidAfter > math.MaxInt64, at.Unix() < int64(c.ValidAfter):
		return nil, diag.Troubled(ErrNotYet, "its certificate isn't valid before %s", stamp(time.Unix(int64(min(c.ValidAfter, 1<<40)), 0)))
	case c.ValidBefore != ssh.CertTimeInfinity && (c.ValidBefore > math.MaxInt64 || at.Unix() >= int64(c.ValidBefore)):
		return nil, diag.Troubled(ErrExpired, "its certificate isn't valid after %s", stamp(time.Unix(int64(c.ValidBefore), 0)))
	}
	if c.Signature == nil || !slices.Contains(accepted, c.Signature.Format) {
		return nil, diag.Troubled(ErrAlgorithm, "its certificate is signed in a way that isn't accepted; expected one of %s", strings.Join(accepted, ", "))
	}
	checker := ssh.CertChecker{Clock: func() time.Time { return at }}
	if err := checker.CheckCert(id[0], c); err != nil {
		return nil, diag.Troubled(ErrUnknownKey, "its certificate doesn't count: %s", strings.TrimPrefix(err.Error(), "ssh: ")).From(err)
	}
	return id, nil
}

// ReadRevoked reads a list of revoked keys, as ssh-keygen -Y verify -r takes it: public
// keys, one a line, or a binary list.
func ReadRevoked(name string, text []byte) (*Revocation, error) {
	r := &Revocation{keys: map[string]bool{}}
	if bytes.HasPrefix(text, []byte(krlMagic)) {
		if len(text) > mostList {
			return nil, diag.Troubled(ErrSigners, "%q is larger than %d bytes", name, mostList).About(name)
		}
		if err := r.readKRL(text); err != nil {
			return nil, diag.Troubled(ErrSigners, "%q can't be used: %v", name, err).About(name)
		}
		return r, nil
	}
	return r, eachLine(name, text, func(line string) error {
		key, err := publicKey(line)
		if err == nil {
			r.keys[string(key.Marshal())] = true
		}
		return err
	})
}

func same(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }

// stamp writes a time to people.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 MST") }

// listed reports whether a name is one of a list of patterns as OpenSSH has them: one
// that begins with ! and fits says no, whatever else is there.
func listed(patterns []string, name string) bool {
	fits := false
	for _, pattern := range patterns {
		if not, negated := strings.CutPrefix(pattern, "!"); negated && glob(not, name) {
			return false
		} else if !negated && glob(pattern, name) {
			fits = true
		}
	}
	return fits
}

// glob reports whether a text fits a pattern, in which ? is one byte and * any number.
func glob(pattern, text string) bool {
	star, from := -1, 0 // the last star, and where what it stands for ends
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
