package activity

import (
	"errors"
	"strings"

	"github.com/obelus-dev/obelus/compiler/expression"
)

func evaluate(e *expression.Expr, params map[string]any) (any, error) {
	if code, ok := any(e).(interface {
		EvalCode(map[string]any) (any, error)
	}); ok {
		return code.EvalCode(params)
	}
	return nil, errors.New("expressions can't be evaluated yet")
}

// samePaths compares alternatives of output paths by meaning: "sentiment" is
// "†state.sentiment".
func samePaths(a, b string) bool {
	return strings.TrimPrefix(strings.TrimSpace(a), "†state.") == strings.TrimPrefix(b, "†state.")
}
