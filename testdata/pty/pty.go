//go:build linux

package pty

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/text/width"
)

// A Terminal is a real pseudo-terminal: the program under test has its one end, and
// behind the other a person sits who sees a screen and presses keys.
type Terminal struct {
	Slave *os.File // the program's end

	t        *testing.T
	keyboard *os.File

	mu     sync.Mutex
	screen *screen
	raw    strings.Builder // what came, byte for byte
	since  int             // how much of it had come when keys were last pressed
}

// Open makes a terminal of so many columns, which is closed when the test ends.
func Open(t *testing.T, columns int) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there is no pseudo-terminal to be had: %v", err)
	}
	number := 0
	control(t, master, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0) })
	control(t, master, func(fd int) (err error) {
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Terminal{t: t, keyboard: master, Slave: slave, screen: newScreen(columns)}
	p.Resize(columns)
	var ended sync.WaitGroup
	ended.Go(p.watch)
	t.Cleanup(func() {
		slave.Close()
		ended.Wait()
		master.Close()
	})
	return p
}

// control asks a file for something without changing how it is read: its end is
// to be closed while somebody reads.
func control(t *testing.T, file *os.File, ask func(fd int) error) {
	t.Helper()
	conn, err := file.SyscallConn()
	if err == nil {
		var refused error
		err = errors.Join(conn.Control(func(fd uintptr) { refused = ask(int(fd)) }), refused)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// HangUp takes the person's end away.
func (p *Terminal) HangUp() { p.keyboard.Close() }

// watch shows what comes until the other end is closed.
func (p *Terminal) watch() {
	buffer := make([]byte, 4096)
	rest := 0
	for {
		n, err := p.keyboard.Read(buffer[rest:])
		if err != nil {
			return
		}
		p.mu.Lock()
		p.raw.Write(buffer[rest : rest+n])
		rest = copy(buffer, p.screen.show(buffer[:rest+n]))
		p.mu.Unlock()
	}
}

// Resize changes how many columns there are.
func (p *Terminal) Resize(columns int) {
	control(p.t, p.keyboard, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: 50})
	})
	p.mu.Lock()
	p.screen.columns = columns
	p.mu.Unlock()
}

// Press presses keys; all that are given at once arrive at once.
func (p *Terminal) Press(keys string) {
	p.t.Helper()
	p.mu.Lock()
	p.since = p.raw.Len()
	p.mu.Unlock()
	if _, err := p.keyboard.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// Sees waits until some text is on the screen.
func (p *Terminal) Sees(text string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("the screen:\n%s", p.Text())
		}
	}()
	Eventually(p.t, fmt.Sprintf("the screen shows %q", text), func() bool { return strings.Contains(p.Text(), text) })
}

// Asked waits until keys are awaited, after those that were pressed.
func (p *Terminal) Asked() {
	p.t.Helper()
	p.Prompted(">")
}

// Prompted waits for one of these as the beginning of the last line.
func (p *Terminal) Prompted(prompts ...string) {
	p.t.Helper()
	Eventually(p.t, fmt.Sprintf("the last line begins with one of %q; the screen was\n%s", prompts, p.Text()), func() bool {
		return p.IsPrompted(prompts...)
	})
}

// IsPrompted reports whether one of these is the beginning of the last line, since keys
// were last pressed.
func (p *Terminal) IsPrompted(prompts ...string) bool {
	news := p.News()
	return slices.ContainsFunc(prompts, func(prompt string) bool {
		return strings.HasSuffix(news, "\n  "+prompt+" ") || strings.HasSuffix(news, "\x1b[J  "+prompt+" ")
	})
}

// News is what came since keys were last pressed, without its colours.
func (p *Terminal) News() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Paint.ReplaceAllString(p.raw.String()[p.since:], "")
}

// Paint is a sequence that colours text.
var Paint = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Settled waits until all that was written is on the screen.
func (p *Terminal) Settled() string {
	p.t.Helper()
	const mark = "\x1b]settled\a"
	if _, err := p.Slave.WriteString(mark); err != nil {
		p.t.Fatal(err)
	}
	Eventually(p.t, "the screen has settled", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return strings.Contains(p.raw.String(), mark) // more may have come since
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := strings.Replace(p.raw.String(), mark, "", 1)
	p.raw.Reset()
	p.raw.WriteString(kept)
	return p.screen.text()
}

// Text is what is on the screen.
func (p *Terminal) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.text()
}

// Bytes are all that came.
func (p *Terminal) Bytes() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raw.String()
}

// AtLineStart reports whether the cursor is in the first column.
func (p *Terminal) AtLineStart() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.col == 0
}

// Modes are how the terminal treats keys.
func (p *Terminal) Modes() unix.Termios {
	modes, err := unix.IoctlGetTermios(int(p.Slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *modes
}

// Restored checks that the terminal is as it was found.
func (p *Terminal) Restored(before unix.Termios) {
	p.t.Helper()
	if after := p.Modes(); after != before {
		p.t.Errorf("the terminal isn't as it was found: %+v, not %+v", after, before)
	}
}

// TypedAhead waits until so many bytes lie in the terminal, unread.
func (p *Terminal) TypedAhead(n int) {
	p.t.Helper()
	Eventually(p.t, "the keys have arrived", func() bool {
		there, err := unix.IoctlGetInt(int(p.Slave.Fd()), unix.TIOCINQ)
		return err == nil && there >= n
	})
}

// A screen shows what a terminal shows, as far as this program goes: it knows
// the end of line and of the row, and the sequences that move, clear and paint.
// Anything else that begins with Esc, and any other control character, is drawn
// as the noise that it would be.
type screen struct {
	columns  int
	rows     [][]string
	row, col int
}

func newScreen(columns int) *screen { return &screen{columns: columns, rows: [][]string{nil}} }

// show takes bytes and gives back those of a character or sequence without end.
func (s *screen) show(text []byte) (rest []byte) {
	for len(text) > 0 {
		size := 1
		switch text[0] {
		case '\r':
			s.col = 0
		case '\n':
			s.down()
		case 0x1b:
			n, whole := s.sequence(text)
			if !whole {
				return text
			}
			size = n
		default:
			if !utf8.FullRune(text) {
				return text
			}
			r, n := utf8.DecodeRune(text)
			size = n
			s.put(r)
		}
		text = text[size:]
	}
	return nil
}

func (s *screen) down() {
	s.row++
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
}

func (s *screen) put(r rune) {
	if r < ' ' || r == 0x7f {
		r = '☠'
	}
	wide := columnsOf(r)
	if wide == 0 && s.col > 0 && len(s.rows[s.row]) >= s.col {
		s.rows[s.row][s.col-1] += string(r)
		return
	}
	if s.col+wide > s.columns {
		s.col = 0
		s.down()
	}
	for len(s.rows[s.row]) < s.col+wide {
		s.rows[s.row] = append(s.rows[s.row], " ")
	}
	s.rows[s.row][s.col] = string(r)
	if wide == 2 {
		s.rows[s.row][s.col+1] = ""
	}
	s.col += wide
}

// columnsOf is how many columns a character takes, none where it joins the one before.
func columnsOf(r rune) int {
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && (kind == width.EastAsianWide || kind == width.EastAsianFullwidth):
		return 2
	}
	return 1
}

// sequence carries out what begins with Esc, and tells how long it is.
func (s *screen) sequence(text []byte) (size int, whole bool) {
	if len(text) < 2 {
		return 0, false
	}
	if text[1] == ']' { // only ever written by settled
		end := strings.IndexByte(string(text), '\a')
		return end + 1, end >= 0
	}
	if text[1] != '[' {
		s.put('☠')
		return 1, true
	}
	n, at := 0, 2
	for ; at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at] == ';'); at++ {
		if text[at] != ';' {
			n = 10*n + int(text[at]-'0')
		}
	}
	if at == len(text) {
		return 0, false
	}
	line := s.rows[s.row]
	switch text[at] {
	case 'A':
		s.row = max(0, s.row-max(1, n))
	case 'B':
		s.row = min(len(s.rows)-1, s.row+max(1, n))
	case 'C':
		s.col = min(s.columns-1, s.col+max(1, n))
	case 'D':
		s.col = max(0, s.col-max(1, n))
	case 'J':
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = line[:min(len(line), s.col)]
	case 'K':
		s.rows[s.row] = line[:min(len(line), s.col)]
	case 'm':
	default:
		s.put('☠')
	}
	return at + 1, true
}

func (s *screen) text() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Patience is how long a test waits for what is sure to come, on a machine that others
// keep busy: only one that would wait for ever is ended by it.
const Patience = 2 * time.Minute

// Eventually waits until something holds.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(Patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it never came that %s", what)
		}
	}
}
