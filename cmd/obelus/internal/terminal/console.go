package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// errBack reports that the person went back to the question.
var errBack = errors.New("back to the question")

// A console is a terminal that shows text and reads lines.
type console struct {
	in, out *os.File
	style   Style
	lent    atomic.Bool // an editor has the terminal
}

// lend lets another program have the terminal for a while.
func (c *console) lend(work func() error) error {
	c.lent.Store(true)
	defer c.lent.Store(false)
	return work()
}

func (c *console) print(text string) {
	_, _ = io.WriteString(c.out, text) // a terminal that can't be written can't be read either
}

// say shows a line with a mark.
func (c *console) say(mark, words string) {
	p := &page{width: c.width()}
	p.text(4, plainly, words)
	c.print("  " + mark + strings.TrimPrefix(p.b.String(), "   "))
}

// hint shows what may be entered.
func (c *console) hint(words string) {
	p := &page{width: c.width()}
	p.text(2, c.style.Faint, words)
	c.print(p.b.String())
}

// width is how many columns a line of text may fill. It is looked up every time, as a window may change.
func (c *console) width() int { return columnsOf(c.out) }

func columnsOf(stream any) int {
	columns := 0
	if fd, ok := Of(stream); ok {
		columns, _, _ = term.GetSize(fd) // 0 where the terminal doesn't say
	}
	if columns <= 0 {
		columns = 80
	}
	return max(12, min(100, columns)-1)
}

// poll is how often a wait for a line checks whether the question was taken back.
const poll = 50 * time.Millisecond

// longestLine is how many bytes of a line a terminal keeps.
const longestLine = 4095

// line reads one line behind a prompt, without its end. Ctrl-D gives errStopAsked, and a terminal that is gone
// errNoReviewer.
func (c *console) line(ctx context.Context, prompt string) (string, error) {
	c.print("  " + prompt + " ")
	var line []byte
	for buffer := make([]byte, longestLine+1); ; {
		n, err := c.read(ctx, buffer)
		if err == nil && n == 0 && len(line) == 0 {
			err = errStopAsked
		}
		if err != nil {
			c.print("\n")
			return "", err
		}
		line = append(line, buffer[:n]...)
		if text, ended := strings.CutSuffix(string(line), "\n"); ended {
			if len(text) >= longestLine {
				c.say(c.style.Red("!"), fmt.Sprintf("a line has at most %d bytes; set $EDITOR to enter more", longestLine-1))
				return "", errBack
			}
			return strings.TrimSpace(strings.ToValidUTF8(text, "")), nil
		}
	}
}

// read waits for what the terminal has: a line, or nothing after Ctrl-D.
func (c *console) read(ctx context.Context, into []byte) (int, error) {
	for ready := false; !ready; {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		var err error
		if ready, err = awaitKeys(c.in, poll); err != nil {
			return 0, fmt.Errorf("%w: %w", errNoReviewer, err)
		}
	}
	n, err := c.in.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%w: %w", errNoReviewer, err)
	}
	if n == 0 && !term.IsTerminal(int(c.in.Fd())) { // it was closed; after Ctrl-D it is a terminal still
		return 0, errNoReviewer
	}
	return n, nil
}

// drain drops the lines that were entered before anything asked for them.
func (c *console) drain(ctx context.Context) error {
	for {
		ready, err := awaitKeys(c.in, 0)
		if err != nil {
			return fmt.Errorf("%w: %w", errNoReviewer, err)
		}
		if !ready {
			return nil
		}
		if n, err := c.read(ctx, make([]byte, longestLine+1)); err != nil || n == 0 {
			return err
		}
	}
}
