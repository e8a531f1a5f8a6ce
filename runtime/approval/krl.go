package approval

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"golang.org/x/crypto/ssh"
)

// A Revocation is a list of keys that don't count any more: of public keys, or a binary
// list (KRL) of keys, fingerprints and certificates.
type Revocation struct {
	keys         map[string]bool // public keys, and digests of them
	certificates []revokedCertificates
}

// revokedCertificates are some of an authority, or of any.
type revokedCertificates struct {
	authority string // "" is any
	serials   [][2]uint64
	offset    uint64 // of the first serial of the bits
	bits      *big.Int
	ids       map[string]bool
}

const krlMagic = "SSHKRL\n\x00"

// The sections of a KRL (OpenSSH's PROTOCOL.krl).
const (
	krlCertificates = 1
	krlKeys         = 2
	krlSHA1         = 3
	krlSHA256       = 5

	krlSerials  = 0x20
	krlRange    = 0x21
	krlBitmap   = 0x22
	krlIdentity = 0x23
)

var errKRL = errors.New("the binary list is cut off, or isn't one of revoked keys")

// readKRL reads a binary list. What it holds that isn't understood spoils it.
func (r *Revocation) readKRL(text []byte) error {
	var head struct {
		Magic   [8]byte
		Format  uint32
		Version uint64
		Made    uint64
		Flags   uint64
		Reserved,
		Comment string
		Rest []byte `ssh:"rest"`
	}
	if ssh.Unmarshal(text, &head) != nil || head.Format != 1 {
		return errKRL
	}
	return sections(head.Rest, func(kind byte, data []byte) error {
		switch kind {
		case krlCertificates:
			return r.readCertificates(data)
		case krlKeys, krlSHA1, krlSHA256:
			return each(data, func(one []byte) { r.keys[string(one)] = true })
		}
		return fmt.Errorf("the binary list has a section of the kind %d, which isn't understood", kind)
	})
}

func (r *Revocation) readCertificates(data []byte) error {
	var of struct {
		Authority, Reserved string
		Rest                []byte `ssh:"rest"`
	}
	if ssh.Unmarshal(data, &of) != nil {
		return errKRL
	}
	return sections(of.Rest, func(kind byte, data []byte) error {
		c := revokedCertificates{authority: of.Authority, ids: map[string]bool{}}
		switch kind {
		case krlSerials:
			for ; len(data) >= 8; data = data[8:] {
				serial := binary.BigEndian.Uint64(data)
				c.serials = append(c.serials, [2]uint64{serial, serial})
			}
			if len(data) > 0 {
				return errKRL
			}
		case krlRange:
			var of struct{ From, To uint64 }
			if ssh.Unmarshal(data, &of) != nil {
				return errKRL
			}
			c.serials = append(c.serials, [2]uint64{of.From, of.To})
		case krlBitmap:
			var of struct {
				Offset uint64
				Bits   *big.Int
			}
			if ssh.Unmarshal(data, &of) != nil || of.Bits.Sign() < 0 {
				return errKRL
			}
			c.offset, c.bits = of.Offset, of.Bits
		case krlIdentity:
			if err := each(data, func(one []byte) { c.ids[string(one)] = true }); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the binary list has certificates of the kind %d, which isn't understood", kind)
		}
		r.certificates = append(r.certificates, c)
		return nil
	})
}

// sections hands on what stands one after the other: a kind, and so many bytes.
func sections(data []byte, section func(kind byte, data []byte) error) error {
	for len(data) > 0 {
		one, rest, ok := cutString(data[1:])
		if !ok {
			return errKRL
		}
		if err := section(data[0], one); err != nil {
			return err
		}
		data = rest
	}
	return nil
}

// each hands on strings that stand one after the other.
func each(data []byte, one func([]byte)) error {
	for len(data) > 0 {
		text, rest, ok := cutString(data)
		if !ok {
			return errKRL
		}
		one(text)
		data = rest
	}
	return nil
}

func cutString(data []byte) (text, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(data)
	if data = data[4:]; uint64(n) > uint64(len(data)) {
		return nil, nil, false
	}
	return data[:n], data[n:], true
}

// revoked reports whether a key is on the list, the key of a certificate, its authority, or
// the certificate itself.
func (r *Revocation) revoked(key ssh.PublicKey) bool {
	plain := bare(key).Marshal()
	short, long := sha1.Sum(plain), sha256.Sum256(plain)
	if r.keys[string(plain)] || r.keys[string(short[:])] || r.keys[string(long[:])] {
		return true
	}
	c, ok := key.(*ssh.Certificate)
	if !ok {
		return false
	}
	for i := range r.certificates {
		if r.certificates[i].revoked(c) {
			return true
		}
	}
	return r.revoked(c.SignatureKey)
}

func (r *revokedCertificates) revoked(c *ssh.Certificate) bool {
	switch {
	case r.authority != "" && !bytes.Equal([]byte(r.authority), c.SignatureKey.Marshal()):
		return false
	case r.ids[c.KeyId]:
		return true
	case c.Serial == 0: // it has none
		return false
	}
	for _, of := range r.serials {
		if of[0] <= c.Serial && c.Serial <= of[1] {
			return true
		}
	}
	at := c.Serial - r.offset
	return r.bits != nil && c.Serial >= r.offset && at < uint64(r.bits.BitLen()) && r.bits.Bit(int(at)) == 1
}
