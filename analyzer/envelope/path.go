package envelope

import (
	"strconv"
	"strings"
)

// first splits the path of a value into the name of its parameter and what follows.
func first(path string) (name, below string) {
	if strings.HasPrefix(path, "[") {
		if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
			name, _ = strconv.Unquote(quoted)
			return name, strings.TrimPrefix(path[1+len(quoted):], "]")
		}
	}
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end], path[end:]
	}
	return path, ""
}

// atOrBelow reports whether a path is another one, or below it.
func atOrBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
