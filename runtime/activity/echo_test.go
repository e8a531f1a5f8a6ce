package activity

import (
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
)

// LANGUAGE.md#environment-and-secrets: a secret that a server tells back is hidden also as JSON and addresses have it.
func TestEchoesOfSecretsAreHidden(t *testing.T) {
	var hide redact.Set
	b := base{common: &common{env: environment{"KEY": `wJal/K7&bP"f'CY+EXA=`}, hide: &hide}, def: &plan.Activity{Variables: []plan.Variable{{Name: "KEY"}}}}
	b.hideVariables()
	for name, echo := range map[string]string{
		"plain": `wJal/K7&bP"f'CY+EXA=`, "JSON": `wJal/K7&bP\"f'CY+EXA=`, "a query": `wJal%2FK7%26bP%22f%27CY%2BEXA%3D`,
	} {
		if shown := hide.Text("it was " + echo + "."); strings.Contains(shown, "wJal") || strings.Contains(shown, "EXA") {
			t.Errorf("%s: %s", name, shown)
		}
	}
}
