package source

import "strings"

// resolve says what a YAML scalar without quotes is under the core schema of
// YAML 1.2 (its chapter 10.3): its kind, and for a number the digits as strconv
// reads them. special is true for infinities and NaN.
func resolve(text string) (kind Kind, digits string, integer, special bool) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Null, "", false, false
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool, "", false, false
	}
	switch c := text[0]; {
	case '0' <= c && c <= '9', c == '-', c == '+', c == '.':
	default:
		return String, "", false, false
	}
	if rest, ok := strings.CutPrefix(text, "0o"); ok {
		if only(rest, "01234567") {
			return Number, text, true, false
		}
		return String, "", false, false
	}
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		if only(rest, hexDigits) {
			return Number, text, true, false
		}
		return String, "", false, false
	}
	unsigned := text
	if text[0] == '-' || text[0] == '+' {
		unsigned = text[1:]
	}
	switch unsigned {
	case ".inf", ".Inf", ".INF":
		return Number, "", false, true
	}
	switch text {
	case ".nan", ".NaN", ".NAN":
		return Number, "", false, true
	}
	if only(unsigned, decimals) {
		return Number, integerDigits(text, unsigned), true, false
	}
	if isFloat(unsigned) {
		return Number, text, false, false
	}
	return String, "", false, false
}

const (
	decimals  = "0123456789"
	hexDigits = "0123456789abcdefABCDEF"
)

func only(s, set string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}

// integerDigits takes away the leading zeros, which strconv would take for octal.
func integerDigits(text, unsigned string) string {
	trimmed := strings.TrimLeft(unsigned, "0")
	if trimmed == "" {
		trimmed = "0"
	}
	if text[0] == '-' {
		return "-" + trimmed
	}
	return trimmed
}

// isFloat matches ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
func isFloat(s string) bool {
	full := leading(s)
	s = s[full:]
	if strings.HasPrefix(s, ".") {
		part := leading(s[1:])
		if full+part == 0 {
			return false
		}
		s = s[1+part:]
	} else if full == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return only(s, decimals)
}

// leading counts the digits that s begins with.
func leading(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// ambiguous says how YAML 1.1, which many programs still read, takes a scalar
// that 1.2 takes otherwise; "" where they agree. Dates, which 1.1 makes
// timestamps, stay text everywhere that matters, and so do y and n, which
// hardly a reader ever took for booleans.
func ambiguous(text string, kind Kind) (as, help string) {
	switch text {
	case "yes", "Yes", "YES", "on", "On", "ON":
		return "true", "write true, or put it in quotes"
	case "no", "No", "NO", "off", "Off", "OFF":
		return "false", "write false, or put it in quotes"
	}
	unsigned := text
	if text != "" && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	if unsigned == "" || !('0' <= unsigned[0] && unsigned[0] <= '9') && unsigned[0] != '.' {
		return "", ""
	}
	if kind == Number {
		return ambiguousNumber(text, unsigned)
	}
	const quoteOrPlain = "put it in quotes, or write the number without it"
	switch rest := strings.ReplaceAll(unsigned, "_", ""); {
	case strings.HasPrefix(unsigned, "0b") && only(unsigned[2:], "01_"):
		return "a binary number", "put it in quotes, or write it in decimal or as 0x…"
	case strings.HasPrefix(unsigned, "0x") && only(rest[2:], hexDigits):
		return "a number", quoteOrPlain
	case strings.Contains(unsigned, ":") && isSexagesimal(rest):
		return "a number to base 60", "put it in quotes"
	case strings.Contains(unsigned, "_") && unsigned[0] != '_' && isFloat(rest):
		return "the number " + rest, quoteOrPlain
	}
	return "", ""
}

func ambiguousNumber(text, unsigned string) (as, help string) {
	switch {
	case strings.HasPrefix(unsigned, "0o"):
		return "text", "write it in decimal, or put it in quotes"
	case len(unsigned) > 1 && unsigned[0] == '0' && only(unsigned, "01234567"):
		return "an octal number", "remove the leading zeros, or put it in quotes"
	case len(unsigned) > 1 && unsigned[0] == '0' && only(unsigned, decimals):
		return "text", "remove the leading zeros, or put it in quotes"
	}
	if strings.HasPrefix(unsigned, "0x") {
		return "", ""
	}
	if e := strings.IndexAny(unsigned, "eE"); e >= 0 &&
		(!strings.Contains(unsigned[:e], ".") || unsigned[e+1] != '-' && unsigned[e+1] != '+') {
		return "text", "write it with a point and a sign (1.0e+3), or put it in quotes"
	}
	return "", ""
}

// isSexagesimal matches [0-9]+ (: [0-5]?[0-9])+ ( \. [0-9]* )?
func isSexagesimal(s string) bool {
	parts := strings.Split(s, ":")
	last := len(parts) - 1
	if dot := strings.IndexByte(parts[last], '.'); dot >= 0 {
		if rest := parts[last][dot+1:]; rest != "" && !only(rest, decimals) {
			return false
		}
		parts[last] = parts[last][:dot]
	}
	for i, p := range parts {
		if !only(p, decimals) || i > 0 && (len(p) > 2 || len(p) == 2 && p[0] > '5') {
			return false
		}
	}
	return last > 0
}
