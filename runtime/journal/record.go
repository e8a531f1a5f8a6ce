package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strconv"
	"time"
)

// MaxRecord is how many bytes the body of a record may have: 64 MiB.
const MaxRecord = 64 << 20

// The pieces of a line, in their order.
const (
	magic      = `{"obelus-journal":`
	beginFirst = magic + `1,"n":`
	beginOther = `{"n":`
	syncedKey  = `,"synced":`
	timeKey    = `,"time":"`
	bodyKey    = `","body":`
	hashKey    = `,"hash":"`
	lineEnd    = `"}`
	timeForm   = "2006-01-02T15:04:05.000Z"
	hashSize   = 2 * sha256.Size
	sealSize   = len(hashKey) + hashSize + len(lineEnd)
	// maxLine is how long a line may be, without its line break.
	maxLine = MaxRecord + len(beginFirst+syncedKey+timeKey+timeForm+bodyKey) + 2*maxDigits + sealSize
	// maxDigits is how many digits a number may have: a million records a second for 30 years.
	maxDigits = 15
)

// A record is a line, taken apart. Its slices lie in the line.
type record struct {
	n, synced int
	time      time.Time
	body      []byte
	covered   []byte // what the hash is of, besides the hash before
	hash      []byte
}

// parse takes a line apart, without its line break. It looks at the frame only: the
// body may be anything.
func parse(line []byte) (r record, ok bool) {
	if len(line) < sealSize || !bytes.HasSuffix(line, []byte(lineEnd)) {
		return r, false
	}
	r.covered = line[:len(line)-sealSize]
	seal, ok := bytes.CutPrefix(line[len(r.covered):], []byte(hashKey))
	if !ok {
		return r, false
	}
	r.hash = seal[:hashSize]
	rest, first := bytes.CutPrefix(r.covered, []byte(beginFirst))
	if !first {
		if rest, ok = bytes.CutPrefix(r.covered, []byte(beginOther)); !ok {
			return r, false
		}
	}
	if r.n, rest, ok = cutNumber(rest, syncedKey); !ok || first != (r.n == 0) {
		return r, false
	}
	if r.synced, rest, ok = cutNumber(rest, timeKey); !ok {
		return r, false
	}
	if len(rest) < len(timeForm) {
		return r, false
	}
	at, err := time.Parse(timeForm, string(rest[:len(timeForm)]))
	if err != nil {
		return r, false
	}
	r.time = at
	r.body, ok = bytes.CutPrefix(rest[len(timeForm):], []byte(bodyKey))
	return r, ok && len(r.body) > 0
}

func cutNumber(text []byte, follows string) (n int, rest []byte, ok bool) {
	end := 0
	for end < min(len(text), maxDigits) && '0' <= text[end] && text[end] <= '9' {
		n = 10*n + int(text[end]-'0')
		end++
	}
	rest, ok = bytes.CutPrefix(text[end:], []byte(follows))
	return n, rest, ok && end > 0 && (end == 1 || text[0] != '0')
}

// A chain is where a journal stands: what the next record has to follow.
type chain struct {
	next   int    // the number of the next record
	synced int    // what the last record has said was on disk
	prev   []byte // the hash of the last record in hex
	digest hash.Hash
	sum    [sha256.Size]byte
	expect []byte // the hash that a record should have
}

func newChain() chain {
	return chain{prev: make([]byte, 0, hashSize), digest: sha256.New()}
}

// link returns the hash of the next record, where covered is all but its
// hash. It is good until the next call.
func (c *chain) link(covered []byte) []byte {
	c.digest.Reset()
	c.digest.Write(c.prev)
	c.digest.Write(covered)
	return c.digest.Sum(c.sum[:0])
}

func (c *chain) accept(r record) (why string) {
	switch {
	case r.n < c.next:
		return fmt.Sprintf("record %d comes again where record %d belongs: records were repeated or moved", r.n, c.next)
	case r.n > c.next:
		return fmt.Sprintf("record %d stands where record %d belongs: records are missing or were moved", r.n, c.next)
	}
	c.expect = hex.AppendEncode(c.expect[:0], c.link(r.covered))
	switch {
	case !bytes.Equal(c.expect, r.hash):
		return fmt.Sprintf(
			"record %d was changed after it was written, or comes from another journal: its hash should be %s", r.n,
			c.expect)
	case r.synced != r.n && r.synced != c.synced:
		return fmt.Sprintf(`record %d says "synced":%d, and no journal is written so: it is %d `+
			"at the beginning of a write and else %d", r.n, r.synced, r.n, c.synced)
	case !isObject(r.body) || !json.Valid(r.body):
		return fmt.Sprintf("the body of record %d is no JSON object, or one nested too deeply", r.n)
	}
	c.next, c.synced, c.prev = r.n+1, r.synced, append(c.prev[:0], c.expect...)
	return ""
}

// isObject reports whether one line of JSON may be an object, by its ends.
func isObject(body []byte) bool {
	return len(body) >= 2 && body[0] == '{' && body[len(body)-1] == '}'
}

// opening is what a record of the write whose first comes now has between its number and
// its body.
func (c *chain) opening(b []byte, now time.Time) []byte {
	b = append(b, syncedKey...)
	b = strconv.AppendInt(b, int64(c.next), 10)
	b = append(b, timeKey...)
	b = now.UTC().AppendFormat(b, timeForm)
	return append(b, bodyKey...)
}

// write appends the next record as a line, with what opening has given.
func (c *chain) write(b, opening, body []byte) []byte {
	start := len(b)
	if c.next == 0 {
		b = append(b, beginFirst...)
	} else {
		b = append(b, beginOther...)
	}
	b = strconv.AppendInt(b, int64(c.next), 10)
	b = append(b, opening...)
	b = append(b, body...)
	c.prev = hex.AppendEncode(c.prev[:0], c.link(b[start:]))
	c.next++
	b = append(b, hashKey...)
	b = append(b, c.prev...)
	return append(b, lineEnd+"\n"...)
}
