package page

import (
	"regexp"
	"testing"
)

// EXECUTION.md#simulation: the scripts of a page share one scope, so that a name stands in one of them only: a browser
// refuses the whole of a script that declares one again, and the page does nothing more.
func TestScriptsShareNoNames(t *testing.T) {
	declares := regexp.MustCompile(`(?m)^(?:const|let|class|function\*?|async function)\s+([\w$]+)`)
	where := map[string]string{}
	for name, text := range map[string]string{"page.js": pageScript, "panel.js": panelScript, "live.js": liveScript} {
		found := declares.FindAllStringSubmatch(text, -1)
		if len(found) < 5 {
			t.Errorf("%s declares %d names", name, len(found))
		}
		for _, m := range found {
			if other := where[m[1]]; other != "" {
				t.Errorf("%q is declared in %s and in %s", m[1], other, name)
			}
			where[m[1]] = name
		}
	}
}
