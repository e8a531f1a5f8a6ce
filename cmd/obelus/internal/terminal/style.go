package terminal

import (
	"io"
	"os"

	"github.com/obelus-dev/obelus/compiler/diag"
	"golang.org/x/term"
)

// A Painted stream is colored or not, whatever it is.
type Painted struct {
	io.Writer
	Color bool
}

// fileOf is the file that a stream is, if it is one.
func fileOf(stream any) (*os.File, bool) {
	if p, ok := stream.(Painted); ok {
		stream = p.Writer
	}
	file, ok := stream.(*os.File)
	return file, ok
}

// Of is the terminal that something is, if it is one that can be
// written on with more than plain lines.
func Of(stream any) (fd int, ok bool) {
	file, isFile := fileOf(stream)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	fd = int(file.Fd())
	return fd, term.IsTerminal(fd)
}

// Seen reports whether what is written to a stream is seen on a terminal, of
// whatever kind.
var Seen = func(stream any) bool {
	file, isFile := fileOf(stream)
	return isFile && term.IsTerminal(int(file.Fd()))
}

// colorful reports whether a stream gets colours.
func colorful(stream any) bool {
	if p, ok := stream.(Painted); ok {
		return p.Color
	}
	_, ok := Of(stream)
	return ok && os.Getenv("NO_COLOR") == ""
}

// TextOptions fit findings to the stream that they are shown on.
func TextOptions(stream any) diag.TextOptions {
	o := diag.TextOptions{Color: colorful(stream), Terminal: Seen(stream)}
	if fd, ok := Of(stream); ok {
		if width, _, err := term.GetSize(fd); err == nil {
			o.Width = min(width, 140)
		}
	}
	return o
}

// A Style colours text, or doesn't.
type Style = diag.Style

// StyleFor is the style of what is written to a stream.
func StyleFor(stream any) Style { return Style(colorful(stream)) }
