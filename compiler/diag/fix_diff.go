package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// contextLines is how many unchanged lines a difference shows round its changes.
const contextLines = 3

// maxDifference bounds the lines by which two texts are compared exactly; what
// differs more is shown as one block.
const maxDifference = 1000

// Diff writes what changes between two texts of one file as a unified diff, the
// form that patch and git apply read. Nothing is written when they are equal.
// For people, that is with a style that colours, hidden characters are spelt
// out; otherwise lines are as they are. The error is that of w.
func Diff(w io.Writer, name string, before, after []byte, o TextOptions) error {
	if bytes.Equal(before, after) {
		return nil
	}
	p := newPrinter(w, o)
	name = Escape(name)
	p.line("%s", p.paint(strong, "--- "+name))
	p.line("%s", p.paint(strong, "+++ "+name))
	changes := compare(splitLines(before), splitLines(after))
	for start := 0; start < len(changes); {
		if changes[start].mark == ' ' {
			start++
			continue
		}
		from, end, last := max(0, start-contextLines), start, start
		for ; end < len(changes) && end-last <= 2*contextLines; end++ {
			if changes[end].mark != ' ' {
				last = end
			}
		}
		end = min(len(changes), last+1+contextLines)
		p.hunk(changes, from, end)
		start = end
	}
	return p.out.Flush()
}

// A change is one line of a difference: ' ' is in both texts, '-' only in the
// first, '+' only in the second.
type change struct {
	mark byte
	text string
}

func (p *printer) hunk(changes []change, from, end int) {
	line := [2]int{1, 1}
	var size [2]int
	for i, c := range changes[:end] {
		for side, other := range []byte{'+', '-'} {
			if c.mark == other {
				continue
			}
			if i < from {
				line[side]++
			} else {
				size[side]++
			}
		}
	}
	for side := range line {
		if size[side] == 0 { // then the line before is named
			line[side]--
		}
	}
	p.line("%s", p.paint(cyan, fmt.Sprintf("@@ -%d,%d +%d,%d @@", line[0], size[0], line[1], size[1])))
	for _, c := range changes[from:end] {
		text, ended := strings.CutSuffix(c.text, "\n")
		if p.color {
			text = Escape(strings.TrimSuffix(text, "\r"))
		}
		row := string(c.mark) + text
		switch c.mark {
		case '-':
			row = p.paint(red, row)
		case '+':
			row = p.paint(green, row)
		}
		fmt.Fprintf(p.out, "%s\n", row)
		if !ended {
			p.line("\\ No newline at end of file")
		}
	}
}

// splitLines takes a text apart; every line but the last has its line feed.
func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compare finds a shortest list of changes from one text to another (Myers).
func compare(a, b []string) []change {
	var all []change
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		all = append(all, change{' ', a[head]})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	all = append(all, between(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, line := range a[len(a)-tail:] {
		all = append(all, change{' ', line})
	}
	return all
}

func between(a, b []string) []change {
	most := min(len(a)+len(b), maxDifference)
	furthest := make([]int, 2*most+3) // by diagonal, from the middle
	middle := most + 1
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, append([]int(nil), furthest[middle-d-1:middle+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := furthest[middle+k-1] + 1
			if k == -d || k != d && furthest[middle+k-1] < furthest[middle+k+1] {
				x = furthest[middle+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			furthest[middle+k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(a, b, trace)
			}
		}
	}
	var all []change
	for _, line := range a {
		all = append(all, change{'-', line})
	}
	for _, line := range b {
		all = append(all, change{'+', line})
	}
	return all
}

// walkBack turns the furthest points of each step into changes, last first.
func walkBack(a, b []string, trace [][]int) []change {
	var reversed []change
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		at := func(k int) int { return trace[d][k+d+1] }
		k := x - y
		from := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			from = k + 1
		}
		startX := at(from)
		startY := startX - from
		for x > startX && y > startY && x > 0 && y > 0 {
			x, y = x-1, y-1
			reversed = append(reversed, change{' ', a[x]})
		}
		if d == 0 {
			break
		}
		if x > startX {
			x--
			reversed = append(reversed, change{'-', a[x]})
		} else {
			y--
			reversed = append(reversed, change{'+', b[y]})
		}
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return reversed
}
