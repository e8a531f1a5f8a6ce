package main

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/compiler/hosts"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/pflag"
)

// globals are the flags of all commands. -C, -q, -v and --color apply everywhere; a row of the
// table names the others that it reads.
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
	everywhere = "chdir quiet verbose color"
	planFlags  = "config policy root trust activities allow-host "
	runFlags   = "runs activities "
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
// The value of a field is the flag's default. The tag "was" has old names, which help doesn't show.
func addFlags(to *pflag.FlagSet, fields reflect.Value) {
	for i := range fields.NumField() {
		field := fields.Type().Field(i)
		if _, ok := field.Tag.Lookup("flag"); ok {
			addFlag(to, fields.Field(i), field.Tag)
		} else if field.Anonymous && field.Type.Kind() == reflect.Struct {
			addFlags(to, fields.Field(i))
		}
	}
}

func addFlag(to *pflag.FlagSet, field reflect.Value, tag reflect.StructTag) {
	head, usage, _ := strings.Cut(tag.Get("flag"), ": ")
	short, long, both := strings.Cut(head, ", ")
	if !both {
		short, long = "", head
	}
	name, word, _ := strings.Cut(strings.TrimPrefix(long, "--"), " ")
	short = strings.TrimPrefix(short, "-")
	var check func() error
	switch value := field.Addr().Interface().(type) {
	case *bool:
		to.BoolVarP(value, name, short, *value, usage)
	case *string:
		if words := strings.Split(word, "|"); len(words) > 1 && word == strings.ToLower(word) {
			*value = words[0]
			check = func() error {
				if slices.Contains(words, *value) {
					return nil
				}
				return usageErr("expected %s", wording.Or(words)).Suggest(*value, words)
			}
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
	if least := tag.Get("least"); least != "" {
		check = func() error {
			if low, _ := strconv.ParseInt(least, 10, 64); field.Int() < low {
				return usageErr("expected at least %s", least)
			}
			return nil
		}
	}
	if word == "" {
		word = flag.Value.Type()
	}
	flag.Value = &flagValue{flag.Value, name, word, check}
	if field.IsZero() || field.Kind() == reflect.Slice {
		flag.DefValue = ""
	}
	for _, old := range strings.Fields(tag.Get("was")) {
		alias := *flag
		alias.Name, alias.Shorthand, alias.Hidden = old, "", true
		to.AddFlag(&alias)
	}
}

// changed reports whether a flag is on the command line, also by an old name.
func (c *cli) changed(name string) (found bool) {
	value := c.cmd.Flag(name).Value
	c.cmd.Flags().Visit(func(f *pflag.Flag) { found = found || f.Value == value })
	return found
}

// A flagValue is called by a word in help and messages, and may be restricted further than its type.
type flagValue struct {
	pflag.Value
	name, word string
	check      func() error // of the value that was set; nil for nothing
}

func (v *flagValue) Type() string { return v.word }

// expectations are what values of a type must be.
var expectations = map[string]string{
	"bool": "true or false", "int": "a whole number", "uint64": "a whole number from 0",
	"duration": "a duration such as 300ms, 30s or 1h30m",
}

func (v *flagValue) Set(text string) error {
	err := v.Value.Set(text)
	if err == nil && v.check != nil {
		err = v.check()
	}
	if err == nil {
		return nil
	}
	wrong := usageErr("expected %s", cmp.Or(expectations[v.Value.Type()], v.word))
	errors.As(err, &wrong)
	return usageErr("--%s can't be %q: %s", v.name, text, wrong.Message).Advise("%s", wrong.Help)
}
