package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/obelus-dev/obelus/"

// mayImport says which of our packages each package may import. A package that
// isn't listed is new, and has to be given its place.
var mayImport = map[string][]string{
	"compiler/source":            {"compiler/naming", "compiler/reference", "compiler/wording"},
	"compiler/diag":              {"compiler/naming", "compiler/source", "compiler/wording"},
	"compiler/expression":        {"compiler/reference", "compiler/source", "compiler/diag", "compiler/naming", "compiler/wording"},
	"compiler/schema":            {"compiler/schema/*"},
	"compiler/schema/ast":        {"compiler/reference", "compiler/naming", "compiler/schema/regex", "compiler/wording"},
	"compiler/schema/sample":     {"compiler/reference", "compiler/schema/ast", "compiler/schema/regex"},
	"compiler/schema/subset":     {"compiler/schema/ast", "compiler/schema/regex", "compiler/schema/sample"},
	"compiler/pathtree":          {"compiler/reference", "compiler/naming"},
	"compiler/dag":               {"compiler/heap"},
	"compiler/heap":              {},
	"compiler/schema/regex":      {},
	"compiler/naming":            {},
	"compiler/redact":            {"compiler/naming"},
	"compiler/reference":         {"compiler/wording"},
	"compiler/wording":           {},
	"compiler/planschema":        {"compiler/decode", "compiler/kinds", "compiler/plan"},
	"compiler/hosts":             {},
	"internal/*":                 {}, // of tests
	"compiler/decode":            {"compiler/diag", "compiler/expression", "compiler/naming", "compiler/source"},
	"compiler/kinds":             {"compiler/reference", "compiler/catalogue", "compiler/decode", "compiler/diag", "compiler/expression", "compiler/hosts", "compiler/pathtree", "compiler/plan", "compiler/source", "compiler/wording", "compiler/workspace"},
	"compiler/effects":           {"compiler/catalogue", "compiler/diag", "compiler/kinds", "compiler/plan", "compiler/policy", "compiler/source"},
	"compiler/canonical":         {"compiler/diag", "compiler/kinds", "compiler/plan", "compiler/source", "compiler/workspace"},
	"compiler/bind":              {"compiler/dag", "compiler/pathtree", "compiler/plan", "compiler/schema"},
	"compiler/policy":            {"compiler/reference", "compiler/decode", "compiler/source", "compiler/diag", "compiler/expression", "compiler/hosts", "compiler/schema", "compiler/naming", "compiler/wording"},
	"compiler/plan":              {"compiler/reference", "compiler/catalogue", "compiler/dag", "compiler/decode", "compiler/naming", "compiler/pathtree", "compiler/policy", "compiler/redact", "compiler/source", "compiler/diag", "compiler/expression", "compiler/schema", "compiler/wording"},
	"compiler/label":             {"compiler", "compiler/*"},
	"compiler/workspace":         {},
	"compiler/catalogue":         {"compiler/decode", "compiler/source", "compiler/diag", "compiler/schema", "compiler/workspace"},
	"compiler/openapi":           {"compiler/catalogue", "compiler/kinds", "compiler/source", "compiler/diag", "compiler/schema", "compiler/wording", "compiler/workspace"},
	"compiler":                   {"compiler/bind", "compiler/canonical", "compiler/catalogue", "compiler/dag", "compiler/decode", "compiler/diag", "compiler/effects", "compiler/expression", "compiler/kinds", "compiler/naming", "compiler/pathtree", "compiler/plan", "compiler/policy", "compiler/redact", "compiler/reference", "compiler/schema", "compiler/source", "compiler/wording", "compiler/workspace"},
	"analyzer":                   {"compiler", "compiler/*", "compiler/schema/regex", "analyzer/permit", "analyzer/facts", "analyzer/flow", "analyzer/rules", "analyzer/internal/*", "runtime/state"},
	"analyzer/rules":             {"compiler", "compiler/*", "compiler/schema/regex", "analyzer/facts", "analyzer/flow", "analyzer/internal/*"},
	"analyzer/internal/analysis": {"compiler", "compiler/*", "analyzer/flow", "analyzer/permit", "analyzer/internal/*"},
	"analyzer/internal/samples":  {"compiler", "compiler/*", "analyzer/flow", "analyzer/internal/analysis"},
	"analyzer/flow":              {"compiler", "compiler/*", "compiler/schema/regex", "analyzer/internal/*"},
	"analyzer/internal/*":        {"compiler", "compiler/*", "analyzer", "analyzer/rules"},
	"analyzer/facts":             {"compiler", "compiler/*"},
	"analyzer/permit":            {"analyzer/facts", "compiler", "compiler/*"},
	"analyzer/internal/branch":   {"compiler", "compiler/*", "analyzer/internal/logic"},

	"dot":                      {"analyzer/facts", "compiler", "compiler/*", "dot/layout"},
	"dot/layout":               {"compiler/dag"},
	"dot/page":                 {"analyzer/facts", "compiler", "compiler/*", "dot"},
	"runtime":                  {"compiler", "compiler/*", "analyzer", "analyzer/permit", "analyzer/facts", "runtime/guard", "runtime/request", "runtime/resolve", "runtime/review", "runtime/state"},
	"runtime/guard":            {"analyzer/facts", "analyzer/permit", "compiler", "compiler/*", "runtime/request"},
	"runtime/state":            {"compiler", "compiler/*"},
	"runtime/resolve":          {"analyzer/facts", "compiler", "compiler/*", "runtime/guard", "runtime/state"},
	"runtime/review":           {"analyzer/permit", "compiler", "compiler/*", "runtime/guard", "runtime/request", "runtime/resolve"},
	"runtime/request":          {"compiler", "compiler/*"},
	"runtime/web":              {"compiler/hosts"},
	"runtime/activity":         {"compiler", "compiler/*", "analyzer", "runtime", "runtime/activity/mcp", "runtime/web"},
	"runtime/local":            {"compiler", "compiler/*", "analyzer", "runtime", "runtime/activity", "runtime/request"},
	"runtime/journal":          {},
	"runtime/otel":             {"", "compiler/kinds", "runtime", "runtime/session"}, // a module of its own
	"runtime/approval":         {"compiler", "compiler/*"},
	"runtime/planner":          {"compiler/*", "runtime/request", "runtime/web"},
	"runtime/simulate":         {"compiler", "compiler/*", "analyzer", "analyzer/rules", "runtime", "runtime/activity", "runtime/resolve", "runtime/state"},
	"runtime/project":          {"analyzer/permit", "compiler", "compiler/*", "analyzer", "runtime/activity", "runtime/approval", "runtime/simulate"},
	"runtime/session":          {"compiler", "compiler/*", "analyzer", "analyzer/permit", "analyzer/facts", "runtime", "runtime/approval", "runtime/project", "runtime/activity", "runtime/journal", "runtime/local", "runtime/planner", "runtime/resolve", "runtime/review", "runtime/state"},
	"":                         {"analyzer", "compiler", "compiler/*", "dot", "runtime", "runtime/*"}, // the facade
	"examples":                 {},
	"examples/embed":           {},
	"examples/sqlite/server":   {},
	"examples/library":         {"examples/library/service"},
	"examples/library/service": {},
	"cmd/obelus":               {"compiler", "compiler/*", "analyzer", "analyzer/rules", "analyzer/permit", "analyzer/facts", "dot", "dot/*", "examples", "runtime", "runtime/*", "cmd/obelus/internal/*"},

	"runtime/activity/mcp": {"compiler/catalogue"},

	// The terminal shows what happens, and asks; it knows no command and no flag.
	"cmd/obelus/internal/terminal":   {"compiler", "compiler/*", "runtime", "runtime/session"},
	"cmd/obelus/internal/catalogues": {"compiler", "compiler/*", "runtime/activity", "runtime/project", "cmd/obelus/internal/terminal"},
	"cmd/obelus/internal/simulation": {"compiler", "compiler/*", "analyzer", "runtime", "runtime/*", "cmd/obelus/internal/terminal"},
	"cmd/obelus/internal/pages":      {"compiler", "compiler/*", "analyzer", "analyzer/facts", "dot", "dot/*", "runtime", "runtime/*", "cmd/obelus/internal/*"},
}

// machine is what runs inside of the machine.
var machine = []string{"analyzer/permit", "runtime", "runtime/guard", "runtime/request", "runtime/resolve", "runtime/review", "runtime/state"}

const maxLines = 600

// Imports point one way, files stay readable, and the machine stays a machine.
func TestTidy(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if entry.IsDir() && relative != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if filepath.Ext(name) == ".go" {
			seen[filepath.ToSlash(filepath.Dir(relative))] = true
			inspectFile(t, name, filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !seen["compiler"] || !seen["cmd/obelus"] {
		t.Fatalf("the source wasn't found: %v", seen)
	}
}

func inspectFile(t *testing.T, name, relative string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
		return
	}
	if lines := strings.Count(string(text), "\n"); lines > maxLines {
		t.Errorf("%s has %d lines; a file has at most %d", relative, lines, maxLines)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, relative, text, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	folder := relative[:max(0, strings.LastIndex(relative, "/"))]
	allowed, known := mayImport[folder]
	if !known {
		allowed, known = mayImport[folder[:max(0, strings.LastIndex(folder, "/"))]+"/*"]
	}
	if !known {
		t.Errorf("%s: the folder %q has no place among the imports yet", relative, folder)
	}
	test := strings.HasSuffix(relative, "_test.go")
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		ours, ok := strings.CutPrefix(path, module)
		if !ok || test || ours == folder {
			continue
		}
		above := ours[:max(0, strings.LastIndex(ours, "/"))]
		if !slices.Contains(allowed, ours) && !slices.Contains(allowed, above+"/*") {
			t.Errorf("%s imports %q, which lies above it", relative, ours)
		}
	}
	if slices.Contains(machine, folder) && !test {
		inspectMachine(t, fset, file)
	}
}

// EXECUTION.md#embedding: the machine holds no goroutine, clock, chance, file or network.
func inspectMachine(t *testing.T, fset *token.FileSet, file *ast.File) {
	forbidden := []string{"math/rand", "math/rand/v2", "crypto/rand", "os", "os/exec", "net", "net/http", "io/fs", "sync", "sync/atomic", "context", "syscall"}
	for _, spec := range file.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); slices.Contains(forbidden, path) {
			t.Errorf("%s: the machine imports %q", fset.Position(spec.Pos()), path)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: the machine starts a goroutine", fset.Position(n.Pos()))
		case *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
			t.Errorf("%s: the machine uses a channel", fset.Position(n.Pos()))
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}, n.Sel.Name) {
				t.Errorf("%s: the machine reads a clock", fset.Position(n.Pos()))
			}
		}
		return true
	})
}

// EXECUTION.md#embedding: nothing in the machine depends on the order of a map.
func TestMachineGoesOverNoMap(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,GoFiles")
	for _, folder := range machine {
		list.Args = append(list.Args, "./"+folder)
	}
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %s", failed.Stderr)
		}
		t.Skipf("there is no go command: %v", err)
	}
	exports, names := map[string]string{}, map[string][]string{}
	for packages := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath], names[p.ImportPath] = p.Export, p.GoFiles
	}
	for _, folder := range machine {
		fset := token.NewFileSet()
		files, info := typed(t, fset, folder, exports, names[module+folder])
		if len(files) == 0 {
			t.Fatal("the machine wasn't found")
		}
		goOverNoMap(t, fset, files, info)
	}
}

func goOverNoMap(t *testing.T, fset *token.FileSet, files []*ast.File, info *types.Info) {
	for _, file := range files {
		sorted := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if _, ok := info.TypeOf(n.X).Underlying().(*types.Map); ok {
					t.Errorf("%s: the machine goes over a map", fset.Position(n.Pos()))
				}
			case *ast.CallExpr:
				if strings.HasPrefix(types.ExprString(n.Fun), "slices.Sorted") && len(n.Args) > 0 {
					sorted[n.Args[0]] = true
				}
				if called := types.ExprString(n.Fun); slices.Contains([]string{"maps.Keys", "maps.Values", "maps.All"}, called) && !sorted[n] {
					t.Errorf("%s: the machine takes %s without sorting it", fset.Position(n.Pos()), called)
				}
			}
			return true
		})
	}
}

// typed reads and type-checks one of our packages, with what the build cache
// knows of those that it imports.
func typed(t *testing.T, fset *token.FileSet, folder string, exports map[string]string, names []string) ([]*ast.File, *types.Info) {
	t.Helper()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(fset, filepath.Join("..", "..", folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	if _, err := config.Check(module+folder, fset, files, info); err != nil {
		t.Fatal(err)
	}
	return files, info
}
