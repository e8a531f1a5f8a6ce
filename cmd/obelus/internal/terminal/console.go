package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/source"
	"golang.org/x/term"
)

// errBack says that the person went back to the question.
var errBack = errors.New("back to the question")

// A console is a terminal that shows text and reads single keys.
type console struct {
	in, out *os.File
	style   Style
	lent    atomic.Bool // another program has the terminal

	mu    sync.Mutex
	found *term.State // how the terminal was before it was claimed; nil when it isn't

	rows int // of what was drawn last, the cursor's included
}

// claim takes the terminal: keys come at once, and nothing echoes them.
func (c *console) claim() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, err := term.MakeRaw(int(c.in.Fd()))
	if err == nil && c.found == nil {
		c.found = found
	}
	return err
}

// yield gives the terminal back as it was found. Once is enough, and more
// often does no harm.
func (c *console) yield() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil {
		_ = term.Restore(int(c.in.Fd()), c.found) // fails only where the terminal is gone
		c.found = nil
	}
}

// lend lets another program have the terminal for a while.
func (c *console) lend(work func() error) error {
	c.yield()
	c.lent.Store(true)
	defer c.lent.Store(false)
	err := work()
	if lost := c.claim(); lost != nil {
		return fmt.Errorf("%w: %w", errNobodyThere, lost)
	}
	return err
}

// print shows text. The terminal doesn't return to the first column by itself
// while it is claimed.
func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
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

// draw shows text that erase takes away again. It ends where keys are awaited.
func (c *console) draw(text string) {
	c.rows = 1 + strings.Count(text, "\n")
	c.print(text)
}

func (c *console) erase() {
	switch {
	case c.rows > 1:
		c.print(fmt.Sprintf("\r\x1b[%dA\x1b[J", c.rows-1))
	case c.rows == 1:
		c.print("\r\x1b[J")
	}
	c.rows = 0
}

// width is how many columns a line of text may fill: the terminal's, and no
// more than reads well. It is looked up every time, as a window may change.
func (c *console) width() int { return columnsOf(c.out) }

func columnsOf(stream any) int {
	columns := 0
	if fd, ok := Of(stream); ok {
		columns, _, _ = term.GetSize(fd) // 0 where it can't be told
	}
	if columns <= 0 {
		columns = 80
	}
	return max(12, min(100, columns)-1)
}

// glance is how often a wait for keys looks whether it should go on.
const glance = 50 * time.Millisecond

// read waits for what comes from the keyboard. Ctrl-C is what it is elsewhere:
// an interrupt.
func (c *console) read(ctx context.Context, into []byte, meanwhile func()) (int, error) {
	for {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if there, err := awaitKeys(c.in, glance); err != nil {
			return 0, fmt.Errorf("%w: %w", errNobodyThere, err)
		} else if there {
			break
		}
		meanwhile()
	}
	n, err := c.in.Read(into)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNobodyThere, err)
	}
	if strings.IndexByte(string(into[:n]), ctrlC) >= 0 {
		return 0, c.interrupt(ctx)
	}
	return n, nil
}

const ctrlC = 3

// interrupt passes a Ctrl-C on to whoever handles interrupts. Should nobody,
// it ends the program, as it would have done by itself: so the terminal is
// given back first.
func (c *console) interrupt(ctx context.Context) error {
	c.erase()
	c.yield()
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(os.Interrupt)
	}
	if err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return errStopAsked
}

// drain forgets the keys that were pressed before anything asked for them.
func (c *console) drain(ctx context.Context) error {
	for {
		there, err := awaitKeys(c.in, 0)
		if err != nil {
			return fmt.Errorf("%w: %w", errNobodyThere, err)
		}
		if !there {
			return nil
		}
		if _, err := c.read(ctx, make([]byte, 1024), func() {}); err != nil {
			return err
		}
	}
}

// together is the time within which no person presses two keys.
const together = 25 * time.Millisecond

// press waits for one key, a letter in lower case. It gives 0 for a paste, for
// several keys at once, and for those that send a sequence: no single key that
// somebody meant.
func (c *console) press(ctx context.Context, meanwhile func()) (rune, error) {
	buffer := make([]byte, 1024)
	n, err := c.read(ctx, buffer, meanwhile)
	if err != nil {
		return 0, err
	}
	key, size := utf8.DecodeRune(buffer[:n])
	single := size == n
	for {
		more, err := awaitKeys(c.in, together)
		if err != nil || !more {
			break
		}
		single = false
		if _, err := c.read(ctx, buffer, meanwhile); err != nil {
			return 0, err
		}
	}
	if !single {
		return 0, nil
	}
	if key >= 'A' && key <= 'Z' {
		key += 'a' - 'A'
	}
	return key, nil
}

// lines gives a function that reads a line of text, with the keys that edit
// one; what was entered before comes back by the arrow up. Esc and Ctrl-D go
// back.
func (c *console) lines(ctx context.Context) func(prompt string) (string, error) {
	editor := term.NewTerminal(&typing{console: c, ctx: ctx}, "")
	if columns, rows, err := term.GetSize(int(c.out.Fd())); err == nil && columns > 0 {
		_ = editor.SetSize(columns, rows)
	}
	return func(prompt string) (string, error) {
		editor.SetPrompt("  " + prompt) // unpainted: it counts characters
		line, err := editor.ReadLine()
		switch {
		case err == nil && utf8.RuneCountInString(line) >= longestLine:
			c.say(c.style.Red("!"), fmt.Sprintf("a line can't be longer than %d characters; set $EDITOR to enter more", longestLine-1))
			return "", errBack
		case err == nil:
			return line, nil
		}
		c.print("\n")
		if errors.Is(err, io.EOF) {
			return "", errBack
		}
		return "", err
	}
}

// longestLine is where the line editor stops taking characters, silently.
const longestLine = 4096

// Typing is a console as the line editor sees it.
type typing struct {
	*console
	ctx  context.Context
	part []byte // of a character whose end hasn't come
}

// Read gives what was typed, without bytes that are no characters: the line
// editor would wait for more behind each of them.
func (t *typing) Read(into []byte) (int, error) {
	for len(into) > utf8.UTFMax {
		n := copy(into, t.part)
		more, err := t.console.read(t.ctx, into[n:], func() {})
		if err != nil {
			return 0, err
		}
		text := into[:n+more]
		if string(text) == "\x1b" {
			return 0, errBack
		}
		whole := len(text) - source.Unfinished(text)
		t.part = bytes.Clone(text[whole:])
		if n := copy(into, bytes.ReplaceAll(bytes.ToValidUTF8(text[:whole], nil), []byte("\uFFFD"), nil)); n > 0 {
			return n, nil
		}
	}
	return 0, errBack // an escape sequence without end has filled the editor's buffer
}

func (t *typing) Write(text []byte) (int, error) { return t.out.Write(text) }
