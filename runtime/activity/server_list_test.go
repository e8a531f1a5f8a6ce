//go:build unix

package activity

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/plan"
)

// oddLists are pages of tools with odd entries among sound ones, by cursor.
var oddLists = map[string]string{
	"": `{"nextCursor":"more","tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"twin","annotations":{"readOnlyHint":true}},` +
		`{"name":"hint","annotations":{"readOnlyHint":"yes"}},{"name":"hints","annotations":[]},{"name":"schema","inputSchema":"none"},7,{"title":"x"},{"name":5}]}`,
	"more": `{"tools":[{"name":"twin","inputSchema":"none"},{"name":"result","outputSchema":[]},{"name":"says","description":{}},{"name":"task","execution":{"taskSupport":"required"}},` +
		`{"name":"digits","inputSchema":{"maximum":18446744073709551615}},{"name":"z","icons":7,"description":null,"annotations":{"title":"Z","readOnlyHint":null,"idempotentHint":true}}]}`,
}

// LANGUAGE.md#mcp-servers: an odd entry of a server's list spoils no other one: it is refused, and why is said.
// Of two tools of one name none is believed, wherever they stand. What is sound can be called,
// and is compared with its record; a tool that is odd by now isn't what was imported.
func TestOddListsOfTools(t *testing.T) {
	def := func(tool string) *plan.Activity { return remoteDef(tool, helper("mcp-raw", "odd-list")) }
	all, err := Tools(t.Context(), def("a").Server, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var l []catalogue.Tool
	type refusedTool struct{ Tool, Why string }
	var refused []refusedTool
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if one := all[name]; one.Refused == "" {
			l = append(l, one.Tool)
		} else {
			refused = append(refused, refusedTool{name, one.Refused})
		}
	}
	want := []catalogue.Tool{
		{Name: "a", Input: map[string]any{"type": "object"}},
		{Name: "z", Hints: map[string]bool{"idempotentHint": true}},
	}
	for i := range want {
		want[i].SetDigest()
	}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("%+v", l)
	}
	for i, want := range []refusedTool{
		{Tool: "(entry 6)", Why: "it is no mapping"}, {Tool: "(entry 7)", Why: `it has no "name"`}, {Tool: "(entry 8)", Why: `it has no "name"`},
		{Tool: "digits", Why: "it can't be read: the integer 18446744073709551615"},
		{Tool: "hint", Why: `its "readOnlyHint" is neither true nor false`}, {Tool: "hints", Why: `its "annotations" is no mapping`},
		{Tool: "result", Why: `its "outputSchema" is no mapping`}, {Tool: "says", Why: `its "description" is no text`},
		{Tool: "schema", Why: `its "inputSchema" is no mapping`}, {Tool: "task", Why: "it can only be called as a task"}, {Tool: "twin", Why: "several tools of this name are listed, and none is believed"},
	} {
		if i >= len(refused) || refused[i].Tool != want.Tool || !strings.HasPrefix(refused[i].Why, want.Why) {
			t.Fatalf("%d: %+v, not %+v", i, refused, want)
		}
	}
	record := &catalogue.Record{Tools: []catalogue.Tool{l[0], {Name: "twin"}, l[1]}}
	s := openTools(t, Options{}, func(tool string) *plan.Activity {
		def := def(tool)
		def.Server.Lock = record
		return def
	}, "a", "twin")
	if r, err := s.Run(t.Context(), "a", Request{}); err != nil || r.Value != "a" {
		t.Errorf("%v, %v", r, err)
	}
	_, err = s.Run(t.Context(), "twin", Request{})
	failure(t, err, CodeDrifted, "it is refused: several tools of this name are listed, and none is believed")
}
