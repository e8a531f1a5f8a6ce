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
	switch number := unsigned(text); {
	case kind == Number && len(number) > 1 && number[0] == '0' && only(number, decimals):
		return "an octal number, or text", "remove the leading zeros, or put it in quotes"
	case kind == String && sexagesimal.MatchString(number):
		return "a number to base 60", "put it in quotes"
	case kind == String && number != "" && number[0] != '_' && isFloat(strings.ReplaceAll(number, "_", "")):
		return "a number", "put it in quotes, or write the number without _"
	}
	return "", ""
}

var sexagesimal = regexp.MustCompile(`^[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?$`)
