package expression

import "time"

// layouts are the forms of a date that is read without a layout of its own.
var layouts = []string{
	"2006-01-02", "15:04:05", "2006-01-02 15:04:05", time.RFC3339, time.RFC822, time.RFC850, time.RFC1123,
}

// toDate reads a date. A date that names no zone is in UTC; a zone's short name means nothing, because its meaning
// depends on the machine.
func toDate(c invocation) any {
	s := c.text(0)
	if c.given(1) {
		c.work(len(c.text(1)) + len(s))
		t, err := time.ParseInLocation(c.text(1), s, time.UTC)
		if err != nil {
			panic(c.misread(quote(s)+" isn't a date of the form "+quote(c.text(1)),
				"a layout shows how the date of 2 January 2006, 15:04:05 would be written"))
		}
		return t
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, time.UTC); err == nil {
			return t
		}
	}
	panic(c.misread(quote(s)+" isn't a date", "write 2006-01-02, or 2006-01-02T15:04:05Z, or give the layout as well"))
}

func toDuration(c invocation) any {
	d, err := time.ParseDuration(c.text(0))
	if err != nil {
		panic(c.misread(quote(c.text(0))+" isn't a duration", "write 1h30m, 90s or 500ms"))
	}
	return d
}

func datePart(f func(time.Time) int) func(invocation) any {
	return func(c invocation) any { return float64(f(c.args[0].(time.Time))) }
}

func durationPart(f func(time.Duration) float64) func(invocation) any {
	return func(c invocation) any { return f(c.args[0].(time.Duration)) }
}

func formatDate(c invocation) any {
	// A layout's longest element, a month's name, has two characters for its nine.
	c.grow(8 * len(c.text(1)))
	return c.args[0].(time.Time).Format(c.text(1))
}
