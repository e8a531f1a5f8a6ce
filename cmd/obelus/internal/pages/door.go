package pages

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// A Door admits requests that know a secret address of this computer. It refuses other host names,
// against DNS rebinding, and pages of other origins.
type Door struct {
	Host  string   // the address and the port
	Also  []string // other names for them
	Token string
}

// Address is the secret address.
func (d *Door) Address() string { return "http://" + d.Host + "/" + d.Token + "/" }

// startsWith takes as long for every text of some length.
func startsWith(text, secret string) bool {
	return len(text) >= len(secret) && subtle.ConstantTimeCompare([]byte(text[:len(secret)]), []byte(secret)) == 1
}

// Admit serves those who have the address, and those who send the token of it in a header.
func (d *Door) Admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		knows := startsWith(r.URL.Path, "/"+d.Token+"/") || len(sent) == len(d.Token) && startsWith(sent, d.Token)
		if !d.fromHere(r) || !knows {
			http.Error(w, "there is nothing here", http.StatusNotFound)
			return
		}
		for key, value := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin"} {
			w.Header().Set(key, value)
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere reports whether a request names this very address, and comes from no page of
// another.
func (d *Door) fromHere(r *http.Request) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	_, of, _ := strings.Cut(origin, "://")
	known := func(host string) bool { return host == d.Host || slices.Contains(d.Also, host) }
	return known(r.Host) && (origin == "" || of == r.Host) && (site == "" || site == "same-origin" || site == "none")
}
