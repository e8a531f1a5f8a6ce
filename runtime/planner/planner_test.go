package planner

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/runtime/request"
)

// PLANNERS.md#models: planners are named by kind and model or file.
func TestOpen(t *testing.T) {
	for _, p := range protocols {
		settings(t, p)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a:b.yaml", []byte("- calls: []\n  output: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"replay:a:b.yaml", "openai:gpt-5", "openai:library/llama3:8b", "anthropic:claude-sonnet-4-5"} {
		if _, err := Open(spec, Options{}); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for spec, want := range map[string]string{
		"":                `"" names no planner: write replay:FILE, openai:MODEL or anthropic:MODEL`,
		"gpt-5":           `"gpt-5" names no planner`,
		"openai:":         `"openai:" names no planner`,
		"\x1bx:y":         `there is no planner "<U+001B>x": write replay:FILE`,
		"replay:gone.yml": "the recorded solutions can't be read: open gone.yml",
	} {
		if _, err := Open(spec, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", spec, err, want)
		}
	}
}

// A planner that can't work says what to set, without showing what is set.
func TestSettings(t *testing.T) {
	for _, p := range protocols {
		settings(t, p)
		for _, address := range []string{"", "models.test/v1", "ftp://models.test", "http://me:pass word@x y/"} {
			t.Setenv(p.base, address)
			_, err := Open(p.spec, Options{})
			if want := p.base + " holds no address of an endpoint; write it like https://example.com/v1, or unset it"; err == nil || err.Error() != want {
				t.Errorf("%q: got %v", address, err)
			}
		}
		os.Unsetenv(p.base)
		os.Unsetenv(p.key)
		planner, err := Open(p.spec, Options{Transport: nowhere{t}})
		if err == nil { // some learn only when they are asked
			_, err = planner.Answer(context.Background(), greeting(), func(string) {})
		}
		u := (*request.Unavailable)(nil)
		if !errors.As(err, &u) || !strings.Contains(err.Error(), "set "+p.key) || !strings.Contains(err.Error(), p.base) || len(err.Error()) > 400 {
			t.Errorf("got %v", err)
		}
	}
	// Without a key an endpoint of one's own is asked all the same.
	p := protocols["openai"]
	settings(t, p)
	os.Unsetenv(p.key)
	answer, _, e, err := ask(t, p, greeting(), Options{}, streams(p.stream(solution)))
	if err != nil || answer != solution || e.keys[0] != "" {
		t.Errorf("got %q, %v, key %q", answer, err, e.keys)
	}
}

// nowhere fails a test that reaches for the network.
type nowhere struct{ t *testing.T }

func (n nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("%s was asked", r.URL)
	return nil, errors.New("nowhere")
}
