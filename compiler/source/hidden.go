package source

import (
	"regexp"
	"slices"
	"sort"
	"sync"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// hidden is what of a file's text isn't shown to people round a place of a finding.
type hidden struct {
	mu    sync.Mutex
	known bool       // nothing else is to be hidden
	spans []hideable // sorted once they are asked for
	ready bool
}

type hideable struct{ start, end int }

// Hide keeps spans of the file from being shown round a place.
func (f *File) Hide(spans ...Span) {
	h := &f.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range spans {
		h.spans, h.ready = append(h.spans, hideable{s.Start, s.End}), false
	}
}

// Whole says that all that is to be hidden is told by Hide.
func (f *File) Whole() {
	f.hidden.mu.Lock()
	defer f.hidden.mu.Unlock()
	f.hidden.known = true
}

// assigned is a name and what it is given, in YAML or JSON that can't be read or that
// nobody has looked into.
var assigned = regexp.MustCompile(`([A-Za-z_][\w-]*)["']?[ \t]*[:=][ \t]*("(?:[^"\\\r\n]|\\.)*"?|'[^'\r\n]*'?|[^\s"'{\[,}\]][^\r\n,}\]]*)`)

// HiddenAt reports which bytes between two places aren't to be shown: of a byte it gives
// where what is hidden there begins and ends, or 0 and 0. What stands behind a secret's
// name is hidden also where nobody has said anything of the file.
func (f *File) HiddenAt(from, to int) func(at int) (start, end int) {
	h := &f.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ready {
		h.spans, h.ready = united(h.spans), true
	}
	spans := h.spans
	if !h.known {
		spans = slices.Clip(spans)
		from, to = max(0, from-256), min(len(f.Text), to+256)
		for _, found := range assigned.FindAllSubmatchIndex(f.Text[from:to], -1) {
			if naming.SecretKey(string(f.Text[from+found[2] : from+found[3]])) {
				spans = append(spans, hideable{from + found[4], from + found[5]})
			}
		}
		spans = united(spans)
	}
	return func(at int) (start, end int) {
		i := sort.Search(len(spans), func(i int) bool { return spans[i].start > at })
		if i > 0 && at < spans[i-1].end {
			return spans[i-1].start, spans[i-1].end
		}
		return 0, 0
	}
}

// united are spans in the order of the text, those that overlap as one. They are made anew:
// somebody may still look at what there was.
func united(spans []hideable) (all []hideable) {
	spans = slices.SortedFunc(slices.Values(spans), func(a, b hideable) int { return a.start - b.start })
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.start < all[last].end {
			all[last].end = max(all[last].end, s.end)
		} else {
			all = append(all, s)
		}
	}
	return all
}
