package journal

import (
	"bytes"
	"io"
	"os"
	"slices"
)

// glanced is how much of a file's end is read first: more than most records have.
const glanced = 16 << 10

// glance reads a journal's first record and its last, and verifies these two. It
// gives nil where the file doesn't end as a journal does that is whole, so that
// there is more to find out; half a line that a running process has just begun is
// no such thing.
func glance(path string, running bool) *Contents {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := disk{f}.Size()
	if err != nil {
		return nil
	}
	w := newWalker(f, size)
	head, bad, err := w.step()
	if err != nil || bad != nil {
		return nil
	}
	c := &Contents{Header: slices.Clone(head.body), Records: 1, First: head.time, Last: head.time, Size: w.at, name: path, last: slices.Clone(head.hash)}
	c.open = func() (source, error) { return openRegular(path, os.O_RDONLY) }
	if size == c.Size {
		return c
	}
	line, prev, end := lastLine(f, c.Size, size, running)
	if line == nil {
		return nil
	}
	if end == c.Size {
		return c // there is no other record yet
	}
	last, ok := parse(line)
	if !ok || last.n == 0 {
		return nil
	}
	chain := newChain()
	chain.next, chain.prev = last.n, append(chain.prev, prev...)
	chain.synced = last.synced
	if chain.accept(last) != "" {
		return nil
	}
	c.Ending, c.Records, c.Last, c.Size, c.last = slices.Clone(last.body), last.n+1, last.time, end, slices.Clone(last.hash)
	return c
}

// lastLine is the last whole line of a file that begins at or after from, without
// its line break, with the hash that the line before it ends in, and where it ends. It
// is nil if something else stands at the end, and as long as nothing if there is
// no whole line yet.
func lastLine(f io.ReaderAt, from, size int64, running bool) (line, prev []byte, end int64) {
	for window := int64(glanced); ; window *= 8 {
		begin := max(0, size-window)
		text := make([]byte, size-begin)
		if _, err := f.ReadAt(text, begin); err != nil {
			return nil, nil, 0
		}
		length := bytes.LastIndexByte(text, '\n') + 1
		if length < len(text) && !running {
			return nil, nil, 0
		}
		if begin+int64(length) == from {
			return []byte{}, nil, from
		}
		at := -1
		if length > 0 {
			at = bytes.LastIndexByte(text[:length-1], '\n')
		}
		if at >= sealSize {
			seal := text[at-sealSize : at]
			if prev, ok := bytes.CutPrefix(bytes.TrimSuffix(seal, []byte(lineEnd)), []byte(hashKey)); ok && len(prev) == hashSize {
				return text[at+1 : length-1], prev, begin + int64(length)
			}
			return nil, nil, 0
		}
		if begin == 0 || window > int64(maxLine) {
			return nil, nil, 0
		}
	}
}
