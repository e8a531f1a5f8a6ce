package naming

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	// Every name of a secret contains one of secretParts.
	secretParts = strings.Fields("auth cookie credential dsn key pas pat pwd secret session token")
	secretName  = regexp.MustCompile(`apikey|authorization|credential|passphrase|passwd|password|secret` +
		`|(cookie|key|pass?|pwd|token)s?\d*(-|$)` + // as a word or the end of one: MYTOKEN, DBPASS
		`|(^|-)(auth|dsn|pat|session)s?\d*$`) // as the last word: SSH_AUTH_SOCK is a path
	harmlessName = regexp.MustCompile(`^(old)?pwd$|\bpublic\b`)
	harmlessWord = regexp.MustCompile(`\b((by|com|over|sur|tres|under)pass|(don|hoc|joc|lac|mon|tur|whis)key)s?\d*\b`)
	purposeOfKey = regexp.MustCompile(
		`\b(access|account|api|auth|client|encryption|license|master|private|service|signing|ssh|storage)$`)
)

// Secret reports whether a name, of a variable of the environment or of a
// key, says that its value is secret. A name is a sequence of words, divided
// where the case changes and at everything that is neither a letter nor a digit:
// "MYSQL_PWD", "apiKey", "X-Auth-Token".
func Secret(name string) bool { return isSecret(words(name)) }

func isSecret(words string) bool {
	return words != "" && !harmlessName.MatchString(words) &&
		secretName.MatchString(harmlessWord.ReplaceAllString(words, ""))
}

// SecretKey is Secret for a key of a document, where "key" is an ordinary word: it is the
// name of a secret only after its purpose, as in "accessKey".
func SecretKey(name string) bool {
	words := words(name)
	if !isSecret(words) {
		return false
	}
	before, isKey := strings.CutSuffix(strings.TrimSuffix(words, "s"), "key")
	if !isKey || before != "" && !strings.HasSuffix(before, "-") {
		return true
	}
	before = strings.TrimSuffix(before, "-")
	return purposeOfKey.MatchString(before) || isSecret(before)
}

// words returns a name's words in lower case, joined by hyphens; "" if it has none of secretParts but in "path".
func words(name string) string {
	small := strings.ReplaceAll(strings.ToLower(name), "path", "")
	if !slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(small, part) }) {
		return ""
	}
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		// "apiKey", and "APIKey"
		isStart := unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if isStart || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "-")
}
