package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxPending is how many bytes may wait for the disk before Append sends them there
// by itself. With it a write, and so what a crash can damage, is bounded by maxWrite.
const (
	maxPending = 64 << 20
	maxWrite   = maxPending + maxLine + len("\n")
)

// A Writer appends records to a journal that no other process writes. It isn't for several goroutines.
type Writer struct {
	file    File
	anchor  Anchor // nil where none is kept
	end     int64  // of what is on disk
	claim   []byte // what the anchor says, and its room
	chain   chain
	pending []byte // the lines of the next write
	opening []byte // what its records have between number and body
	broken  error  // why nothing more is written
}

var errClosed = errors.New("the journal takes no more records: it is closed")

// Create begins a journal in a new file. The header, a value that JSON writes as an object, is on disk when Create
// returns, and so is the file's entry in its folder, which is made if there is none. The error is [fs.ErrExist] if
// there is such a file already.
func Create(path string, header any) (*Writer, error) {
	folder := filepath.Dir(path)
	if err := makeFolder(folder); err != nil {
		return nil, fmt.Errorf("the folder for the journal can't be made: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: there is a journal of this name already: resume it or take another name: %w",
			path, fs.ErrExist)
	} else if err != nil {
		return nil, fmt.Errorf("the journal can't be created: %w", err)
	}
	w, err := func() (*Writer, error) {
		if err := lock(f); err != nil {
			return nil, err
		}
		w, err := Begin(f, openAnchor(path, os.O_CREATE|os.O_TRUNC), header)
		if err != nil {
			return nil, err
		}
		return w, syncFolder(folder)
	}()
	if err != nil {
		f.Close()
		os.Remove(path) // nothing has been done by it
		os.Remove(AnchorOf(path))
		return nil, err
	}
	return w, nil
}

// Begin begins a journal in an empty file: [Create] on other storage than the
// operating system's. The anchor may be nil. The caller closes the file if there is an error.
func Begin(f File, anchor Anchor, header any) (*Writer, error) {
	body, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("the header of the journal can't be written as JSON: %w", err)
	}
	w := &Writer{file: f, anchor: anchor}
	if err := w.Append(body); err != nil {
		return nil, err
	}
	return w, w.Sync()
}

// Open takes up a journal where it ends. Every record is read and verified; what a crash has left behind the last whole
// one is cut off, as [Contents.Torn] then tells; and all that remains is on disk when Open returns. The error is
// [ErrLocked] while another process writes the journal, and a *[Fault] if the file isn't an intact journal.
func Open(path string) (*Writer, *Contents, error) {
	f, err := openRegular(path, os.O_RDWR)
	if err != nil {
		return nil, nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, nil, err
	}
	w, contents, err := Continue(f, openAnchor(path, 0))
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if w.anchor == nil {
		w.anchor = openAnchor(path, os.O_CREATE|os.O_EXCL)
		w.writeClaim()
	}
	return w, contents, nil
}

// Continue takes up the journal that a file holds: [Open] on other storage than the operating
// system's. The anchor may be nil. The caller closes the file if there is an error.
func Continue(f File, anchor Anchor) (*Writer, *Contents, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, nil, fmt.Errorf("the journal can't be read: %w", err)
	}
	contents, end, err := verify(f, f.Name(), size, readClaim(anchor))
	if err != nil {
		return nil, nil, err
	}
	contents.file = f
	if contents.Torn > 0 {
		if err := f.Truncate(contents.Size); err != nil {
			return nil, nil, fmt.Errorf("what a crash left at the end of the journal can't be cut off: %w", err)
		}
	}
	// The records of the last write may have been read before they were on disk.
	last := io.NewSectionReader(f, end.write, contents.Size-end.write)
	_, err = io.Copy(io.NewOffsetWriter(f, end.write), last)
	if err = cmp.Or(err, f.Sync()); err != nil {
		return nil, nil, fmt.Errorf("the journal can't be brought to the disk: %w", err)
	}
	w := &Writer{file: f, anchor: anchor, chain: end.chain, end: contents.Size}
	w.writeClaim()
	return w, contents, nil
}

// ErrWrite is wrapped by what Sync fails with: the journal can be resumed up to its last record on disk.
var ErrWrite = errors.New("the journal can't be written")

// Append adds a record. Its body is a JSON object in one line, as json.Marshal
// writes it; one that has that look but isn't JSON makes a journal that [Open] refuses. Append
// keeps nothing of the slice. The record is on disk after the next Sync.
func (w *Writer) Append(body []byte) error {
	switch {
	case w.broken != nil:
		return w.broken
	case len(body) > MaxRecord:
		return fmt.Errorf("a record of %d bytes is too large for a journal, which takes %d", len(body), MaxRecord)
	case !isObject(body) || bytes.IndexByte(body, '\n') >= 0:
		return errors.New("a record of a journal is a JSON object in one line, and this is none")
	}
	if len(w.pending) == 0 {
		w.opening = w.chain.opening(time.Now())
	}
	if w.pending = w.chain.write(w.pending, w.opening, body); len(w.pending) > maxPending {
		return w.Sync()
	}
	return nil
}

// Sync brings what was appended to the disk: one write, and one wait for the disk. After an error nobody knows what is
// there, and the Writer refuses everything from then on; the journal can be opened again.
func (w *Writer) Sync() error {
	if w.broken != nil || len(w.pending) == 0 {
		return w.broken
	}
	_, err := w.file.WriteAt(w.pending, w.end)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		w.broken, w.pending = fmt.Errorf("%w: %w", ErrWrite, err), nil
		return w.broken // later appends and syncs fail in the same way
	}
	w.end += int64(len(w.pending))
	w.writeClaim()
	if w.pending = w.pending[:0]; cap(w.pending) > 1<<20 { // one large batch isn't paid for ever after
		w.pending = nil
	}
	return nil
}

// writeClaim has the anchor say what is on disk now. Nothing waits for it, and nothing depends on it: one
// that can't be written claims what it did before.
func (w *Writer) writeClaim() {
	if w.anchor != nil {
		w.claim = appendClaim(w.claim[:0], w.chain.next, w.chain.prev)
		w.anchor.WriteAt(w.claim, 0)
	}
}

// Close brings to the disk what was appended, and lets the journal go.
func (w *Writer) Close() error {
	err := w.Sync()
	if errors.Is(err, errClosed) {
		return nil
	}
	w.broken = errClosed
	if w.anchor != nil {
		w.anchor.Close()
	}
	return errors.Join(err, w.file.Close())
}

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
