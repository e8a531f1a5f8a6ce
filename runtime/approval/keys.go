package approval

import (
	"bytes"
	"fmt"

	"github.com/obelus-dev/obelus/compiler/diag"
	"golang.org/x/crypto/ssh"
)

// A Key signs approvals. Its private part is held elsewhere: by an SSH agent or in a file that
// ssh-keygen reads.
type Key struct {
	public ssh.PublicKey
	sign   func(payload []byte) ([]byte, error)
}

// NewKey is the key of a line as "ssh-add -L" and the file of a public key have it. To sign is to
// make an armored SSH signature over a payload in [Namespace], as "ssh-keygen -Y sign" does.
func NewKey(line string, sign func(payload []byte) ([]byte, error)) (*Key, error) {
	public, _, err := publicKey(line)
	if err != nil {
		return nil, diag.NewError(ErrUnknownKey, "%w", err)
	}
	return &Key{public, sign}, nil
}

// Fingerprint names the key as OpenSSH does.
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.public) }

// Line is the line of an allowed_signers file that has the key's signatures count for a
// person.
func (k *Key) Line(person string) string {
	return fmt.Sprintf("%s namespaces=%q %s", person, Namespace, bytes.TrimSpace(ssh.MarshalAuthorizedKey(k.public)))
}

// Signer is the name under which signers know the holder of a key, "" where it doesn't count.
func (s *Signers) Signer(k *Key) string {
	names, _ := s.holder(k.public)
	return append(names, "")[0]
}

// Sign adds the signature of a key.
func (a *Approval) Sign(k *Key) error {
	armored, err := k.sign(a.Payload())
	if err != nil {
		return err
	}
	if len(armored) > mostSignature {
		return diag.NewError(ErrTooLarge, "the signature is larger than any can be")
	}
	key, err := authentic("", armored, a.Payload())
	if err != nil {
		return diag.NewError(ErrSignature, "the signature doesn't approve: %w", err)
	}
	id := ssh.FingerprintSHA256(key)
	for _, s := range a.signatures {
		if s.KeyID == id {
			return diag.NewError(ErrTwice, "the key %s has signed already", id)
		}
	}
	if len(a.signatures) == mostSignatures {
		return diag.NewError(ErrTooLarge, "there are %d signatures already", mostSignatures)
	}
	a.signatures = append(a.signatures, signature{KeyID: id, Sig: armored})
	return nil
}
