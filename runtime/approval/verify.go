package approval

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"golang.org/x/crypto/ssh"
)

// Namespace is what the SSH signatures of approvals are made for, so that one that was
// made for something else, such as a commit, approves of nothing.
const Namespace = "obelus-plan"

// A Key signs approvals. Its private part is held elsewhere: by an SSH agent or in a file that ssh-keygen reads.
type Key struct {
	public ssh.PublicKey
	sign   func(payload []byte) ([]byte, error)
}

// NewKey is the key of a line as "ssh-add -L" and the file of a public key have it. To sign is to
// make an armored SSH signature over a payload in [Namespace], as "ssh-keygen -Y sign" does.
func NewKey(line string, sign func(payload []byte) ([]byte, error)) (*Key, error) {
	public, err := publicKey(line)
	return &Key{public, sign}, err
}

// Fingerprint names the key as OpenSSH does.
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.public) }

// Line is the line of an allowed_signers file that has the key's signatures count for a person.
func (k *Key) Line(person string) string {
	return fmt.Sprintf("%s namespaces=%q %s", person, Namespace, bytes.TrimSpace(ssh.MarshalAuthorizedKey(k.public)))
}

// Sign adds the signature of a key.
func (a *Approval) Sign(k *Key) error {
	armored, err := k.sign(a.Payload())
	if err != nil {
		return err
	}
	key, err := authentic(armored, a.Payload())
	if err != nil {
		return fmt.Errorf("the signature doesn't approve: %w", err)
	}
	id := ssh.FingerprintSHA256(key)
	if slices.ContainsFunc(a.signatures, func(s signature) bool { return s.KeyID == id }) {
		return fmt.Errorf("the key %s has signed already", id)
	}
	if len(a.signatures) == mostSignatures {
		return fmt.Errorf("there are %d signatures already", mostSignatures)
	}
	a.signatures = append(a.signatures, signature{KeyID: id, Sig: armored})
	return nil
}

// A blob is what the armor of an SSH signature holds (OpenSSH's PROTOCOL.sshsig), and signed is
// what such a signature is over.
type (
	blob struct {
		Magic                     [6]byte
		Version                   uint32
		Key                       []byte
		Namespace, Reserved, Hash string
		Signature                 []byte
	}
	signed struct {
		Magic                     [6]byte
		Namespace, Reserved, Hash string
		Sum                       []byte
	}
)

var magic = [6]byte([]byte("SSHSIG"))

// accepted are the kinds of SSH signatures that count; those with SHA-1 don't.
var accepted = []string{
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA256,
	ssh.KeyAlgoRSASHA512, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
}

// authentic gives the key that an armored signature was made with. The error says that it wasn't made over these
// bytes and for approvals.
func authentic(armored, payload []byte) (ssh.PublicKey, error) {
	var b blob
	var sig ssh.Signature
	block, rest := pem.Decode(armored)
	if len(armored) > mostSignature || !bytes.HasPrefix(armored, []byte("-----BEGIN SSH SIGNATURE-----\n")) ||
		block == nil || len(block.Headers)+len(bytes.TrimSpace(rest)) > 0 || ssh.Unmarshal(block.Bytes, &b) != nil ||
		b.Magic != magic || b.Version != 1 || ssh.Unmarshal(b.Signature, &sig) != nil {
		return nil, errors.New("it isn't an SSH signature")
	}
	key, err := ssh.ParsePublicKey(b.Key)
	if err = cmp.Or(err, bare(key)); err != nil {
		return nil, fmt.Errorf("its key can't count: %w", err)
	}
	sum256, sum512 := sha256.Sum256(payload), sha512.Sum512(payload)
	sums := map[string][]byte{"sha256": sum256[:], "sha512": sum512[:]}
	switch {
	case b.Namespace != Namespace:
		return key, fmt.Errorf("it was made for %q, and not for %q", b.Namespace, Namespace)
	case !slices.Contains(accepted, sig.Format) || sums[b.Hash] == nil:
		return key, fmt.Errorf("it is of the kind %q with %q; expected one of %s", sig.Format, b.Hash,
			strings.Join(accepted, ", "))
	case key.Verify(ssh.Marshal(signed{magic, Namespace, "", b.Hash, sums[b.Hash]}), &sig) != nil:
		return key, errors.New("it isn't over this statement")
	}
	return key, nil
}

// A Judge decides whose signatures count, how many it takes, and at which time.
type Judge struct {
	Signers   Signers
	Revoked   Revoked
	Approvals int // how many people it takes; 0 is one
	Now       time.Time
}

// skew is how far the clock of who approves may be ahead.
const skew = time.Minute

// A Signature is what became of one.
type Signature struct {
	Key    string // its fingerprint, "" where none can be read
	Signer string // who holds the key; "" where it doesn't count
	Err    error  // why it doesn't count; nil where it does
}

// A Verdict is what was found out about an approval.
type Verdict struct {
	Signatures []Signature
	Changed    []string // what became of each part that isn't as it was approved
	Err        error    // why the approval doesn't hold; nil where it does
}

// Signers are the people whose signatures count, in the order of these.
func (v *Verdict) Signers() []string {
	var names []string
	for _, s := range v.Signatures {
		if s.Err == nil {
			names = append(names, s.Signer)
		}
	}
	return names
}

// Verify reports whether an approval holds for what is to be run: its signatures count,
// it is of this time, and what was approved is what there is.
func (a *Approval) Verify(j Judge, now []plan.Part) *Verdict {
	v := &Verdict{Changed: a.Changed(now)}
	p, payload := a.Statement.Predicate, a.Payload()
	counted := map[string]bool{} // people
	reasons := ""
	for i, s := range a.signatures {
		one := Signature{}
		key, err := authentic(s.Sig, payload)
		if key != nil {
			one.Key = ssh.FingerprintSHA256(key)
		}
		var names []string
		if err == nil {
			names, err = j.holder(key, counted)
		}
		if one.Err = err; err != nil {
			reasons += fmt.Sprintf("; the signature %d doesn't count: %v", i+1, err)
		} else if one.Signer = strings.Join(names, ","); slices.Contains(names, p.Signer) {
			one.Signer = p.Signer
		}
		for _, name := range names {
			counted[name] = true
		}
		v.Signatures = append(v.Signatures, one)
	}
	names, by, needed := v.Signers(), "", max(1, j.Approvals)
	if len(names) > 0 {
		by = " (" + strings.Join(names, ", ") + ")"
	}
	switch { // in the order of what a reader wants to know: whether it is meant for this at all, then who lacks
	case len(v.Changed) > 0:
		v.Err = fmt.Errorf("what would run isn't what was approved%s: %s", by,
			wording.And(v.Changed[:min(len(v.Changed), 10)]))
	case len(a.signatures) == 0:
		v.Err = errors.New("the approval has no signature: it says what was looked at, and nobody vouches for it")
	case p.Made.After(j.Now.Add(skew)):
		v.Err = fmt.Errorf("the approval isn't valid before %s", p.Made.Format(time.RFC3339))
	case !p.Expires.IsZero() && j.Now.After(p.Expires):
		v.Err = fmt.Errorf("the approval expired at %s", p.Expires.Format(time.RFC3339))
	case len(names) < needed:
		v.Err = fmt.Errorf("%d of %d approve%s%s", len(names), needed, by, reasons)
	case !counted[p.Signer]:
		v.Err = fmt.Errorf("the approval is in the name of %q, and none whose signature counts may sign so%s%s",
			p.Signer, by, reasons)
	}
	return v
}

// holder names the owner of a key that made a signature, if it counts beside those of the people before it.
func (j *Judge) holder(key ssh.PublicKey, counted map[string]bool) ([]string, error) {
	if j.Revoked[string(key.Marshal())] {
		return nil, errors.New("its key is revoked")
	}
	names, err := j.Signers.holder(key)
	if err == nil && slices.ContainsFunc(names, func(name string) bool { return counted[name] }) {
		return nil, fmt.Errorf("it is by %q, who has signed already: each counts once", strings.Join(names, ","))
	}
	return names, err
}
