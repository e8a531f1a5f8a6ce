package diag

import (
	"bytes"
	"encoding/json"
	"strings"
)

// evidence shows the witness of a finding to people: as JSON, each part on one
// line as long as it fits.
func (p *printer) evidence(witness any) {
	if witness == nil {
		return
	}
	text, err := json.Marshal(witness)
	if err != nil {
		return // JSON says so; people have the message
	}
	p.line("%*s %s %s", p.gutter, "", p.Blue("="), p.Cyan("evidence:"))
	margin := strings.Repeat(" ", p.gutter+3)
	for _, line := range p.parts(text, "", p.width-len(margin)) {
		p.line("%s%s", margin, Escape(line))
	}
}

// parts lays out one JSON value behind what comes before it on its line.
func (p *printer) parts(value json.RawMessage, before string, room int) []string {
	whole := before + spaced(value)
	if Columns(whole) <= room || value[0] != '[' && value[0] != '{' {
		return []string{whole}
	}
	indent := strings.Repeat(" ", len(before)-len(strings.TrimLeft(before, " "))) + "  "
	lines := []string{before + string(value[:1])}
	for i, part := range membersOf(value) {
		if i > 0 {
			lines[len(lines)-1] += ","
		}
		lines = append(lines, p.parts(part.value, indent+part.key, room)...)
	}
	closing := map[byte]string{'[': "]", '{': "}"}[value[0]]
	return append(lines, indent[2:]+closing)
}

type member struct {
	key   string // with its colon; "" in a list
	value json.RawMessage
}

// membersOf are the parts of a list or mapping, in their order.
func membersOf(value json.RawMessage) []member {
	decoder := json.NewDecoder(bytes.NewReader(value))
	_, _ = decoder.Token()
	var all []member
	for decoder.More() {
		var m member
		if value[0] == '{' {
			key, _ := decoder.Token()
			name, _ := json.Marshal(key)
			m.key = string(name) + ": "
		}
		if decoder.Decode(&m.value) != nil {
			break
		}
		all = append(all, m)
	}
	return all
}

// spaced puts blanks behind the commas and colons of a compact JSON text.
func spaced(value json.RawMessage) string {
	var b strings.Builder
	inText, escaped := false, false
	for _, c := range value {
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case inText && c == '\\':
			escaped = true
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}
