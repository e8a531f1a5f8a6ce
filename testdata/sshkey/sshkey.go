// Package sshkey makes keys for tests that sign approvals in their own process.
package sshkey

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/hiddeco/sshsig"
	"github.com/obelus-dev/obelus/runtime/approval"
	"golang.org/x/crypto/ssh"
)

// Of is the key of a name, the same each time.
func Of(t testing.TB, name string) *approval.Key {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	key, err := approval.NewKey(string(ssh.MarshalAuthorizedKey(signer.PublicKey())), func(payload []byte) ([]byte, error) {
		sig, err := sshsig.Sign(bytes.NewReader(payload), signer, sshsig.HashSHA512, approval.Namespace)
		return sshsig.Armor(sig), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}
