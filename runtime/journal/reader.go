package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
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
	// Torn is how many bytes a crash left behind the last record, of a write that it cut short: nothing was done
	// because of what it said. While a run is going on it may also be a record that is just being written.
	Torn int64

	name string
	last []byte // the hash of the last record
	file File   // nil where the file has to be opened again
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

// Read reads and verifies a journal and changes nothing. It may be one that another process writes: then it is read to
// its last record. The error is a *[Fault] if the file isn't an intact journal.
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
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("the journal can't be read: %w", err)
	}
	contents, _, err := verify(f, path, size, known)
	return contents, err
}

// Bodies goes over the bodies of the records behind the header, one at a time, which is good until the next one comes.
// They are read from the file, and verified once more; an error is the last that comes. With the contents that [Open]
// has given, this is for as long as the Writer isn't closed.
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
			r, why, err := w.next()
			if err == io.EOF || why != "" || w.chain.next == c.Records && !bytes.Equal(r.hash, c.last) {
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

// A walker goes over the lines of a journal.
type walker struct {
	chain chain
	lines *bufio.Scanner
	line  []byte // the one just read, without its line break; of one that is too long, a part
	ended bool   // it has a line break
	start int64  // where it begins
	at    int64  // where the next begins
	write int64  // where the last write began
}

func newWalker(src io.ReaderAt, size int64) *walker {
	w := &walker{lines: bufio.NewScanner(io.NewSectionReader(src, 0, size))}
	w.lines.Buffer(make([]byte, 0, 64<<10), maxLine+2)
	w.lines.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 && (atEnd || len(data) > maxLine) {
			n = len(data)
		}
		if n == 0 {
			return 0, nil, nil
		}
		return n, data[:n], nil
	})
	return w
}

// scan reads the next line, or as much of it as a record could have.
func (w *walker) scan() bool {
	if !w.lines.Scan() {
		return false
	}
	w.start = w.at
	w.at += int64(len(w.lines.Bytes()))
	w.line, w.ended = bytes.CutSuffix(w.lines.Bytes(), []byte("\n"))
	return true
}

func (w *walker) err() error {
	if err := w.lines.Err(); err != nil {
		return fmt.Errorf("the journal can't be read: %w", err)
	}
	return nil
}

// next reads the next line and gives the record, good until the next one, or says why it is none. At the end of the
// file the error is io.EOF.
func (w *walker) next() (r record, why string, err error) {
	if !w.scan() {
		return r, "", cmp.Or(w.err(), io.EOF)
	}
	r, ok := parse(w.line)
	if len(w.line) > maxLine || !w.ended || !ok {
		return r, fmt.Sprintf("this isn't a record: record %d should stand here", w.chain.next), nil
	}
	if why = w.chain.accept(r); why == "" && r.synced == r.n {
		w.write = w.start
	}
	return r, why, nil
}

// verify reads a journal of the given size to its end, and compares it with what its anchor claims. The
// walker stands there.
func verify(src io.ReaderAt, name string, size int64, known claim) (*Contents, *walker, error) {
	w := newWalker(src, size)
	c := &Contents{name: name}
	for {
		r, why, err := w.next()
		switch {
		case err == io.EOF && c.Records == 0:
			err = noHeader(name)
		case err == io.EOF:
			if err = nil; c.Records < known.Records {
				err = &Fault{name, c.Records + 1, fmt.Sprintf("records %d to %d were on disk and are missing: "+
					"the end of the file was cut off", c.Records, known.Records-1), distrust}
			}
		case err != nil:
		case why != "":
			c.Torn, err = w.judge(why, name, size, known)
		case r.n == known.Records-1 && string(r.hash) != known.Hash:
			err = &Fault{name, r.n + 1, "it isn't the record that " + AnchorOf(name) + " names", distrust}
		default:
			if r.n == 0 {
				c.Header, c.First = slices.Clone(r.body), r.time
			} else {
				c.Ending = append(c.Ending[:0], r.body...)
			}
			c.Records, c.Last, c.Size = w.chain.next, r.time, w.at
			c.last = append(c.last[:0], r.hash...)
			continue
		}
		return c, w, err
	}
}

func noHeader(name string) error {
	return &Fault{name, 1, "there is no whole header, so the run had not begun when it was cut short",
		"delete the file and begin the run anew"}
}

const distrust = "don't go on from it: take an untouched copy, or begin a new run"

// judge reports whether a line that is no record, with all that follows it, is what a crash left of the last write, or
// a fault. The package's documentation has the reasons.
func (w *walker) judge(why, name string, size int64, known claim) (torn int64, err error) {
	k, left := w.chain.next, size-w.start
	if k == 0 {
		if err := headerProblem(w.line, w.ended, name); err != nil {
			return 0, err
		}
	}
	remains := !w.ended && len(w.line) <= maxLine || bytes.IndexByte(w.line, 0) >= 0
	if remains && left > int64(maxWrite) {
		remains = false
		why = fmt.Sprintf("record %d is damaged, and %d bytes follow where a crash leaves %d at most", k,
			left, maxWrite)
	} else {
		for k >= known.Records && w.scan() {
			if r, ok := parse(w.line); ok && r.n > k && r.synced > k {
				return 0, &Fault{name, k + 1,
					fmt.Sprintf("%s, and it was on disk before record %d was written", why, r.n), distrust}
			}
		}
	}
	switch err := w.err(); {
	case err != nil:
		return 0, err
	case k < known.Records || !remains:
		return 0, &Fault{name, k + 1, why, distrust}
	case k == 0:
		return 0, noHeader(name)
	}
	return left, nil
}

// headerProblem reports why a first line can't be the rest of a header of this version.
func headerProblem(line []byte, ended bool, name string) error {
	text := bytes.TrimRight(line[:min(len(line), len(thisVersion))], "\x00")
	if strings.HasPrefix(thisVersion, string(text)) && (!ended || len(text) == len(thisVersion)) {
		return nil
	}
	return &Fault{name, 1,
		"this isn't the journal of a run, or of another version of the format: this one begins with " + thisVersion,
		"name the file of a run, or take the obelus that wrote it"}
}

// extension is that of a journal, behind the id of its run.
const extension = ".jsonl"

// ID makes the id of a run: when it began, in UTC, the first 40 letters and digits of what its plan is called, and what
// keeps runs of one second apart, as 20261121-093012-refund-4f2a. It has lower-case ASCII letters, digits and hyphens
// only, and sorts by time.
func ID(start time.Time, name, suffix string) string {
	name = marks.ReplaceAllString(strings.ToLower(norm.NFKD.String(name)), "") // letters lose their accents
	name = strings.TrimLeft(gaps.ReplaceAllString(name, "-"), "-")
	name = strings.TrimRight(name[:min(len(name), 40)], "-")
	return start.UTC().Format("20060102-150405") + "-" + cmp.Or(name, "run") + "-" + suffix
}

var marks, gaps = regexp.MustCompile(`\p{Mn}+`), regexp.MustCompile(`[^a-z0-9]+`)

// Running reports whether a process writes a journal now.
func Running(path string) bool {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return locked(f)
}
