package journal

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
)

// sector is how much of a file reaches the disk or not.
const sector = 512

// A platter is a disk with a cache before it. Processes see the cache; when the power
// fails, only what has reached the disk is left.
type platter struct {
	cache []byte
	disk  []byte
	dirty map[int]bool // sectors that may yet reach the disk
	syncs int
	fail  func(operation string, bytes int) (done int, err error)
}

var errCrash = errors.New("the process is gone")

func (p *platter) operation(name string, bytes int) (int, error) {
	if p.fail == nil {
		return bytes, nil
	}
	return p.fail(name, bytes)
}

func (p *platter) WriteAt(b []byte, at int64) (int, error) {
	done, err := p.operation("write", len(b))
	end := int(at) + done
	if end > len(p.cache) {
		p.cache = append(p.cache, make([]byte, end-len(p.cache))...)
	}
	copy(p.cache[at:end], b)
	if p.dirty == nil {
		p.dirty = map[int]bool{}
	}
	for s := int(at) / sector; s*sector < end; s++ {
		p.dirty[s] = true
	}
	return done, err
}

// Sync brings the cache to the disk. If it fails, the disk has nothing of what
// the cache holds, and the cache takes it for done: so Linux does.
func (p *platter) Sync() error {
	_, err := p.operation("sync", 0)
	if errors.Is(err, errCrash) {
		return err
	}
	if err == nil {
		p.syncs++
		p.disk = resize(p.disk, len(p.cache))
		for s := range len(p.cache)/sector + 1 {
			if p.dirty[s] {
				p.settle(s)
			}
		}
	}
	p.dirty = nil
	return err
}

// settle brings a sector to the disk, as far as that reaches.
func (p *platter) settle(s int) {
	from, to := s*sector, min((s+1)*sector, len(p.disk), len(p.cache))
	if from < to {
		copy(p.disk[from:to], p.cache[from:to])
	}
}

// cut is a loss of power: the file has a length that it had since the last
// sync or one in between, and some of what was written since has reached it.
func (p *platter) cut(random *rand.Rand) {
	size := len(p.cache)
	switch low, high := min(size, len(p.disk)), max(size, len(p.disk)); random.IntN(3) {
	case 0:
		size = len(p.disk)
	case 1:
		size = low + random.IntN(high-low+1)
	}
	p.disk = resize(p.disk, size)
	share := random.Float64() * 1.2
	for s := range size/sector + 1 {
		if p.dirty[s] && random.Float64() < share {
			p.settle(s)
		}
	}
	p.cache, p.dirty = append([]byte(nil), p.disk...), nil
}

func resize(b []byte, size int) []byte {
	if size <= len(b) {
		return b[:size:size]
	}
	return append(b[:len(b):len(b)], make([]byte, size-len(b))...)
}

func (p *platter) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(p.cache)) {
		return 0, io.EOF
	}
	n := copy(b, p.cache[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (p *platter) Truncate(size int64) error {
	if _, err := p.operation("truncate", 0); err != nil {
		return err
	}
	if int(size) > len(p.cache) {
		return fmt.Errorf("truncate makes %d bytes of %d", size, len(p.cache))
	}
	p.cache = p.cache[:size]
	return nil
}

func (p *platter) Seek(int64, int) (int64, error) { return int64(len(p.cache)), nil }

func (p *platter) Name() string { return "platter" }

func (p *platter) Close() error { return nil }

// A mooring is the anchor of a platter: what was written to it, one after the other. It is never
// synced, so after a loss of power it may be as it was at any time, or empty.
type mooring [][]byte

func (m *mooring) WriteAt(b []byte, _ int64) (int, error) {
	text := append([]byte(nil), b...)
	if n := len(*m); n > 0 && len((*m)[n-1]) > len(b) {
		text = append(text, (*m)[n-1][len(b):]...)
	}
	*m = append(*m, text)
	return len(b), nil
}

func (m *mooring) ReadAt(b []byte, _ int64) (int, error) {
	if len(*m) == 0 {
		return 0, io.EOF
	}
	return copy(b, (*m)[len(*m)-1]), io.EOF
}

func (m *mooring) Close() error { return nil }

func (m *mooring) cut(random *rand.Rand) { *m = (*m)[:random.IntN(len(*m)+1)] }
