package approval

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

// signing is a key that gives a signature.
func signing(armored string) *Key {
	return &Key{sign: func([]byte) ([]byte, error) { return []byte(armored), nil }}
}

// EXECUTION.md#approval: what ssh-keygen signs counts, with each kind of key, and what is in the file counts to
// ssh-keygen.
func TestSignaturesAreThoseOfSSHKeygen(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "payload", string(approval(t).Payload()))
	bits := map[string][]string{"rsa": {"-b", "1024"}} // quickly made
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			if said, ok := keygen(t, folder, nil, append([]string{"-q", "-t", kind, "-N", "", "-C", kind, "-f", kind}, bits[kind]...)...); !ok {
				t.Fatal(said)
			}
			line := "alice@example.com " + string(read(t, folder, kind+".pub"))
			write(t, folder, "signers", line)
			said, ok := keygen(t, folder, read(t, folder, "payload"), "-Y", "sign", "-q", "-n", Namespace, "-f", kind)
			if !ok {
				t.Fatal(said)
			}
			a := approval(t)
			if err := a.Sign(signing(said)); err != nil {
				t.Fatal(err)
			}
			if v := again(t, a).Verify(Judge{Signers: signers(t, line), Now: today}, parts()); v.Err != nil {
				t.Error(v.Err)
			}
			said, _ = keygen(t, folder, read(t, folder, "payload"), "-Y", "sign", "-q", "-n", "git", "-f", kind)
			if err := approval(t).Sign(signing(said)); err == nil || !strings.Contains(err.Error(), `made for "git"`) {
				t.Errorf("a signature for something else: %v", err)
			}
			write(t, folder, kind+".sig", string(again(t, a).signatures[0].Sig))
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

// EXECUTION.md#signers: a line of an allowed_signers file, and one of revoked keys, mean what they mean
// to ssh-keygen, except that certificates and patterns don't count.
func TestSignersAreThoseOfSSHKeygen(t *testing.T) {
	folder := t.TempDir()
	alice, other := key(t, "ed25519"), key(t, "ed25519")
	public := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(alice.signer.PublicKey())))
	another := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(other.signer.PublicKey())))
	a := approval(t)
	sig := must[*sshsig.Signature](t)(sshsig.Sign(bytes.NewReader(a.Payload()), alice.signer, sshsig.HashSHA256, Namespace))
	write(t, folder, "sig", string(sshsig.Armor(sig)))
	counts := func(judge Judge) error {
		one := approval(t)
		if err := one.Sign(signing(string(read(t, folder, "sig")))); err != nil {
			t.Fatal(err)
		}
		judge.Now = today
		return one.Verify(judge, parts()).Err
	}
	verify := []string{"-Y", "verify", "-f", "signers", "-I", "alice@example.com", "-n", Namespace, "-s", "sig", "-Overify-time=20261122120000"}
	lines := []string{
		"alice@example.com KEY", "bob@example.com KEY", "bob@example.com,alice@example.com KEY a comment", "*@example.org KEY",
		"*,!alice@example.com KEY", "!bob@* KEY", "ALICE@example.com KEY",
		"alice@example.com\tKEY", "  alice@example.com   KEY", "alice@example.com KEY\r", "# alice@example.com KEY",
		`alice@example.com namespaces="obelus-plan" KEY`, `alice@example.com namespaces="git,file" KEY`, `alice@example.com namespaces="*,!obelus-plan" KEY`,
		`alice@example.com NAMESPACES="obelus-plan" KEY`, `alice@example.com namespaces="" KEY`, `alice@example.com namespaces=obelus-plan KEY`, `alice@example.com namespaces = "obelus-plan" KEY`,
		`alice@example.com namespaces="obelus-plan",namespaces="obelus-plan" KEY`, `alice@example.com namespaces="obelus-plan" , KEY`, `alice@example.com namespaces="obelus-plan", KEY`,
		`alice@example.com unknown KEY`, `alice@example.com unknown="x" KEY`, `alice@example.com cert-authority KEY`,
		"alice@example.com ANOTHER",
		"alice@example.com", "alice@example.com ssh-ed25519", "alice@example.com ssh-rsa KEY", "bob@example.com ANOTHER\nalice@example.com KEY",
		"bob@example.com KEY\nalice@example.com KEY", "alice@example.com namespaces=\"git\" KEY\nalice@example.com KEY",
	}
	for _, line := range lines {
		text := strings.NewReplacer("ANOTHER", another, "KEY", public).Replace(line) + "\n"
		write(t, folder, "signers", text)
		who, err := ReadSigners("signers", []byte(text))
		said, theirs := keygen(t, folder, a.Payload(), verify...)
		if err == nil {
			err = counts(Judge{Signers: who})
		}
		if (err == nil) != theirs {
			t.Errorf("%q: %v, and ssh-keygen says %s", line, err, said)
		}
	}
	write(t, folder, "signers", "alice@example.com "+public+"\n")
	who := signers(t, string(read(t, folder, "signers")))
	for _, revoked := range []string{"# nobody", public, another, another + "\n" + public, public + " comment"} {
		write(t, folder, "revoked", revoked+"\n")
		list := Revoked{}
		if err := list.read("revoked", []byte(revoked)); err != nil {
			t.Fatal(err)
		}
		said, theirs := keygen(t, folder, a.Payload(), append(verify, "-r", "revoked")...)
		if err := counts(Judge{Signers: who, Revoked: list}); (err == nil) != theirs {
			t.Errorf("with %.20q revoked: %v, and ssh-keygen says %s", revoked, err, said)
		}
	}
}
