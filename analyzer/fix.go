package analyzer

import (
	"fmt"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
)

// rename offers to replace the bytes [from, to) of a scalar's value by a text,
// in the scalar's own style. Sure says that nothing else can have been meant: a
// safe fix (S7).
func (f finding) rename(n *source.Node, from, to int, text string, sure bool) finding {
	return f.offer(fmt.Sprintf("change it to %q", text), n, from, to, text, sure)
}

// offer is rename with words of its own.
func (f finding) offer(words string, n *source.Node, from, to int, text string, sure bool) finding {
	if edit, ok := diag.EditScalar(n, from, to, text); ok {
		f.Fixes = append(f.Fixes, diag.Fix{Message: words, Safe: sure, Edits: []diag.Edit{edit}})
	}
	return f
}
