package openapi

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/catalogue"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
)

// imported reads a document, and holds its catalogue to what a file of definitions must be.
func imported(t *testing.T, name, text string) *API {
	t.Helper()
	api, found := Read(source.NewFile(name, []byte(text)), Options{Server: "https://api.example.com"})
	if api == nil {
		if !diag.HasErrors(found) {
			t.Fatal("it isn't read, and nothing is said")
		}
		return nil
	}
	if len(api.Imported()) == 0 {
		return api
	}
	out, err := catalogue.YAML("# test\n", api.Catalogue())
	if err != nil {
		t.Fatalf("no catalogue: %v\n%s", err, text)
	}
	_, wrong := compiler.Compile(source.NewFile("catalogue.yaml", out), compiler.Options{Definitions: true})
	for _, d := range wrong {
		if d.Severity == diag.Error && !strings.Contains(d.Message, "too many keywords together") {
			t.Errorf("the catalogue has an error: %s: %s: %s", d.Span.Where(), d.Message, wording.Cut(text, 3_000))
			return api
		}
	}
	return api
}

const sound = `{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "security": [{"key": []}],
"paths": {"/a/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
  "post": {"operationId": "post a", "parameters": [{"$ref": "#/components/parameters/q"}], "tags": ["x"],
    "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}},
    "responses": {"200": {"description": "d", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/B"}}}}}, "4XX": {"description": "no"}}}}},
"components": {"parameters": {"q": {"name": "q", "in": "query", "style": "form", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}}},
  "securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "k"}},
  "schemas": {"A": {"allOf": [{"$ref": "#/components/schemas/B"}, {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/A"}}, "required": ["n"]}]},
    "B": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "readOnly": true}}, "oneOf": [{}, false], "discriminator": {"propertyName": "n", "mapping": {"x": "B"}}}}}}`

// LANGUAGE.md#imported-services: whatever stands in whatever place of a document, it is read without a panic,
// and what comes of it is a sound catalogue.
func TestWrongTypesEverywhere(t *testing.T) {
	file := source.NewFile("sound.json", []byte(sound))
	root, _ := source.Parse(file, source.DefaultLimits())
	var nodes []*source.Node
	var walk func(n *source.Node)
	walk = func(n *source.Node) {
		nodes = append(nodes, n)
		for _, item := range n.Items {
			walk(item)
		}
		for _, f := range n.Fields {
			nodes = append(nodes, f.Key)
			walk(f.Value)
		}
	}
	walk(root)
	if api := imported(t, "sound.json", sound); api == nil || len(api.Imported()) != 1 || len(api.Notes) != 0 {
		t.Fatalf("the document itself isn't imported: %+v", api)
	}
	wrong := []string{`null`, `true`, `7`, `-1.5e300`, `"x"`, `""`, `[]`, `{}`, `[{}]`, `[null, [7]]`, `{"x": 7}`, `{"$ref": "#"}`, `{"$ref": 7}`, `{"$ref": "#/components/schemas/A"}`, `{"$ref": "#/paths/~1a~1{id}"}`,
		`{"$ref": "file:///etc/passwd"}`, `{"$ref": "http://127.0.0.1/x"}`, `{"type": "file"}`, `{"not": {}}`, `{"pattern": "(("}`, `"\u202e†{x}{$HOME}"`, `{"type": ["object", "array"]}`}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range amount.Of(100, 3_000, 60_000) {
		text := sound
		for range 1 + i%2 { // one place, or two
			n := nodes[r.IntN(len(nodes))]
			if len(text) == len(sound) {
				text = sound[:n.Start] + wrong[r.IntN(len(wrong))] + sound[n.End:]
			} else if at := strings.LastIndexByte(text, ':'); at > 0 {
				text = text[:at+1] + wrong[r.IntN(len(wrong))] + text[at+1+strings.IndexAny(text[at+1:], ",}"):]
			}
		}
		imported(t, "wrong.json", text)
	}
}

// EXECUTION.md#limits: what is made to cost much costs as much as its text is long.
func TestHostileDocumentsAreBounded(t *testing.T) {
	document := func(paths, schemas string) string {
		return `{"openapi": "3.0.0", "paths": {` + paths + `}, "components": {"schemas": {` + schemas + `}}}`
	}
	list := func(n int, one func(i int) string) string {
		var all []string
		for i := range n {
			all = append(all, one(i))
		}
		return strings.Join(all, ",\n")
	}
	get := func(schema string) string {
		return `"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema": ` + schema + `}}}}},
			"post": {"requestBody": {"required": true, "content": {"application/json": {"schema": ` + schema + `}}}, "responses": {}}}`
	}
	ref := func(i int) string { return fmt.Sprintf(`{"$ref": "#/components/schemas/S%d"}`, i) }
	n := amount.Of(300, 2_000, 20_000)
	for name, text := range map[string]string{
		"a ring": document(get(ref(0)), list(n, func(i int) string { return fmt.Sprintf(`"S%d": %s`, i, ref((i+1)%n)) })),
		"a large ring": document(get(ref(0)), list(1_500, func(i int) string {
			return fmt.Sprintf(`"S%d": {"properties": {%s, "next": %s}}`, i, list(40, func(k int) string { return fmt.Sprintf(`"p%d": {"type": "integer"}`, k) }), ref((i+1)%1_500))
		})),
		"a ladder": document(get(ref(0)), list(60, func(i int) string { return fmt.Sprintf(`"S%d": {"allOf": [%s, %[2]s]}`, i, ref(i+1)) })),
		"a net": document(get(ref(0)), list(100, func(i int) string {
			return fmt.Sprintf(`"S%d": {"properties": {%s}}`, i, list(100, func(k int) string { return fmt.Sprintf(`"p%d": %s`, k, ref(k)) }))
		})),
		"all by one": document(list(n, func(i int) string { return strings.Replace(get(ref(0)), `"/a"`, fmt.Sprintf(`"/a%d"`, i), 1) }), `"S0": {"type": "object"}`),
		"itself":     document(get(`{"$ref": "#/paths/~1a/get/responses/200/content/application~1json/schema"}`), ""),
		"a long way": document(get(`{"$ref": "`+"#"+strings.Repeat("/paths", 10_000)+`"}`), ""),
		"deep":       document(get(strings.Repeat(`{"items": `, 80)+"{}"+strings.Repeat("}", 80)), ""),
		"one name": document(list(n, func(i int) string {
			return fmt.Sprintf(`"/%s": {"get": {"operationId": "x", "responses": {}}}`, strings.Repeat("a", i%7)+fmt.Sprint(i))
		}), ""),
		"many values": document(get(`{"enum": [`+list(n, func(i int) string { return fmt.Sprintf(`"v%d"`, i) })+`]}`), ""),
		"many faults": document(get(`{"properties": {`+list(n, func(i int) string { return fmt.Sprintf(`"p%d": {"type": "x"}`, i) })+`}}`), ""),
		"contradictory": document(get(ref(0)), list(100, func(i int) string {
			return fmt.Sprintf(`"S%d": {"allOf": [{"type": "string"}, {"type": "object"}, %s]}`, i, ref((i+1)%100))
		})),
	} {
		t.Run(name, func(t *testing.T) {
			if spent := cputime.Spent(func() { imported(t, "hostile.json", text) }); spent > 3*time.Second {
				t.Errorf("%d bytes take %v", len(text), spent)
			}
		})
	}
}

// FuzzRead: no text makes the reading panic, or a catalogue that isn't sound.
func FuzzRead(f *testing.F) {
	f.Add(sound, true)
	f.Add("openapi: 3.0.1\npaths:\n  /a:\n    get: {responses: {'200': {content: {text/csv: {}}}}}\n", false)
	f.Add("openapi: 3.0.1\npaths:\n  /%:\n    get: {responses: {'200': {content: {application/json: {}}}}}\n  /a/%2e./b:\n    get: {responses: {}}\n", false)
	f.Fuzz(func(t *testing.T, text string, json bool) {
		name := "api.yaml"
		if json {
			name = "api.json"
		}
		imported(t, name, text)
	})
}

// LANGUAGE.md#imported-services: keywords of a wrong type are left out, also those that OpenAPI 3.0 has as booleans.
func TestBooleansInOldSchemas(t *testing.T) {
	text := `{"openapi": "3.0.0", "servers": [{"url": "https://a.example"}], "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema":
		{"type": "object", "required": true, "properties": {"n": {"type": "number", "minimum": 1, "exclusiveMinimum": true, "exclusiveMaximum": false}}}}}}}}}}}`
	api := imported(t, "old.json", text)
	if out := fmt.Sprint(api.Catalogue()); !strings.Contains(out, "n:map[exclusiveMinimum:1 type:number]") || len(api.Notes) != 1 || !strings.Contains(api.Notes[0].Message, `"required" is left out`) {
		t.Errorf("%s: %+v", out, api.Notes)
	}
}

// LANGUAGE.md#imported-services: a status without quotes is the same key as one in quotes.
func TestKeysWithoutQuotes(t *testing.T) {
	text := "openapi: 3.1.0\ninfo: {title: a, version: '1'}\nservers: [{url: 'https://a.example'}]\npaths: {/p: {get: {responses: {K: {content: {application/json: {schema: {type: integer}}}}}}}}\n"
	catalogue := func(key string) any {
		api, found := Read(source.NewFile("a.yaml", []byte(strings.Replace(text, "K:", key+":", 1))), Options{})
		if api == nil {
			t.Fatal(found)
		}
		return api.Catalogue()
	}
	if bare, quoted := catalogue("200"), catalogue("'200'"); !reflect.DeepEqual(bare, quoted) || !strings.Contains(fmt.Sprint(bare), "integer") {
		t.Errorf("%v\n%v", bare, quoted)
	}
}

// LANGUAGE.md#imported-services: a password in the address of a service isn't told, nor taken into a catalogue.
func TestAddressesWithPasswords(t *testing.T) {
	const secret = "zq7Marker-4711"
	text := "openapi: 3.1.0\ninfo: {title: a, version: '1'}\nservers: [{url: 'https://me:" + secret + "@a.example/v1'}]\npaths: {/p: {get: {responses: {}}}}\n"
	api, found := Read(source.NewFile("a.yaml", []byte(text)), Options{})
	if api == nil {
		t.Fatal(found)
	}
	if why := api.Operations[0].Refused.Message; !strings.Contains(why, "has a password in it") || strings.Contains(why, secret) {
		t.Error(why)
	}
	if why := NotAnAddress("https://me:" + secret + "@a.example"); !strings.Contains(why, "has a password in it") || strings.Contains(why, secret) {
		t.Error(why)
	}
}

// LANGUAGE.md#tools-and-activities: more statuses without quotes than a plan may have such keys are no problem.
func TestManyKeysWithoutQuotes(t *testing.T) {
	var text strings.Builder
	text.WriteString("openapi: 3.1.0\nservers: [{url: 'https://a.example'}]\npaths:\n")
	for i := range 1_100 {
		fmt.Fprintf(&text, "  /p%d: {get: {responses: {200: {description: d}}}}\n", i)
	}
	if api, found := Read(source.NewFile("a.yaml", []byte(text.String())), Options{}); api == nil || len(api.Imported()) != 1_100 {
		t.Error(found)
	}
}

// LANGUAGE.md#imported-services: what is in another file isn't read, and an operation is never empty because it is
// there; a shared schema that needs another file is noted.
func TestOtherFiles(t *testing.T) {
	text := `openapi: 3.1.0
servers: [{url: "https://a.example"}]
paths:
  /a: {post: {$ref: ops/make.yaml}}
  /absolute: {get: {$ref: /etc/passwd}}
  /net: {get: {$ref: "https://a.example/x.yaml"}}
  /number: {get: {$ref: 7}}
  /anchor: {get: {$ref: "#make"}}
  /odd: {get: {responses: {"200": {description: d, content: {application/json: {schema: {properties: {a: {$ref: "#User"}, b: {$ref: 7}}}}}}}}}
  /far: {get: {responses: {"200": {description: d, content: {application/json: {schema: {$ref: "#/components/schemas/Far"}}}}}}}
  /near: {get: {responses: {"200": {description: d, content: {application/json: {schema: {$ref: "#/components/schemas/User"}}}}}}}
components: {schemas: {User: {type: string}, Far: {items: {$ref: models.yaml#/Far}}}}
`
	api, found := Read(source.NewFile("api.yaml", []byte(text)), Options{})
	if api == nil {
		t.Fatal(found)
	}
	for _, o := range api.Operations {
		why := "leads out of the document"
		if o.Path == "/number" || o.Path == "/anchor" {
			why = "leads to nothing"
		}
		if known := o.Path == "/near" || o.Path == "/odd" || o.Path == "/far"; known != (o.Refused == nil) || !known && !strings.Contains(o.Refused.Message, why) {
			t.Errorf("%s: %+v", o, o.Refused)
		}
	}
	if len(api.Notes) != 3 || !strings.Contains(api.Notes[2].Message, "leads out of the document") || !strings.Contains(api.Notes[0].Message, `"#User" leads to no schema`) || !strings.Contains(api.Notes[1].Message, `"7" leads to no schema`) {
		t.Errorf("%+v", api.Notes)
	}
}

// LANGUAGE.md#tools-and-activities: of schemas that are too large together each keeps its own properties.
func TestLargeSchemasAreShared(t *testing.T) {
	var schemas []string
	for i := range 300 {
		var properties []string
		for k := range 20 {
			properties = append(properties, fmt.Sprintf(`"p%d": {"type": "integer"}, "r%[1]d": {"$ref": "#/components/schemas/S%d"}`, k, (i+k+1)%300))
		}
		schemas = append(schemas, fmt.Sprintf(`"S%d": {"type": "object", "properties": {%s}}`, i, strings.Join(properties, ",")))
	}
	api := imported(t, "large.json", `{"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema":
		{"type": "array", "items": {"$ref": "#/components/schemas/S7"}}}}}}}}}, "components": {"schemas": {`+strings.Join(schemas, ",")+`}}}`)
	text := fmt.Sprint(api.Catalogue())
	if !strings.Contains(text, "_output:map[items:map[$ref:#/schemas/S7] type:array]") || !strings.Contains(text, "p19:map[type:integer]") || len(api.Notes) != 1 {
		t.Errorf("%+v: %.2000s", api.Notes, text)
	}
}

// LANGUAGE.md#tools-and-activities: what a service is sent of the environment is in variables that nothing else has.
func TestVariables(t *testing.T) {
	text := `{"openapi": "3.1.0", "servers": [{"url": "https://discord.bot"}], "security": [{"token": []}], "paths": {"/a": {"get": {"responses": {}}}},
		"components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}}`
	api, found := Read(source.NewFile("github.json", []byte(text)), Options{})
	if api == nil || len(api.Variables) != 1 || api.Variables["OBELUS_DISCORD_BOT_TOKEN"] == "" {
		t.Errorf("%+v %v", api, found)
	}
}

// LANGUAGE.md#imported-services: application/json is sent where a body may be that, no media type has a wildcard, and
// what only redirects, which nothing follows, isn't imported.
func TestMediaTypesAndRedirects(t *testing.T) {
	text := `{"openapi": "3.1.0", "servers": [{"url": "https://a.example"}], "paths": {
		"/patch": {"put": {"requestBody": {"content": {"application/json-patch+json": {}, "application/json": {}}}}},
		"/wild": {"put": {"requestBody": {"content": {"application/*+json": {}}}}},
		"/moved": {"get": {"responses": {"302": {}}}}}}`
	api := imported(t, "media.json", text)
	if out := fmt.Sprint(api.Catalogue()); strings.Contains(out, "Content-Type") || strings.Contains(out, "/moved") || !strings.Contains(out, "/wild") {
		t.Error(out)
	}
}
