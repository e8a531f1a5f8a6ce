package naming

import (
	"slices"
	"strings"
	"unicode"
)

// Secret reports whether a name, of a variable of the environment or of a
// key, says that its value is secret. A name is a sequence of words, divided
// where the case changes and at everything that is neither a letter nor a digit:
// "MYSQL_PWD", "apiKey", "X-Auth-Token".
func Secret(name string) bool {
	words := words(name)
	if len(words) == 1 && slices.Contains(harmlessNames, words[0]) || slices.Contains(words, "public") {
		return false
	}
	for i, word := range words {
		word = strings.TrimSuffix(strings.TrimRight(word, "0123456789"), "s")
		if i == len(words)-1 && slices.Contains(last, word) {
			return true
		}
		if slices.ContainsFunc(within, func(part string) bool { return strings.Contains(word, part) }) {
			return true
		}
		for _, end := range ends {
			if strings.HasSuffix(word, end) && !slices.Contains(ordinary, word) {
				return true
			}
		}
	}
	return false
}

// What makes a name one of a secret, in the singular: "pas" is "pass" without its s.
var (
	last     = []string{"auth", "dsn", "pat", "session"}        // as the last word: SSH_AUTH_SOCK is only a place
	ends     = []string{"cookie", "key", "pas", "pwd", "token"} // as a word or the end of one: MYTOKEN, DBPASS
	within   = []string{"apikey", "authorization", "credential", "passphrase", "passwd", "password", "secret"}
	ordinary = []string{ // words that happen to end so
		"bypas", "compas", "donkey", "hockey", "jockey", "lackey", "monkey", "overpas", "surpas", "trespas", "turkey", "underpas", "whiskey",
	}
	harmlessNames = []string{"pwd", "oldpwd"} // the working directory
)

// words are the words of a name in small letters.
func words(name string) []string {
	var all []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			all = append(all, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush() // "apiKey", and "APIKey"
		}
		word = append(word, r)
	}
	flush()
	return all
}

// SecretKey is Secret for a key of a document, where "key" is an ordinary word: it says
// something only behind what the key is for, as in "accessKey".
func SecretKey(name string) bool {
	if !Secret(name) {
		return false
	}
	words := words(name)
	last := len(words) - 1
	if words[last] != "key" && words[last] != "keys" {
		return true
	}
	return last > 0 && slices.Contains(secretKeys, words[last-1]) || Secret(strings.Join(words[:last], "-"))
}

var secretKeys = []string{"access", "account", "api", "auth", "client", "encryption", "license", "master", "private", "service", "signing", "ssh", "storage"}
