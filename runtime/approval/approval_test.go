package approval

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

var today = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func digest(of string) Digest {
	sum := sha256.Sum256([]byte(of))
	return Digest{hex.EncodeToString(sum[:])}
}

func parts() []compiler.Part {
	return []compiler.Part{part("compiled plan", ""), part("tool", "pay"), part("tool", "read")}
}

func part(kind, name string) compiler.Part {
	return compiler.Part{Kind: kind, Name: name, Digest: "sha256:" + digest(name).SHA256}
}

func approval(t testing.TB) *Approval {
	t.Helper()
	a, err := New(parts(), Predicate{Signer: "alice@example.com", Made: today.Add(-time.Hour), Expires: today.Add(time.Hour), Shown: []byte(`{"calls":[]}`)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// key makes a key of a kind as it stands in a file.
func key(t testing.TB, kind string) *Key {
	t.Helper()
	var private any
	switch kind {
	case "rsa":
		private = must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 1024))
	case "ecdsa":
		private = must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	default:
		_, made, err := ed25519.GenerateKey(rand.Reader)
		private = must[ed25519.PrivateKey](t)(made, err)
	}
	var block *pem.Block
	if kind == "plain" {
		block = &pem.Block{Type: "PRIVATE KEY", Bytes: must[[]byte](t)(x509.MarshalPKCS8PrivateKey(private))}
	} else {
		block = must[*pem.Block](t)(ssh.MarshalPrivateKey(private, kind))
	}
	return must[*Key](t)(ReadKey(kind, pem.EncodeToMemory(block), nil))
}

// fixed is a key that each process of a fuzzer has alike.
func fixed(t testing.TB, kind string, seed byte) *Key {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	k := &Key{Name: kind, signer: must[ssh.Signer](t)(ssh.NewSignerFromKey(private))}
	if kind == "plain" {
		k.plain = private
	}
	return k
}

func signers(t testing.TB, lines ...string) *Signers {
	t.Helper()
	return must[*Signers](t)(ReadSigners("signers", []byte(strings.Join(lines, "\n")), time.UTC))
}

// again is an approval as it is read from its file.
func again(t testing.TB, a *Approval) *Approval {
	t.Helper()
	return must[*Approval](t)(Read(must[[]byte](t)(a.Text())))
}

// S16.1: every kind of key signs what its holder approves, from a file or by an agent.
func TestApproves(t *testing.T) {
	for _, kind := range []string{"plain", "ed25519", "ecdsa", "rsa"} {
		k, a := key(t, kind), approval(t)
		if err := a.Sign(k); err != nil {
			t.Fatal(err)
		}
		v := again(t, a).Verify(Judge{Signers: signers(t, k.Line("alice@example.com")), Now: today}, parts())
		if v.Err != nil || fmt.Sprint(v.Signers()) != "[alice@example.com]" || v.Signatures[0].Key != k.Fingerprint() {
			t.Errorf("%s: %v %v", kind, v.Err, v.Signatures)
		}
		if err := a.Sign(k); !errors.Is(err, ErrTwice) {
			t.Errorf("%s: signing twice: %v", kind, err)
		}
	}
}

// S16.1: an agent's keys sign, those with certificates included.
func TestAgentSigns(t *testing.T) {
	ring := agent.NewKeyring()
	authority := key(t, "ed25519")
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		for _, certified := range []bool{false, true} {
			var private any
			switch kind {
			case "rsa":
				private = must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 1024))
			case "ecdsa":
				private = must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
			default:
				_, made, _ := ed25519.GenerateKey(rand.Reader)
				private = &made
			}
			added := agent.AddedKey{PrivateKey: private, Comment: fmt.Sprint(kind, certified)}
			if certified {
				signer := must[ssh.Signer](t)(ssh.NewSignerFromKey(private))
				added.Certificate = certificate(t, signer.PublicKey(), authority, "alice@example.com")
			}
			if err := ring.Add(added); err != nil {
				t.Fatal(err)
			}
		}
	}
	client, server := net.Pipe()
	go agent.ServeAgent(ring, server)
	defer client.Close()
	keys := must[[]*Key](t)(AgentKeys(client))
	if len(keys) != 6 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, k := range keys {
		a := approval(t)
		if err := a.Sign(k); err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		who := signers(t, "alice@example.com "+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(bare(k.signer.PublicKey())))),
			strings.Replace(authority.Line("*@example.com"), "namespaces", "cert-authority,namespaces", 1))
		if v := again(t, a).Verify(Judge{Signers: who, Now: today}, parts()); v.Err != nil {
			t.Errorf("%s: %v", k.Name, v.Err)
		}
		if !k.Is(k.Name) || !k.Is(k.Fingerprint()) || !k.Is(string(ssh.MarshalAuthorizedKey(k.signer.PublicKey()))) || k.Is("another") {
			t.Errorf("%s isn't found", k.Name)
		}
	}
}

func certificate(t testing.TB, of ssh.PublicKey, authority *Key, principals ...string) *ssh.Certificate {
	t.Helper()
	c := &ssh.Certificate{Key: of, CertType: ssh.UserCert, ValidPrincipals: principals,
		ValidAfter: uint64(today.Add(-time.Hour).Unix()), ValidBefore: uint64(today.Add(time.Hour).Unix())}
	if err := c.SignCert(rand.Reader, authority.signer); err != nil {
		t.Fatal(err)
	}
	return c
}

// S16.1: a plain signature is what any other program that reads DSSE expects.
func TestOthersVerify(t *testing.T) {
	k, a := key(t, "plain"), approval(t)
	if err := a.Sign(k); err != nil {
		t.Fatal(err)
	}
	text := must[[]byte](t)(a.Text())
	var envelope dsse.Envelope
	if err := diag.ReadStrictly(text, &envelope); err != nil {
		t.Fatal(err)
	}
	verifier := must[*dsse.EnvelopeVerifier](t)(dsse.NewEnvelopeVerifier(&edVerifier{k.plain.Public().(ed25519.PublicKey)}))
	if _, err := verifier.Verify(context.Background(), &envelope); err != nil {
		t.Error(err)
	}
}

type edVerifier struct{ key ed25519.PublicKey }

func (v *edVerifier) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(v.key, data, sig) {
		return errors.New("no")
	}
	return nil
}
func (v *edVerifier) KeyID() (string, error)   { return "", nil }
func (v *edVerifier) Public() crypto.PublicKey { return v.key }

// S16.1: each way to pass something else off as an approval is refused with its own word.
func TestAttacks(t *testing.T) {
	alice, bob, eve, authority := key(t, "ed25519"), key(t, "plain"), key(t, "ecdsa"), key(t, "ed25519")
	known := []string{alice.Line("alice@example.com"), bob.Line("bob@example.com")}
	signed := func(by ...*Key) *Approval {
		a := approval(t)
		for _, k := range by {
			if err := a.Sign(k); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	forged := func(a *Approval, k *Key, pae []byte, namespace string) *Approval {
		sig := must[*sshsig.Signature](t)(sshsig.Sign(strings.NewReader(string(pae)), k.signer, sshsig.HashSHA512, namespace))
		a.signatures = append(a.signatures, dsse.Signature{KeyID: k.Fingerprint(), Sig: base64.StdEncoding.EncodeToString(sshsig.Armor(sig))})
		return a
	}
	made := func(change func(*Predicate)) *Approval {
		p := approval(t).Statement.Predicate
		change(&p)
		a := must[*Approval](t)(New(parts(), p))
		if err := a.Sign(alice); err != nil {
			t.Fatal(err)
		}
		return a
	}
	withCertificate := func(change func(*ssh.Certificate)) *Approval {
		c := certificate(t, eve.signer.PublicKey(), authority, "alice@example.com")
		change(c)
		if err := c.SignCert(rand.Reader, authority.signer); err != nil {
			t.Fatal(err)
		}
		return signed(&Key{signer: must[ssh.Signer](t)(ssh.NewCertSigner(c, eve.signer))})
	}
	ca := strings.Replace(authority.Line("*@example.com"), "namespaces", "cert-authority,namespaces", 1)
	swapped := parts()
	swapped[1].Digest, swapped[2].Digest = swapped[2].Digest, swapped[1].Digest

	for _, c := range []struct {
		name    string
		of      *Approval
		lines   []string
		judge   Judge
		now     []compiler.Part
		kind    error
		message string
	}{
		{name: "holds", of: signed(alice)},
		{name: "two of two", of: signed(bob, alice), judge: Judge{Approvals: 2}},
		{name: "certificate", of: withCertificate(func(*ssh.Certificate) {}), lines: []string{ca}},
		{name: "wrong namespace", of: forged(approval(t), alice, approval(t).Payload(), "git"), kind: ErrNamespace, message: `made for "git"`},
		{name: "other payload type", of: forged(approval(t), alice, dsse.PAE("text/plain", approval(t).payload), Namespace), kind: ErrSignature, message: "isn't over this statement"},
		{name: "no encoding", of: forged(approval(t), alice, approval(t).payload, Namespace), kind: ErrSignature, message: "isn't over this statement"},
		{name: "namespace not permitted", of: signed(alice), lines: []string{strings.Replace(known[0], Namespace, "git,file", 1)}, kind: ErrNamespace, message: "may sign git,file"},
		{name: "expired", of: signed(alice), judge: Judge{Now: today.Add(2 * time.Hour)}, kind: ErrExpired, message: "the approval expired at 2026-11-22 13:00:00 UTC"},
		{name: "not yet", of: made(func(p *Predicate) { p.Made = today.Add(time.Hour) }), kind: ErrNotYet, message: "isn't valid before 2026-11-22 13:00:00 UTC"},
		{name: "key expired", of: signed(alice), lines: []string{strings.Replace(known[0], "namespaces", `valid-before="20261121Z",namespaces`, 1)}, kind: ErrExpired, message: "its key isn't valid after 2026-11-21"},
		{name: "key not yet", of: signed(alice), lines: []string{strings.Replace(known[0], "namespaces", `valid-after="20261123Z",namespaces`, 1)}, kind: ErrNotYet, message: "its key isn't valid before 2026-11-23"},
		{name: "revoked", of: signed(alice), judge: Judge{Revoked: []*Revocation{revoked(t, alice)}}, kind: ErrRevoked, message: "its key is revoked"},
		{name: "authority revoked", of: withCertificate(func(*ssh.Certificate) {}), lines: []string{ca}, judge: Judge{Revoked: []*Revocation{revoked(t, authority)}}, kind: ErrRevoked, message: "its key is revoked"},
		{name: "certified key revoked", of: withCertificate(func(*ssh.Certificate) {}), lines: []string{ca}, judge: Judge{Revoked: []*Revocation{revoked(t, eve)}}, kind: ErrRevoked, message: "its key is revoked"},
		{name: "stranger", of: signed(eve), kind: ErrUnknownKey, message: "isn't one of a signer"},
		{name: "stranger, plainly", of: signed(bob), lines: known[:1], kind: ErrUnknownKey, message: "isn't one of a signer"},
		{name: "nobody counts", of: signed(alice), lines: []string{""}, kind: ErrUnknownKey, message: "isn't one of a signer: nobody is named"},
		{name: "wrong principal", of: signed(bob), kind: ErrPrincipal, message: `in the name of "alice@example.com"`},
		{name: "unsigned", of: approval(t), kind: ErrUnsigned, message: "no signature"},
		{name: "key twice", of: forged(signed(alice), alice, approval(t).Payload(), Namespace), judge: Judge{Approvals: 2}, kind: ErrTwice, message: "its key has signed already"},
		{name: "person twice", of: signed(alice, bob), lines: []string{known[0], bob.Line("alice@example.com")}, judge: Judge{Approvals: 2}, kind: ErrTwice, message: "each counts once"},
		{name: "person by pattern twice", of: signed(alice, bob), lines: []string{known[0], bob.Line("*@example.com")}, judge: Judge{Approvals: 2}, kind: ErrTwice, message: "each counts once"},
		{name: "one of two", of: signed(alice), judge: Judge{Approvals: 2}, kind: ErrTooFew, message: "1 of 2 approve (alice@example.com)"},
		{name: "swapped subjects", of: signed(alice), now: swapped, kind: ErrChanged, message: `the tool "pay" is another and the tool "read" is another`},
		{name: "a part more", of: signed(alice), now: append(parts(), part("tool", "rm")), kind: ErrChanged, message: `tool "rm" is new`},
		{name: "a part less", of: signed(alice), now: parts()[:2], kind: ErrChanged, message: `tool "read" is gone`},
		{name: "certificate for another", of: withCertificate(func(c *ssh.Certificate) { c.ValidPrincipals = []string{"alice@example.org"} }), lines: []string{ca}, kind: ErrUnknownKey, message: "can't speak"},
		{name: "certificate for anybody", of: withCertificate(func(c *ssh.Certificate) { c.ValidPrincipals = nil }), lines: []string{ca}, kind: ErrUnknownKey, message: "can't speak"},
		{name: "certificate of a host", of: withCertificate(func(c *ssh.Certificate) { c.CertType = ssh.HostCert }), lines: []string{ca}, kind: ErrUnknownKey, message: "isn't one of a person"},
		{name: "certificate expired", of: withCertificate(func(c *ssh.Certificate) { c.ValidBefore = c.ValidAfter + 1 }), lines: []string{ca}, kind: ErrExpired, message: "its certificate isn't valid after"},
		{name: "certificate not yet", of: withCertificate(func(c *ssh.Certificate) { c.ValidAfter = c.ValidBefore - 1 }), lines: []string{ca}, kind: ErrNotYet, message: "its certificate isn't valid before"},
		{name: "certificate for a command", of: withCertificate(func(c *ssh.Certificate) { c.CriticalOptions = map[string]string{"force-command": "ls"} }), lines: []string{ca}, kind: ErrUnknownKey, message: "force-command"},
		{name: "authority signs itself", of: signed(authority), lines: []string{ca}, kind: ErrUnknownKey, message: "isn't one of a signer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := c.judge
			if j.Now.IsZero() {
				j.Now = today
			}
			switch {
			case c.lines == nil:
				j.Signers = signers(t, known...)
			case c.lines[0] != "":
				j.Signers = signers(t, c.lines...)
			}
			if c.now == nil {
				c.now = parts()
			}
			v := again(t, c.of).Verify(j, c.now)
			if c.kind == nil {
				if v.Err != nil {
					t.Error(v.Err)
				}
				return
			}
			if !errors.Is(v.Err, c.kind) || !strings.Contains(v.Err.Error(), c.message) {
				t.Errorf("%v", v.Err)
			}
		})
	}
}

func revoked(t testing.TB, k *Key) *Revocation {
	t.Helper()
	return must[*Revocation](t)(ReadRevoked("revoked", ssh.MarshalAuthorizedKey(k.signer.PublicKey())))
}

// S16.1: a file that doesn't mean one thing only is refused, and with which word.
func TestFilesAreReadStrictly(t *testing.T) {
	a := approval(t)
	if err := a.Sign(key(t, "ed25519")); err != nil {
		t.Fatal(err)
	}
	text := string(must[[]byte](t)(a.Text()))
	payload := base64.StdEncoding.EncodeToString(a.payload)
	about := func(statement string) string {
		return strings.Replace(text, payload, base64.StdEncoding.EncodeToString([]byte(statement)), 1)
	}
	statement := string(a.payload)
	loose := strings.Replace(text, payload, base64.URLEncoding.EncodeToString([]byte("???>>>")), 1)
	for _, c := range []struct {
		name, text string
		kind       error
		message    string
	}{
		{"truncated", text[:len(text)/2], ErrMalformed, "isn't valid JSON"},
		{"empty", "", ErrMalformed, "isn't valid JSON"},
		{"two payloads", strings.Replace(text, `"payload":`, `"payload": "e30=", "payload":`, 1), ErrMalformed, `"payload" stands there twice`},
		{"two payloads in other letters", strings.Replace(text, `"payload":`, `"Payload": "e30=", "payload":`, 1), ErrMalformed, `no field "Payload"`},
		{"two envelopes", text + text, ErrMalformed, "more than one JSON value"},
		{"a field more", strings.Replace(text, `"payload":`, `"also": 1, "payload":`, 1), ErrMalformed, `no field "also"`},
		{"a list", "[" + text + "]", ErrMalformed, "isn't what is expected"},
		{"huge", strings.Repeat(" ", MostBytes) + text, ErrTooLarge, "larger than"},
		{"many signatures", strings.Replace(text, `"signatures": [`, `"signatures": [`+strings.Repeat(`{"keyid": "", "sig": ""},`, mostSignatures), 1), ErrTooLarge, "101 signatures"},
		{"large signature", strings.Replace(text, `"sig": "`, `"sig": "`+strings.Repeat("AAAA", mostSignature/4), 1), ErrTooLarge, "larger than any"},
		{"other payload type", strings.Replace(text, PayloadType, "application/json", 1), ErrStatement, `of the type "application/json"`},
		{"no payload type", strings.Replace(text, `"payloadType": "`+PayloadType+`",`, "", 1), ErrStatement, `of the type ""`},
		{"url base64", loose, ErrMalformed, "isn't"},
		{"base64 without padding", strings.Replace(text, payload, base64.RawStdEncoding.EncodeToString([]byte(statement+" ")), 1), ErrMalformed, "isn't"},
		{"base64 with a line break", strings.Replace(text, payload, payload[:8]+`\n`+payload[8:], 1), ErrMalformed, "isn't standard base64"},
		{"base64 with loose bits", strings.Replace(text, payload, "e31=", 1), ErrMalformed, "isn't standard base64"},
		{"several statements", about("[" + statement + "," + statement + "]"), ErrMalformed, "a list of statements"},
		{"statements one after the other", about(statement + statement), ErrMalformed, "more than one JSON value"},
		{"statement with a field twice", about(strings.Replace(statement, `"predicate":`, `"predicate":{},"predicate":`, 1)), ErrMalformed, "twice"},
		{"statement with a field more", about(strings.Replace(statement, `"signer":`, `"also":1,"signer":`, 1)), ErrMalformed, `no field "also"`},
		{"statement with blanks", about(" " + statement), ErrMalformed, "canonical"},
		{"unknown statement", about(strings.Replace(statement, StatementType, "https://in-toto.io/Statement/v0.1", 1)), ErrStatement, "Statement/v0.1"},
		{"unknown predicate", about(strings.Replace(statement, PredicateType, "https://slsa.dev/provenance/v1", 1)), ErrStatement, "slsa.dev"},
		{"about nothing", about(`{"_type":"` + StatementType + `","predicate":{"made":"2026-11-22T11:00:00Z","signer":"alice"},"predicateType":"` + PredicateType + `","subject":[]}`), ErrMalformed, "about nothing"},
		{"subject twice", about(strings.Replace(statement, `tool \"read\"`, `tool \"pay\"`, 1)), ErrMalformed, "each once"},
		{"subject without digest", about(strings.Replace(statement, digest("pay").SHA256, "", 1)), ErrMalformed, "no SHA-256"},
		{"digest in other letters", about(strings.Replace(statement, digest("pay").SHA256, strings.ToUpper(digest("pay").SHA256), 1)), ErrMalformed, "no SHA-256"},
		{"nobody's", about(strings.Replace(statement, "alice@example.com", "", 1)), ErrMalformed, "in whose name"},
		{"a name that a terminal acts on", about(strings.Replace(statement, "alice@example.com", `\u001b[2J`, 1)), ErrMalformed, "in whose name"},
	} {
		if c.text == text {
			t.Errorf("%s: the text is as it was", c.name)
		}
		if _, err := Read([]byte(c.text)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// S16.1: what a list of signers doesn't mean to ssh-keygen it doesn't mean here.
func TestSignersAreReadStrictly(t *testing.T) {
	line := key(t, "ed25519").Line("alice@example.com")
	for _, c := range []struct{ text, message string }{
		{"", "lists nobody"},
		{"# nobody\n\n", "lists nobody"},
		{"alice@example.com", "signers:1: there is no key"},
		{line + "\nbob", "signers:2: there is no key"},
		{"alice,,bob " + line, "signers:1: a principal is empty"},
		{`"alice ssh-ed25519 AAAA`, "isn't closed"},
		{strings.Replace(line, "ssh-ed25519", "ssh-rsa", 1), `said to be of the type "ssh-rsa"`},
		{strings.Replace(line, "AAAA", "!", 1), "isn't base64"},
		{strings.Replace(line, "AAAA", "AAAB", 1), "isn't a key that is understood"},
		{strings.Replace(line, "namespaces=", "no-touch,namespaces=", 1), `no option "no-touch"`},
		{strings.Replace(line, "namespaces=", `namespaces="git",namespaces=`, 1), "twice"},
		{strings.Replace(line, `"obelus-plan"`, "obelus-plan", 1), "isn't in quotes"},
		{strings.Replace(line, `"obelus-plan"`, `"obelus-plan`, 1), "isn't closed"},
		{strings.Replace(line, "namespaces=", `valid-after="yesterday",namespaces=`, 1), "isn't a time"},
		{strings.Replace(line, "namespaces=", `valid-after="20260230",namespaces=`, 1), "isn't a time"},
		{strings.Replace(line, "namespaces=", `valid-after="20261122",valid-before="20261121",namespaces=`, 1), "isn't after"},
		{strings.Repeat("#\n", mostList), "larger than"},
	} {
		if _, err := ReadSigners("signers", []byte(c.text), time.UTC); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%.200s: %v", c.text, err)
		}
	}
	if _, err := ReadRevoked("revoked", []byte("SSHKRL\n\x00…")); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a binary list: %v", err)
	}
}

// S16.1: a statement that couldn't be read again isn't made.
func TestLargeStatementsAreRefused(t *testing.T) {
	shown := []byte(`"` + strings.Repeat("x", MostPayload) + `"`)
	if _, err := New(parts(), Predicate{Signer: "alice", Made: today, Shown: shown}); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// S16.1: keys that can't sign say why.
func TestKeysThatCantSign(t *testing.T) {
	_, private, _ := ed25519.GenerateKey(rand.Reader)
	locked := pem.EncodeToMemory(must[*pem.Block](t)(ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("secret"))))
	asked := func(answer string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(answer), nil }
	}
	if k, err := ReadKey("id", locked, asked("secret")); err != nil || k.plain != nil {
		t.Errorf("a locked key: %v", err)
	}
	for _, c := range []struct {
		name, text string
		passphrase func() ([]byte, error)
		message    string
	}{
		{"wrong passphrase", string(locked), asked("other"), "the passphrase is wrong"},
		{"nobody to ask", string(locked), nil, "protected"},
		{"public key", "ssh-ed25519 AAAA", nil, "isn't a private key"},
		{"encrypted PKCS #8", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", nil, "encrypted in PKCS #8"},
		{"certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", nil, "unsupported key type"},
	} {
		if _, err := ReadKey("id", []byte(c.text), c.passphrase); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// S16.1: nothing that a file says makes reading it or judging it fail otherwise than with
// a word, and what is read is written again as the same bytes.
func FuzzApproval(f *testing.F) {
	a := approval(f)
	k, b := fixed(f, "ed25519", 1), fixed(f, "plain", 2)
	if err := errors.Join(a.Sign(k), a.Sign(b)); err != nil {
		f.Fatal(err)
	}
	j := Judge{Signers: signers(f, k.Line("alice@example.com"), b.Line("bob@example.com")), Approvals: 2, Now: today}
	text := must[[]byte](f)(a.Text())
	f.Add(text)
	f.Add([]byte(`{"payloadType":"` + PayloadType + `","payload":"e30=","signatures":[]}`))
	signed := string(a.payload)
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Read(text)
		if err != nil {
			return
		}
		v := a.Verify(j, parts())
		if v.Err == nil && string(a.payload) != signed {
			t.Fatalf("another statement holds: %s", a.payload)
		}
		again, err := Read(must[[]byte](t)(a.Text()))
		if err != nil || string(again.payload) != string(a.payload) || len(again.signatures) != len(a.signatures) {
			t.Fatalf("%v", err)
		}
	})
}

func FuzzAllowedSigners(f *testing.F) {
	k := fixed(f, "ed25519", 1)
	for _, line := range []string{
		k.Line("alice@example.com"), k.Line("!bob@*,*@example.com"), `"a b,c" cert-authority,valid-after="20260101Z",valid-before="202612312359" ` + k.Line("x")[2:], "# nothing",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, list := range [][]byte{text, append([]byte(krlMagic+"\x00\x00\x00\x01"), text...)} {
			if r, err := ReadRevoked("revoked", list); err == nil {
				r.revoked(k.signer.PublicKey())
			} else if !errors.Is(err, ErrSigners) {
				t.Fatal(err)
			}
		}
		s, err := ReadSigners("signers", text, time.UTC)
		if err != nil {
			if !errors.Is(err, ErrSigners) {
				t.Fatal(err)
			}
			return
		}
		if id, err := s.holder(k.signer.PublicKey(), today); err == nil && len(id) == 0 {
			t.Fatal("a holder without a name")
		}
	})
}

// Patterns are those of OpenSSH.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		patterns, name string
		fits           bool
	}{
		{"alice", "alice", true}, {"alice", "Alice", false}, {"*", "", true}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"*@example.com", "a@example.com", true}, {"*@example.com", "a@example.com.evil", false}, {"*@example.com,!eve@*", "eve@example.com", false},
		{"!eve@*,*@example.com", "eve@example.com", false}, {"!eve@*", "a@example.com", false}, {"a*b*c", "aXbYc", true}, {"a*b*c", "aXcYb", false},
		{strings.Repeat("*a", 50), strings.Repeat("a", 5000) + "b", false},
	} {
		if listed(strings.Split(c.patterns, ","), c.name) != c.fits {
			t.Errorf("%.40s, %.40s: expected %v", c.patterns, c.name, c.fits)
		}
	}
}

// S16.1: whoever writes a plan doesn't say who may approve it: a list in the plan's folder
// is refused, whatever way leads there, and one that others may write.
func TestListsLieOutside(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, folder := range []string{"plans/pay/deep", "lists", "shared"} {
		if err := os.MkdirAll(at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"plans/pay/plan.yaml", "plans/pay/list", "plans/pay/deep/list", "plans/list", "lists/list", "shared/list", "written"} {
		if err := os.WriteFile(at(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{"lists/away": "../plans/pay/list", "plans/pay/away": "../../lists/list", "linked": "plans/pay", "lists/by": "../plans/pay/away", "lists/plan.yaml": "../plans/pay/plan.yaml", "lists/fine": "list"} {
		if err := os.Symlink(from, at(to)); err != nil {
			t.Skip(err)
		}
	}
	if err := errors.Join(os.Chmod(at("shared"), 0o777), os.Chmod(at("written"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		plan, list string
		fine       bool
	}{
		{"plans/pay/plan.yaml", "lists/list", true}, {"plans/pay/plan.yaml", "plans/list", true}, {"plans/pay/plan.yaml", "lists/fine", true},
		{"plans/pay/plan.yaml", "plans/pay/list", false}, {"plans/pay/plan.yaml", "plans/pay/deep/list", false}, {"plans/pay/plan.yaml", "lists/away", false},
		{"plans/pay/plan.yaml", "plans/pay/away", false}, {"plans/pay/plan.yaml", "linked/list", false}, {"plans/pay/plan.yaml", "lists/by", false},
		{"plans/pay/plan.yaml", "plans/pay/../pay/list", false}, {"linked/plan.yaml", "plans/pay/list", false}, {"lists/plan.yaml", "plans/pay/list", false}, {"lists/plan.yaml", "lists/list", false},
		{"plans/pay/plan.yaml", "shared/list", false}, {"plans/pay/plan.yaml", "written", false}, {"plans/pay/gone.yaml", "plans/pay/list", false},
	} {
		if err := Outside(at(c.plan), at(c.list)); (err == nil) != c.fine || err != nil && !errors.Is(err, ErrPlace) {
			t.Errorf("of %s, %s: %v", c.plan, c.list, err)
		}
	}
}
