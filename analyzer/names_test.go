package analyzer

import (
	"testing"

	"github.com/obelus-dev/obelus/analyzer/internal/analysis"
	pathtext "github.com/obelus-dev/obelus/compiler/reference"
)

// LANGUAGE.md#findings: a key that is spelt otherwise changes nothing else of its path.
func TestRespeltKeepsThePath(t *testing.T) {
	for text, want := range map[string]string{
		"†state.u.boss?.email":      "†state.u.boss?.eMail",
		"†state.u?.boss?.email":     "†state.u?.boss?.eMail",
		"†state.u[\"boss\"]?.email": "†state.u[\"boss\"]?.eMail",
		"state.u.boss.email":        "state.u.boss.eMail",
		"†state.u.boss[\"email\"]":  "†state.u.boss[\"eMail\"]",
		"†state.u.boss.e mail":      "†state.u.boss.eMail",
	} {
		suggested, err := pathtext.Parse("†state.u.boss.eMail")
		if err != nil {
			t.Fatal(err)
		}
		if got := analysis.Respelt(text, "email", "eMail", suggested); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
