package endpoint

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/redact"
)

// PLANNERS.md#secrets: what a request carries besides the ordinary is a secret.
func TestVeilLearns(t *testing.T) {
	r, _ := http.NewRequest(http.MethodPost, "https://me:pass-in-url-1@models.test/v1?key=key-in-url-22&v=1", nil)
	for name, value := range map[string]string{
		"Authorization": "Bearer bearer-token-3", "X-Api-Key": "api-key-4444-api", "Cookie": "session=cookie-55555", "X-Portal": "portal-666666",
		"User-Agent": "obelus/1.84.0-test", "Content-Type": "application/json", "X-Word": "production",
	} {
		r.Header.Set(name, value)
	}
	v := &redact.Set{}
	learn(v, r)
	learn(v, r)
	for _, secret := range []string{"api-key-4444-api", "session=cookie-55555", "pass-in-url-1", "key-in-url-22", "bearer-token-3", "portal-666666"} {
		if got := v.Text(secret); got != "[hidden key]" {
			t.Errorf("%q is shown as %q", secret, got)
		}
	}
	for _, harmless := range []string{"obelus/1.84.0-test", "application/json", "production"} {
		if got := v.Text(harmless); got != harmless {
			t.Errorf("%q is shown as %q", harmless, got)
		}
	}
	basic := &redact.Set{}
	r, _ = http.NewRequest(http.MethodGet, "https://models.test", nil)
	r.SetBasicAuth("me", "basic-pass-7")
	learn(basic, r)
	if got := basic.Text("basic-pass-7"); got != "[hidden key]" {
		t.Errorf("got %q", got)
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
