//go:build unix

package workspace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// LANGUAGE.md#imports: over random trees the root and the settings are those that a second reading
// of the clause finds, and nothing outside the root can be opened, through links
// neither.
func TestLocate(t *testing.T) {
	top := t.TempDir()
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		base := filepath.Join(top, fmt.Sprint(seed))
		var chain []string // from the outermost
		at := base
		for depth := range 2 + random.IntN(4) {
			chain = append(chain, at)
			at = filepath.Join(at, fmt.Sprintf("f%d", depth))
		}
		marked, settings, open := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for i, dir := range chain {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if random.IntN(4) == 0 {
				settings[dir] = true
				put(t, filepath.Join(dir, Settings), 0o644)
			}
			if random.IntN(5) == 0 {
				marked[dir] = true
				put(t, filepath.Join(dir, ".git"), 0o644)
			}
			if i == 0 { // nothing above the tree counts
				open[dir] = true
			} else if random.IntN(6) == 0 {
				open[dir] = true
			}
			if open[dir] {
				if err := os.Chmod(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
		}
		own := chain[len(chain)-1]
		chosen := ""
		if random.IntN(3) == 0 {
			chosen = chain[random.IntN(len(chain))]
		}
		got, err := Locate(own, chosen)
		if err != nil {
			t.Fatal(err)
		}

		root, depth := own, len(chain)-1
		for i := len(chain) - 1; i >= 0 && !open[chain[i]]; i-- {
			if marked[chain[i]] || settings[chain[i]] {
				root, depth = chain[i], i
				break
			}
		}
		if chosen != "" {
			root, depth = chosen, strings.Count(chosen, "f")-strings.Count(base, "f")
		}
		want := ""
		for i := len(chain) - 1; i >= depth && want == ""; i-- {
			if settings[chain[i]] && !open[chain[i]] {
				want = filepath.Join(chain[i], Settings)
			}
		}
		if got.Root != root || got.Settings != want {
			t.Fatalf("seed %d: %v, settings %v, open %v, chosen %q: got %+v, want %s %s", seed, chain, settings, open, chosen, got, root, want)
		}
		for _, one := range got.Passed {
			if dir := filepath.Dir(one.Name); !open[dir] || !settings[dir] {
				t.Fatalf("seed %d: %+v is refused", seed, one)
			}
		}
		put(t, filepath.Join(top, "outside.txt"), 0o644)
		if err := os.Symlink(filepath.Join(top, "outside.txt"), filepath.Join(root, "link")); err != nil {
			t.Fatal(err)
		}
		folder := Folder{Dir: root, Limit: 10}
		for _, name := range []string{"link", "../outside.txt", strings.Repeat("../", 20) + "etc/passwd", "/etc/passwd", ".", ""} {
			if text, err := folder.Open(name); err == nil {
				t.Fatalf("seed %d: %q could be opened: %q", seed, name, text)
			}
		}
	}
}

func put(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte("x"), mode); err != nil {
		t.Fatal(err)
	}
}

// LANGUAGE.md#findings: a file that everybody may write isn't read, wherever it stands.
func TestOpenSettings(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "plans")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(top, 0o777)); err != nil { // nothing above it counts
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, Settings), 0o644)
	if p, _ := Locate(dir, ""); p.Settings == "" {
		t.Errorf("%+v", p)
	}
	if err := os.Chmod(filepath.Join(dir, Settings), 0o666); err != nil {
		t.Fatal(err)
	}
	if p, _ := Locate(dir, ""); p.Settings != "" || len(p.Passed) != 1 || !strings.Contains(p.Passed[0].Why, "can be written by everybody (-rw-rw-rw-)") {
		t.Errorf("%+v", p)
	}
}

// Who overlooks the error has nothing, and not an empty file.
func TestWhatCannotBeReadIsNothing(t *testing.T) {
	if text, err := Read(t.TempDir(), 10); text != nil || err == nil {
		t.Errorf("%q, %v", text, err)
	}
}
