package approval

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"github.com/obelus-dev/obelus/compiler/plan"
	"golang.org/x/crypto/ssh"
)

func init() { time.Local = time.UTC }

var today = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func digest(of string) Digest {
	sum := sha256.Sum256([]byte(of))
	return Digest{hex.EncodeToString(sum[:])}
}

func parts() []plan.Part {
	return []plan.Part{part("compiled plan", ""), part("tool", "pay"), part("tool", "read")}
}

func part(kind, name string) plan.Part {
	return plan.Part{Kind: kind, Name: name, Digest: "sha256:" + digest(name).SHA256}
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

// A pair signs in this process, by another implementation of SSH signatures.
type pair struct {
	*Key
	signer ssh.Signer
}

func pairOf(t testing.TB, private any) pair {
	t.Helper()
	signer := must[ssh.Signer](t)(ssh.NewSignerFromKey(private))
	sign := func(payload []byte) ([]byte, error) {
		sig, err := sshsig.Sign(bytes.NewReader(payload), signer, sshsig.HashSHA512, Namespace)
		return sshsig.Armor(sig), err
	}
	return pair{must[*Key](t)(NewKey(string(ssh.MarshalAuthorizedKey(signer.PublicKey())), sign)), signer}
}

func key(t testing.TB, kind string) pair {
	t.Helper()
	switch kind {
	case "rsa":
		return pairOf(t, must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 1024)))
	case "ecdsa":
		return pairOf(t, must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)))
	}
	_, made, err := ed25519.GenerateKey(rand.Reader)
	return pairOf(t, must[ed25519.PrivateKey](t)(made, err))
}

// fixed is a key that each process of a fuzzer has alike.
func fixed(t testing.TB, seed byte) pair {
	t.Helper()
	return pairOf(t, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
}

func signers(t testing.TB, lines ...string) Signers {
	t.Helper()
	return must[Signers](t)(ReadSigners("signers", []byte(strings.Join(lines, "\n"))))
}

// again is an approval as it is read from its file.
func again(t testing.TB, a *Approval) *Approval {
	t.Helper()
	return must[*Approval](t)(Read(must[[]byte](t)(a.Text())))
}

// EXECUTION.md#approval: every kind of key signs what its holder approves.
func TestApproves(t *testing.T) {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		k, a := key(t, kind), approval(t)
		if err := a.Sign(k.Key); err != nil {
			t.Fatal(err)
		}
		v := again(t, a).Verify(Judge{Signers: signers(t, k.Line("alice@example.com")), Now: today}, parts())
		if v.Err != nil || fmt.Sprint(v.Signers()) != "[alice@example.com]" || v.Signatures[0].Key != k.Fingerprint() {
			t.Errorf("%s: %v %v", kind, v.Err, v.Signatures)
		}
		if err := a.Sign(k.Key); err == nil || !strings.Contains(err.Error(), "signed already") {
			t.Errorf("%s: signing twice: %v", kind, err)
		}
	}
}

// EXECUTION.md#approval: what is signed is DSSE's pre-authentication encoding.
func TestPayloadIsOfDSSE(t *testing.T) {
	a := &Approval{payload: []byte("hello world")}
	if text := string(a.Payload()); text != "DSSEv1 28 application/vnd.in-toto+json 11 hello world" {
		t.Error(text)
	}
}

// EXECUTION.md#approval: each way to pass something else off as an approval is refused with its own word.
func TestAttacks(t *testing.T) {
	alice, bob, eve := key(t, "ed25519"), key(t, "rsa"), key(t, "ecdsa")
	known := []string{alice.Line("alice@example.com"), bob.Line("bob@example.com")}
	signed := func(by ...pair) *Approval {
		a := approval(t)
		for _, k := range by {
			if err := a.Sign(k.Key); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	forged := func(a *Approval, k pair, pae []byte, namespace string) *Approval {
		sig := must[*sshsig.Signature](t)(sshsig.Sign(strings.NewReader(string(pae)), k.signer, sshsig.HashSHA512, namespace))
		a.signatures = append(a.signatures, signature{KeyID: k.Fingerprint(), Sig: sshsig.Armor(sig)})
		return a
	}
	made := func(change func(*Predicate)) *Approval {
		p := approval(t).Statement.Predicate
		change(&p)
		a := must[*Approval](t)(New(parts(), p))
		if err := a.Sign(alice.Key); err != nil {
			t.Fatal(err)
		}
		return a
	}
	withCertificate := func() *Approval {
		c := &ssh.Certificate{Key: eve.signer.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{"alice@example.com"}, ValidBefore: ssh.CertTimeInfinity}
		if err := c.SignCert(rand.Reader, bob.signer); err != nil {
			t.Fatal(err)
		}
		return forged(approval(t), pair{eve.Key, must[ssh.Signer](t)(ssh.NewCertSigner(c, eve.signer))}, approval(t).Payload(), Namespace)
	}
	swapped := parts()
	swapped[1].Digest, swapped[2].Digest = swapped[2].Digest, swapped[1].Digest

	for _, c := range []struct {
		name    string
		of      *Approval
		lines   []string
		judge   Judge
		now     []plan.Part
		message string
	}{
		{name: "holds", of: signed(alice)},
		{name: "certificate", of: withCertificate(), lines: []string{known[0], eve.Line("alice@example.com")}, message: "SSH certificates don't count"},
		{name: "two of two", of: signed(bob, alice), judge: Judge{Approvals: 2}},
		{name: "wrong namespace", of: forged(approval(t), alice, approval(t).Payload(), "git"), message: `made for "git"`},
		{name: "other payload type", of: forged(approval(t), alice, fmt.Appendf(nil, "DSSEv1 10 text/plain %d %s", len(approval(t).payload), approval(t).payload), Namespace), message: "isn't over this statement"},
		{name: "no encoding", of: forged(approval(t), alice, approval(t).payload, Namespace), message: "isn't over this statement"},
		{name: "namespace not permitted", of: signed(alice), lines: []string{strings.Replace(known[0], Namespace, "git,file", 1)}, message: "may sign git,file"},
		{name: "expired", of: signed(alice), judge: Judge{Now: today.Add(2 * time.Hour)}, message: "the approval expired at 2026-11-22T13:00:00Z"},
		{name: "not yet", of: made(func(p *Predicate) { p.Made = today.Add(time.Hour) }), message: "isn't valid before 2026-11-22T13:00:00Z"},
		{name: "revoked", of: signed(alice), judge: Judge{Revoked: revoked(t, alice)}, message: "its key is revoked"},
		{name: "stranger", of: signed(eve), message: "isn't one of a signer"},
		{name: "stranger, plainly", of: signed(bob), lines: known[:1], message: "isn't one of a signer"},
		{name: "nobody counts", of: signed(alice), lines: []string{""}, message: "isn't one of a signer"},
		{name: "wrong principal", of: signed(bob), message: `in the name of "alice@example.com"`},
		{name: "unsigned", of: approval(t), message: "no signature"},
		{name: "key twice", of: forged(signed(alice), alice, approval(t).Payload(), Namespace), judge: Judge{Approvals: 2}, message: "each counts once"},
		{name: "person twice", of: signed(alice, bob), lines: []string{known[0], bob.Line("alice@example.com")}, judge: Judge{Approvals: 2}, message: "each counts once"},
		{name: "person by another name twice", of: signed(alice, bob), lines: []string{known[0], bob.Line("robert,alice@example.com")}, judge: Judge{Approvals: 2}, message: "each counts once"},
		{name: "one of two", of: signed(alice), judge: Judge{Approvals: 2}, message: "1 of 2 approve (alice@example.com)"},
		{name: "swapped subjects", of: signed(alice), now: swapped, message: `the tool "pay" is another and the tool "read" is another`},
		{name: "a part more", of: signed(alice), now: append(parts(), part("tool", "rm")), message: `tool "rm" is new`},
		{name: "a part less", of: signed(alice), now: parts()[:2], message: `tool "read" is gone`},
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
			if c.message == "" {
				if v.Err != nil {
					t.Error(v.Err)
				}
				return
			}
			if v.Err == nil || !strings.Contains(v.Err.Error(), c.message) {
				t.Errorf("%v", v.Err)
			}
		})
	}
}

func revoked(t testing.TB, k pair) Revoked {
	t.Helper()
	r := Revoked{}
	if err := r.read("revoked", ssh.MarshalAuthorizedKey(k.signer.PublicKey())); err != nil {
		t.Fatal(err)
	}
	return r
}

// EXECUTION.md#approval: a file that doesn't mean one thing only is refused, and with which word.
func TestFilesAreReadStrictly(t *testing.T) {
	a := approval(t)
	if err := a.Sign(key(t, "ed25519").Key); err != nil {
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
		name, text, message string
	}{
		{"truncated", text[:len(text)/2], "isn't valid JSON"},
		{"empty", "", "isn't valid JSON"},
		{"two payloads", strings.Replace(text, `"payload":`, `"payload": "e30=", "payload":`, 1), `"payload" stands there twice`},
		{"two payloads in other letters", strings.Replace(text, `"payload":`, `"Payload": "e30=", "payload":`, 1), `no field "Payload"`},
		{"two envelopes", text + text, "more than one JSON value"},
		{"a field more", strings.Replace(text, `"payload":`, `"also": 1, "payload":`, 1), `no field "also"`},
		{"a list", "[" + text + "]", "it must be a JSON object"},
		{"huge", strings.Repeat(" ", MostBytes) + text, "larger than"},
		{"many signatures", strings.Replace(text, `"signatures": [`, `"signatures": [`+strings.Repeat(`{"keyid": "", "sig": ""},`, mostSignatures), 1), "more than 100 signatures"},
		{"large signature", strings.Replace(text, `"sig": "`, `"sig": "`+strings.Repeat("AAAA", mostSignature/3), 1), "larger than any"},
		{"other payload type", strings.Replace(text, PayloadType, "application/json", 1), `of the type "application/json"`},
		{"no payload type", strings.Replace(text, `"payloadType": "`+PayloadType+`",`, "", 1), "lacks a field"},
		{"url base64", loose, "isn't"},
		{"base64 without padding", strings.Replace(text, payload, base64.RawStdEncoding.EncodeToString([]byte(statement+" ")), 1), "isn't"},
		{"base64 with a line break", strings.Replace(text, payload, payload[:8]+`\n`+payload[8:], 1), "isn't what is expected"},
		{"base64 with loose bits", strings.Replace(text, payload, "e31=", 1), "base64 isn't the standard one"},
		{"several statements", about("[" + statement + "," + statement + "]"), "it must be a JSON object"},
		{"statements one after the other", about(statement + statement), "more than one JSON value"},
		{"statement with a field twice", about(strings.Replace(statement, `"predicate":`, `"predicate":{},"predicate":`, 1)), "twice"},
		{"statement with a field more", about(strings.Replace(statement, `"signer":`, `"also":1,"signer":`, 1)), `no field "also"`},
		{"statement with blanks", about(" " + statement), "canonical"},
		{"unknown statement", about(strings.Replace(statement, StatementType, "https://in-toto.io/Statement/v0.1", 1)), "Statement/v0.1"},
		{"unknown predicate", about(strings.Replace(statement, PredicateType, "https://slsa.dev/provenance/v1", 1)), "slsa.dev"},
		{"about nothing", about(`{"_type":"` + StatementType + `","predicate":{"made":"2026-11-22T11:00:00Z","signer":"alice"},"predicateType":"` + PredicateType + `","subject":[]}`), "about nothing"},
		{"subject twice", about(strings.Replace(statement, `tool \"read\"`, `tool \"pay\"`, 1)), "each once"},
		{"subject without digest", about(strings.Replace(statement, digest("pay").SHA256, "", 1)), "no SHA-256"},
		{"digest in other letters", about(strings.Replace(statement, digest("pay").SHA256, strings.ToUpper(digest("pay").SHA256), 1)), "no SHA-256"},
		{"nobody's", about(strings.Replace(statement, "alice@example.com", "", 1)), "in whose name"},
		{"a name that a terminal acts on", about(strings.Replace(statement, "alice@example.com", `\u001b[2J`, 1)), "in whose name"},
	} {
		if c.text == text {
			t.Errorf("%s: the text is as it was", c.name)
		}
		if _, err := Read([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// EXECUTION.md#signers: what a list of signers doesn't mean to ssh-keygen it doesn't mean here.
func TestSignersAreReadStrictly(t *testing.T) {
	line := key(t, "ed25519").Line("alice@example.com")
	for _, c := range []struct{ text, message string }{
		{"", "lists nobody"},
		{"# nobody\n\n", "lists nobody"},
		{"alice@example.com", "signers:1: expected NAMES"},
		{line + "\nbob", "signers:2: expected NAMES"},
		{"alice,,bob " + line, "expected NAMES"},
		{`"alice" ` + line, "no patterns"},
		{"*@example.com " + line, "no patterns"},
		{"alice,!bob " + line, "no patterns"},
		{strings.Replace(line, "ssh-ed25519", "ssh-rsa", 1), "no key that is understood"},
		{strings.Replace(line, "AAAA", "!", 1), "no key that is understood"},
		{strings.Replace(line, "AAAA", "AAAB", 1), "no key that is understood"},
		{strings.Replace(line, "namespaces=", `no-touch="",namespaces=`, 1), "no options"},
		{strings.Replace(line, "namespaces=", "cert-authority,namespaces=", 1), "no options"},
		{strings.Replace(line, "namespaces=", "no-touch,namespaces=", 1), "no options"},
		{strings.Replace(line, "namespaces=", `namespaces="git",namespaces=`, 1), "no options"},
		{strings.Replace(line, `"obelus-plan"`, "obelus-plan", 1), "no options"},
		{strings.Replace(line, `"obelus-plan"`, `"obelus-plan`, 1), "no key that is understood"},
		{strings.Replace(line, "namespaces=", `valid-before="20261121Z",namespaces=`, 1), "no options"},
		{strings.Repeat("#\n", mostList), "larger than"},
	} {
		if _, err := ReadSigners("signers", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%.200s: %v", c.text, err)
		}
	}
	if err := (Revoked{}).read("revoked", []byte("SSHKRL\n\x00…")); err == nil {
		t.Error("a binary list is read")
	}
}

// EXECUTION.md#approval: a statement that couldn't be read again isn't made.
func TestLargeStatementsAreRefused(t *testing.T) {
	shown := []byte(`"` + strings.Repeat("x", MostPayload) + `"`)
	if _, err := New(parts(), Predicate{Signer: "alice", Made: today, Shown: shown}); err == nil {
		t.Error(err)
	}
}

// EXECUTION.md#approval: nothing that a file says makes reading it or judging it fail otherwise than with
// a word, and what is read is written again as the same bytes.
func FuzzApproval(f *testing.F) {
	a := approval(f)
	k, b := fixed(f, 1), fixed(f, 2)
	if err := errors.Join(a.Sign(k.Key), a.Sign(b.Key)); err != nil {
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
	k := fixed(f, 1)
	for _, line := range []string{
		k.Line("alice@example.com"), k.Line("!bob@*,*@example.com"), `"a b,c" cert-authority,valid-after="20260101Z",valid-before="202612312359" ` + k.Line("x")[2:], "# nothing",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ReadSigners("signers", text)
		if (Revoked{}).read("revoked", text); err != nil {
			return
		}
		if id, err := s.holder(k.signer.PublicKey()); err == nil && len(id) == 0 {
			t.Fatal("a holder without a name")
		}
	})
}

// EXECUTION.md#signers: whoever writes a plan doesn't say who may approve it: a list in the plan's folder
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
		if err := Outside(at(c.plan), at(c.list)); (err == nil) != c.fine {
			t.Errorf("of %s, %s: %v", c.plan, c.list, err)
		}
	}
}
