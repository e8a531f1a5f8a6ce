// Package source turns text into one tree with exact places.
//
// A [File] is the text as it came, a [Node] is a value in it, and a [Span] is
// where something stands. YAML and JSON give the same tree, so that nothing
// after this package asks which of the two it was. Everything hostile about
// text is met here, before any recursion.
//
// Both readers are our own and go over the bytes once. A tree built from the
// tokens or the syntax tree of goccy/go-yaml would inherit what was measured
// there: places that drift, times that grow with the square of the text (runs
// of <, tabs in double quotes, empty lines below a literal), and plans that it
// reads as something else without a word (a key below an empty item becomes
// part of that item). Its parser, its copy of the YAML test suite and jsontext
// are what the tests hold the readers against.
//
// What the contract leaves open, and how it is read here:
//
//   - Lines inside of brackets may be indented by any number of spaces, also
//     where YAML wants them further in than the key.
//   - Lines on which a quoted text continues must be further in than the key, as
//     YAML wants: a forgotten quote is then found where it was forgotten.
//   - NUL is refused as an escape, too.
//   - A number that isn't zero but would become zero is beyond float64.
//   - y and n are text to everybody and earn no warning; dates neither.
//   - A byte order mark may begin YAML, not JSON, and counts as no column.
package source

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Format says how a file's text is read.
type Format uint8

const (
	// YAML is one YAML 1.2 document, core schema.
	YAML Format = iota
	// YAMLData is YAML whose keys are texts, quoted or not: 200 is "200".
	YAMLData
	// JSON is one JSON value (RFC 8259), strictly.
	JSON
	// JSONData is JSON that says what a plan may not: NUL in its texts, and integers
	// beyond 2^53 that float64 holds without losing a digit.
	JSONData
)

// A File is one text with a name for people.
type File struct {
	// Name is shown in findings, as the user wrote it; "-" is standard input.
	Name string
	// Format is chosen by NewFile from the name and may be set before Parse.
	Format Format
	// Text is the file as it came, byte for byte. It is never changed, but see Grow.
	Text []byte
	// Row, if above zero, says that this text is one line of a larger .jsonl
	// file: lines count from here, and Base is added to every byte offset.
	Row, Base int

	commenting sync.Once // a file of several documents may be parsed side by side
	comments   []Comment
	hidden     hidden

	once  sync.Once
	lines []int // the offset at which each line begins
	runes []int // characters before each runeStep-th byte

	counting sync.Once
	words    map[string]int // how often each is in the text
}

// runeStep is the distance in bytes between two counted places: it bounds what
// finding a column costs on a file of one enormous line.
const runeStep = 1 << 12

// NewFile names a text. A name that ends in .json, or a text whose first
// character other than white space is '{' or '[' under the name "-", is JSON;
// anything else is YAML.
func NewFile(name string, text []byte) *File {
	f := &File{Name: name, Text: text}
	if strings.HasSuffix(strings.ToLower(name), ".json") {
		f.Format = JSON
	}
	if name == "-" {
		if start := bytes.TrimLeft(text, " \t\r\n"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
			f.Format = JSON
		}
	}
	return f
}

// Mentions counts where a word stands alone in the text: between characters that
// aren't letters, digits, _ or -. What isn't one such word is mentioned nowhere.
func (f *File) Mentions(word string) int {
	f.counting.Do(func() {
		f.words = map[string]int{}
		for w := range bytes.FieldsFuncSeq(f.Text, func(r rune) bool {
			return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			f.words[string(w)]++
		}
	})
	return f.words[word]
}

// byteOrderMark may begin a YAML file. It is no character of the first line.
const byteOrderMark = "\uFEFF"

// Position is a place as a person counts it: Line and Column from 1, Column in
// Unicode characters; Offset in bytes from 0.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

// Position finds the line and column of a byte offset. An offset outside the
// text is moved to its nearer end. A line ends at LF, CRLF or CR.
func (f *File) Position(offset int) Position {
	f.once.Do(f.index)
	offset = max(0, min(offset, len(f.Text)))
	line := sort.SearchInts(f.lines, offset+1) - 1
	start := f.lines[line]
	p := Position{Line: line + 1, Column: f.runesTo(offset) - f.runesTo(start) + 1, Offset: offset + f.Base}
	if line == 0 && offset >= len(byteOrderMark) && bytes.HasPrefix(f.Text, []byte(byteOrderMark)) {
		p.Column--
	}
	if f.Row > 0 {
		p.Line += f.Row - 1
	}
	return p
}

// Line is the text of the line (from 1, as Position counts) without its end.
func (f *File) Line(line int) string {
	f.once.Do(f.index)
	if f.Row > 0 {
		line -= f.Row - 1
	}
	if line < 1 || line > len(f.lines) {
		return ""
	}
	end := len(f.Text)
	if line < len(f.lines) {
		end = f.lines[line]
	}
	text := f.Text[f.lines[line-1]:end]
	if line == 1 {
		text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	}
	return strings.TrimRight(string(text), "\r\n")
}

func (f *File) index() {
	f.lines = []int{0}
	count := 0
	for i, b := range f.Text {
		if i%runeStep == 0 {
			f.runes = append(f.runes, count)
		}
		if utf8.RuneStart(b) {
			count++
		}
		if b == '\n' || b == '\r' && (i+1 == len(f.Text) || f.Text[i+1] != '\n') {
			f.lines = append(f.lines, i+1)
		}
	}
}

// runesTo counts the characters that begin before offset.
func (f *File) runesTo(offset int) int {
	if len(f.runes) == 0 {
		return 0
	}
	step := min(offset/runeStep, len(f.runes)-1)
	count := f.runes[step]
	for _, b := range f.Text[step*runeStep : offset] {
		if utf8.RuneStart(b) {
			count++
		}
	}
	return count
}

// A Span is a range of bytes of one file: Start inclusive, End exclusive,
// counted in File.Text. The zero Span is nowhere.
type Span struct {
	File       *File
	Start, End int
}

// Known reports whether the span is anywhere at all.
func (s Span) Known() bool { return s.File != nil }

// From is the place of the span's first character.
func (s Span) From() Position {
	if s.File == nil {
		return Position{Line: 1, Column: 1}
	}
	return s.File.Position(s.Start)
}

// To is the place just after the span's last character.
func (s Span) To() Position { return Span{s.File, s.End, s.End}.From() }

// Where is the beginning of a known span for people: file:line:column.
func (s Span) Where() string {
	from := s.From()
	return fmt.Sprintf("%s:%d:%d", s.File.Name, from.Line, from.Column)
}

// Head is the first line of it: a place that a person can look at.
func (s Span) Head() Span {
	for i := s.Start; i < s.End && s.File != nil; i++ {
		if isBreak(s.File.Text[i]) {
			s.End = i
			break
		}
	}
	return s
}

// Text is what stands there.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return string(s.File.Text[s.Start:s.End])
}
