// Newrule begins a rule: the file that registers it, a page and a case. What it writes compiles, and the tests fail
// until the function, the page's two plans and the case are filled in. It is run from the root of the repository:
//
//	make rule NAME=dead-call CODE=OB302 [SEVERITY=warning]
package main

import (
	"embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	_ "github.com/obelus-dev/obelus/analyzer" // has rules of its own
	"github.com/obelus-dev/obelus/analyzer/rules"
)

//go:embed *.tmpl
var embedded embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"title": func(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}}).ParseFS(embedded, "*.tmpl"))

type rule struct{ Name, Code, Severity string }

func main() {
	var r rule
	flag.StringVar(&r.Name, "name", "", "the rule's name: the fault in a few words, joined by -")
	flag.StringVar(&r.Code, "code", "", "its code, such as OB302")
	flag.StringVar(&r.Severity, "severity", "warning", "error, warning or info")
	flag.Parse()
	files, err := r.begin("analyzer")
	if err != nil {
		fmt.Fprintln(os.Stderr, "newrule:", err)
		os.Exit(2)
	}
	fmt.Println(strings.Join(files, "\n") +
		"\nnow fill in what says TODO; go test ./analyzer tells what is missing, and make update writes the reference")
}

// begin writes the files of a new rule into the folder of the analyzer.
func (r rule) begin(folder string) (files []string, err error) {
	switch {
	case !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(r.Name):
		return nil,
			fmt.Errorf("the name %q isn't a few words in small letters, joined by -; write NAME=dead-call", r.Name)
	case !regexp.MustCompile(`^OB[1-9][0-9]{2}$`).MatchString(r.Code):
		return nil, fmt.Errorf("the code %q isn't OB and three digits; write CODE=OB302", r.Code)
	case r.Severity != "error" && r.Severity != "warning" && r.Severity != "info":
		return nil, fmt.Errorf("the severity %q isn't error, warning or info", r.Severity)
	}
	for _, other := range rules.Registered {
		if other.Code == r.Code || other.Name == r.Name {
			return nil, fmt.Errorf("there is a rule %s %s already", other.Code, other.Name)
		}
	}
	for _, f := range [][2]string{
		{"rule.go.tmpl", filepath.Join("rules",
			strings.ToLower(r.Code)+"_"+strings.ReplaceAll(r.Name, "-", "_")+".go")},
		{"page.md.tmpl", filepath.Join("rules", r.Code+"-"+r.Name+".md")},
		{"case.txtar.tmpl", filepath.Join("testdata", r.Name+".txtar")},
	} {
		file, err := os.OpenFile(filepath.Join(folder, f[1]), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return files, err
		}
		files = append(files, file.Name())
		if err := templates.ExecuteTemplate(file, f[0], r); err != nil {
			return files, err
		}
		if err := file.Close(); err != nil {
			return files, err
		}
	}
	return files, nil
}
