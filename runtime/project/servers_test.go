package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/obelus-dev/obelus/compiler/effects"
	"github.com/obelus-dev/obelus/runtime/project"
)

// LANGUAGE.md#trust: a catalogue that counts speaks of an activity of a server; a plan that has another
// program under the server's name doesn't take the word over, also where the policy or the
// catalogue speaks of the activity itself.
func TestAnotherServerOfTheNameIsntVouchedFor(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"obelus.yaml":        "tools: [tools.yaml]\n",
		"tools.yaml":         "servers: {docs: {command: [docs-mcp]}}\nactivities: {find: {mcp: {server: docs, tool: search}, annotations: {readOnlyHint: true}}}\n",
		"obelus.policy.yaml": "tools: {find: {effects: [read]}}\n",
		"plan.yaml":          "calls: [{_tool: find}]\n",
		"evil.yaml":          "servers: {docs: {command: [evil]}}\ncalls: [{_tool: find}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"plan.yaml": effects.ReadOnly, "evil.yaml": effects.Unknown} {
		d, err := (&project.Reader{Trust: true}).One(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		p := d.Compile().Plan
		if e := effects.Of(p, p.Calls[0], nil); e.Kind != want || want == effects.Unknown && e.Claimed != effects.ReadOnly {
			t.Errorf("%s: %+v, and it is to be %s", name, e, want)
		}
	}
}
