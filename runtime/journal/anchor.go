package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// A claim is the content of an anchor: how many records are on disk, the header among them, and the
// hash of the last of these.
type claim struct {
	Records int    `json:"records"`
	Hash    string `json:"hash"`
}

// An Anchor is the storage of one anchor, as an operating system gives it.
type Anchor interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// openAnchor opens the anchor of a journal, or makes it; nil if it can't: a journal is as good without.
func openAnchor(path string, create int) Anchor {
	name := AnchorOf(path)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() || err != nil && create == 0 {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|create, 0o600)
	if err != nil {
		return nil
	}
	return f
}

// AnchorOf is the file of the anchor of a journal.
func AnchorOf(path string) string { return strings.TrimSuffix(path, extension) + ".anchor" }

// readClaim reads an anchor, if there is one. What a loss of power has left empty claims nothing.
func readClaim(anchor io.ReaderAt) (c claim) {
	if anchor == nil {
		return c
	}
	text := make([]byte, 256)
	n, _ := anchor.ReadAt(text, 0)
	line, _, ended := bytes.Cut(text[:n], []byte("\n"))
	if !ended || json.Unmarshal(line, &c) != nil {
		return claim{}
	}
	return c
}

// appendClaim appends the content of an anchor. Counts only grow, so that a claim is never shorter
// than the one it is written over.
func appendClaim(b []byte, records int, hash []byte) []byte {
	return fmt.Appendf(b, "{\"records\":%d,\"hash\":\"%s\"}\n", records, hash)
}
