package planner

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/redact"
)

// PLANNERS.md#secrets: what a request carries besides the ordinary is a secret.
func TestSecretsOfRequests(t *testing.T) {
	t.Setenv("PLAIN_BASE_URL", "http://me:pass-in-url-1@models.test/v1?key=key-in-url-22&v=1")
	t.Setenv("PLAIN_KEY", "api-key-4444-api")
	one := plain
	one.headers = []header{{name: "X-Api-Key", variable: "PLAIN_KEY"}}
	p, err := open("plain:m", "m", &one, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.post(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"api-key-4444-api", "pass-in-url-1", "key-in-url-22"} {
		if got := p.hide.Text(secret); strings.Contains(got, secret) {
			t.Errorf("%q is shown as %q", secret, got)
		}
	}
	for _, harmless := range []string{"obelus/1.84.0-test", "application/json"} {
		if got := p.hide.Text(harmless); got != harmless {
			t.Errorf("%q is shown as %q", harmless, got)
		}
	}
}

// However text is cut into pieces, it comes out as it would in one, and no piece
// holds a secret.
func TestOutletInPieces(t *testing.T) {
	secrets := []string{"secret-1", "secret-12345", "crets-99x", "†÷÷-key-0"}
	v := &redact.Set{}
	for _, s := range secrets {
		v.Keep("key", s)
	}
	parts := append([]string{"se", "cret-", "secret-", "sec", "†", "x", "{}", "🙂"}, secrets...)
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		whole := text.String() + "." // an end that begins no secret
		var out strings.Builder
		o := &outlet{hide: v, emit: func(s string) {
			if !utf8.ValidString(s) {
				t.Fatalf("seed %d: the piece %q", seed, s)
			}
			out.WriteString(s)
		}}
		for rest := whole; rest != ""; {
			n := 1 + random.IntN(len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			o.write(rest[:n])
			rest = rest[n:]
		}
		o.flush()
		for _, s := range secrets {
			if strings.Contains(out.String(), s) {
				t.Fatalf("seed %d: %q holds %q", seed, out.String(), s)
			}
		}
		if !strings.ContainsAny(whole, "0129") && out.String() != whole {
			t.Fatalf("seed %d: %q came out as %q", seed, whole, out.String())
		}
	}
}
