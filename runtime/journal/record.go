package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// MaxRecord is how many bytes the body of a record may have: 64 MiB.
const MaxRecord = 64 << 20

const (
	// thisVersion is how a header begins.
	thisVersion = `{"obelus-journal":1,`
	timeForm    = "2006-01-02T15:04:05.000Z"
	// A line ends with the key of its hash, that in hex, and lineEnd.
	hashKey  = `,"hash":"`
	lineEnd  = `"}`
	sealSize = len(hashKey) + 2*sha256.Size + len(lineEnd)
	// maxHead is how much of a line is before its body, at most.
	maxHead = 128
	// maxLine is how long a line may be, without its line break.
	maxLine = maxHead + MaxRecord + sealSize
)

// head is what a line has before its body. 15 digits are a million records a second for 30 years.
var head = regexp.MustCompile(`^\{(?:"obelus-journal":1,"n":(0)|"n":([1-9]\d{0,14})),` +
	`"synced":(0|[1-9]\d{0,14}),"time":"([0-9T:.Z-]{24})","body":`)

// A record is a line, taken apart. Its slices lie in the line.
type record struct {
	n, synced int
	time      time.Time
	body      []byte
	covered   []byte // what the hash is of, besides the hash before
	hash      []byte
}

// parse takes a line apart, without its line break. It looks at the frame only: the body may be anything.
func parse(line []byte) (r record, ok bool) {
	sealed := len(line) - sealSize
	if sealed < 0 || !bytes.HasPrefix(line[sealed:], []byte(hashKey)) || !bytes.HasSuffix(line, []byte(lineEnd)) {
		return r, false
	}
	r.covered, r.hash = line[:sealed], line[sealed+len(hashKey):len(line)-len(lineEnd)]
	parts := head.FindSubmatch(r.covered[:min(sealed, maxHead)])
	if parts == nil {
		return r, false
	}
	r.n, _ = strconv.Atoi(string(parts[1]) + string(parts[2]))
	r.synced, _ = strconv.Atoi(string(parts[3]))
	at, err := time.Parse(timeForm, string(parts[4]))
	r.time, r.body = at, r.covered[len(parts[0]):]
	return r, err == nil && len(r.body) > 0
}

// A chain is where a journal stands: what the next record has to follow.
type chain struct {
	next   int    // the number of the next record
	synced int    // what the last record has said was on disk
	prev   []byte // the hash of the last record in hex
}

// link returns the hash of the next record in hex, where covered is all but its hash.
func (c *chain) link(covered []byte) []byte {
	sum := sha256.New()
	sum.Write(c.prev)
	sum.Write(covered)
	return hex.AppendEncode(nil, sum.Sum(nil))
}

func (c *chain) accept(r record) (why string) {
	if r.n != c.next {
		return fmt.Sprintf("record %d stands where record %d belongs: records are missing, or were repeated or moved",
			r.n, c.next)
	}
	expected := c.link(r.covered)
	switch {
	case !bytes.Equal(expected, r.hash):
		return fmt.Sprintf(
			"record %d was changed after it was written, or comes from another journal: its hash should be %s", r.n,
			expected)
	case r.synced != r.n && r.synced != c.synced:
		return fmt.Sprintf(`record %d says "synced":%d, and it is %d or %d`, r.n, r.synced, r.n, c.synced)
	case !isObject(r.body) || !json.Valid(r.body):
		return fmt.Sprintf("the body of record %d is no JSON object, or one nested too deeply", r.n)
	}
	c.next, c.synced, c.prev = r.n+1, r.synced, expected
	return ""
}

// isObject reports whether one line of JSON may be an object, by its ends.
func isObject(body []byte) bool {
	return len(body) >= 2 && body[0] == '{' && body[len(body)-1] == '}'
}

// opening is what a record of the write whose first comes now has between its number and its body.
func (c *chain) opening(now time.Time) []byte {
	return fmt.Appendf(nil, `,"synced":%d,"time":"%s","body":`, c.next, now.UTC().Format(timeForm))
}

// write appends the next record as a line, with what opening has given.
func (c *chain) write(b, opening, body []byte) []byte {
	start, begin := len(b), `{"n":`
	if c.next == 0 {
		begin = thisVersion + `"n":`
	}
	b = fmt.Appendf(b, "%s%d%s%s", begin, c.next, opening, body)
	c.prev = c.link(b[start:])
	c.next++
	return fmt.Appendf(b, "%s%s%s\n", hashKey, c.prev, lineEnd)
}
