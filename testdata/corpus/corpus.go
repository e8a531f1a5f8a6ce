// Package corpus gives tests plans, schemas and tools that others wrote: the sample in
// testdata/corpus, whose README says where they come from, and with -thorough or -long
// all of them where they lie beside the repository, in ../shared/corpus.
package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// Whole reports whether all of the corpus is here and wanted, and not the sample alone.
func Whole() bool {
	if amount.Of(0, 1, 1) == 0 {
		return false
	}
	_, err := os.Stat(folder("..", "shared", "corpus"))
	return err == nil
}

// top is the top of the repository: tests begin in the folder of their package.
var top = func() string {
	here, err := os.Getwd()
	for ; err == nil && here != filepath.Dir(here); here = filepath.Dir(here) {
		if _, missing := os.Stat(filepath.Join(here, "go.mod")); missing == nil {
			break
		}
	}
	return here
}()

// Enough is how many of a kind a test wants to meet at least: in all of the corpus, or
// in the sample.
func Enough(whole, sample int) int {
	if Whole() {
		return whole
	}
	return sample
}

// folder is a folder as seen from the top of the repository.
func folder(names ...string) string {
	return filepath.Join(append([]string{top}, names...)...)
}

// Path is where a file of the corpus lies.
func Path(name string) string {
	if Whole() {
		return folder("..", "shared", "corpus", filepath.FromSlash(name))
	}
	return folder("testdata", "corpus", filepath.FromSlash(name))
}

// Text is what a file of the corpus holds.
func Text(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Rows are the lines of a file of the corpus, each decoded as JSON.
func Rows[T any](t testing.TB, name string) []T {
	t.Helper()
	var rows []T
	for lines := json.NewDecoder(bytes.NewReader(Text(t, name))); ; {
		var row T
		err := lines.Decode(&row)
		if errors.Is(err, io.EOF) && len(rows) > 0 {
			return rows
		}
		if err != nil {
			t.Fatalf("%s: after %d rows: %v", name, len(rows), err)
		}
		rows = append(rows, row)
	}
}

// A Plan is a row of the files of plans.
type Plan struct {
	ID       string
	Document json.RawMessage
}

// Plans are the files whose rows are plans.
var Plans = []string{"nestools.jsonl", "nestful.jsonl", "taskbench.jsonl", "mathqa.jsonl"}

// SchemaPairs are the files whose rows are pairs of schemas.
var SchemaPairs = []string{"schema-pairs/ibm-jsonsubschema.jsonl", "schema-pairs/json-schema-diff.jsonl", "schema-pairs/jsc-draft7.jsonl"}
