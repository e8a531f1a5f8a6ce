package approval

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/hiddeco/sshsig"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// A Key signs approvals.
type Key struct {
	Name   string // as the file or the agent has it
	signer ssh.Signer
	plain  ed25519.PrivateKey // signs the bytes themselves, where the key isn't one of SSH
}

// Fingerprint names the key as OpenSSH does.
func (k *Key) Fingerprint() string { return fingerprint(k.signer.PublicKey()) }

// Line is the line of an allowed_signers file that has the key's signatures count for a
// person.
func (k *Key) Line(person string) string {
	return fmt.Sprintf("%s namespaces=%q %s", person, Namespace, bytes.TrimSpace(ssh.MarshalAuthorizedKey(bare(k.signer.PublicKey()))))
}

// ReadKey reads a private key: ed25519 in PKCS #8, which signs the bytes themselves, or
// one in OpenSSH's format, which makes SSH signatures. Of a key that is encrypted the
// passphrase is asked for.
func ReadKey(name string, text []byte, passphrase func() ([]byte, error)) (*Key, error) {
	unusable := func(format string, args ...any) *diag.Trouble {
		return diag.Troubled(ErrKey, "the key %q can't be used: %s", name, fmt.Sprintf(format, args...)).About(name)
	}
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, unusable("it isn't a private key")
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, unusable("it is encrypted in PKCS #8").Advise("ssh-keygen -p -f FILE brings it into OpenSSH's format, or an agent holds it")
	}
	raw, err := ssh.ParseRawPrivateKey(text)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) && passphrase != nil {
		var words []byte
		if words, err = passphrase(); err != nil {
			return nil, err
		}
		raw, err = ssh.ParseRawPrivateKeyWithPassphrase(text, words)
		if errors.Is(err, x509.IncorrectPasswordError) {
			return nil, unusable("the passphrase is wrong")
		}
	}
	if err != nil {
		return nil, unusable("%s", strings.TrimPrefix(err.Error(), "ssh: ")).From(err)
	}
	k := &Key{Name: name}
	if private, ok := raw.(ed25519.PrivateKey); ok && block.Type == "PRIVATE KEY" {
		k.plain = private
	}
	if k.signer, err = ssh.NewSignerFromKey(raw); err == nil {
		err = signs(k.signer.PublicKey())
	}
	if err != nil {
		return nil, unusable("%s", strings.TrimPrefix(err.Error(), "ssh: "))
	}
	return k, nil
}

// signs reports whether signatures of a key can count.
func signs(key ssh.PublicKey) error {
	switch bare(key).Type() {
	case ssh.KeyAlgoRSA, ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	}
	return fmt.Errorf("a key of the type %q doesn't count", key.Type())
}

// AgentKeys are the keys that an SSH agent holds. They sign as long as the connection to
// it is open.
func AgentKeys(conn net.Conn) ([]*Key, error) {
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil, diag.Troubled(ErrKey, "the SSH agent doesn't say which keys it holds: %v", err).From(err)
	}
	var keys []*Key
	for _, signer := range signers {
		held, ok := signer.PublicKey().(*agent.Key)
		if !ok {
			continue
		}
		public, err := ssh.ParsePublicKey(held.Blob)
		if err == nil && signs(public) == nil {
			keys = append(keys, &Key{Name: held.Comment, signer: known{signer.(ssh.AlgorithmSigner), public}})
		}
	}
	return keys, nil
}

// A known key is one of an agent, as what it is and not only as what the agent says of it.
type known struct {
	ssh.AlgorithmSigner
	key ssh.PublicKey
}

func (k known) PublicKey() ssh.PublicKey { return k.key }

func (k known) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	if bare(k.key).Type() == ssh.KeyAlgoRSA {
		return k.SignWithAlgorithm(rand, data, ssh.KeyAlgoRSASHA512)
	}
	return k.AlgorithmSigner.Sign(rand, data)
}

// Is reports whether a key is the one of a name, a fingerprint, or a public key's file.
func (k *Key) Is(text string) bool {
	if text == k.Name || text == k.Fingerprint() {
		return true
	}
	public, err := publicKey(strings.TrimSpace(text))
	return err == nil && same(public, k.signer.PublicKey())
}

// Signer is the name under which signers know the holder of a key, "" where they don't, or
// only by a pattern.
func (s *Signers) Signer(k *Key) string {
	if s == nil {
		return ""
	}
	for _, line := range s.lines {
		if same(line.key, k.signer.PublicKey()) && !line.authority && !strings.ContainsAny(line.principals[0], "*?!") {
			return line.principals[0]
		}
	}
	return ""
}

// Sign adds the signature of a key.
func (a *Approval) Sign(k *Key) error {
	pae := a.Payload()
	if k.plain != nil {
		return a.add(ed25519.Sign(k.plain, pae), k.signer.PublicKey())
	}
	sig, err := sshsig.Sign(bytes.NewReader(pae), k.signer, sshsig.HashSHA512, Namespace)
	if err != nil {
		return diag.Troubled(ErrKey, "the key %q doesn't sign: %s", k.Name, strings.TrimPrefix(err.Error(), "agent: ")).From(err)
	}
	return a.add(sshsig.Armor(sig), sig.PublicKey)
}

// Attach adds a signature that was made elsewhere over the [Approval.Payload], such as by
// ssh-keygen -Y sign -n obelus-plan.
func (a *Approval) Attach(armored []byte) error {
	if len(armored) > mostSignature {
		return diag.Troubled(ErrTooLarge, "the signature is larger than any can be")
	}
	sig, err := sshsig.Unarmor(armored)
	if err != nil {
		return diag.Troubled(ErrSignature, "that isn't an SSH signature: %s", strings.TrimPrefix(err.Error(), "ssh: ")).From(err)
	}
	raw := sshsig.Armor(sig)
	one := dsse.Signature{KeyID: fingerprint(sig.PublicKey), Sig: base64.StdEncoding.EncodeToString(raw)}
	if _, err := authentic(one, a.Payload(), nil); err != nil {
		return diag.Troubled(ErrSignature, "the signature doesn't approve: %v", err).From(err)
	}
	return a.add(raw, sig.PublicKey)
}

func (a *Approval) add(raw []byte, key ssh.PublicKey) error {
	id := fingerprint(key)
	for _, s := range a.signatures {
		if s.KeyID == id {
			return diag.Troubled(ErrTwice, "the key %s has signed already", id)
		}
	}
	if len(a.signatures) == mostSignatures {
		return diag.Troubled(ErrTooLarge, "there are %d signatures already", mostSignatures)
	}
	a.signatures = append(a.signatures, dsse.Signature{KeyID: id, Sig: base64.StdEncoding.EncodeToString(raw)})
	return nil
}
