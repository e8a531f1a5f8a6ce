package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// A Comment is one # comment of a YAML file.
type Comment struct {
	Span Span   // from the # to the end of the line
	Text string // what follows the #, without blanks around it
}

// Comments are the comments that [Parse] came across, in the order of the text;
// none before Parse, and none in JSON.
func (f *File) Comments() []Comment { return f.comments }

// Lines goes over the lines of a .jsonl file that aren't empty: each is a JSON
// file of its own, whose places are counted in the whole.
func Lines(name string, text []byte) iter.Seq[*File] {
	return func(yield func(*File) bool) {
		for r := NewLineReader(name, bytes.NewReader(text), len(text)); ; {
			f, err := r.Next()
			if err != nil || !yield(f) {
				return
			}
		}
	}
}

// Unfinished is how many bytes at the end of a text begin a character whose end hasn't
// come.
func Unfinished(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if utf8.FullRune(text[at:]) {
				return 0
			}
			return back
		}
	}
	return 0
}

// A LineReader takes a stream apart into lines, each a JSON file of its own with
// places counted in the whole. It keeps no more of a line than one byte beyond the
// limit: the parser then reports that it is too large.
type LineReader struct {
	name    string
	in      *bufio.Reader
	limit   int
	row     int
	base    int
	endless bool // the last line is too long
}

// patience is how many times the limit a line may have that is passed over.
const patience = 64

// NewLineReader reads lines of at most so many bytes from a stream that has a name.
func NewLineReader(name string, in io.Reader, limit int) *LineReader {
	return &LineReader{name: name, in: bufio.NewReaderSize(in, 1<<16), limit: limit}
}

// Offset is how many bytes have been read.
func (l *LineReader) Offset() int { return l.base }

// Next is the next line that isn't empty, without its end; [io.EOF] ends them.
func (l *LineReader) Next() (*File, error) {
	for {
		if l.endless {
			return nil, fmt.Errorf("line %d goes on behind %d MiB, and nothing after that is read", l.row,
				patience*l.limit>>20)
		}
		text, size, err := l.line()
		if size == 0 && err != nil {
			return nil, err
		}
		l.row++
		base := l.base
		l.base += size
		if text = bytes.TrimRight(text, "\r\n"); len(bytes.TrimSpace(text)) > 0 {
			return &File{Name: l.name, Format: JSON, Text: text, Row: l.row, Base: base}, nil
		}
	}
}

// line reads on to the end of a line, and gives how many bytes it had.
func (l *LineReader) line() (text []byte, size int, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		size += len(part)
		text = append(text, part[:min(len(part), l.limit+1-len(text))]...)
		if l.endless = size > patience*l.limit; l.endless || !errors.Is(err, bufio.ErrBufferFull) {
			return text, size, err
		}
	}
}

// hidden is what of a file's text isn't shown to people in excerpts.
type hidden struct {
	mu     sync.Mutex
	parsed bool // spans are all that is to be hidden
	spans  []Span
}

// Hide keeps a span of the file from being shown in excerpts.
func (f *File) Hide(s Span) {
	f.hidden.mu.Lock()
	defer f.hidden.mu.Unlock()
	f.hidden.spans = append(f.hidden.spans, s)
}

// SetParsed declares that [File.Hide] is called for everything that is to be hidden.
func (f *File) SetParsed() {
	f.hidden.mu.Lock()
	defer f.hidden.mu.Unlock()
	f.hidden.parsed = true
}

// assigned is a name with its value, in YAML or JSON that can't be parsed or that isn't.
var assigned = regexp.MustCompile(
	`([A-Za-z_][\w-]*)["']?[ \t]*[:=][ \t]*("(?:[^"\\\r\n]|\\.)*"?|'[^'\r\n]*'?|[^\s"'{\[,}\]][^\r\n,}\]]*)`)

// HiddenAt reports which bytes between two offsets aren't to be shown: of a byte it gives
// where the hidden span that it is in begins and ends, or 0 and 0. In a file that isn't
// parsed the values after names of secrets are hidden as well.
func (f *File) HiddenAt(from, to int) func(at int) (start, end int) {
	h := &f.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	var spans []Span
	for _, s := range h.spans {
		if s.Start < to && from <= s.End {
			spans = append(spans, s)
		}
	}
	if !h.parsed {
		from, to = max(0, from-256), min(len(f.Text), to+256)
		for _, found := range assigned.FindAllSubmatchIndex(f.Text[from:to], -1) {
			if naming.SecretKey(string(f.Text[from+found[2] : from+found[3]])) {
				spans = append(spans, Span{f, from + found[4], from + found[5]})
			}
		}
	}
	return func(at int) (start, end int) {
		if i := slices.IndexFunc(spans, func(s Span) bool { return s.Start <= at && at < s.End }); i >= 0 {
			return spans[i].Start, spans[i].End
		}
		return 0, 0
	}
}
