package activity

import (
	"testing"

	"github.com/obelus-dev/obelus/compiler/kinds"
)

// ARCHITECTURE.md: every kind that a document can define is carried out here, or by the machine, under the same name.
func TestEveryKindIsCarriedOut(t *testing.T) {
	for name, kind := range kinds.Kinds {
		if _, known := registered[name]; !known {
			t.Errorf("the kind %q isn't registered: add runtime/activity/%s.go with register(%q, kind{open: …})", name, name, name)
		}
		if kind.About == "" {
			t.Errorf("the kind %q has no About: compiler/kinds/%s.go says what a definition of it holds", name, name)
		}
	}
	for name := range registered {
		if kinds.Kinds[name].Name == "" && name != "go" {
			t.Errorf("no document can define the kind %q: add compiler/kinds/%s.go with register(Kind{Name: %q, …})", name, name, name)
		}
	}
}
