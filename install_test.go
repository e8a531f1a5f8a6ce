package obelus_test

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/testdata/amount"
)

// The newest version in CHANGELOG.md, as a module proxy serves it: "go install" gets the command, which knows its
// version, and a program of another module is built with the module of runtime/otel.
func TestInstall(t *testing.T) {
	if amount.Of(0, 1, 1) == 0 {
		t.Skip("builds everything anew: see make thorough")
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	version := string(regexp.MustCompile(`(?m)^## (v\S+)`).FindSubmatch(changes)[1])
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Skip("there is no go command: ", err)
	}
	cache, proxies, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	proxy, work := t.TempDir(), t.TempDir()
	publish(t, proxy, "github.com/obelus-dev/obelus", version, ".")
	publish(t, proxy, "github.com/obelus-dev/obelus/runtime/otel", version, "runtime/otel")
	command := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+cache+"/cache/download,"+proxies, "GOSUMDB=off",
			"GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GOMODCACHE="+work+"/modules", "GOBIN="+work)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	command("go", "install", "github.com/obelus-dev/obelus/cmd/obelus@latest")
	if out := command(filepath.Join(work, "obelus"), "version"); !strings.HasPrefix(out, "obelus "+version+" (") {
		t.Errorf("obelus version prints %q, want %s", out, version)
	}
	program := "package main\n\nimport _ \"github.com/obelus-dev/obelus/runtime/otel\"\n\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(work, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	command("go", "mod", "init", "example.com/program")
	command("go", "get", "github.com/obelus-dev/obelus/runtime/otel@latest")
	command("go", "build", "-o", "program", ".")
	if out := command("go", "list", "-m", "github.com/obelus-dev/obelus"); !strings.HasSuffix(out, version+"\n") {
		t.Errorf("runtime/otel is built with %q, want %s", out, version)
	}
}

// publish puts a version of a module where a proxy's files are.
func publish(t *testing.T, proxy, module, version, folder string) {
	t.Helper()
	versions := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	definition, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": string(definition),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != folder && (nested == nil || strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		name, _ := filepath.Rel(folder, path)
		to, err := archive.Create(module + "@" + version + "/" + filepath.ToSlash(name))
		if err != nil || !entry.Type().IsRegular() || !strings.HasSuffix(name, ".go") && name != "go.mod" &&
			strings.Contains(filepath.ToSlash(name), "testdata/") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = to.Write(text)
		}
		return err
	})
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
}
