// Package service is a small lending library, as examples/library/openapi.yaml describes it.
package service

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

type book struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	Year  int    `json:"year"`
}

type loan struct {
	ID     int    `json:"id"`
	Book   int    `json:"book"`
	Member string `json:"member"`
	Until  string `json:"until"`
}

// A library has books, loans and reservations.
type library struct {
	mu      sync.Mutex
	books   []book
	loans   []loan
	waiting map[string][]string // members, by the book that they wait for
}

// Handler returns the service, with four books; one is lent.
func Handler() http.Handler {
	l := &library{
		books:   []book{{1, "The Whale", 1851}, {2, "Walden", 1854}, {3, "The Time Machine", 1895}, {4, "A Room with a View", 1908}},
		loans:   []loan{{1, 3, "herbert", "2027-01-31"}},
		waiting: map[string][]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /books", l.find)
	mux.HandleFunc("POST /loans", l.lend)
	mux.HandleFunc("PUT /reservations/{book}/{member}", l.reserve)
	return mux
}

func (l *library) find(w http.ResponseWriter, r *http.Request) {
	var found []book
	for _, b := range l.books {
		has := true
		for word := range strings.SplitSeq(r.URL.Query().Get("words"), ",") {
			has = has && strings.Contains(strings.ToLower(b.Title), strings.ToLower(word))
		}
		if has {
			found = append(found, b)
		}
	}
	if len(found) == 0 {
		refuse(w, http.StatusNotFound, "no book has such a title")
		return
	}
	answer(w, http.StatusOK, found)
}

func (l *library) lend(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var wanted loan
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		refuse(w, http.StatusBadRequest, "the body is no loan")
		return
	}
	for _, one := range l.loans {
		if one.Book == wanted.Book {
			refuse(w, http.StatusConflict, "lent until "+one.Until)
			return
		}
	}
	wanted.ID, wanted.Until = len(l.loans)+1, "2027-02-28"
	l.loans = append(l.loans, wanted)
	answer(w, http.StatusCreated, wanted)
}

func (l *library) reserve(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	book := r.PathValue("book")
	l.waiting[book] = append(l.waiting[book], r.PathValue("member"))
	answer(w, http.StatusOK, map[string]int{"place": len(l.waiting[book])})
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"error": why})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
