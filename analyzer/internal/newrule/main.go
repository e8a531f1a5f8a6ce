// Newrule begins a rule: its entry in the list of codes and in the registry, a
// function, a page and a case, all at once. What it writes compiles, and the
// tests fail until the function, the page's two plans and the case are filled
// in. It is run from the root of the repository:
//
//	make rule NAME=dead-call CODE=OB302 [SEVERITY=warning]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	var r rule
	flag.StringVar(&r.name, "name", "", "the rule's name: the fault in a few words, joined by -")
	flag.StringVar(&r.code, "code", "", "its code, such as OB302")
	flag.StringVar(&r.severity, "severity", "warning", "error, warning or info")
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	files, err := begin(os.DirFS(*root).(reader), r)
	if err == nil {
		err = write(*root, files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "newrule:", err)
		os.Exit(2)
	}
}

// A reader reads files of the repository by their paths from its root.
type reader interface {
	ReadFile(name string) ([]byte, error)
}

type rule struct{ name, code, severity string }

// A written file, and whether it is new.
type written struct {
	path string
	text []byte
	new  bool
}

const (
	codesFile    = "compiler/diag/rules.go"
	registryFile = "analyzer/analyzer.go"
)

var (
	nameForm   = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	codeForm   = regexp.MustCompile(`^OB[1-9][0-9]{2}$`)
	codeLine   = regexp.MustCompile(`(?m)^\t(\w+)\s*= &Rule\{Code: "(OB\d{3})", Name: "([^"]+)", .*\}\n`)
	registry   = regexp.MustCompile(`(?m)^\t\{Rule: diag\.(\w+)\b.*\},\n`)
	severities = map[string]string{"error": "Error", "warning": "Warning", "info": "Info"}
)

// begin makes the files of a new rule.
func begin(from reader, r rule) ([]written, error) {
	switch {
	case !nameForm.MatchString(r.name):
		return nil, fmt.Errorf("the name %q isn't a few words in small letters, joined by -; write NAME=dead-call", r.name)
	case !codeForm.MatchString(r.code):
		return nil, fmt.Errorf("the code %q isn't OB and three digits; write CODE=OB302", r.code)
	case severities[r.severity] == "":
		return nil, fmt.Errorf("the severity %q isn't error, warning or info", r.severity)
	}
	codes, err := from.ReadFile(codesFile)
	if err != nil {
		return nil, err
	}
	registered, err := from.ReadFile(registryFile)
	if err != nil {
		return nil, err
	}
	codeOf := map[string]string{}
	for _, m := range codeLine.FindAllSubmatch(codes, -1) {
		codeOf[string(m[1])] = string(m[2])
		if string(m[2]) == r.code || string(m[3]) == r.name {
			return nil, fmt.Errorf("there is a rule %s %s already", m[2], m[3])
		}
	}
	if len(codeOf) == 0 {
		return nil, fmt.Errorf("%s lists no rules", codesFile)
	}
	if codes, err = r.enterCode(codes, codeOf); err != nil {
		return nil, err
	}
	if registered, err = r.register(registered, codeOf); err != nil {
		return nil, err
	}
	return []written{
		{codesFile, codes, false},
		{registryFile, registered, false},
		{"analyzer/" + strings.ReplaceAll(r.name, "-", "_") + ".go", r.function(), true},
		{"analyzer/rules/" + r.code + "-" + r.name + ".md", r.page(), true},
		{"analyzer/testdata/" + r.name + ".txtar", r.testCase(), true},
	}, nil
}

// enterCode puts the rule among the codes: the variable, and its place in the
// list of all.
func (r rule) enterCode(text []byte, codeOf map[string]string) ([]byte, error) {
	line := fmt.Sprintf("\t%s = &Rule{Code: %q, Name: %q, Default: %s}\n", r.identifier(), r.code, r.name, severities[r.severity])
	text = insert(text, codeLine, line, func(m []string) bool { return m[2] > r.code })
	head, list, ok := bytes.Cut(text, []byte("var Rules = []*Rule{\n"))
	if !ok {
		return nil, fmt.Errorf("%s has no list of all rules", codesFile)
	}
	entry := regexp.MustCompile(`\b(\w+),`)
	list = insert(list, entry, r.identifier()+", ", func(m []string) bool { return codeOf[m[1]] > r.code })
	return format.Source(append(append(head, "var Rules = []*Rule{\n"...), list...))
}

func (r rule) register(text []byte, codeOf map[string]string) ([]byte, error) {
	line := fmt.Sprintf("\t{Rule: diag.%s, Run: %s},\n", r.identifier(), r.plural())
	return format.Source(insert(text, registry, line, func(m []string) bool { return codeOf[m[1]] > r.code }))
}

// insert puts a text before the first match that comes after it, or behind the
// last one.
func insert(text []byte, entries *regexp.Regexp, line string, after func(submatches []string) bool) []byte {
	at := 0
	for _, m := range entries.FindAllSubmatchIndex(text, -1) {
		var parts []string
		for i := 0; i < len(m); i += 2 {
			parts = append(parts, string(text[m[i]:m[i+1]]))
		}
		if after(parts) {
			at = m[0]
			break
		}
		at = m[1]
	}
	return append(append(append([]byte(nil), text[:at]...), line...), text[at:]...)
}

// identifier is the rule's variable: DeadCall.
func (r rule) identifier() string {
	var b strings.Builder
	for _, word := range strings.Split(r.name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// plural is the rule's function: deadCalls.
func (r rule) plural() string {
	name := r.identifier()
	name = strings.ToLower(name[:1]) + name[1:]
	switch {
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ey"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	}
	return name + "s"
}

func (r rule) function() []byte {
	return fmt.Appendf(nil, `package analyzer

// %s reports TODO: say what, and when it stays silent.
func %s(p *Pass) {
	for _, call := range p.Plan.Calls {
		_ = call // TODO: p.report(call.ToolNode.Span(), "what and why").of(call).help("what to do")
	}
}
`, r.plural(), r.plural())
}

func (r rule) page() []byte {
	return fmt.Appendf(nil, `# %s %s

Severity: %s.

## What it means

TODO

## Why it matters

TODO

## A plan that fails

`+"```"+`yaml
calls:
  - {_tool: todo} # want %s
`+"```"+`

## The same plan, mended

`+"```"+`yaml
calls:
  - {_tool: todo}
`+"```"+`
`, r.code, r.name, r.severity, r.code)
}

func (r rule) testCase() []byte {
	return fmt.Appendf(nil, `%s %s: TODO: what these plans show, and in which the rule stays silent.
-- %s.yaml --
calls:
  - {_tool: todo} # want %s "TODO"
`, r.code, r.name, r.name, r.code)
}

// write puts the files in their places; new ones must not be there.
func write(root string, files []written) error {
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(root, f.path)); f.new && err == nil {
			return fmt.Errorf("%s is there already", f.path)
		}
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(f.path)), f.text, 0o644); err != nil {
			return err
		}
		fmt.Println(f.path)
	}
	fmt.Println("now fill in what says TODO; go test ./analyzer tells what is missing, and make update writes the reference")
	return nil
}
