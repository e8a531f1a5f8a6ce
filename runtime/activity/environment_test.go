//go:build unix

package activity

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/plan"
)

// LANGUAGE.md#environment-and-secrets: of our own environment a program gets PATH, HOME, LANG and TMPDIR and what
// its definition names, and besides what the definition gives it; whatever else there
// is, a key of a planner above all, it doesn't see. What it takes as {$NAME} it gets,
// and nobody sees it in what the program gives back.
func TestEnvironmentOfPrograms(t *testing.T) {
	names := []string{
		"PATH", "HOME", "LANG", "TMPDIR", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PGPASSWORD", "AUTHORIZATION", "EDITOR", "LD_PRELOAD_X", "STAGE", "EMPTY",
	}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		some := func() []string {
			return slices.DeleteFunc(slices.Clone(names), func(string) bool { return random.IntN(3) > 0 })
		}
		ours, want := map[string]string{}, map[string]string{}
		for _, name := range append(some(), "STAGE") {
			ours[name] = fmt.Sprintf("value-of-%s-%d", name, 1000+random.IntN(9000))
		}
		def := execDef(append(helper("whole-environ"), "--as={$STAGE}", "{{STAGE}}", "$STAGE", "${STAGE}", "{$1}")...)
		def.Variables = []plan.Variable{{Name: "STAGE"}}
		def.Inherit = some()
		for _, name := range slices.Concat(everybodys, def.Inherit) {
			if value, there := ours[name]; there {
				want[name] = value
			}
		}
		for _, name := range some() {
			value := "plain"
			if random.IntN(2) == 0 {
				value = "with {$STAGE}"
			}
			def.Env = append(def.Env, plan.EnvSetting{Name: name, Value: value})
			want[name] = strings.ReplaceAll(value, "{$STAGE}", ours["STAGE"])
		}
		var environ []string
		for name, value := range ours {
			environ = append(environ, name+"="+value)
		}
		env := readEnvironment(environ)
		set, err := Open(map[string]*plan.Activity{"act": def}, nil, Options{Environ: environ})
		if err != nil {
			t.Fatal(err)
		}
		got, err := set.Run(background, "act", Request{})
		set.Close()
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			want[name] = set.byName["act"].(*program).hide.Text(value)
		}
		seen := map[string]string{}
		for _, pair := range got.Value.(map[string]any)["environ"].([]any) {
			name, value, _ := strings.Cut(pair.(string), "=")
			seen[name] = value
		}
		if !maps.Equal(seen, want) {
			t.Fatalf("seed %d: %v inherits %q: got %q, want %q", seed, env, def.Inherit, seen, want)
		}
		if argv := got.Value.(map[string]any)["argv"]; !reflect.DeepEqual(argv, []any{"--as=[hidden STAGE]", "{STAGE}", "$STAGE", "${STAGE}", "{$1}"}) {
			t.Fatalf("seed %d: argv %q", seed, argv)
		}
	}
}

// LANGUAGE.md#environment-and-secrets: a name that the environment doesn't have is an error before anything starts,
// where some call may use the activity.
func TestUnsetVariable(t *testing.T) {
	def := execDef("tool", "{$OBELUS_TEST_UNSET}")
	def.Variables = []plan.Variable{{Name: "OBELUS_TEST_UNSET"}}
	defs := map[string]*plan.Activity{"act": def}
	if _, err := Open(defs, nil, Options{Environ: []string{"PATH=/bin"}}); err == nil || !strings.Contains(err.Error(), `"act" can't be run: the environment variable OBELUS_TEST_UNSET`) {
		t.Errorf("got %v", err)
	}
	for _, o := range []Options{
		{Environ: []string{"OBELUS_TEST_UNSET="}},
		{Environ: []string{"PATH=/bin"}, Used: map[string]bool{}},
	} {
		set, err := Open(defs, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		set.Close()
	}
}

// LANGUAGE.md#yaml-and-json: a number that would lose digits is refused, whatever brings it, and any
// other is what it was; what we hand to a program it can hand back.
func TestNumbersSurvive(t *testing.T) {
	for text, ok := range map[string]bool{
		"9007199254740991": true, "-9007199254740991": true, "9007199254740992": false, "-9007199254740993": false, "9007199254740993": false, "18446744073709551616": false,
		"1e20": true, "1E+400": false, "-1e400": false, "1e-400": false, "0e-400": true, "0.1": true, "100000000000000000000": false, "9007199254740993.0": true, "-0": true,
	} {
		if _, err := (&common{}).decode([]byte(text), maxDepth); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, value := range []any{int64(1) << 53, uint64(1) << 63, 1 << 53, []any{-1 << 53}, struct{ ID int64 }{1<<53 + 1}, map[string]int64{"a": -1 << 60}} {
		if _, err := (&common{}).plain(value); err == nil || !strings.Contains(err.Error(), "would lose digits") {
			t.Errorf("%v: %v", value, err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		number := (random.Float64() - 0.5) * float64(uint64(1)<<random.IntN(64)) * float64(uint64(1)<<random.IntN(64))
		for _, value := range []any{number, struct{ N float64 }{number}, float64(int64(number))} {
			first, err := (&common{}).plain(value)
			if err != nil {
				t.Fatalf("%v: %v", value, err)
			}
			text, err := encode(first)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := (&common{}).decode(text, maxDepth); err != nil || !reflect.DeepEqual(again, first) {
				t.Fatalf("%v went out as %s and came back as %v, %v", first, text, again, err)
			}
		}
	}
}
