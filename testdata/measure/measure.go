// Package measure counts what there is to hold in one's head: lines and tokens of production code, and what passes
// the limits on methods, fields, functions, packages and columns. Production code is every Go file of every module
// that is neither a test nor generated, outside of testdata and examples.
package measure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Limits are the largest counts that need no exception.
var Limits = map[string]int{
	"methods":  40,    // of one receiver
	"fields":   25,    // of one struct
	"function": 80,    // lines
	"package":  5_000, // lines
}

// columns is the width that a line should not pass; a tab counts as four.
const columns = 120

// Size is what Folder or File counted.
type Size struct {
	Lines, Tokens int
	Wide          []string       // lines over 120 columns: "FILE:LINE"
	Over          map[string]int // by "KIND NAME", where KIND is a key of Limits and the count is over the limit
}

// Folder counts the production code in a folder and below it.
func Folder(root string) (Size, error) {
	c := newCount()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && path != root && skipped(name):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		return c.file(filepath.ToSlash(folder), path, text)
	})
	return c.size(), err
}

// File counts one file as if it were the only one of its folder.
func File(folder, name, text string) (Size, error) {
	c := newCount()
	err := c.file(folder, name, []byte(text))
	return c.size(), err
}

func skipped(folder string) bool {
	return folder == "testdata" || folder == "examples" || folder == "node_modules" || folder[0] == '.' || folder[0] == '_'
}

type count struct {
	lines, tokens int
	wide          []string
	by            map[string]int // by "KIND NAME"
}

func newCount() *count { return &count{by: map[string]int{}} }

func (c *count) size() Size {
	over := map[string]int{}
	for key, n := range c.by {
		if kind, _, _ := strings.Cut(key, " "); n > Limits[kind] {
			over[key] = n
		}
	}
	return Size{Lines: c.lines, Tokens: c.tokens, Wide: c.wide, Over: over}
}

func (c *count) file(folder, name string, text []byte) error {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(tree) {
		return nil
	}
	line := 0
	for row := range strings.Lines(string(text)) {
		c.lines++
		line++
		c.by["package "+folder]++
		row = strings.ReplaceAll(strings.TrimRight(row, "\r\n"), "\t", "    ")
		if utf8.RuneCountInString(row) > columns {
			c.wide = append(c.wide, fmt.Sprintf("%s:%d", name, line))
		}
	}
	c.tokens += tokens(text)
	for _, decl := range tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			c.function(folder, f, set)
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			c.fields(folder+"."+spec.Name.Name, spec.Type)
		}
		return true
	})
	return nil
}

// tokens counts as the compiler's scanner does: with the semicolons that it puts at line ends, without comments.
func tokens(text []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		if _, tok, _ := s.Scan(); tok == token.EOF {
			return n
		}
		n++
	}
}

func (c *count) function(folder string, f *ast.FuncDecl, set *token.FileSet) {
	name := folder + "."
	if receiver := receiver(f); receiver != "" {
		name += receiver + "."
		c.by["methods "+folder+"."+receiver]++
	}
	name += f.Name.Name
	c.by["function "+name] = max(c.by["function "+name], set.Position(f.End()).Line-set.Position(f.Pos()).Line+1)
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	for typ := f.Recv.List[0].Type; ; {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func (c *count) fields(name string, typ ast.Expr) {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return
	}
	n := 0
	for _, field := range s.Fields.List {
		n += max(1, len(field.Names))
	}
	c.by["fields "+name] = max(c.by["fields "+name], n)
}
