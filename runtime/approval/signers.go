package approval

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"golang.org/x/crypto/ssh"
)

// mostList is how large a list of signers or of revoked keys may be.
const mostList = 4 << 20

// Signers are the people whose signatures count: the lines of an allowed_signers file, in the format that ssh-keygen(1)
// describes under ALLOWED SIGNERS, with names in the place of patterns and no option but namespaces.
type Signers []signer

type signer struct {
	names      []string // of the person who holds the key
	key        string
	namespaces []string // nil is any
}

// Revoked are keys that don't count any more.
type Revoked map[string]bool

// Judging reads whose signatures count for a plan, by its file's name: an allowed_signers file (nil for none), and
// lists of revoked keys, each without a text if it isn't read yet. The judge's time and how many approvals it takes are
// for the caller to say.
func Judging(plan string, signers *source.File, revoked []*source.File) (j Judge, err error) {
	j.Revoked = Revoked{}
	for i, list := range append([]*source.File{signers}, revoked...) {
		if list == nil {
			continue
		}
		text := list.Text
		if err = Outside(plan, list.Name); err == nil && text == nil {
			text, err = ReadFile(list.Name, mostList)
		}
		switch {
		case err != nil:
		case i == 0:
			j.Signers, err = ReadSigners(list.Name, text)
		default:
			err = j.Revoked.read(list.Name, text)
		}
		if err != nil {
			return j, err
		}
	}
	return j, nil
}

// line is one of an allowed_signers file: names, namespaces and a key.
var line = regexp.MustCompile(`^([^\s,*?!"]+(?:,[^\s,*?!"]+)*)[ \t]+((?i:namespaces)="([^"\\]*)"[ \t]+)?([a-z].*)$`)

// ReadSigners reads an allowed_signers file. Unlike ssh-keygen, which passes over what
// follows a line that it doesn't understand, it refuses the whole of such a file.
func ReadSigners(name string, text []byte) (s Signers, err error) {
	err = eachLine(name, text, func(one string) error {
		found := line.FindStringSubmatch(one)
		if found == nil {
			return errors.New("expected NAMES [namespaces=\"…\"] KEY; no other options, no patterns")
		}
		key, err := publicKey(found[4])
		if err != nil {
			return err
		}
		next := signer{names: strings.Split(found[1], ","), key: string(key.Marshal())}
		if found[2] != "" {
			next.namespaces = strings.Split(found[3], ",")
		}
		s = append(s, next)
		return nil
	})
	if err == nil && s == nil {
		err = fmt.Errorf("%q lists nobody", name)
	}
	return s, err
}

// read adds those of a list: public keys, one a line.
func (r Revoked) read(name string, text []byte) error {
	return eachLine(name, text, func(line string) error {
		key, err := publicKey(line)
		if err == nil {
			r[string(key.Marshal())] = true
		}
		return err
	})
}

func eachLine(name string, text []byte, each func(string) error) error {
	if len(text) > mostList {
		return fmt.Errorf("%q is larger than %d bytes", name, mostList)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if one := strings.Trim(string(line), " \t\r\n"); one != "" && one[0] != '#' {
			if err := each(one); err != nil {
				return fmt.Errorf("%s:%d: %w", name, number, err)
			}
		}
	}
	return nil
}

func publicKey(text string) (ssh.PublicKey, error) {
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || options != nil {
		return nil, errors.New("there is no key that is understood; expected its type and the key, no options")
	}
	return key, bare(key)
}

func bare(key ssh.PublicKey) error {
	if _, ok := key.(*ssh.Certificate); ok {
		return errors.New("SSH certificates don't count: sign with the key itself, and list that")
	}
	return nil
}

// Signer is the name under which signers know the holder of a key, "" where it doesn't count.
func (s Signers) Signer(k *Key) string {
	names, _ := s.holder(k.public)
	return append(names, "")[0]
}

// holder gives the names of who may sign with a key; the error says why nobody may.
func (s Signers) holder(key ssh.PublicKey) (names []string, why error) {
	why = errors.New("its key isn't one of a signer")
	for _, one := range s {
		switch {
		case one.key != string(key.Marshal()):
		case one.namespaces != nil && !slices.Contains(one.namespaces, Namespace):
			why = fmt.Errorf("its key may sign %s, and not %s", strings.Join(one.namespaces, ","), Namespace)
		default:
			names = append(names, one.names...)
		}
	}
	if names != nil {
		why = nil
	}
	return names, why
}

// ReadFile reads a file, one byte beyond a limit at most: its reader then says that it is too large.
func ReadFile(name string, limit int) (text []byte, err error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // a pipe would keep one waiting
		err = errors.New("it isn't a regular file")
	}
	if err == nil {
		text, err = workspace.Read(name, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("can't read %q: %w", name, workspace.Reason(err))
	}
	return text, nil
}

// Outside reports as an error that a file lies in a plan's folder or below it, by its name or by where a symbolic link
// of that name leads, or that others may write it: whoever writes a plan doesn't say who may approve it.
func Outside(plan, file string) error {
	inside := diag.NewError(nil, "%q lies in the plan's folder, where the plan's author may have written it", file).
		Advise("keep it above that folder, or elsewhere, and name it with --signers")
	var own []os.FileInfo
	resolved, _ := filepath.EvalSymlinks(plan)
	for _, name := range []string{plan, cmp.Or(resolved, plan)} {
		info, err := os.Stat(filepath.Dir(name))
		if err != nil {
			return fmt.Errorf("where the plan lies isn't known: %w", workspace.Reason(err))
		}
		own = append(own, info)
	}
	at, err := filepath.Abs(file)
	for range 40 { // links, as many as Linux follows
		if err != nil {
			break
		}
		if folder, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
			at = filepath.Join(folder, filepath.Base(at))
		}
		for above := range workspace.Above(filepath.Dir(at)) {
			info, err := os.Stat(above)
			if err == nil && slices.ContainsFunc(own, func(f os.FileInfo) bool { return os.SameFile(info, f) }) {
				return inside
			}
		}
		for _, one := range []string{at, filepath.Dir(at)} {
			if why := workspace.Shared(one); why != "" {
				return diag.NewError(nil, "%q %s: others may have written it", one, why).
					Advise("keep it where only you may write")
			}
		}
		to, err := os.Readlink(at)
		if err != nil {
			return nil // no link
		}
		if at = filepath.Join(filepath.Dir(at), to); filepath.IsAbs(to) {
			at = to
		}
	}
	return inside
}
