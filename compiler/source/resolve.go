package source

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

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
	switch number := unsigned(text); {
	case strings.HasPrefix(text, "0o") && only(text[2:], "01234567"),
		strings.HasPrefix(text, "0x") && only(text[2:], hexDigits):
		return Number, text, true, false
	case slices.Contains([]string{".inf", ".Inf", ".INF"}, number),
		slices.Contains([]string{".nan", ".NaN", ".NAN"}, text):
		return Number, "", false, true
	case only(number, decimals): // without leading zeros, which strconv would take for octal
		digits = cmp.Or(strings.TrimLeft(number, "0"), "0")
		if text[0] == '-' {
			digits = "-" + digits
		}
		return Number, digits, true, false
	case isFloat(number):
		return Number, text, false, false
	}
	return String, "", false, false
}

// unsigned is a number without its sign.
func unsigned(text string) string {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[1:]
	}
	return text
}

const (
	decimals  = "0123456789"
	hexDigits = "0123456789abcdefABCDEF"
)

func only(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }

// isFloat matches ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
func isFloat(s string) bool {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if !only(unsigned(s[i+1:]), decimals) {
			return false
		}
		s = s[:i]
	}
	before, behind, _ := strings.Cut(s, ".")
	return only(before+behind, decimals)
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
	unsigned := unsigned(text)
	if unsigned == "" || !('0' <= unsigned[0] && unsigned[0] <= '9') && unsigned[0] != '.' {
		return "", ""
	}
	if kind == Number {
		return ambiguousNumber(unsigned)
	}
	const quoteOrPlain = "put it in quotes, or write the number without it"
	switch rest := strings.ReplaceAll(unsigned, "_", ""); {
	case strings.HasPrefix(unsigned, "0b") && only(unsigned[2:], "01_"):
		return "a binary number", "put it in quotes, or write it in decimal or as 0x…"
	case strings.HasPrefix(unsigned, "0x") && only(rest[2:], hexDigits):
		return "a number", quoteOrPlain
	case sexagesimal.MatchString(rest):
		return "a number to base 60", "put it in quotes"
	case strings.Contains(unsigned, "_") && unsigned[0] != '_' && isFloat(rest):
		return "the number " + rest, quoteOrPlain
	}
	return "", ""
}

func ambiguousNumber(unsigned string) (as, help string) {
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

var sexagesimal = regexp.MustCompile(`^[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?$`)
