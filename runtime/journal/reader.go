package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"
)

// Contents are what a journal holds, verified.
type Contents struct {
	// Header is the body of the first record.
	Header json.RawMessage
	// Ending is the body of the last record, or nil if there is only the header.
	Ending json.RawMessage
	// Records counts the records, the header among them.
	Records int
	// Begun and Last are when the first and the last record were written, in UTC.
	First, Last time.Time
	// Size is how many bytes the records take. What is torn comes after them.
	Size int64
	// Torn is what a crash left behind the last record, or nil. While a run is
	// going on it may also be a record that is just being written.
	Torn *Torn

	name string
	last []byte // the hash of the last record
	file File   // nil where the file has to be opened again
}

// Torn is the remains of a write that a crash cut short. Nothing was done because of
// what it said.
type Torn struct {
	Record int   // the number of the first record that is lost
	Offset int64 // the byte where it begins
	Bytes  int64 // from there to the end of the file
}

func (t *Torn) String() string {
	return fmt.Sprintf(
		"the last %d bytes of the journal, from record %d on, are what a crash left of a write that didn't end",
		t.Bytes, t.Record)
}

// A Fault says why a file isn't an intact journal.
type Fault struct {
	Path string
	Line int    // counted from 1; 0 if it isn't about one
	Why  string // what is wrong
	Do   string // what to do about it
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s; %s", f.Path, f.Why, f.Do)
	}
	return fmt.Sprintf("%s:%d: %s; %s", f.Path, f.Line, f.Why, f.Do)
}

// Read reads and verifies a journal and changes nothing. It may be one that
// another process writes: then it is read to its last record. The error is a *[Fault] if
// the file isn't an intact journal.
func Read(path string) (*Contents, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var known claim // read before the size, since an active run continues
	if anchor, err := openRegular(AnchorOf(path), os.O_RDONLY); err == nil {
		known = readClaim(anchor)
		anchor.Close()
	}
	size, err := disk{f}.Size()
	if err != nil {
		return nil, fmt.Errorf("the journal can't be read: %w", err)
	}
	contents, _, err := verify(f, path, size, known)
	if err != nil {
		return nil, err
	}
	return contents, nil
}

// Bodies goes over the bodies of the records behind the header, one at a time,
// which is good until the next one comes. They are read from the file, and verified once
// more; an error is the last that comes. With the contents that [Open] has given, this is
// for as long as the Writer isn't closed.
func (c *Contents) Bodies() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		src := io.ReaderAt(c.file)
		if c.file == nil {
			f, err := openRegular(c.name, os.O_RDONLY)
			if err != nil {
				yield(nil, err)
				return
			}
			defer f.Close()
			src = f
		}
		w := newWalker(src, c.Size)
		for w.chain.next < c.Records {
			r, bad, err := w.step()
			if err == io.EOF || bad != nil || w.chain.next == c.Records && !bytes.Equal(r.hash, c.last) {
				err = &Fault{Path: c.name, Line: w.chain.next, Why: "it was changed while it was read",
					Do: "see who writes it, and try again"}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if r.n > 0 && !yield(r.body, nil) {
				return
			}
		}
	}
}

type walker struct {
	chain  chain
	lines  *bufio.Reader
	joined []byte // a line that is longer than the reader's buffer
	at     int64  // where the next line begins
	write  int64  // where the last write began

	stranger stranger // the line just read, until it has proved to be a record
}

func newWalker(src io.ReaderAt, size int64) *walker {
	return &walker{
		chain: newChain(),
		lines: bufio.NewReaderSize(io.NewSectionReader(src, 0, size), 64<<10),
	}
}

type stranger struct {
	line  []byte // without its line break; of one that is too long, a beginning
	at    int64  // where it begins
	ended bool   // whether a line break follows
	long  bool   // whether it is longer than any record
	why   string // what is wrong with it
}

// step reads the next line and gives a record or a stranger, good until the next
// step. At the end of the file the error is io.EOF.
func (w *walker) step() (record, *stranger, error) {
	s := &w.stranger
	if err := w.line(); err != nil {
		return record{}, nil, err
	}
	r, ok := parse(s.line)
	switch {
	case s.long:
		s.why = fmt.Sprintf("the line is longer than %d bytes, and record %d should stand here", maxLine, w.chain.next)
		return record{}, s, nil
	case !s.ended:
		s.why = fmt.Sprintf("record %d has no end", w.chain.next)
		return record{}, s, nil
	case !ok:
		s.why = fmt.Sprintf("this isn't a record: record %d should stand here", w.chain.next)
		return record{}, s, nil
	}
	if s.why = w.chain.accept(r); s.why != "" {
		return record{}, s, nil
	}
	if r.synced == r.n {
		w.write = s.at
	}
	return r, nil, nil
}

// line reads a line, or as much of it as a record could have. At the end of the
// file the error is io.EOF.
func (w *walker) line() error {
	w.joined = w.joined[:0]
	w.stranger = stranger{at: w.at}
	s := &w.stranger
	for {
		part, err := w.lines.ReadSlice('\n')
		w.at += int64(len(part))
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return fmt.Errorf("the journal can't be read: %w", err)
		}
		s.line = part
		if len(w.joined) > 0 || err == bufio.ErrBufferFull {
			w.joined = append(w.joined, part...)
			s.line = w.joined
		}
		if err == nil {
			s.ended = true
			s.line = s.line[:len(s.line)-1]
		}
		s.long = len(s.line) > maxLine
		switch {
		case len(s.line) == 0 && !s.ended:
			return io.EOF
		case err != bufio.ErrBufferFull || s.long:
			return nil
		}
	}
}

// verify reads a journal of the given size to its end, and compares it with what its anchor claims. The
// walker stands there.
func verify(src io.ReaderAt, name string, size int64, known claim) (*Contents, *walker, error) {
	w := newWalker(src, size)
	c := &Contents{name: name}
	for {
		r, bad, err := w.step()
		switch {
		case err == io.EOF && w.chain.next == 0:
			return nil, nil, noHeader(name)
		case err == io.EOF:
			if why := known.missing(c.Records); why != "" {
				return nil, nil, &Fault{Path: name, Line: c.Records + 1, Why: why, Do: distrust}
			}
			return c, w, nil
		case err != nil:
			return nil, nil, err
		case bad != nil:
			if c.Torn, err = w.judge(*bad, name, size, known); err != nil {
				return nil, nil, err
			}
			return c, w, nil
		case r.n == known.Records-1 && string(r.hash) != known.Hash:
			return nil, nil, &Fault{Path: name, Line: r.n + 1,
				Why: "it isn't the record that " + AnchorOf(name) + " names", Do: distrust}
		case r.n == 0:
			c.Header, c.First = slices.Clone(r.body), r.time
		default:
			c.Ending = append(c.Ending[:0], r.body...)
		}
		c.Records, c.Last, c.Size = w.chain.next, r.time, w.at
		c.last = append(c.last[:0], r.hash...)
	}
}

func noHeader(name string) error {
	return &Fault{Path: name, Line: 1, Why: "there is no whole header, so the run had not begun when it was cut short",
		Do: "delete the file and begin the run anew"}
}

const distrust = "don't go on from it: take an untouched copy, or begin a new run"

// judge reports whether a stranger, with all that follows it, is what a crash left of the last write, or
// a fault. The package's documentation has the reasons.
func (w *walker) judge(s stranger, name string, size int64, known claim) (*Torn, error) {
	k := w.chain.next
	if k == 0 {
		if err := headerProblem(s, name); err != nil {
			return nil, err
		}
	}
	fault := &Fault{Path: name, Line: k + 1, Why: s.why, Do: distrust}
	remains := !s.ended && !s.long || bytes.IndexByte(s.line, 0) >= 0
	switch {
	case k < known.Records:
		return nil, fault
	case remains && size-s.at > int64(maxWrite):
		fault.Why = fmt.Sprintf("record %d is damaged, and %d bytes follow where a crash leaves %d at most", k,
			size-s.at, maxWrite)
		return nil, fault
	}
	later, err := w.laterWrite(k)
	switch {
	case err != nil:
		return nil, err
	case later > 0:
		fault.Why = fmt.Sprintf("%s, and it was on disk before record %d was written", s.why, later)
	case remains && k == 0:
		return nil, noHeader(name)
	case remains:
		return &Torn{Record: k, Offset: s.at, Bytes: size - s.at}, nil
	}
	return nil, fault
}

// headerProblem reports why a first line can't be the rest of a header of this version.
func headerProblem(s stranger, name string) error {
	text := bytes.TrimRight(s.line[:min(len(s.line), len(magic))], "\x00")
	if !bytes.HasPrefix([]byte(magic), text) || s.ended && len(text) < len(magic) {
		return &Fault{Path: name, Line: 1, Why: "this isn't the journal of a run: that begins with " + magic + "1,",
			Do: "name the file of a run"}
	}
	version, _, ok := cutNumber(s.line[min(len(s.line), len(magic)):], ",")
	if ok && version != 1 {
		return &Fault{Path: name, Line: 1,
			Why: fmt.Sprintf("the journal is of version %d of the format, and this obelus reads version 1", version),
			Do:  "take the obelus that wrote it, or a newer one"}
	}
	return nil
}

// laterWrite looks through the rest of the file for a record that says that record k was on disk before,
// and gives the number of that record, or 0.
func (w *walker) laterWrite(k int) (int, error) {
	for {
		if err := w.line(); err == io.EOF {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
		if r, ok := parse(w.stranger.line); ok && r.n > k && r.synced > k {
			return r.n, nil
		}
	}
}
