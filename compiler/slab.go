package compiler

// Rooms are where a compilation gets the small parts of calls, many at once: a
// plan of a hundred thousand calls has a million of them, and one by one they
// cost more than all that is done with them.
type rooms struct {
	calls     slab[Call]
	templates slab[Template]
	fields    slab[TemplateField]
	paths     slab[Path]
	numbers   numbers
}

// A slab hands out values of one type from few allocations. What is handed out
// lives as long as its neighbours do.
type slab[T any] struct {
	free []T
	size int // of the last allocation
}

// one is a new value.
func (s *slab[T]) one() *T { return &s.some(1)[0] }

// some are new values side by side, with no room for more behind them.
func (s *slab[T]) some(n int) []T {
	if n > len(s.free) {
		s.size = nextSlab(s.size)
		s.free = make([]T, max(n, s.size))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

// nextSlab is how much to allocate after so much: a plan of three calls shouldn't
// pay for a thousand.
func nextSlab(last int) int { return min(max(2*last, 16), 512) }

// Numbers hand out slices of consecutive numbers, which overlap where they may:
// nobody changes them.
type numbers struct {
	first int
	list  []int
}

// from is first, first+1, … up to and without end; nil where there is none.
func (s *numbers) from(first, end int) []int {
	if first == end {
		return nil
	}
	if first < s.first || end > s.first+len(s.list) {
		s.first, s.list = first, make([]int, max(end-first, nextSlab(len(s.list))))
		for i := range s.list {
			s.list[i] = first + i
		}
	}
	return s.list[first-s.first : end-s.first : end-s.first]
}
