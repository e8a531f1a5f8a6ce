package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
)

// findKey finds the key that signs: that of a file, or one that the SSH agent holds, by its
// fingerprint or its comment, or its only one. obelus reads no private key: ssh-keygen signs.
func findKey(wanted string, stderr io.Writer) (*approval.Key, error) {
	for _, public := range []string{wanted + ".pub", wanted} {
		if line, err := os.ReadFile(public); wanted != "" && err == nil {
			key, err := approval.NewKey(string(line), func(payload []byte) ([]byte, error) { return signWith(wanted, payload, stderr) })
			if err != nil && public == wanted {
				return nil, usageErr("there is no public key %q, and %q is none", wanted+".pub", wanted).Advise("ssh-keygen -y -f %s > %s.pub writes it", wanted, wanted)
			}
			return key, err
		}
	}
	var keys []*approval.Key
	var names []string
	held, err := exec.Command("ssh-add", "-L").Output()
	for line := range strings.Lines(string(held)) {
		key, bad := approval.NewKey(line, func(payload []byte) ([]byte, error) { return signWithAgent(line, payload, stderr) })
		if bad == nil && (wanted == "" || wanted == key.Fingerprint() || wanted == key.Comment) {
			keys, names = append(keys, key), append(names, key.Fingerprint()+" "+key.Comment)
		}
	}
	switch {
	case len(keys) == 0 && wanted != "":
		return nil, usageErr("there is no file %q, and the SSH agent doesn't hold the key", wanted)
	case len(keys) == 0:
		return nil, usageErr("there is no SSH agent that holds a key that could sign").Advise("name a key's file with --key").From(err)
	case len(keys) > 1:
		return nil, usageErr("the SSH agent holds %d keys: %s", len(keys), wording.And(names)).Advise("say which signs with --key FINGERPRINT")
	}
	return keys[0], nil
}

// signWithAgent has the agent sign with a key of its own.
func signWithAgent(line string, payload []byte, stderr io.Writer) ([]byte, error) {
	folder, err := os.MkdirTemp("", "obelus")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	public := filepath.Join(folder, "key.pub")
	if err := os.WriteFile(public, []byte(line), 0o600); err != nil {
		return nil, err
	}
	return signWith(public, payload, stderr)
}

// signWith has ssh-keygen sign. It asks for the passphrase of a locked key itself.
func signWith(file string, payload []byte, stderr io.Writer) ([]byte, error) {
	keygen := exec.Command("ssh-keygen", "-Y", "sign", "-q", "-n", approval.Namespace, "-f", file)
	keygen.Stdin, keygen.Stderr = bytes.NewReader(payload), stderr
	armored, err := keygen.Output()
	if err != nil {
		return nil, usageErr("ssh-keygen doesn't sign with %q: %v", file, err).From(err)
	}
	return armored, nil
}
