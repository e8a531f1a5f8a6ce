package source

import (
	"regexp"
	"slices"
	"sync"

	"github.com/obelus-dev/obelus/compiler/naming"
)

// hidden is what of a file's text isn't shown to people in excerpts.
type hidden struct {
	mu     sync.Mutex
	parsed bool // spans are all that is to be hidden
	spans  []Span
}

// Hide keeps a span of the file from being shown in excerpts.
func (f *File) Hide(s Span) {
	f.hidden.mu.Lock()
	defer f.hidden.mu.Unlock()
	f.hidden.spans = append(f.hidden.spans, s)
}

// SetParsed declares that [File.Hide] is called for everything that is to be hidden.
func (f *File) SetParsed() {
	f.hidden.mu.Lock()
	defer f.hidden.mu.Unlock()
	f.hidden.parsed = true
}

// assigned is a name with its value, in YAML or JSON that can't be parsed or that isn't.
var assigned = regexp.MustCompile(
	`([A-Za-z_][\w-]*)["']?[ \t]*[:=][ \t]*("(?:[^"\\\r\n]|\\.)*"?|'[^'\r\n]*'?|[^\s"'{\[,}\]][^\r\n,}\]]*)`)

// HiddenAt reports which bytes between two offsets aren't to be shown: of a byte it gives
// where the hidden span that it is in begins and ends, or 0 and 0. In a file that isn't
// parsed the values after names of secrets are hidden as well.
func (f *File) HiddenAt(from, to int) func(at int) (start, end int) {
	h := &f.hidden
	h.mu.Lock()
	defer h.mu.Unlock()
	var spans []Span
	for _, s := range h.spans {
		if s.Start < to && from <= s.End {
			spans = append(spans, s)
		}
	}
	if !h.parsed {
		from, to = max(0, from-256), min(len(f.Text), to+256)
		for _, found := range assigned.FindAllSubmatchIndex(f.Text[from:to], -1) {
			if naming.SecretKey(string(f.Text[from+found[2] : from+found[3]])) {
				spans = append(spans, Span{f, from + found[4], from + found[5]})
			}
		}
	}
	return func(at int) (start, end int) {
		if i := slices.IndexFunc(spans, func(s Span) bool { return s.Start <= at && at < s.End }); i >= 0 {
			return spans[i].Start, spans[i].End
		}
		return 0, 0
	}
}
