package pages

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// A Door admits requests that know a secret address of this computer. It refuses other host names,
// against DNS rebinding, and pages of other origins.
type Door struct {
	Host  string // the address and the port
	Token string
}

// Address is the secret address.
func (d *Door) Address() string { return "http://" + d.Host + "/" + d.Token + "/" }

// Admit serves those who have the address.
func (d *Door) Admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret := "/" + d.Token + "/"
		start := r.URL.Path[:min(len(secret), len(r.URL.Path))]
		if !d.fromHere(r) || subtle.ConstantTimeCompare([]byte(start), []byte(secret)) != 1 {
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
	return r.Host == d.Host && (origin == "" || of == r.Host) && (site == "" || site == "same-origin" || site == "none")
}
