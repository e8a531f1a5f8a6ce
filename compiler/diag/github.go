package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// GitHub writes findings as the workflow commands that GitHub Actions turns into
// annotations of a change: one line each, in the order given. No text of a plan
// can begin a command of its own or add a property. Path is the name of a file from the
// repository's root. The error is that of w.
func GitHub(w io.Writer, findings []Diagnostic, path func(file string) string) error {
	out := bufio.NewWriter(w)
	for i := range findings {
		d := &findings[i]
		var properties []string
		add := func(key string, value any) {
			text := escapeCommand(Escape(fmt.Sprint(value)))
			properties = append(properties, key+"="+strings.NewReplacer(":", "%3A", ",", "%2C").Replace(text))
		}
		if d.Span.Known() && d.Span.File.Name != "-" {
			from, to := d.Span.From(), d.Span.To()
			add("file", path(d.Span.File.Name))
			add("line", from.Line)
			add("endLine", to.Line)
			if to.Line == from.Line { // columns over several lines aren't understood
				add("col", from.Column)
				add("endColumn", max(from.Column+1, to.Column))
			}
		}
		add("title", d.Rule.Code+" "+d.Rule.Name)
		message := Escape(d.Message)
		if d.Help != "" {
			message += "\n" + Escape(d.Help)
		}
		fmt.Fprintf(out, "::%s %s::%s\n", [...]string{"notice", "warning", "error"}[d.Severity],
			strings.Join(properties, ","), escapeCommand(message))
	}
	return out.Flush()
}

// escapeCommand writes what would end a workflow command as its code.
func escapeCommand(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}
