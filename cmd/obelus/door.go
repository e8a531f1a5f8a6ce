package main

import (
	"crypto/subtle"
	"net/http"
)

// A door lets only those in who know a secret address of this computer. A name of another
// that leads here isn't that address (which is how a page of the web would come in, by DNS
// that is rebound), nor is the page of another.
type door struct {
	host  string // the address and the port
	token string
}

func (d *door) address() string { return "http://" + d.host + "/" + d.token + "/" }

// guarded serves those who have the address.
func (d *door) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, whole := []byte(r.URL.Path), []byte("/"+d.token+"/")
		if !d.fromHere(r) || len(path) < len(whole) || subtle.ConstantTimeCompare(path[:len(whole)], whole) != 1 {
			http.Error(w, "there is nothing here", http.StatusNotFound)
			return
		}
		for key, value := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin"} {
			w.Header().Set(key, value)
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere reports whether a request names this very address, and comes from no page of
// another.
func (d *door) fromHere(r *http.Request) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	return r.Host == d.host && (origin == "" || origin == "http://"+d.host) && (site == "" || site == "same-origin" || site == "none")
}
