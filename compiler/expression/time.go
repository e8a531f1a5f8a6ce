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
			panic(c.misread(quote(s)+" isn't a date of the form "+quote(c.text(1)), "a layout shows how the date of 2 January 2006, 15:04:05 would be written"))
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

// A method is what can be asked of a date or a duration.
type method struct {
	arguments int
	result    *Type
	date      func(t time.Time, args []any) any
	duration  func(d time.Duration) any
}

func datePart(f func(time.Time) int) *method {
	return &method{result: aNumber, date: func(t time.Time, _ []any) any { return float64(f(t)) }}
}

func durationPart(f func(time.Duration) float64) *method {
	return &method{result: aNumber, duration: func(d time.Duration) any { return f(d) }}
}

// methods can be called on dates and durations, as in date("2024-02-29").Year().
var methods = map[string]*method{
	"Year":    datePart(time.Time.Year),
	"Month":   datePart(func(t time.Time) int { return int(t.Month()) }),
	"Day":     datePart(time.Time.Day),
	"Hour":    datePart(time.Time.Hour),
	"Minute":  datePart(time.Time.Minute),
	"Second":  datePart(time.Time.Second),
	"Weekday": datePart(func(t time.Time) int { return int(t.Weekday()) }),
	"YearDay": datePart(time.Time.YearDay),
	"Unix":    datePart(func(t time.Time) int { return int(t.Unix()) }),
	"Format": {arguments: 1, result: aString, date: func(t time.Time, args []any) any {
		return t.Format(args[0].(string))
	}},
	"Hours":        durationPart(time.Duration.Hours),
	"Minutes":      durationPart(time.Duration.Minutes),
	"Seconds":      durationPart(time.Duration.Seconds),
	"Milliseconds": durationPart(func(d time.Duration) float64 { return float64(d.Milliseconds()) }),
}

// method asks something of a date or a duration.
func (m *evaluation) method(n *node) any {
	of := methods[n.name]
	var args []any
	for i, a := range n.args {
		v := m.run(a)
		if s, ok := v.(string); i > 0 {
			if !ok {
				panic(m.fail(a, quote(n.name)+" wants a layout as a string, and got "+kindOf(v).String(), ""))
			}
			// A layout's longest element, a month's name, has two characters for its nine.
			m.grow(n, 8*len(s))
		}
		args = append(args, v)
	}
	switch v := args[0].(type) {
	case time.Time:
		if of.date != nil {
			return of.date(v, args[1:])
		}
	case time.Duration:
		if of.duration != nil {
			return of.duration(v)
		}
	}
	want := date
	if of.date == nil {
		want = duration
	}
	help := "date(…) reads one"
	if want == duration {
		help = "duration(…) reads one, and so does the difference of two dates"
	}
	panic(m.fail(n.args[0], quote(n.name)+" asks something of "+want.String()+", and this is "+kindOf(args[0]).String(), help))
}
