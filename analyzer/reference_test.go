package analyzer

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/analyzer/rules"
	"github.com/obelus-dev/obelus/compiler/diag"
)

var update = flag.Bool("update", false, "rewrite the rule reference")

// reference is the table of all rules, made of the registry and the pages.
func reference(t testing.TB) string {
	var b strings.Builder
	b.WriteString("# Rules\n\n" +
		"The rules of `obelus check`. Each has a page with a problem, an example and a fix. Print a page with `obelus explain CODE`.\n\n" +
		"You can set the severity of a rule in `obelus.yaml`, which also turns on a rule that is off by default.\n" +
		"[OB901](OB901-useless-suppression.md) describes how to suppress one finding. `make update` generates this table.\n\n" +
		"| code | name | severity | problem |\n|---|---|---|---|\n")
	for _, r := range rules.Registered {
		page, ok := rules.Page(r.Code)
		summary := diag.Meaning(page)
		if !ok || summary == "" || len(summary) > 300 {
			t.Errorf("the page of %s doesn't begin with a sentence that says what it means: %q", r.Code, summary)
		}
		severity := r.Default.String()
		if r.Optional {
			severity = "off; " + severity
		}
		fmt.Fprintf(&b, "| [%s](%s-%s.md) | %s | %s | %s |\n", r.Code, r.Code, r.Name, r.Name, severity, strings.ReplaceAll(summary, "|", `\|`))
	}
	return b.String()
}

// LANGUAGE.md#findings: the rule reference lists every rule, and is up to date.
func TestReferenceIsUpToDate(t *testing.T) {
	want := reference(t)
	if *update {
		if err := os.WriteFile("rules/README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("rules/README.md"); err != nil || string(got) != want {
		t.Errorf("analyzer/rules/README.md is out of date (%v): make update writes it", err)
	}
}
