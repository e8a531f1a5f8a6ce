package request

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// EXECUTION.md#limits: a request costs about as much as there is to tell: twice the messages, tools,
// instances or definitions make it twice as long, and it is made at once.
func TestRequestsAreLinear(t *testing.T) {
	joined := func(n int, item string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(item, "%", fmt.Sprint(i)) + ",")
		}
		return b.String()
	}
	plan := `{"type":"plan","plan":[{"_tool":"t0","_outputPath":"a"}]}]`
	for name, text := range map[string]func(n int) string{
		"kinds of data": func(n int) string {
			return "[" + joined(n, `{"kind":"k%","data":{"a":1},"schema":{"type":"object"}}`) + plan
		},
		"kinds without values": func(n int) string { return "[" + joined(5*n, `{"kind":"k%"}`) + plan },
		"messages of one kind": func(n int) string {
			return "[" + joined(n, `{"kind":"k","data":{"a%":1},"schema":{}}`) + plan
		},
		"definitions of one name": func(n int) string {
			return `[{"type":"tool","tool":{` +
				joined(n, `"t%":{"properties":{"p":{"$ref":"#/$defs/d"}},"$defs":{"d":{}}}`) + `"u":{}}},` + plan
		},
		"tools and instances": func(n int) string {
			return `{"tools":{` + joined(n/2, `"t%":{}`) + `"u":{}},"instances":{` + joined(n, `"i%":{}`) +
				`"j":{}},"calls":[]}`
		},
	} {
		if len(name)%amount.Of(3, 1, 1) > 0 { // with -thorough all are measured
			continue
		}
		size := func(n int) int {
			p, found := compiled(t, "plan.json", []byte(text(n)))
			if p == nil || p.Root == nil {
				t.Fatalf("%s: %v", name, found)
			}
			s := beginning(p)
			var r *Request
			if took, soon := cputime.Within(250*time.Millisecond, func() { r = Compose(s) }); !soon {
				t.Errorf("%s: a request about %d takes %v", name, n, took)
			}
			if call := len(p.Calls); call > 0 {
				if took, soon := cputime.Within(250*time.Millisecond,
					func() { ComposeLatent(s, p.Calls[0], nil) }); !soon {
					t.Errorf("%s: a request for a result beside %d takes %v", name, n, took)
				}
			}
			return len(Append(nil, r.Messages)) + len(JSON(r.Schema))
		}
		if one, two := size(600), size(1200); two > one*5/2 {
			t.Errorf("%s: a request has %d bytes, and %d for twice as many", name, one, two)
		}
	}
}
