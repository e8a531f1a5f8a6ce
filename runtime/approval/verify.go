package approval

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"golang.org/x/crypto/ssh"
)

// A Judge decides whose signatures count, how many it takes, and at which time.
type Judge struct {
	Signers   *Signers
	Revoked   []Revoked
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

	key    ssh.PublicKey
	holder []string
}

// A Verdict is what was found out about an approval.
type Verdict struct {
	Signatures []Signature
	Changed    []string // what became of each part that isn't as it was approved
	Needed     int      // how many people it takes
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
	v := &Verdict{Needed: max(1, j.Approvals), Changed: a.Changed(now)}
	pae := a.Payload()
	for _, s := range a.signatures {
		one := Signature{}
		one.key, one.Err = authentic(s.KeyID, s.Sig, pae)
		if one.key != nil {
			one.Key = ssh.FingerprintSHA256(one.key)
		}
		if one.Err == nil {
			one.holder, one.Err = j.holder(one.key, v.Signatures)
		}
		switch signer := a.Statement.Predicate.Signer; {
		case one.Err != nil:
		case slices.Contains(one.holder, signer):
			one.Signer = signer
		default:
			one.Signer = strings.Join(one.holder, ",")
		}
		v.Signatures = append(v.Signatures, one)
	}
	v.Err = a.verdict(v, &j)
	return v
}

// holder names the owner of a key that made a signature, if it counts beside those before it.
func (j *Judge) holder(key ssh.PublicKey, before []Signature) ([]string, error) {
	if slices.ContainsFunc(j.Revoked, func(r Revoked) bool { return r[string(key.Marshal())] }) {
		return nil, diag.NewError(ErrRevoked, "its key is revoked")
	}
	names, err := j.Signers.holder(key)
	if err != nil {
		return nil, err
	}
	for _, other := range before {
		switch {
		case other.Err != nil:
		case same(key, other.key):
			return nil, diag.NewError(ErrTwice, "its key has signed already")
		case slices.ContainsFunc(names, func(name string) bool { return slices.Contains(other.holder, name) }):
			return nil, diag.NewError(ErrTwice, "it is by %q, who can't be told from %q: each counts once",
				strings.Join(names, ","), other.Signer)
		}
	}
	return names, nil
}

const armor = "-----BEGIN SSH SIGNATURE-----\n"

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

// authentic gives the key that an armored signature was made with, if it was made over these
// bytes and for approvals. The id is the declared key id, "" for nothing.
func authentic(id string, armored, pae []byte) (ssh.PublicKey, error) {
	var b blob
	var sig ssh.Signature
	block, rest := pem.Decode(armored)
	if !bytes.HasPrefix(armored, []byte(armor)) || block == nil || len(block.Headers)+len(bytes.TrimSpace(rest)) > 0 ||
		ssh.Unmarshal(block.Bytes, &b) != nil || b.Magic != magic || b.Version != 1 ||
		ssh.Unmarshal(b.Signature, &sig) != nil {
		return nil, diag.NewError(ErrSignature, "it isn't an SSH signature")
	}
	key, err := ssh.ParsePublicKey(b.Key)
	if err == nil {
		err = bare(key)
	}
	if err != nil {
		return nil, diag.NewError(ErrUnknownKey, "its key can't count: %s", strings.TrimPrefix(err.Error(), "ssh: "))
	}
	sum256, sum512 := sha256.Sum256(pae), sha512.Sum512(pae)
	sums := map[string][]byte{"sha256": sum256[:], "sha512": sum512[:]}
	switch {
	case id != "" && id != ssh.FingerprintSHA256(key):
		return key, diag.NewError(ErrSignature, "it is said to be by the key %q, and is by another", id)
	case b.Namespace != Namespace:
		return key, diag.NewError(ErrNamespace, "it was made for %q, and not for %q", b.Namespace, Namespace)
	case !slices.Contains(accepted, sig.Format) || sums[b.Hash] == nil:
		return key, diag.NewError(ErrSignature, "it is of the kind %q with %q; expected one of %s", sig.Format, b.Hash,
			strings.Join(accepted, ", "))
	}
	if err := key.Verify(ssh.Marshal(signed{magic, Namespace, "", b.Hash, sums[b.Hash]}), &sig); err != nil {
		return key, diag.NewError(ErrSignature, "it isn't over this statement")
	}
	return key, nil
}

// accepted are the kinds of SSH signatures that count; those with SHA-1 don't.
var accepted = []string{
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA256,
	ssh.KeyAlgoRSASHA512,
	ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
}

// verdict is why an approval doesn't hold, the first reason in the order of what a reader
// wants to know: whether it is meant for this at all, then who lacks.
func (a *Approval) verdict(v *Verdict, j *Judge) error {
	p := a.Statement.Predicate
	counted := v.Signers()
	own := slices.ContainsFunc(v.Signatures,
		func(s Signature) bool { return s.Err == nil && slices.Contains(s.holder, p.Signer) })
	switch {
	case len(v.Changed) > 0:
		return diag.NewError(ErrChanged, "what would run isn't what was approved%s: %s", by(counted),
			wording.And(v.Changed[:min(len(v.Changed), 10)]))
	case len(a.signatures) == 0:
		return diag.NewError(ErrUnsigned,
			"the approval has no signature: it says what was looked at, and nobody vouches for it")
	case p.Made.After(j.Now.Add(skew)):
		return diag.NewError(ErrNotYet, "the approval isn't valid before %s", stamp(p.Made))
	case !p.Expires.IsZero() && j.Now.After(p.Expires):
		return diag.NewError(ErrExpired, "the approval expired at %s", stamp(p.Expires))
	case len(counted) < v.Needed:
		return lacking(v, diag.NewError(ErrTooFew, "%s of %d approve%s",
			cmp.Or(strings.TrimPrefix(strconv.Itoa(len(counted)), "0"), "none"), v.Needed, by(counted)))
	case !own:
		return lacking(v, diag.NewError(ErrPrincipal,
			"the approval is in the name of %q, and none whose signature counts may sign so%s", p.Signer, by(counted)))
	}
	return nil
}

func lacking(v *Verdict, t *diag.UserError) error {
	for i, s := range v.Signatures {
		if s.Err != nil {
			t.Message += fmt.Sprintf("; the signature %d doesn't count: %v", i+1, s.Err)
			t.Cause = s.Err
		}
	}
	return t
}

func by(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
