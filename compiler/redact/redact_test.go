package redact

import (
	"strings"
	"testing"
)

// EXECUTION.md#secrets: what is learned of an environment.
func TestEnvironment(t *testing.T) {
	r := &Set{}
	r.Environment([]string{
		"GITHUB_TOKEN=ghp_0123456789", "DATABASE_URL=postgres://me:pa55word-x@db/x", "PASSWORD=password", "KEYBOARD=qwerty0123456789",
		"SSH_AUTH_SOCK=/tmp/agent.12345678", "HOME=/home/someone0123456789", "NPM_TOKEN=", "aws_secret_access_key=abcdefghijklmnopqrst", "BROKEN",
		"PGPASSWORD=pg0123456789", "MYSQL_PWD=my0123456789", "MYTOKEN=tk0123456789", "AUTHORIZATION=Bearer au0123456789", "PWD=/home/someone0123456789",
	})
	r.Keep("secret", "extra")
	r.Keep("secret", "")
	r.Keep("STAGE", "no")
	for text, want := range map[string]string{
		"ghp_0123456789":                    "[hidden GITHUB_TOKEN]",
		"postgres://me:pa55word-x@db/x":     "postgres://me:[hidden DATABASE_URL]@db/x",
		"a password, no":                    "a password, no",
		"qwerty0123456789":                  "qwerty0123456789",
		"/tmp/agent.12345678":               "/tmp/agent.12345678",
		"/home/someone0123456789":           "/home/someone0123456789",
		"<abcdefghijklmnopqrst>, and extra": "<[hidden aws_secret_access_key]>, and [hidden secret]",
		"pg0123456789my0123456789":          "[hidden PGPASSWORD][hidden MYSQL_PWD]",
		"tk0123456789":                      "[hidden MYTOKEN]",
		"Bearer au0123456789":               "[hidden AUTHORIZATION]",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := (*Set)(nil).Text("extra"); got != "extra" {
		t.Errorf("nobody's secret became %q", got)
	}
}

// EXECUTION.md#secrets: in a text for people what follows the name of a secret is hidden, though
// nobody knew it; prose isn't.
func TestMessage(t *testing.T) {
	r := &Set{}
	for text, want := range map[string]string{
		"PGPASSWORD=hunter2 psql":               "PGPASSWORD=[hidden PGPASSWORD] psql",
		"Authorization: Bearer abcdef":          "Authorization: Bearer [hidden Authorization]",
		`{"AUTHORIZATION": "Basic dXNlcjpw"}`:   `{"AUTHORIZATION": [hidden AUTHORIZATION]}`,
		"--password=hunter2 --user=me":          "--password=[hidden password] --user=me",
		"token: 9f8e7d6c5b":                     "token: [hidden token]",
		"token: expected a string":              "token: expected a string",
		"the key: it is missing":                "the key: it is missing",
		"monkey=banana1234567":                  "monkey=banana1234567",
		"MYSQL_PWD=[hidden MYSQL_PWD] is wrong": "MYSQL_PWD=[hidden MYSQL_PWD] is wrong",
		"a\xffb":                                "a\ufffdb",
	} {
		if got := r.Message(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// EXECUTION.md#secrets: in what a program gives back a text under a name of the environment or of a
// header is hidden; what a tool's own schema calls a token or a key is its data.
func TestUnder(t *testing.T) {
	r := &Set{}
	for _, key := range []string{"PGPASSWORD", "MYSQL_PWD", "MYTOKEN", "AUTHORIZATION", "Authorization", "authorization", "X-Api-Key", "OPENAI_API_KEY", "Set-Cookie"} {
		if got := r.Under(key, "value"); got != Hidden(key) {
			t.Errorf("%s: %q", key, got)
		}
	}
	for _, key := range []string{"token", "nextPageToken", "key", "KEY", "KEYS", "keyword", "HOME", "PWD", "session", "password"} {
		if got := r.Under(key, "value"); got != "value" {
			t.Errorf("%s: %q", key, got)
		}
	}
}

// Whatever secrets there are and whatever text: none of them is in what comes out,
// text without any comes out as it was, and so does what was cleared before.
func FuzzText(f *testing.F) {
	f.Add("secret-1234567890", "crets-12345", "a secret-1234567890 in crets-12345")
	f.Fuzz(func(t *testing.T, one, two, text string) {
		r := &Set{}
		r.Keep("one", one)
		r.Keep("two", two)
		got := r.Text(text)
		for _, secret := range []string{one, two} {
			if len(secret) >= shortest && strings.Contains(got, secret) && !strings.Contains("[hidden one][hidden two]", secret) && !straddles(secret) {
				t.Fatalf("%q holds %q", got, secret)
			}
		}
		if !strings.Contains(text, one) && !strings.Contains(text, two) && !r.holdsForm(text) && got != text {
			t.Fatalf("%q became %q", text, got)
		}
		r.Message(text)
	})
}

// holdsForm reports whether a secret stands in a text as it is written in JSON or in a URL.
func (s *Set) holdsForm(text string) bool {
	for _, forms := range s.forms {
		for _, f := range forms {
			if strings.Contains(text, f.text) {
				return true
			}
		}
	}
	return false
}

// straddles reports whether a secret might be made of what stands in a secret's
// place and the text beside it.
func straddles(secret string) bool {
	return strings.ContainsAny(secret, "[]") || strings.Contains("hidden one two", secret)
}

// A secret is found as programs write it in JSON, for pages too.
func TestEscapedSecrets(t *testing.T) {
	s := &Set{}
	s.Keep("TOKEN", "a<b>&\"12345678")
	for _, text := range []string{`a<b>&\"12345678`, `a\u003cb\u003e\u0026\"12345678`} {
		if got := s.Text("a " + text + " b"); got != "a "+Hidden("TOKEN")+" b" {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
}
