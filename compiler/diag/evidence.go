package diag

import (
	"bytes"
	"encoding/json"
	"strings"
)

// evidence shows the witness of a finding to people, as JSON: on one line if it fits.
func (p *printer) evidence(witness any) {
	var text, indented bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if witness == nil || encoder.Encode(witness) != nil {
		return
	}
	p.line("%*s %s %s", p.gutter, "", p.Blue("="), p.Cyan("evidence:"))
	margin, out := strings.Repeat(" ", p.gutter+3), strings.TrimSpace(text.String())
	if Columns(margin+out) > p.width {
		_ = json.Indent(&indented, text.Bytes(), "", "  ")
		out = strings.TrimSpace(indented.String())
	}
	for line := range strings.Lines(out) {
		p.line("%s%s", margin, Escape(strings.TrimSuffix(line, "\n")))
	}
}
