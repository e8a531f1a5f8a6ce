package sample

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/obelus-dev/obelus/compiler/schema/ast"
)

// The examples of formats are of them.
func TestFormats(t *testing.T) {
	for name, words := range ast.Samples {
		for _, w := range append(slices.Clone(words), (&sampler{r: rand.New(rand.NewPCG(1, 1))}).formatted(name)) {
			if check := ast.Formats[name]; check != nil && (w != "" || words[0] == "") && !check(w) {
				t.Errorf("%q isn't of the format %s", w, name)
			}
		}
	}
}
