package naming

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// LANGUAGE.md#environment-and-secrets: which names say that what they hold is secret, however they are
// written.
func TestSecret(t *testing.T) {
	secret := []string{
		"PGPASSWORD", "MYSQL_PWD", "MYTOKEN", "AUTHORIZATION", "GITHUB_TOKEN", "PASSWORD", "DB_PASS", "DBPASS", "SMTPPASSWD", "aws_secret_access_key", "apiKey", "APIKey",
		"OPENAI_API_KEY", "OPENAIKEY", "X-Auth-Token", "Proxy-Authorization", "Cookie", "SESSION_COOKIE", "credentials", "GOOGLE_APPLICATION_CREDENTIALS", "GH_PAT",
		"NPM_AUTH", "PHPSESSION_SESSION", "privateKey", "SECRETKEYBASE", "SENTRY_DSN", "passphrase", "myPwd", "refreshTokens", "signing-key", "accessToken2Secret",
	}
	for _, name := range secret {
		if !Secret(name) {
			t.Errorf("%q isn't taken for the name of a secret", name)
		}
	}
	for _, name := range []string{
		"PWD", "OLDPWD", "HOME", "PATH", "LANG", "KEYBOARD", "SSH_AUTH_SOCK", "XDG_SESSION_ID", "DBUS_SESSION_BUS_ADDRESS", "AUTHOR", "author", "MONKEY", "TURKEYS", "BYPASS",
		"COMPASS", "passenger", "patch", "PUBLIC_KEY", "tokenizer", "keynote", "keyed", "", "-", "†",
	} {
		if Secret(name) {
			t.Errorf("%q is taken for the name of a secret", name)
		}
	}
}

// In a document a key is mostly that of something in a list.
func TestSecretKey(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "apiKey": true, "api_keys": true, "secretKey": true, "private-key": true, "accessToken": true, "apikey": true,
		"key": false, "keys": false, "primaryKey": false, "odd key": false, "sort_key": false, "publicKey": false, "city": false,
	} {
		if SecretKey(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// EXECUTION.md#secrets: a name made of any of the words, in any of the ways to write one, hides its
// value; the same words inside of others don't.
func TestSecretNamesHoweverWritten(t *testing.T) {
	words := []string{"password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "apikey", "cookie", "key", "pwd"}
	others := []string{"my", "db", "github", "user", "main", "x"}
	random := rand.New(rand.NewPCG(1, 1))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	upper := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	for range 2000 {
		before, word, after := pick(others), pick(words), ""
		if random.IntN(3) == 0 {
			after = pick([]string{"file", "id", "value", "2"})
		}
		for _, name := range []string{
			strings.Trim(before+"_"+word+"_"+after, "_"), strings.ToUpper(strings.Trim(before+"_"+word+"_"+after, "_")), before + upper(word) + upper(after + " ")[:len(after)],
			strings.Trim(upper(before)+"-"+upper(word)+"-"+after, "-"), before + word,
		} {
			if !Secret(name) {
				t.Fatalf("%q isn't taken for the name of a secret", name)
			}
		}
	}
}
