package main

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/pflag"
)

// globals are the flags of all commands; a row of the table names those of them that it reads, beside [everywhere].
type globals struct {
	Folder     string   `flag:"-C, --chdir DIR: run as if started in this folder"`
	Quiet      bool     `flag:"-q, --quiet: print results and errors only"`
	Verbose    bool     `flag:"-v, --verbose: print which settings apply and which files are skipped"`
	Color      string   `flag:"--color auto|always|never: color the output"`
	Config     string   `flag:"--config FILE: settings, in place of the nearest obelus.yaml in the workspace"`
	Policies   []string `flag:"--policy FILE: what plans may do, in place of obelus.policy.yaml"`
	Root       string   `flag:"--root DIR: the workspace [nearest folder with obelus.yaml or .git]"`
	Trust      bool     `flag:"--trust: trust the workspace's obelus.yaml and policy, as obelus trust does"`
	Activities []string `flag:"--activities FILE: activities that replace those of the plan or run"`
	Hosts      allowed  `flag:"--allow-host HOST[:PORT]: allow requests to a private or unlisted host"`
	Runs       string   `flag:"--runs DIR: journals [$XDG_STATE_HOME/obelus/runs or ~/.local/state/obelus/runs]"`
}

// The global flags of commands that read plans, and of those that work on runs.
const (
	everywhere = "--chdir --color --quiet --verbose "
	planFlags  = "--activities --allow-host --config --policy --root --trust "
	runFlags   = "--activities --runs "
)

// allowed are the hosts that a flag names.
type allowed []hosts.Entry

func (a *allowed) String() string { return "" }
func (a *allowed) Type() string   { return "HOST[:PORT]" }
func (a *allowed) Set(text string) error {
	one, err := hosts.Parse(text)
	*a = append(*a, one)
	return err
}

// addFlags adds the flags that the fields of a struct declare, such as
//
//	Output string `flag:"-o, --output FILE: where to write"`
//
// The value of a field is the flag's default, and the tag "least" the least number.
func addFlags(to *pflag.FlagSet, fields reflect.Value) {
	for i := range fields.NumField() {
		field, one := fields.Type().Field(i), fields.Field(i)
		if tag := flagTag.FindStringSubmatch(field.Tag.Get("flag")); tag != nil {
			addFlag(to, one, tag[1], tag[2], tag[3], tag[4])
			to.Lookup(tag[2]).Value.(*flagValue).least = field.Tag.Get("least")
		} else if field.Anonymous && one.Kind() == reflect.Struct {
			addFlags(to, one)
		}
	}
}

var flagTag = regexp.MustCompile(`^(?:-(.), )?--(\S+) ?(.*?): (.*)`)

func addFlag(to *pflag.FlagSet, field reflect.Value, short, name, word, usage string) {
	var words []string
	switch value := field.Addr().Interface().(type) {
	case *bool:
		to.BoolVarP(value, name, short, *value, usage)
	case *string:
		if strings.Contains(word, "|") && word == strings.ToLower(word) {
			words = strings.Split(word, "|")
			*value = words[0]
		}
		to.StringVarP(value, name, short, *value, usage)
	case *[]string:
		to.StringArrayVarP(value, name, short, *value, usage+"; may be repeated")
	case *int:
		to.IntVarP(value, name, short, *value, usage)
	case *uint64:
		to.Uint64VarP(value, name, short, *value, usage)
	case *[]float64:
		to.Float64SliceVarP(value, name, short, *value, usage)
	case *time.Duration:
		to.DurationVarP(value, name, short, *value, usage)
	default:
		to.VarP(value.(pflag.Value), name, short, usage)
	}
	flag := to.Lookup(name)
	if word == "" {
		word = flag.Value.Type()
	}
	flag.Value = &flagValue{Value: flag.Value, field: field, word: word, words: words}
	if field.IsZero() || field.Kind() == reflect.Slice {
		flag.DefValue = ""
	}
}

// changed reports whether a flag is on the command line.
func (c *cli) changed(name string) bool { return c.cmd.Flag(name).Changed }

// A flagValue is called by a word in help and messages, and may be restricted further than its type.
type flagValue struct {
	pflag.Value
	field reflect.Value
	word  string
	words []string // all that it may be; nil for anything
	least string
}

// expectations are what values of a type have to be.
var expectations = map[string]string{"bool": "true or false", "int": "a whole number",
	"uint64": "a whole number from 0", "duration": "a duration such as 300ms, 30s or 1h30m"}

func (v *flagValue) Type() string { return v.word }

func (v *flagValue) Set(text string) error {
	if v.words != nil && !slices.Contains(v.words, text) {
		return usageErr("expected %s", wording.Or(v.words))
	}
	err := v.Value.Set(text)
	if expected := expectations[v.Value.Type()]; err != nil && expected != "" {
		return usageErr("expected %s", expected)
	}
	if least, wrong := strconv.ParseInt(v.least, 10, 64); wrong == nil && err == nil && v.field.Int() < least {
		err = usageErr("expected at least %s", v.least)
	}
	return err
}
