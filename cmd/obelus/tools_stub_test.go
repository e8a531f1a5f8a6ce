package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/openapi"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/testdata/amount"
)

// publicDocuments are OpenAPI documents of several makers, which .ci/install fetches.
func publicDocuments(t *testing.T) []string {
	folder := os.Getenv("OBELUS_OPENAPI")
	if folder == "" {
		folder = filepath.Join("..", "..", ".tools", "openapi")
	}
	files, err := filepath.Glob(filepath.Join(folder, "[^.]*.*"))
	if err != nil || len(files) == 0 {
		t.Skipf("there are no public OpenAPI documents in %s; .ci/install fetches them", folder)
	}
	for i := range files {
		files[i], _ = filepath.Abs(files[i])
	}
	return files
}

// LANGUAGE.md#imported-services: whatever public document is imported, its catalogue checks clean, and a plan
// over its operations runs against a service that is made from the document; what is sent
// there is what an independent reader of OpenAPI takes for sound.
func TestPublicDocumentsRun(t *testing.T) {
	for _, file := range publicDocuments(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if info, err := os.Stat(file); err != nil || info.Size() > int64(amount.Of(100_000, 1_000_000, 100_000_000)) {
				t.Skip("a large one, for CI")
			}
			runsAgainstStub(t, file, amount.Of(5, 10, 2_000))
		})
	}
}

// The same of a document of our own, with every form of parameter, body and result.
func TestEveryFormRuns(t *testing.T) {
	file, err := filepath.Abs(filepath.Join("testdata", "openapi", "forms.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	runsAgainstStub(t, file, 100)
}

// A stub is a service that is made from a document.
type stub struct {
	api    *openapi.API
	router routers.Router // nil where the other reader doesn't read the document
	mu     sync.Mutex
	wrong  []string
	served int
	r      *rand.Rand
}

func runsAgainstStub(t *testing.T, file string, most int) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{r: rand.New(rand.NewPCG(1, 1))}
	server := httptest.NewServer(s)
	defer server.Close()
	api, found := openapi.Read(source.NewFile(file, text), openapi.Options{Server: server.URL})
	if api == nil {
		t.Fatalf("it isn't read: %v", found)
	}
	s.api, s.router = api, routerOf(t, file, text, server.URL)
	t.Chdir(t.TempDir())
	base := filepath.Base(file)
	if err := os.WriteFile(base, text, 0o644); err != nil {
		t.Fatal(err)
	}
	told, stderr, status := obelus(strings.NewReader(""), "tools", "import", base, "--server", server.URL, "-o", "api.tools.yaml")
	if status != statusOK {
		t.Fatalf("status %d: %s%s", status, told, stderr)
	}
	t.Log(strings.SplitN(told, "\n", 2)[0])
	if said, _, status := obelus(strings.NewReader(""), "check", "--no-environment", "api.tools.yaml"); status != statusOK || !strings.HasPrefix(said, "nothing to report") {
		t.Errorf("the catalogue isn't clean: %.2000s", said)
	}
	for _, v := range regexp.MustCompile(`\{\$([A-Z0-9_]+)\}`).FindAllStringSubmatch(fmt.Sprint(catalogueText(t)), -1) {
		t.Setenv(v[1], "a-secret-of-the-test")
	}
	plan, calls := s.plan(t, most)
	if err := os.WriteFile("plan.json", plan, 0o644); err != nil {
		t.Fatal(err)
	}
	out, stderr, status := obelus(strings.NewReader(""), "run", "plan.json", "--confirm", "never", "--format", "json", "--allow-host", strings.TrimPrefix(server.URL, "http://"))
	if status != statusOK || s.served < calls {
		t.Errorf("the run of %d calls ends with status %d after %d requests: %s\n%.4000s", calls, status, s.served, stderr, failures(out, status))
	}
	for _, one := range s.wrong[:min(len(s.wrong), 5)] {
		t.Error(one)
	}
	if strings.Contains(out, "a-secret-of-the-test") {
		t.Error("a secret is in what is told of the run")
	}
}

func catalogueText(t *testing.T) string {
	text, err := os.ReadFile("api.tools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// failures are the lines of a run that tell of one.
func failures(out string, status int) string {
	if status == statusError { // they are findings
		return out
	}
	lines := slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool { return !strings.Contains(line, `"failed"`) })
	return strings.Join(lines, "\n")
}

// routerOf finds operations as another reader of OpenAPI does.
func routerOf(t *testing.T, file string, text []byte, address string) routers.Router {
	root, _ := source.Parse(source.NewFile(strings.TrimSuffix(file, ".json"), text), source.Limits{})
	if root == nil {
		return nil
	}
	asJSON, err := json.Marshal(root.Value())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(asJSON)
	if err != nil {
		t.Logf("the other reader refuses the document: %v", err)
		return nil
	}
	doc.Servers = openapi3.Servers{{URL: address}}
	for _, item := range doc.Paths.Map() {
		item.Servers = nil
		for _, o := range item.Operations() {
			o.Servers = nil
		}
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Logf("the other reader refuses the document: %v", err)
		return nil
	}
	return router
}

// tools are the imported operations, with their parameters and results.
func (s *stub) tools() (all []catalogue.Tool) {
	for _, o := range s.api.Imported() {
		input := maps.Clone(s.api.Catalogue()["tools"].(map[string]any)[o.Name].(map[string]any))
		properties := maps.Clone(input["properties"].(map[string]any))
		input["properties"] = properties
		all = append(all, catalogue.Tool{Name: o.Name, Description: o.String(), Input: input, Output: properties["_output"]})
		delete(properties, "_output")
	}
	return all
}

// schemas are those that the tools refer to, by name.
func (s *stub) schemas() map[string]any {
	all, _ := s.api.Catalogue()["schemas"].(map[string]any)
	return all
}

// plan is one with a call of each of some operations, with parameters that are made up.
func (s *stub) plan(t *testing.T, most int) (plan []byte, calls int) {
	all := s.tools()
	var list []any
	for i := 0; i < len(all); i += max(1, len(all)/most) {
		tool := all[i]
		steps := schema.SampleSteps
		value, ok := schema.New(tool.Input, schema.Options{Defs: s.schemas()}).SampleWithin(s.r, &steps)
		call, _ := value.(map[string]any)
		if !ok || call == nil {
			t.Logf("no parameters are found for %s", tool.Name)
			continue
		}
		named := tool.Input.(map[string]any)["properties"].(map[string]any)
		maps.DeleteFunc(call, func(name string, _ any) bool { return named[name] == nil })
		for _, name := range regexp.MustCompile(`\{([^}]+)\}`).FindAllStringSubmatch(tool.Description, -1) {
			if text, isText := call[name[1]].(string); isText && text == "" {
				call[name[1]] = "x" // an empty text can't stand in a path
			}
		}
		call["_tool"], call["_id"] = tool.Name, fmt.Sprintf("call%d", i)
		if tool.Output != nil {
			call["_outputPath"] = fmt.Sprintf("†state.r%d", i)
		}
		list = append(list, call)
	}
	plan, err := json.Marshal(map[string]any{"import": []string{"api.tools.yaml"}, "calls": list, "output": "†state"})
	if err != nil {
		t.Fatal(err)
	}
	return plan, len(list)
}

// ServeHTTP holds a request to the document, and answers with a made-up result of its
// operation.
func (s *stub) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	var o *openapi.Operation
	if s.router != nil {
		route, values, err := s.router.FindRoute(request)
		if err != nil {
			s.wrong = append(s.wrong, fmt.Sprintf("%s %s leads to no operation: %v", request.Method, request.URL, err))
			w.WriteHeader(http.StatusNotFound)
			return
		}
		err = openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{Request: request, PathParams: values, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true}})
		// What fits a schema that contradicts itself is nothing that it takes. Of what may be a
		// text or a list it takes every text for a list, and of a parameter
		// without a type every value for none.
		contradicts := slices.ContainsFunc(s.api.Notes, func(n openapi.Note) bool {
			return strings.HasSuffix(n.Message, "no value fits the schema, so nothing is checked")
		})
		if err != nil && !contradicts && !strings.Contains(err.Error(), "doesn't match schema due to") && !strings.Contains(err.Error(), "empty value is not allowed") {
			s.wrong = append(s.wrong, fmt.Sprintf("%s %s isn't as the document has it: %.600v", request.Method, request.URL, err))
		}
		o = s.operation(route.Method, route.Path)
	} else {
		o = s.matching(request)
	}
	_, _ = io.Copy(io.Discard, request.Body)
	if o == nil {
		s.wrong = append(s.wrong, fmt.Sprintf("%s %s leads to no operation that was imported", request.Method, request.URL))
		w.WriteHeader(http.StatusNotFound)
		return
	}
	for _, tool := range s.tools() {
		if tool.Name != o.Name {
			continue
		}
		if tool.Output == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		steps := schema.SampleSteps
		value, ok := schema.New(tool.Output, schema.Options{Defs: s.schemas()}).SampleWithin(s.r, &steps)
		if !ok {
			s.wrong = append(s.wrong, fmt.Sprintf("no result is found for %s", o))
		}
		if text, isText := value.(string); isText && !strings.Contains(request.Header.Get("Accept"), "json") {
			_, _ = io.WriteString(w, text)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value)
	}
}

func (s *stub) operation(method, path string) *openapi.Operation {
	for _, o := range s.api.Imported() {
		if o.Method == method && o.Path == path {
			return o
		}
	}
	return nil
}

// matching finds the operation of a request without another reader's help.
func (s *stub) matching(request *http.Request) *openapi.Operation {
	for _, o := range s.api.Imported() {
		parts := regexp.MustCompile(`\{[^}]+\}`).Split(o.Path, -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		if o.Method == request.Method && regexp.MustCompile("^"+strings.Join(parts, "[^/]+")+"$").MatchString(request.URL.EscapedPath()) {
			return o
		}
	}
	return nil
}
