package activity

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/reference"
)

// samePaths compares two texts that each name one alternative of an output path by what they mean: "log.0 && audit" is
// "†state.audit && †state.log[0]". A text that doesn't name exactly one alternative is like no other.
func samePaths(a, b string) bool {
	one, isOne := alternative(a)
	other, isOther := alternative(b)
	return isOne && isOther && one == other
}

// alternative is the canonical text of one alternative: its paths, each once, in an order of their own.
func alternative(text string) (canonical string, ok bool) {
	routes, err := reference.ParseOutput(text)
	if err != nil || len(routes) != 1 {
		return "", false
	}
	paths := make([]string, 0, len(routes[0]))
	for _, path := range routes[0] {
		paths = append(paths, path.String())
	}
	slices.Sort(paths)
	return strings.Join(slices.Compact(paths), " && "), true
}
