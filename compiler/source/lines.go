package source

import (
	"bytes"
	"iter"
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
		for row, base := 1, 0; base < len(text); row++ {
			line, next := text[base:], len(text)
			if end := bytes.IndexByte(line, '\n'); end >= 0 {
				line, next = line[:end], base+end+1
			}
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(bytes.TrimLeft(line, " \t\r")) > 0 {
				f := &File{Name: name, Format: JSON, Text: line, Row: row, Base: base}
				if !yield(f) {
					return
				}
			}
			base = next
		}
	}
}
