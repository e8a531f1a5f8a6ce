package kinds_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// requestOf reads an http activity of YAML.
func requestOf(t *testing.T, http string) *plan.HTTP {
	t.Helper()
	text := "tools: {t: {type: object, properties: {}}}\nactivities: {t: {http: " + http + "}}\ncalls: [{_tool: t}]\n"
	p, found := compiler.Compile(source.NewFile("p.yaml", []byte(text)), compiler.Options{Name: "p.yaml"})
	if len(found) > 0 {
		t.Fatalf("%s: %v", http, found)
	}
	return p.Activities["t"].HTTP
}

func variables(name string) string { return map[string]string{"KEY": "s3cret/ü&x", "EMPTY": ""}[name] }

// LANGUAGE.md#http-requests: what is sent for which parameters.
func TestRequests(t *testing.T) {
	type sent = plan.WebRequest
	for _, c := range []struct {
		http   string
		params map[string]any
		want   sent
	}{
		{`{url: "https://h.test"}`, nil, sent{Method: "GET", URL: "https://h.test/", Headers: nil, Body: nil, Sends: "none"}},
		{`{url: "HTTPS://h.test:8443/a%2Fb/{x}.json"}`, map[string]any{"x": "ä/b"}, sent{Method: "GET", URL: "https://h.test:8443/a%2Fb/%C3%A4%2Fb.json", Headers: nil, Body: nil, Sends: "none"}},
		{`{url: "https://h.test/{{x}}/{x}?v=1&x={x}&k={$KEY}"}`, map[string]any{"x": "a?b#c&d=e"}, sent{Method: "GET", URL: "https://h.test/{x}/a%3Fb%23c%26d%3De?v=1&x=a%3Fb%23c%26d%3De&k=s3cret%2F%C3%BC%26x", Headers: nil, Body: nil, Sends: "none"}},
		{`{url: "https://me:{$KEY}@h.test/"}`, nil, sent{Method: "GET", URL: "https://me:s3cret%2F%C3%BC%26x@h.test/", Headers: nil, Body: nil, Sends: "none"}},
		{`{url: "https://h.test/{n}/{b}"}`, map[string]any{"n": 1e6, "b": true}, sent{Method: "GET", URL: "https://h.test/1000000/true", Headers: nil, Body: nil, Sends: "none"}},
		{`{url: "https://h.test/", query: {a: †a, b: †b, c: "x{c}", d: [1, †a, nein], e: {value: †b, join: ","}, f: †f.g}}`,
			map[string]any{"a": "{b}", "b": []any{"x y", nil, 2.0, false}, "f": map[string]any{"g": "†a"}},
			sent{Method: "GET", URL: "https://h.test/?a=%7Bb%7D&b=x%20y&b=2&b=false&d=1&d=%7Bb%7D&d=nein&e=x%20y%2C2%2Cfalse&f=%E2%80%A0a", Headers: nil, Body: nil, Sends: "none"}},
		{`{url: "https://h.test/", headers: {X-A: "v {a}", X-B: †b, X-C: †c, Authorization: "Bearer {$KEY}"}}`, map[string]any{"a": "1", "b": []any{"x", "y"}},
			sent{Method: "GET", URL: "https://h.test/", Headers: [][2]string{{"X-A", "v 1"}, {"X-B", "x"}, {"X-B", "y"}, {"Authorization", "Bearer s3cret/ü&x"}}, Body: nil, Sends: "none"}},
		{`{method: POST, url: "https://h.test/{id}"}`, map[string]any{"id": "i", "x": nil, "y": 1.0}, sent{Method: "POST", URL: "https://h.test/i", Headers: nil, Body: map[string]any{"x": nil, "y": 1.0}, Sends: "json"}},
		{`{method: POST, url: "https://h.test/{id}"}`, map[string]any{"id": "i"}, sent{Method: "POST", URL: "https://h.test/i", Headers: nil, Body: nil, Sends: "none"}},
		{`{method: POST, url: "https://h.test/", body: json}`, map[string]any{}, sent{Method: "POST", URL: "https://h.test/", Headers: nil, Body: map[string]any{}, Sends: "json"}},
		{`{method: DELETE, url: "https://h.test/"}`, map[string]any{"x": 1.0}, sent{Method: "DELETE", URL: "https://h.test/", Headers: nil, Body: nil, Sends: "none"}},
		{`{method: POST, url: "https://h.test/", body: form}`, map[string]any{"b": []any{"1", 2.0}, "a": "x&y", "n": nil}, sent{Method: "POST", URL: "https://h.test/", Headers: nil, Body: "a=x%26y&b=1&b=2", Sends: "form"}},
		{`{method: POST, url: "https://h.test/", body: {a: †a, s: "é {a}"}, headers: {Content-Type: application/x-www-form-urlencoded}}`, map[string]any{"a": "="},
			sent{Method: "POST", URL: "https://h.test/", Headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}, Body: "a=%3D&s=%C3%A9+%3D", Sends: "form"}},
		{`{method: POST, url: "https://h.test/", body: "Dear {a},"}`, map[string]any{"a": "{$KEY}"}, sent{Method: "POST", URL: "https://h.test/", Headers: nil, Body: "Dear {$KEY},", Sends: "text"}},
		{`{method: POST, url: "https://h.test/", body: †a, headers: {Content-Type: text/csv}}`, map[string]any{"a": "x,y"}, sent{Method: "POST", URL: "https://h.test/", Headers: [][2]string{{"Content-Type", "text/csv"}}, Body: "x,y", Sends: "text"}},
		{`{method: PUT, url: "https://h.test/", body: †a}`, map[string]any{"a": "x"}, sent{Method: "PUT", URL: "https://h.test/", Headers: nil, Body: "x", Sends: "json"}},
		{`{method: PUT, url: "https://h.test/", body: †a}`, map[string]any{}, sent{Method: "PUT", URL: "https://h.test/", Headers: nil, Body: nil, Sends: "none"}},
		{`{method: PATCH, url: "https://h.test/", body: {a: †a, n: †n, gone: †gone, l: [†gone, "{gone}", ††x, 1, {k: "{$KEY}"}], t: "{{a}}"}}`, map[string]any{"a": []any{"†b"}, "n": nil},
			sent{Method: "PATCH", URL: "https://h.test/", Headers: nil, Body: map[string]any{"a": []any{"†b"}, "n": nil, "l": []any{"†x", 1.0, map[string]any{"k": "s3cret/ü&x"}}, "t": "{a}"}, Sends: "json"}},
	} {
		got, err := kinds.HTTPRequest(requestOf(t, c.http), c.params, variables)
		if err != nil || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s with %v:\n got %#v, %v\nwant %#v", c.http, c.params, got, err, c.want)
		}
	}
}

// LANGUAGE.md#http-requests: what can't be sent is refused by the parameter that is at fault, and no message
// holds a secret.
func TestUnfitRequests(t *testing.T) {
	for _, c := range []struct {
		http      string
		params    map[string]any
		parameter string
	}{
		{`{url: "https://h.test/{x}"}`, nil, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": nil}, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": ""}, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": "a\x00"}, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": "a/../b"}, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": `..\b`}, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": "%2e%2e"}, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": "a%2f..%2fb"}, "x"},
		{`{url: "https://h.test/{x}"}`, map[string]any{"x": []any{"a"}}, "x"},
		{`{url: "https://h.test/.{x}"}`, map[string]any{"x": "."}, "x"},
		{`{url: "https://h.test/{$EMPTY}"}`, nil, ""},
		{`{url: "https://h.test/?a={x}"}`, nil, "x"},
		{`{url: "https://h.test/", query: {a: [1, †x]}}`, map[string]any{"x": map[string]any{}}, "x"},
		{`{url: "https://h.test/", query: {a: †x}}`, map[string]any{"x": []any{[]any{}}}, "x"},
		{`{url: "https://h.test/", headers: {X-A: "{$KEY} {x}"}}`, map[string]any{"x": "a\nSet-Cookie: b"}, "x"},
		{`{method: POST, url: "https://h.test/", body: form}`, map[string]any{"a": map[string]any{}}, "a"},
		{`{method: POST, url: "https://h.test/", body: †x, headers: {Content-Type: application/x-www-form-urlencoded}}`, map[string]any{"x": "a"}, "x"},
	} {
		got, err := kinds.HTTPRequest(requestOf(t, c.http), c.params, variables)
		var unfit *kinds.UnfitArgument
		if !errors.As(err, &unfit) || unfit.Parameter != c.parameter || strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%s with %v: got %v, %v", c.http, c.params, got, err)
		}
	}
}

// LANGUAGE.md#http-requests: whatever a value holds, the request goes to the same host, and its path has the
// same folders and as many segments, however often a server decodes it.
func TestValuesStayInTheirSegment(t *testing.T) {
	h := requestOf(t, `{url: "https://h.test/a/{x}/b/{y}.json?q={z}"}`)
	pieces := []string{"..", ".", "/", `\`, "%2f", "%2F", "%2e", "%252e", "%", "?", "#", "&", "@", ":", "//evil.test", "a", "ü", "\u202e", " ", "\r\n", "\x00", ";", "{x}", "{$KEY}", "", "†"}
	random := rand.New(rand.NewPCG(3, 5))
	value := func() string {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	taken := 0
	for range 20000 {
		params := map[string]any{"x": value(), "y": value(), "z": value()}
		r, err := kinds.HTTPRequest(h, params, variables)
		if err != nil {
			continue
		}
		taken++
		at, err := url.Parse(r.URL)
		if err != nil || at.Host != "h.test" || at.User != nil || at.Fragment != "" || at.Query().Get("q") != params["z"] {
			t.Fatalf("%v: %q, %v", params, r.URL, err)
		}
		segments := strings.Split(at.EscapedPath(), "/")
		if len(segments) != 5 || segments[1] != "a" || segments[3] != "b" {
			t.Fatalf("%v: %q", params, r.URL)
		}
		x, _ := url.PathUnescape(segments[2])
		y, _ := url.PathUnescape(segments[4])
		if x != params["x"] || y != params["y"].(string)+".json" {
			t.Fatalf("%v: %q", params, r.URL)
		}
		for _, decoded := range []string{at.EscapedPath(), at.Path, strings.ReplaceAll(at.Path, `\`, "/")} {
			if clean := path.Clean(decoded); !strings.HasPrefix(clean, "/a/") {
				t.Fatalf("%v: %q is %q", params, r.URL, clean)
			}
		}
	}
	if taken < 1000 {
		t.Errorf("only %d requests were made", taken)
	}
}

// EXECUTION.md#reviewers: what people are shown holds no secret, and is what is sent but for secrets.
func TestShownRequest(t *testing.T) {
	h := requestOf(t, `{method: POST, url: "https://me:{$KEY}@h.test/{x}/{$KEY}", query: {k: "{$KEY}", x: †x}, headers: {A: "{$KEY}"}}`)
	r, err := kinds.ShownRequest(h, map[string]any{"x": "a b{$KEY}&y=z"})
	want := "https://me:{$KEY}@h.test/a%20b{$KEY}%26y%3Dz/{$KEY}?k={$KEY}&x=a%20b{$KEY}%26y%3Dz"
	if err != nil || r.URL != want || r.Headers[0][1] != "{$KEY}" {
		t.Errorf("got %+v, %v", r, err)
	}
}
