package runtime_test

import "strings"

// spot is a reference to something readable, the recent rather than the old.
func (a *author) spot() string {
	if a.chance(1) {
		return "†state"
	}
	i := a.IntN(len(a.places))
	if a.chance(60) {
		i = max(i, a.IntN(len(a.places)))
	}
	return a.within(a.places[i])
}

func (a *author) within(p place) string {
	ways := map[string][]string{
		"object": {"", "", ".name", ".price", ".city.zone", ".tags[0]", ".tags.1", `["city"].name`, ".missing"},
		"list":   {"", "", "[0]", "[0].name", ".0", "[1]", "[1].city", "[2]"},
		"record": {"", ".code", ".details"},
		"user":   {"", ".name", ".tags[0]"},
		"total":  {"", ".total"},
	}[p.shape]
	if len(ways) == 0 {
		return p.path
	}
	return p.path + ways[a.IntN(len(ways))]
}

// value is a parameter: mostly a reference, at times a composition or a
// structure with references inside.
func (a *author) value() any {
	switch n := a.IntN(100); {
	case n < 48:
		return a.spot()
	case n < 55:
		return a.text()
	case n < 66:
		return a.spot() + " || " + a.spot()
	case n < 72:
		return a.spot() + " || " + a.literal()
	case n < 78:
		return a.spot() + " && " + a.spot()
	case n < 82:
		return a.spot() + " && " + a.spot() + " || " + a.spot()
	case n < 85:
		return "†(" + a.spot() + " || " + a.spot() + ") && " + a.spot()
	case n < 88:
		return a.spot() + " ?? (" + a.spot() + " || " + a.literal() + ")"
	case n < 91:
		return map[string]any{"inner": []any{a.spot(), "plain", 3.0}, "other": a.spot()}
	case n < 93:
		return "††literal"
	}
	return []any{"word", 7.0, true, nil}[a.IntN(4)]
}

// text is a text with values in it: mostly such as have a form there.
func (a *author) text() string {
	var b strings.Builder
	for i := range 1 + a.IntN(3) {
		before := []string{"of ", "††{state.x} ", "††", "{} ", "", "é😀 ", "† "}
		b.WriteString(before[a.IntN(6+min(i, 1))] + "†{")
		ref := []string{"†input.size", "†input.user.name"}[a.IntN(2)]
		for range 4 {
			if spot := a.spot(); a.chance(4) || strings.HasSuffix(spot, "name") || strings.HasSuffix(spot, ".price") || strings.HasSuffix(spot, ".code") {
				ref = spot
			}
		}
		if a.chance(50) && strings.Contains(ref, ".") {
			ref = " " + strings.TrimPrefix(ref, "†")
		}
		b.WriteString(ref)
		switch a.IntN(6) {
		case 0:
			b.WriteString(` || "}"`)
		case 1:
			b.WriteString(" || " + a.spot())
		case 2:
			b.WriteString(" && input.size")
		}
		b.WriteString("}")
	}
	return b.String()
}

func (a *author) literal() string {
	return []string{"10", `"none"`, "false", "null", "0.5", `""`}[a.IntN(6)]
}

// after names one or two of some calls, that are to be done or only to have settled.
func (a *author) after(some []map[string]any) any {
	one, other := a.named(some[a.IntN(len(some))]), a.named(some[a.IntN(len(some))])
	settled := map[string]any{"settled": []any{other}}
	switch a.IntN(6) {
	case 0:
		return one
	case 1:
		return settled
	case 2:
		return []any{one, settled}
	case 3:
		return []any{one, other}
	}
	return []any{one}
}
