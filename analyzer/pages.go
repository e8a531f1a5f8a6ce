package analyzer

import (
	"embed"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
)

//go:embed rules/OB*.md
var pages embed.FS

// Page is the page of a rule, in Markdown: what it means, why it matters, a plan
// that fails and the same plan mended. It is found by code, in any case; false
// when there is no such rule.
func Page(code string) (string, bool) {
	for _, r := range diag.Rules {
		if strings.EqualFold(r.Code, code) {
			text, err := pages.ReadFile("rules/" + r.Code + "-" + r.Name + ".md")
			return string(text), err == nil
		}
	}
	return "", false
}
