package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/amount"
	"github.com/obelus-dev/obelus/testdata/cputime"
	ordinary "github.com/santhosh-tekuri/jsonschema/v5"
)

var seedFlag = flag.Uint64("seed", 1, "the seed of the random cases; 0 chooses one and prints it")

func chooseSeed(t *testing.T) uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return seed
}

// compileRaw gives a text to the ordinary validator as it is.
func compileRaw(t testing.TB, raw any) (*ordinary.Schema, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	c := newCompiler()
	if err := c.AddResource("obelus:///raw", bytes.NewReader(text)); err != nil {
		return nil, err
	}
	return c.Compile("obelus:///raw")
}

// differs compares our reading of a schema with the ordinary validator's, of
// the text as it is and of the text as we hand it over.
func differs(t *testing.T, raw any, values []any) {
	s := New(raw, Options{})
	ours := s.Compile()
	theirs, err := compileRaw(t, raw)
	shown, _ := json.Marshal(raw)
	if ours != nil && ours.Error() == "enum has no value" {
		return // an enum without values is an error here, also where a draft only advises against it
	}
	if m, ok := raw.(map[string]any); ok && ours == nil && err != nil && m["$schema"] != metaURL[draft2020] {
		return // what one draft forbids and others allow is allowed
	}
	if (ours == nil) != (err == nil) {
		t.Fatalf("%s\ncompiles: ours %v\nordinarily %v", shown, ours, err)
	}
	if ours != nil {
		return
	}
	exported, err := s.Ordinary()
	if err != nil {
		t.Fatalf("%s\nas handed over: %v", shown, err)
	}
	for _, v := range values {
		got, want, over := s.Accepts(v), theirs.Validate(v) == nil, exported.Validate(v) == nil
		if got != want || over != want {
			text, _ := json.Marshal(v)
			t.Fatalf("%s\naccepts %s: ours %v, ordinarily %v, as handed over %v", shown, text, got, want, over)
		}
		if (s.Validate(v) == nil) != got {
			t.Fatalf("%s: Validate and Accepts differ", shown)
		}
		if !got {
			if strings.HasPrefix(s.Validate(v).Message, "the schema doesn't accept") {
				text, _ := json.Marshal(v)
				t.Errorf("%s\nrefuses %s and has nothing to say", shown, text)
			}
		}
	}
}

// LANGUAGE.md#tools: the validator agrees with the ordinary one on random schemas of
// every draft, valid and not, and random values.
func TestAgreesWithTheOrdinaryValidator(t *testing.T) {
	seed, valid, cases := chooseSeed(t), 0, amount.Of(1000, 1500, 100_000)
	for i := range uint64(cases) {
		g := &generator{r: rand.New(rand.NewPCG(seed, i)), draft: dialects[i%5], refs: i%3 == 0, wild: i%4 == 0}
		raw := g.root(3)
		if New(raw, Options{}).Compile() == nil {
			valid++
		}
		var values []any
		for range 20 {
			values = append(values, g.value(3))
		}
		differs(t, raw, values)
		if t.Failed() {
			t.Fatalf("seed %d case %d", seed, i)
		}
	}
	if valid < cases*2/3 {
		t.Errorf("only %d schemas were valid", valid)
	}
}

// watch ends the test when what it watches doesn't end by itself, however busy
// the machine is.
func watch(inputs ...string) (stop func()) {
	started, stopped := cputime.Used(), make(chan struct{})
	go func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-stopped:
				tick.Stop()
				return
			case <-tick.C:
				if cputime.Used()-started > 10*time.Second {
					panic(fmt.Sprintf("no end in sight: %q", inputs))
				}
			}
		}
	}()
	return func() { close(stopped) }
}

// FuzzSchema reads any text as a schema and any as a value.
func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, `{"a":"x"}`},
		{`{"enum":["a",1,null]}`, `1`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#"}}}}`, `[[1]]`},
		{`{"patternProperties":{"^\\u0061":{"const":{"a":[1]}}},"unevaluatedProperties":false}`, `{"a":{"a":[1.0]}}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`},
		{`{"$id":"http://a/b","$defs":{"x":{"$id":"c","$anchor":"d"}},"$ref":"c#d"}`, `{}`},
		{`{"type":"array","contains":{"type":"number"},"uniqueItems":true}`, `[1,1e0]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		var raw, v any
		if json.Unmarshal([]byte(text), &raw) != nil || json.Unmarshal([]byte(value), &v) != nil {
			return
		}
		defer watch(text, value)()
		s := New(raw, Options{})
		if err := s.Compile(); err != nil {
			if bad := err.(*SchemaError); bad.Message == "" {
				t.Error("an error without words")
			}
			return
		}
		got := s.Accepts(v)
		if found := s.Validate(v); (found == nil) != got || found != nil && found.Message == "" {
			t.Errorf("accepts %v, but %v", got, found)
		}
		s.At([]Step{Key("a"), Index(0)})
		s.Kinds()
		if made, ok := s.Sample(rand.New(rand.NewPCG(1, 2))); ok && !s.Accepts(made) {
			t.Errorf("made up %v", made)
		}
		theirs, err := s.Ordinary()
		if err != nil {
			return // it refuses some texts that are sound, such as an id that isn't a URL
		}
		if want := theirs.Validate(v) == nil; got != want {
			t.Errorf("accepts: ours %v, ordinarily %v", got, want)
		}
	})
}
