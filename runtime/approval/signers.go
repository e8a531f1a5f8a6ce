package approval

import (
	"bytes"
	"errors"
	"fmt"
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

// Signers are the people whose signatures count: the lines of an allowed_signers file, in the format that ssh-keygen(1)
// describes under ALLOWED SIGNERS, with names in the place of patterns.
type Signers struct{ lines []signerLine }

type signerLine struct {
	names      []string // of the person who holds the key
	key        ssh.PublicKey
	namespaces []string // nil is any
}

// ReadSigners reads an allowed_signers file. Unlike ssh-keygen, which passes over what
// follows a line that it doesn't understand, it refuses the whole of such a file.
func ReadSigners(name string, text []byte) (*Signers, error) {
	s := &Signers{}
	err := eachLine(name, text, func(line string) error {
		one, err := readSigner(line)
		s.lines = append(s.lines, one)
		return err
	})
	if err == nil && len(s.lines) == 0 {
		err = diag.NewError(ErrSigners, "%q lists nobody", name)
	}
	return s, err
}

func eachLine(name string, text []byte, each func(string) error) error {
	if len(text) > mostList {
		return diag.NewError(ErrSigners, "%q is larger than %d bytes", name, mostList)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		one := strings.Trim(string(line), " \t\r\n")
		if one == "" || one[0] == '#' {
			continue
		}
		if err := each(one); err != nil {
			return diag.NewError(ErrSigners, "%s:%d: %v", name, number, err)
		}
	}
	return nil
}

func readSigner(line string) (s signerLine, err error) {
	end := strings.IndexAny(line+" ", " \t")
	s.names, line = strings.Split(line[:end], ","), strings.TrimLeft(line[end:], " \t")
	for _, name := range s.names {
		if name == "" || strings.ContainsAny(name, `*?!"`) {
			return s, fmt.Errorf("%q isn't the name of a person; quotes and patterns aren't supported", name)
		}
	}
	var options []string
	if s.key, options, err = publicKey(line); err != nil {
		return s, err
	}
	if written := strings.Join(options, ","); written != "" &&
		!strings.ContainsAny(strings.TrimPrefix(line, written)[:1], " \t") {
		return s, errors.New("behind the options there is no key")
	}
	for _, one := range options {
		written := namespaces.FindStringSubmatch(one)
		if written == nil || s.namespaces != nil {
			return s, fmt.Errorf("the option %q isn't known here; known is namespaces=\"…\", once", one)
		}
		s.namespaces = strings.Split(strings.ReplaceAll(written[1], `\"`, `"`), ",")
	}
	return s, nil
}

// namespaces is the option of a line, whose text is in quotes, in which \" is one.
var namespaces = regexp.MustCompile(`(?i)^namespaces="((?:[^"\\]|\\.)*)"$`)

func publicKey(line string) (key ssh.PublicKey, options []string, err error) {
	if key, _, options, _, err = ssh.ParseAuthorizedKey([]byte(line)); err != nil {
		return nil, nil,
			errors.New("there is no key that is understood; expected options, the type of a key, and the key in base64")
	}
	return key, options, bare(key)
}

func bare(key ssh.PublicKey) error {
	if _, ok := key.(*ssh.Certificate); ok {
		return errors.New("SSH certificates don't count: sign with the key itself, and list that")
	}
	return nil
}

// holder gives the names of who may sign with a key; the error says why nobody may.
func (s *Signers) holder(key ssh.PublicKey) (names []string, why error) {
	why = diag.NewError(ErrUnknownKey, "its key isn't one of a signer")
	if s == nil {
		return nil, diag.NewError(ErrUnknownKey, "its key isn't one of a signer: nobody is named whose approval counts")
	}
	for _, line := range s.lines {
		switch {
		case !same(key, line.key):
		case line.namespaces != nil && !slices.Contains(line.namespaces, Namespace):
			why = diag.NewError(ErrNamespace, "its key may sign %s, and not %s", strings.Join(line.namespaces, ","),
				Namespace)
		default:
			names = append(names, line.names...)
		}
	}
	if len(names) > 0 {
		why = nil
	}
	return names, why
}

// Revoked are keys that don't count any more.
type Revoked map[string]bool

// ReadRevoked reads a list of revoked keys: public keys, one a line.
func ReadRevoked(name string, text []byte) (Revoked, error) {
	if bytes.HasPrefix(text, []byte("SSHKRL\n")) {
		return nil, diag.NewError(ErrSigners, "%q is a binary list of revoked keys, which isn't supported", name).
			Advise("list the public keys, one a line")
	}
	r := Revoked{}
	return r, eachLine(name, text, func(line string) error {
		key, options, err := publicKey(line)
		if err == nil && options != nil {
			err = errors.New("a key that is revoked has no options")
		}
		if err == nil {
			r[string(key.Marshal())] = true
		}
		return err
	})
}

func same(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 MST") }
