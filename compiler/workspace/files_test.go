//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// LANGUAGE.md#compiled-plans-and-digests: a name counts as the file of the folder that it leads to, through whatever links; of
// a link that leads out, where to counts as well.
func TestSumFollowsLinks(t *testing.T) {
	top := t.TempDir()
	w := filepath.Join(top, "w")
	for name, text := range map[string]string{"w/prog": "prog", "w/lib/prog": "lib", "w/lib/deep/x": "x", "out": "out", "out2": "out"} {
		name = filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"l": "w", "w/relative": "lib/prog", "w/absolute": w + "/lib/prog", "w/above": "../w/lib/prog", "w/folder": w + "/lib", "w/deep": "lib/deep",
		"w/twice": "folder/prog", "w/own": "/proc/self/cwd/prog", "w/leads": "../out", "w/loop": "loop", "w/broken": "nothing",
	} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	folder := Folder{Dir: filepath.Join(top, "l")}
	for _, test := range []struct{ from, name, holds string }{
		{".", "prog", "prog"}, {".", "./prog", "prog"}, {"lib", "prog", "lib"}, {w + "/lib", "prog", "lib"}, {".", w + "/prog", "prog"}, {".", top + "/l/prog", "prog"},
		{".", "relative", "lib"}, {".", "absolute", "lib"}, {".", "above", "lib"}, {".", "folder/prog", "lib"}, {".", "twice", "lib"},
		{".", "deep/../prog", "lib"}, {"deep", "../prog", "lib"}, {"lib", "../prog", "prog"}, {"nothing", "../prog", "prog"},
		{".", "../out", ""}, {".", top + "/out", ""}, {".", "lib", ""}, {".", "", ""}, {".", "loop", ""}, {".", "broken", ""}, {".", "no such file", ""},
		{".", strings.Repeat("x/", 5000), ""}, {".", "/dev/stdin", ""},
	} {
		want := ""
		if test.holds != "" {
			want = SumOf([]byte(test.holds))
		}
		if got, err := folder.Sum(test.from, test.name); got != want || err != nil {
			t.Errorf("%q from %q: %s, %v; expected what %q has", test.name, test.from, got, err, test.holds)
		}
	}
	leads, err := folder.Sum(".", "leads")
	if err := errors.Join(err, os.Remove(w+"/leads"), os.Symlink("../out2", w+"/leads")); err != nil {
		t.Fatal(err)
	}
	if now, _ := folder.Sum(".", "leads"); leads == "" || now == leads {
		t.Errorf("a link that leads out has %q, and %q when it leads elsewhere", leads, now)
	}
	if runtime.GOOS == "linux" {
		for from, holds := range map[string]string{".": "prog", "lib": "lib"} { // wherever this process is
			for _, name := range []string{w + "/own", "/proc/self/cwd/prog", "/proc/thread-self/cwd/prog", "/proc/self/root/" + top + "/l/own"} {
				if got, err := folder.Sum(from, name); got != SumOf([]byte(holds)) || err != nil {
					t.Errorf("%q from %q: %s, %v", name, from, got, err)
				}
			}
		}
	}
}

// LANGUAGE.md#compiled-plans-and-digests: which files a pattern matches, links among them; none outside of the folder.
func TestGlob(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"w/a.sh", "w/b.txt", "w/lib/c.sh", "w/lib/deep/d.sh", "w/lib/deep/er/e.sh", "w/[x]/f.sh", "x/out.sh"} {
		name = filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("lib", top+"/w/in"), os.Symlink("/nowhere", top+"/w/l.sh"), os.Symlink(".", top+"/w/lib/loop")); err != nil {
		t.Fatal(err)
	}
	folder := Folder{Dir: top + "/w"}
	for pattern, want := range map[string]string{
		"a.sh": "a.sh", "l.sh": "l.sh", "*.sh": "a.sh l.sh", "?.txt": "b.txt", "lib": "", "lib/*.sh": "lib/c.sh", "./lib/*/*.sh": "lib/deep/d.sh",
		"lib/**": "lib/c.sh lib/deep/d.sh lib/deep/er/e.sh", "**/d.sh": "in/deep/d.sh lib/deep/d.sh", "**/e?/*": "in/deep/er/e.sh lib/deep/er/e.sh", "lib/**/*.sh": "lib/c.sh lib/deep/d.sh lib/deep/er/e.sh", "i*/deep/*.sh": "in/deep/d.sh",
		"in/*.sh": "in/c.sh", "[x]/*": "[x]/f.sh", "none/*.sh": "", "*.SH": "", "{a,b}.*": "", "../x/*": "", "/etc/*": "",
	} {
		names, err := folder.Glob(pattern)
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("%s: %q, %v; expected %q", pattern, got, err, want)
		}
	}
	if err := os.Symlink("../x", top+"/w/out"); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"out/*", "**/*.sh", "*/*.sh"} {
		if names, err := folder.Glob(pattern); len(names) > 0 || err == nil || !strings.Contains(err.Error(), `"out" leads out of the workspace`) {
			t.Errorf("%s and a link out: %q, %v", pattern, names, err)
		}
	}
	if names, err := folder.Glob("*.sh"); len(names) != 2 || err != nil {
		t.Errorf("beside a link out: %q, %v", names, err)
	}
}
