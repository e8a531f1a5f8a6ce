package approval

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// keygen runs ssh-keygen in a folder, and reports whether it is content.
func keygen(t *testing.T, folder string, in []byte, args ...string) (string, bool) {
	t.Helper()
	tool, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen isn't installed")
	}
	cmd := exec.Command(tool, args...)
	cmd.Dir, cmd.Stdin, cmd.Env = folder, bytes.NewReader(in), append(os.Environ(), "TZ=UTC", "SSH_AUTH_SOCK=")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	return must[[]byte](t)(os.ReadFile(filepath.Join(folder, name)))
}

// S16.1: what ssh-keygen signs counts, and what is signed here counts to ssh-keygen, with
// each kind of key, with a certificate, and with a key that is locked.
func TestSignaturesAreThoseOfSSHKeygen(t *testing.T) {
	folder := t.TempDir()
	keygen(t, folder, nil, "-q", "-t", "ed25519", "-N", "", "-f", "ca")
	write(t, folder, "payload", string(approval(t).Payload()))
	bits := map[string][]string{"rsa": {"-b", "1024"}} // quickly made
	for _, kind := range []string{"ed25519", "ecdsa", "rsa", "certified", "locked"} {
		t.Run(kind, func(t *testing.T) {
			algorithm, phrase := kind, ""
			switch kind {
			case "certified":
				algorithm = "ecdsa"
			case "locked":
				algorithm, phrase = "ed25519", "open sesame"
			}
			if said, ok := keygen(t, folder, nil, append([]string{"-q", "-t", algorithm, "-N", phrase, "-C", kind, "-f", kind}, bits[algorithm]...)...); !ok {
				t.Fatal(said)
			}
			line := "alice@example.com " + string(read(t, folder, kind+".pub"))
			signedBy := kind
			if kind == "certified" {
				keygen(t, folder, nil, "-q", "-s", "ca", "-I", "id", "-n", "alice@example.com", "-V", "20261101:20261201", kind+".pub")
				line, signedBy = "*@example.com cert-authority "+string(read(t, folder, "ca.pub")), kind+"-cert.pub"
			}
			write(t, folder, "signers", line)
			who := signers(t, line)

			if kind != "locked" { // it would ask at the terminal
				said, ok := keygen(t, folder, read(t, folder, "payload"), "-Y", "sign", "-q", "-n", Namespace, "-f", signedBy)
				if !ok && kind == "certified" {
					t.Logf("ssh-keygen doesn't sign with a certificate's file: %s", said)
				} else {
					a := approval(t)
					if err := a.Attach([]byte(said)); err != nil {
						t.Fatal(err)
					}
					if v := again(t, a).Verify(Judge{Signers: who, Now: today}, parts()); v.Err != nil {
						t.Error(v.Err)
					}
				}
				said, _ = keygen(t, folder, read(t, folder, "payload"), "-Y", "sign", "-q", "-n", "git", "-f", kind)
				if err := approval(t).Attach([]byte(said)); err == nil || !strings.Contains(err.Error(), `made for "git"`) {
					t.Errorf("a signature for something else: %v", err)
				}
			}

			k := must[*Key](t)(ReadKey(kind, read(t, folder, kind), func() ([]byte, error) { return []byte(phrase), nil }))
			if kind == "certified" {
				public, _, _, _, err := ssh.ParseAuthorizedKey(read(t, folder, kind+"-cert.pub"))
				if err != nil {
					t.Fatal(err)
				}
				k.signer = must[ssh.Signer](t)(ssh.NewCertSigner(public.(*ssh.Certificate), k.signer))
			}
			a := approval(t)
			if err := a.Sign(k); err != nil {
				t.Fatal(err)
			}
			armored := must[[]byte](t)(decoded(a.signatures[0].Sig))
			write(t, folder, kind+".sig", string(armored))
			verify := []string{"-Y", "verify", "-f", "signers", "-I", "alice@example.com", "-n", Namespace, "-s", kind + ".sig", "-Overify-time=20261122"}
			if said, ok := keygen(t, folder, a.Payload(), verify...); !ok {
				t.Error(said)
			}
			if _, ok := keygen(t, folder, append(a.Payload(), ' '), verify...); ok {
				t.Error("ssh-keygen takes it for another payload")
			}
		})
	}
}

// S16.1: a line of an allowed_signers file, and one of revoked keys, mean what they mean
// to ssh-keygen.
func TestSignersAreThoseOfSSHKeygen(t *testing.T) {
	folder := t.TempDir()
	alice, authority := key(t, "ed25519"), key(t, "ed25519")
	public := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(alice.signer.PublicKey())))
	ca := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(authority.signer.PublicKey())))
	certified := &Key{signer: must[ssh.Signer](t)(ssh.NewCertSigner(certificate(t, alice.signer.PublicKey(), authority, "alice@example.com", "other"), alice.signer))}
	a := approval(t)
	for name, k := range map[string]*Key{"plain": alice, "certified": certified} {
		sig := must[*sshsig.Signature](t)(sshsig.Sign(bytes.NewReader(a.Payload()), k.signer, sshsig.HashSHA256, Namespace))
		write(t, folder, name+".sig", string(sshsig.Armor(sig)))
	}
	lines := []string{
		"alice@example.com KEY", "bob@example.com KEY", "bob@example.com,alice@example.com KEY a comment", "*@example.com KEY", "*@example.org KEY",
		"*,!alice@example.com KEY", "!bob@*,alice@* KEY", "!bob@* KEY", "ALICE@example.com KEY", "alice@example.??? KEY", `"alice@example.com" KEY`, `"bob,alice@example.com"KEY`,
		"alice@example.com\tKEY", "  alice@example.com   KEY", "alice@example.com KEY\r", "# alice@example.com KEY",
		`alice@example.com namespaces="obelus-plan" KEY`, `alice@example.com namespaces="git,file" KEY`, `alice@example.com namespaces="obelus-*" KEY`, `alice@example.com namespaces="*,!obelus-plan" KEY`,
		`alice@example.com NAMESPACES="obelus-plan" KEY`, `alice@example.com namespaces="" KEY`, `alice@example.com namespaces=obelus-plan KEY`, `alice@example.com namespaces = "obelus-plan" KEY`,
		`alice@example.com namespaces="obelus-plan",namespaces="obelus-plan" KEY`, `alice@example.com namespaces="obelus-plan" , KEY`, `alice@example.com namespaces="obelus-plan", KEY`,
		`alice@example.com valid-after="20261121" KEY`, `alice@example.com valid-after="20261123" KEY`, `alice@example.com valid-before="20261121" KEY`, `alice@example.com valid-before="20261123Z" KEY`,
		`alice@example.com valid-after="202611221159",valid-before="20261122120100Z" KEY`, `alice@example.com valid-before="202611221200" KEY`, `alice@example.com valid-after="202611221200" KEY`,
		`alice@example.com valid-before="20261122115959z" KEY`, `alice@example.com valid-before="20261123UTC" KEY`, `alice@example.com valid-before="2026-11-23" KEY`, `alice@example.com valid-before="" KEY`,
		`alice@example.com valid-after="20261122",valid-before="20261121" KEY`, `alice@example.com unknown KEY`, `alice@example.com unknown="x" KEY`, `alice@example.com cert-authority KEY`,
		"alice@example.com cert-authority CA", "*@example.com cert-authority CA", "*@example.org cert-authority CA", "other cert-authority CA", "alice@example.com CA", "*@example.com Cert-Authority,namespaces=\"obelus-plan\" CA",
		`*@example.com cert-authority,valid-before="20261121" CA`, `*@example.com cert-authority,cert-authority CA`, "alice@example.com", "alice@example.com ssh-ed25519", "alice@example.com ssh-rsa KEY", "bob@example.com CA\nalice@example.com KEY",
		"bob@example.com KEY\nalice@example.com KEY", "alice@example.com namespaces=\"git\" KEY\nalice@example.com KEY",
	}
	differ := 0
	for _, line := range lines {
		text := strings.NewReplacer("KEY", public, "CA", ca).Replace(line) + "\n"
		write(t, folder, "signers", text)
		who, err := ReadSigners("signers", []byte(text), time.UTC)
		for _, name := range []string{"plain", "certified"} {
			if name == "certified" && !strings.Contains(line, "CA") && line != lines[0] {
				continue
			}
			said, theirs := keygen(t, folder, a.Payload(), "-Y", "verify", "-f", "signers", "-I", "alice@example.com", "-n", Namespace, "-s", name+".sig", "-Overify-time=20261122120000")
			ours := false
			if err == nil {
				one := approval(t)
				if err := one.Attach(read(t, folder, name+".sig")); err != nil {
					t.Fatal(err)
				}
				ours = one.Verify(Judge{Signers: who, Now: today}, parts()).Err == nil
			}
			if ours != theirs {
				if differ++; ours {
					t.Errorf("%q counts for a %s key, and doesn't to ssh-keygen: %s", line, name, said)
				} else {
					t.Errorf("%q doesn't count for a %s key (%v), and does to ssh-keygen", line, name, err)
				}
			}
		}
	}
	write(t, folder, "signers", "alice@example.com "+public+"\n*@example.com cert-authority "+ca)
	who := signers(t, string(read(t, folder, "signers")))
	for _, revoked := range []string{"# nobody", public, ca, ca + "\n" + public, public + " comment"} {
		write(t, folder, "revoked", revoked+"\n")
		list := must[*Revocation](t)(ReadRevoked("revoked", []byte(revoked)))
		for _, name := range []string{"plain", "certified"} {
			said, theirs := keygen(t, folder, a.Payload(), "-Y", "verify", "-f", "signers", "-I", "alice@example.com", "-n", Namespace, "-s", name+".sig", "-r", "revoked", "-Overify-time=20261122120000")
			one := approval(t)
			if err := one.Attach(read(t, folder, name+".sig")); err != nil {
				t.Fatal(err)
			}
			if v := one.Verify(Judge{Signers: who, Revoked: []*Revocation{list}, Now: today}, parts()); (v.Err == nil) != theirs {
				t.Errorf("with %.20q revoked, a %s key: %v, and ssh-keygen says %s", revoked, name, v.Err, said)
			}
		}
	}
}

// S16.1: a binary list of revoked keys revokes what it does to ssh-keygen, and a damaged
// one is refused.
func TestRevokedAreThoseOfSSHKeygen(t *testing.T) {
	folder := t.TempDir()
	alice, bob, authority := key(t, "ed25519"), key(t, "ed25519"), key(t, "ed25519")
	public := func(k *Key) string { return string(ssh.MarshalAuthorizedKey(k.signer.PublicKey())) }
	write(t, folder, "ca.pub", public(authority))
	write(t, folder, "alice.pub", public(alice))
	write(t, folder, "bob.pub", public(bob))
	write(t, folder, "signers", "alice@example.com "+public(alice)+"*@example.com cert-authority "+public(authority))
	who := signers(t, string(read(t, folder, "signers")))
	keys := map[string]*Key{"plain": alice}
	for _, serial := range []uint64{0, 5, 64, 1000} {
		c := certificate(t, alice.signer.PublicKey(), authority, "alice@example.com")
		c.Serial, c.KeyId = serial, fmt.Sprint("laptop", serial)
		if err := c.SignCert(rand.Reader, authority.signer); err != nil {
			t.Fatal(err)
		}
		keys[fmt.Sprint("certified", serial)] = &Key{signer: must[ssh.Signer](t)(ssh.NewCertSigner(c, alice.signer))}
	}
	a := approval(t)
	for name, k := range keys {
		sig := must[*sshsig.Signature](t)(sshsig.Sign(bytes.NewReader(a.Payload()), k.signer, sshsig.HashSHA512, Namespace))
		write(t, folder, name+".sig", string(sshsig.Armor(sig)))
	}
	var bits strings.Builder // many of them become a bitmap
	for i := 3; i < 200; i += 2 {
		fmt.Fprintf(&bits, "serial: %d\n", i)
	}
	blob := base64.StdEncoding.EncodeToString(alice.signer.PublicKey().Marshal())
	sum := sha256.Sum256(alice.signer.PublicKey().Marshal())
	revoked := 0
	for i, spec := range []string{
		"", "serial: 5\n", "serial: 5-64\n", "serial: 0-4\n", bits.String(), "id: laptop1000\n", "id: laptop\n", "serial: 1000\nid: laptop5\nserial: 60-70\n",
		"key: ssh-ed25519 " + blob + "\n", "sha256: SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]) + "\n", "sha1: ssh-ed25519 " + blob + "\n", "hash: SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]) + "\n",
	} {
		for _, by := range []string{"ca.pub", "none"} { // of this authority, or of any
			krl := fmt.Sprintf("krl%d%s", i, by)
			write(t, folder, "spec", spec)
			if said, ok := keygen(t, folder, nil, "-q", "-k", "-f", krl, "-s", by, "spec"); !ok {
				t.Logf("ssh-keygen makes no list of %.20q: %s", spec, said)
				continue
			}
			text := read(t, folder, krl)
			list := must[*Revocation](t)(ReadRevoked(krl, text))
			for name := range keys {
				_, counts := keygen(t, folder, a.Payload(), "-Y", "verify", "-f", "signers", "-I", "alice@example.com", "-n", Namespace, "-s", name+".sig", "-r", krl, "-Overify-time=20261122120000")
				one := approval(t)
				if err := one.Attach(read(t, folder, name+".sig")); err != nil {
					t.Fatal(err)
				}
				if v := one.Verify(Judge{Signers: who, Revoked: []*Revocation{list}, Now: today}, parts()); (v.Err == nil) != counts {
					t.Errorf("%.20q of %s, %s: %v, and to ssh-keygen it counts: %v", spec, by, name, v.Err, counts)
				}
				if !counts {
					revoked++
				}
			}
			if _, err := ReadRevoked(krl, text[:len(text)-1]); len(spec) > 0 && err == nil {
				t.Errorf("%.20q: a list that is cut off is read", spec)
			}
		}
	}
	if revoked < 20 {
		t.Errorf("only %d are revoked", revoked)
	}
}
