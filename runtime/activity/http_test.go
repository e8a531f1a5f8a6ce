package activity

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/source"
)

// A server on this machine that answers as a test has it, a connection at a time.
type rawServer struct {
	*testing.T
	address string
	mu      sync.Mutex
	sent    int // bytes
	asked   []*http.Request
	opened  int
}

// A rawAnswer writes what follows a request, and reports whether more may follow on the
// connection.
type rawAnswer func(c *rawConn, r *http.Request) bool

type rawConn struct {
	net.Conn
	server *rawServer
}

func (c *rawConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.server.mu.Lock()
	c.server.sent += n
	c.server.mu.Unlock()
	return n, err
}

func serveRaw(t *testing.T, answer rawAnswer) *rawServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{T: t, address: listener.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.opened++
			s.mu.Unlock()
			all.Go(func() {
				defer conn.Close()
				c := &rawConn{conn, s}
				for in := bufio.NewReader(conn); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					s.mu.Lock()
					s.asked = append(s.asked, r)
					s.mu.Unlock()
					if !answer(c, r) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	return s
}

func (s *rawServer) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func (s *rawServer) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

const token = "s3cr3t+tok&en=12345"

// webSet opens an activity that sends requests, with a secret in TOKEN, and this machine
// among the hosts that it may go to.
func webSet(t *testing.T, definition string) *Set {
	t.Helper()
	text := "tools: {act: {type: object, properties: {}}}\nactivities: {act: {http: " + definition + "}}\ncalls: [{_tool: act}]\n"
	p, found := compiler.Compile(source.NewFile("p.yaml", []byte(text)), compiler.Options{Name: "p.yaml"})
	if len(found) > 0 {
		t.Fatalf("%s: %v", definition, found)
	}
	here, _ := hosts.Parse("127.0.0.1")
	return openOne(t, p.Activities["act"], Options{Environ: []string{"TOKEN=" + token}, Hosts: hosts.Rules{{By: "the test", Entries: []hosts.Entry{here}, Adds: true, Counts: true}}})
}

func raw(text string) rawAnswer {
	return func(c *rawConn, _ *http.Request) bool {
		io.WriteString(c, text)
		return false
	}
}

// ok is an answer with a body, and further headers.
func ok(body string, headers ...string) rawAnswer {
	return raw(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s", len(body), strings.Join(append(headers, ""), "\r\n"), body))
}

// hold writes a text and then nothing.
func hold(text string) rawAnswer {
	return func(c *rawConn, _ *http.Request) bool {
		io.WriteString(c, text)
		io.Copy(io.Discard, c.Conn) // until the other side has enough
		return false
	}
}

// forever writes a text, and another again and again until nobody listens.
func forever(head, again string) rawAnswer {
	again = strings.Repeat(again, 1+32<<10/len(again))
	return func(c *rawConn, _ *http.Request) bool {
		_, err := io.WriteString(c, head)
		for err == nil {
			_, err = io.WriteString(c, again)
		}
		return false
	}
}

func gzipped(text []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.String()
}

func redirect(status int, to string) rawAnswer {
	return raw(fmt.Sprintf("HTTP/1.1 %d Moved\r\nLocation: %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", status, to))
}

// LANGUAGE.md#http-requests: whatever a server does, a try ends, with an error that says what was wrong
// and holds no secret, and no more is read than an answer may have.
func TestMisbehavingServers(t *testing.T) {
	log.SetOutput(io.Discard) // to which net/http tells of answers that nobody has asked for
	defer log.SetOutput(os.Stderr)
	const timeout, bad, failed = CodeTimeout, CodeBadOutput, CodeError
	const echo = `{"error": "no such token s3cr3t+tok&en=12345", "s3cr3t+tok&en=12345": ["Bearer s3cr3t+tok\u0026en=12345", "s3cr3t%2Btok%26en%3D12345"]}`
	for name, c := range map[string]struct {
		answer rawAnswer
		code   string // "" is a result
		says   string
	}{
		"no headers":                  {hold(""), timeout, "longer than its timeout"},
		"half of the headers":         {hold("HTTP/1.1 200 OK\r\nContent-Le"), timeout, "longer than its timeout"},
		"no body":                     {hold("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), timeout, "longer than its timeout"},
		"half of a body":              {hold("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a\""), timeout, "longer than its timeout"},
		"a chunk that never ends":     {hold("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"), timeout, "longer than its timeout"},
		"an error without an end":     {hold("HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf"), timeout, "longer than its timeout"},
		"another protocol":            {hold("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"), "http-101", "got 101"},
		"an endless body":             {forever("HTTP/1.1 200 OK\r\n\r\n[", "1,"), bad, "more than 8 MiB"},
		"endless chunks":              {forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "40\r\n"+strings.Repeat("1,", 32)+"\r\n"), bad, "more than 8 MiB"},
		"endless extensions":          {forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat("x", 2000)+"\r\n1\r\n"), failed, "broke off"},
		"a body that is announced":    {hold("HTTP/1.1 200 OK\r\nContent-Length: 8388609\r\n\r\n"), bad, "more than 8 MiB"},
		"an endless error":            {forever("HTTP/1.1 404 No\r\n\r\n", "no "), "http-404", "got 404 Not Found"},
		"too short":                   {raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"a\": 1}"), failed, "broke off"},
		"too long":                    {raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{\"a\": 1}"), bad, "exactly one JSON value"},
		"two lengths":                 {raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 8\r\n\r\n{\"a\": 1}"), failed, "which may have arrived: "},
		"a length below nothing":      {raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"), failed, "which may have arrived: "},
		"a page":                      {ok("<html>Sign in</html>", "Content-Type: text/html"), bad, `(the answer is text/html) (it begins "<html>`},
		"no JSON":                     {ok(`{"a": }`), bad, "exactly one JSON value"},
		"two values":                  {ok(`{"a": 1} {"b": 2}`), bad, "more follows after the first value"},
		"NUL":                         {ok(`{"a": "\u0000"}`), bad, "a NUL character"},
		"a raw NUL":                   {ok("{\"a\": \x00}"), bad, "exactly one JSON value"},
		"a key twice":                 {ok(`{"a": 1, "a": 2}`), bad, "exactly one JSON value"},
		"too deep":                    {ok(strings.Repeat("[", 5000) + strings.Repeat("]", 5000)), bad, "deeper than 100 levels"},
		"not UTF-8":                   {ok("\"\xff\xfe\""), bad, "exactly one JSON value"},
		"a number that loses digits":  {ok("9007199254740993"), bad, "write it as a string"},
		"a number beyond all":         {ok("1e999"), bad, "write it as a string"},
		"to another host":             {redirect(302, "http://evil.test/?t="+url.QueryEscape(token)), "http-302", `which leads to "http://evil.test/": write that address`},
		"to another port":             {redirect(307, "http://127.0.0.1:1/"), "http-307", `which leads to "http://127.0.0.1:1/"`},
		"to another scheme":           {redirect(301, "https://127.0.0.1/"), "http-301", `which leads to "https://127.0.0.1/"`},
		"to a file":                   {redirect(302, "file:///etc/passwd"), "http-302", `which leads to "file:///etc/passwd"`},
		"to a private address":        {redirect(308, "http://10.0.0.1/"), "http-308", `which leads to "http://10.0.0.1/"`},
		"to itself":                   {redirect(302, "/again"), "http-302", `which leads to "/again"`},
		"to nowhere":                  {raw("HTTP/1.1 302 Moved\r\nContent-Length: 0\r\n\r\n"), "http-302", "got 302 Found"},
		"to what is no address":       {redirect(302, "http://[::1"), "http-302", "got 302 Found"},
		"to a host that is a secret":  {redirect(302, "http://"+token+".evil.test/"), "http-302", `which leads to "http://[hidden TOKEN].evil.test/"`},
		"a bomb":                      {ok(gzipped(bytes.Repeat([]byte(" "), 9<<20)), "Content-Encoding: gzip"), bad, "more than 8 MiB"},
		"a bomb of nothing":           {forever("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+gzipped(nil)[:10], "\x00\x00\x00\xff\xff"), timeout, "longer than its timeout"},
		"a bomb in an error":          {ok(gzipped(bytes.Repeat([]byte(" "), 9<<20)), "Content-Encoding: gzip"), bad, "more than 8 MiB"},
		"half of a gzip":              {ok(gzipped([]byte(`{"a": 1}`))[:20], "Content-Encoding: gzip"), failed, "broke off"},
		"a header without an end":     {forever("HTTP/1.1 200 OK\r\nX: ", "x"), failed, "which may have arrived: "},
		"headers without an end":      {forever("HTTP/1.1 200 OK\r\n", "X-Y: z\r\n"), failed, "which may have arrived: "},
		"hints without an end":        {forever("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), failed, "which may have arrived: "},
		"no answer":                   {raw(""), failed, "which may have arrived: "},
		"no HTTP":                     {raw("220 mail.test ESMTP\r\n"), failed, "which may have arrived: "},
		"HTTP/2":                      {raw("\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"), failed, "which may have arrived: "},
		"an alert of TLS":             {raw("\x15\x03\x01\x00\x02\x02\x0a"), failed, "which may have arrived: "},
		"a version that isn't":        {raw("HTTP/9.9 200 OK\r\n\r\n{}"), "", ""},
		"a status that isn't":         {raw("HTTP/1.1 xyz OK\r\n\r\n{}"), failed, "which may have arrived: "},
		"a status beyond all":         {raw("HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n"), "http-999", "got 999"},
		"a line that is no header":    {raw("HTTP/1.1 200 OK\r\nevil " + token + "\r\n\r\n{}"), failed, "which may have arrived: "},
		"a header of a header":        {raw("HTTP/1.1 200 OK\r\nX-A: b\rX-B: c\r\nContent-Length: 2\r\n\r\n{}"), failed, "which may have arrived: "},
		"chunks of garbage":           {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnothing\r\n"), failed, "broke off"},
		"a chunk beyond all":          {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}"), failed, "broke off"},
		"trailers":                    {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n2\r\n{}\r\n0\r\nX-A: b\r\n\r\n"), "", ""},
		"trailers without an end":     {forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", "X-Y: z\r\n"), failed, "broke off"},
		"two ways of framing":         {raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n\r\n{}"), failed, "which may have arrived: "},
		"HTTP/1.0":                    {raw("HTTP/1.0 200 OK\r\n\r\n{\"a\": 1}"), "", ""},
		"an empty answer":             {ok(""), "", ""},
		"204 with a body":             {raw("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nevil!"), "", ""},
		"304":                         {raw("HTTP/1.1 304 Not Modified\r\n\r\n"), "http-304", "got 304 Not Modified"},
		"a mark of bytes in front":    {ok("\xef\xbb\xbf{}"), "", ""},
		"an error that echoes":        {raw(fmt.Sprintf("HTTP/1.1 401 s3cr3t+tok&en=12345\r\nX-Echo: s3cr3t+tok&en=12345\r\nContent-Length: %d\r\n\r\n%s", len(echo), echo)), "http-401", "[hidden TOKEN]"},
		"an error that echoes a part": {raw("HTTP/1.1 401 No\r\n\r\n" + strings.Repeat("x", 295) + token), "http-401", "xxx"},
		"an error in gzip":            {raw("HTTP/1.1 401 No\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte(echo))), "http-401", "[hidden TOKEN]"},
		"a result that echoes":        {ok(echo), "", "[hidden TOKEN]"},
		"garbage that echoes":         {ok(strings.Repeat("y", 290)+token, "Content-Type: text/"+token), bad, "[hidden TOKEN]"},
		"terminal sequences":          {raw("HTTP/1.1 500 No\r\n\r\n\x1b[2Jdone\r\n\u202e"), "http-500", "done"},
		"reset": {func(c *rawConn, _ *http.Request) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
			c.Conn.(*net.TCPConn).SetLinger(0)
			return false
		}, failed, ""},
		"half closed": {func(c *rawConn, _ *http.Request) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
			c.Conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, c.Conn)
			return false
		}, failed, "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, c.answer)
			limit := "20s"
			if c.code == timeout {
				limit = "100ms"
			}
			set := webSet(t, `{url: "http://`+s.address+`/x/{$TOKEN}", query: {t: "{$TOKEN}"}, headers: {Authorization: "Bearer {$TOKEN}"}, timeout: `+limit+`}`)
			result, err := set.Run(background, "act", Request{})
			told, _ := json.Marshal(result.Value)
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else {
				f := failure(t, err, c.code)
				details, _ := json.Marshal(f.Details)
				told = append([]byte(f.Message+"\n"), details...)
				if len(f.Message) > 800 || len(details) > 64<<10 {
					t.Errorf("%d bytes are told, and %d bytes of details", len(f.Message), len(details))
				}
			}
			if !strings.Contains(string(told), c.says) {
				t.Errorf("told %s", told)
			}
			for _, secret := range []string{token, token[:8], url.QueryEscape(token)[:9]} {
				if strings.Contains(string(told), secret) {
					t.Errorf("%q is told: %s", secret, told)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if most := 8<<20 + 16<<20; s.sent > most { // with what lies in the buffers of two sockets
				t.Errorf("%d bytes were taken", s.sent)
			}
		})
	}
}

// LANGUAGE.md#http-requests: what an error tells a plan, and how long the server asks to wait.
func TestRefusals(t *testing.T) {
	for wait, want := range map[string][2]time.Duration{
		"7": {7 * time.Second, 7 * time.Second}, "1.5": {1500 * time.Millisecond, 1500 * time.Millisecond}, "0": {}, "-5": {}, "soon": {}, "": {}, "NaN": {},
		"99999999999999": {365 * 24 * time.Hour, 365 * 24 * time.Hour}, "1e300": {365 * 24 * time.Hour, 365 * 24 * time.Hour},
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):  {time.Minute, time.Hour},
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): {},
	} {
		s := serveRaw(t, raw("HTTP/1.1 429 No\r\nRetry-After: "+wait+"\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"a\": [null]}"))
		_, err := webSet(t, `{url: "http://`+s.address+`/"}`).Run(background, "act", Request{})
		f := failure(t, err, "http-429", "got 429 Too Many Requests from GET http://"+s.address)
		if f.After < want[0] || f.After > want[1] {
			t.Errorf("Retry-After: %s is %v", wait, f.After)
		}
		if details := f.Details.(map[string]any); details["status"] != 429.0 || details["retryAfter"] != nil && f.After == 0 {
			t.Errorf("details %v", details)
		}
	}
}

// LANGUAGE.md#http-requests: what is sent, and what an answer gives in each form.
func TestExchanges(t *testing.T) {
	answer := func(c *rawConn, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		text, _ := json.Marshal(map[string]any{"method": r.Method, "at": r.RequestURI, "type": r.Header.Get("Content-Type"), "accept": r.Header.Get("Accept"), "by": r.UserAgent(), "body": string(body)})
		fmt.Fprintf(c, "HTTP/1.1 201 Created\r\nContent-Type: application/json; charset=utf-8\r\nSet-Cookie: a=b\r\nX-Many: 1\r\nX-Many: 2\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		return true
	}
	s := serveRaw(t, answer)
	at := `"http://` + s.address + `/a/{x}"`
	for _, c := range []struct{ http, want string }{
		{`{url: ` + at + `}`, `{"accept":"application/json","at":"/a/1%2F2","body":"","by":"obelus","method":"GET","type":""}`},
		{`{method: POST, url: ` + at + `}`, `{"accept":"application/json","at":"/a/1%2F2","body":"{\"n\":9.007199254740992e+15,\"y\":[\"\u003cb\u003e\"]}","by":"obelus","method":"POST","type":"application/json"}`},
		{`{method: POST, url: ` + at + `, body: form, headers: {User-Agent: me, Accept: x/y}}`, `{"accept":"x/y","at":"/a/1%2F2","body":"n=9007199254740992\u0026y=%3Cb%3E","by":"me","method":"POST","type":"application/x-www-form-urlencoded"}`},
		{`{method: PUT, url: ` + at + `, body: "n is {n}", response: text}`, `"{\"accept\":\"text/*, */*;q=0.1\",\"at\":\"/a/1%2F2\",\"body\":\"n is 9007199254740992\",\"by\":\"obelus\",\"method\":\"PUT\",\"type\":\"text/plain; charset=utf-8\"}"`},
		{`{method: HEAD, url: ` + at + `, response: json}`, `null`},
		{`{method: DELETE, url: ` + at + `, response: none}`, `null`},
	} {
		set := webSet(t, c.http)
		result, err := set.Run(background, "act", Request{Params: map[string]any{"x": "1/2", "y": []any{"<b>"}, "n": float64(1 << 53)}})
		got, _ := json.Marshal(result.Value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.http, got, err, c.want)
		}
	}
	result, err := webSet(t, `{url: `+at+`, response: full}`).Run(background, "act", Request{Params: map[string]any{"x": "1"}})
	full, _ := result.Value.(map[string]any)
	headers, _ := full["headers"].(map[string]any)
	if err != nil || full["status"] != 201.0 || headers["x-many"] != "1, 2" || headers["set-cookie"] != "a=b" || full["body"].(map[string]any)["at"] != "/a/1" {
		t.Errorf("in full: %v, %v", result.Value, err)
	}
	if result, err := webSet(t, `{url: `+at+`}`).Run(background, "act", Request{Params: map[string]any{"x": "1"}, Unread: true}); err != nil || result.Value != nil {
		t.Errorf("of a call that gives nothing: %v, %v", result.Value, err)
	}
}

// LANGUAGE.md#http-requests: a request is sent once, also where a connection that was used before breaks
// when the server has read it, and by whatever method or header it says that it may be
// sent again.
func TestRequestsAreSentOnce(t *testing.T) {
	for _, how := range []string{"method: GET", "method: HEAD", "method: OPTIONS", "method: PUT, body: {a: 1}", "method: POST, headers: {Idempotency-Key: abc}, body: {a: 1}",
		"method: POST, headers: {x-idempotency-key: abc}, body: none", "method: DELETE"} {
		t.Run(how, func(t *testing.T) {
			read := map[net.Conn]int{}
			var mu sync.Mutex
			s := serveRaw(t, func(c *rawConn, r *http.Request) bool {
				mu.Lock()
				read[c.Conn]++
				first := read[c.Conn] == 1
				mu.Unlock()
				if first {
					io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
				}
				return first
			})
			set := webSet(t, `{`+how+`, response: none, url: "http://`+s.address+`/"}`)
			if _, err := set.Run(background, "act", Request{}); err != nil {
				t.Fatal(err)
			}
			if _, err := set.Run(background, "act", Request{}); err == nil || !strings.Contains(err.Error(), "got no answer to ") || !strings.Contains(err.Error(), "which may have arrived") {
				t.Error(err)
			}
			asked := s.requests()
			if len(asked) != 2 {
				t.Errorf("%d requests came", len(asked))
			}
			for _, r := range asked {
				if strings.Contains(how, "empotency") && r.Header.Get("Idempotency-Key")+r.Header.Get("X-Idempotency-Key") != "abc" || len(r.TransferEncoding) > 0 {
					t.Errorf("it was sent with %v, %v", r.Header, r.TransferEncoding)
				}
			}
		})
	}
}

// LANGUAGE.md#http-requests: connections are used again, also where the server closes one meanwhile; cookies
// aren't kept.
func TestConnections(t *testing.T) {
	var answered atomic.Int32
	s := serveRaw(t, func(c *rawConn, r *http.Request) bool {
		last, closes := answered.Add(1) == 3, ""
		if last {
			closes = "Connection: close\r\n"
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\n"+closes+"Content-Length: 2\r\n\r\n{}")
		return !last
	})
	set := webSet(t, `{url: "http://`+s.address+`/"}`)
	for i := range 6 {
		if _, err := set.Run(background, "act", Request{}); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	for _, r := range s.requests() {
		if r.Header.Get("Cookie") != "" {
			t.Error("a cookie is kept")
		}
	}
	if n := s.connections(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// LANGUAGE.md#http-requests: nothing is sent to a host that isn't allowed, nor begun with a variable that isn't set.
func TestRefusedHosts(t *testing.T) {
	s := serveRaw(t, ok("{}"))
	text := "activities: {act: {http: {url: \"http://" + s.address + "/\"}}, key: {http: {url: \"https://h.test/{$NO_SUCH}\"}}}\n"
	p, _ := compiler.Compile(source.NewFile("p.yaml", []byte("calls: []\n"+text)), compiler.Options{Name: "p.yaml"})
	for name, says := range map[string]string{"act": "an address of this machine", "key": "the environment variable NO_SUCH isn't set"} {
		_, err := Open(map[string]*plan.Activity{name: p.Activities[name]}, nil, Options{Environ: []string{}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
		unused, err := Open(map[string]*plan.Activity{name: p.Activities[name]}, nil, Options{Environ: []string{}, Used: map[string]bool{}})
		if err != nil {
			t.Errorf("%s, which isn't used: %v", name, err)
			continue
		}
		if _, err := unused.Run(background, name, Request{}); err == nil {
			t.Errorf("%s was run", name)
		}
		unused.Close()
	}
	if asked := s.requests(); len(asked) > 0 {
		t.Errorf("%d requests were sent", len(asked))
	}
}
