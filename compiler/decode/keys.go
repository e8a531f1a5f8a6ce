package decode

import (
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/naming"
	"github.com/obelus-dev/obelus/compiler/source"
)

// UnknownKey reports a key of a mapping that its format doesn't have, or that repeats a known one in other letters.
func (r *Reader) UnknownKey(n, key *source.Node, what string, known []string) *diag.Diagnostic {
	for _, word := range known {
		if !strings.EqualFold(word, key.Text) {
			continue
		}
		if f := n.Field(word); f != nil {
			return r.Report(diag.DuplicateKey, key.Span(), "%q repeats the key %q in other letters", key.Text, word).
				Note(f.Key.Span(), "%q is here", word).Advise("keep one of the two")
		}
	}
	f := r.Report(diag.UnknownKey, key.Span(), "%s has no key %q", what, key.Text)
	switch near, safe := Meant(key.Text, known); {
	case near == "":
		return f.Advise("known keys are %s; keys that begin with x- are ignored", strings.Join(known, ", "))
	case n.Get(near) != nil:
		return f.Advise("%q is there already: keep one of the two", near)
	default:
		return Intended(f, key, near, safe)
	}
}

// Meant is the word that a key must have meant, misspelt or as other systems call it, and whether it can be no other;
// "" where there is none.
func Meant(key string, words []string) (near string, safe bool) {
	names := naming.NewSuggester(words)
	near, _ = names.Nearest(key)
	if word, ok := Foreign(key, words); ok && word != near {
		return word, false
	}
	return near, near != "" && names.Sure(key)
}

// foreign are our words by the names that other systems have for them, in small letters and without separators.
// No name represents two words that one mapping knows.
var foreign = func() map[string][]string {
	all := map[string][]string{}
	for intended, names := range map[string]string{
		"calls": "steps tasks jobs nodes actions stages toolcalls", "plan": "name title workflow",
		"input":  "inputs parameters params vars variables args arguments with",
		"output": "outputs result results return returns", "tools": "functions", "description": "summary",
		"activities": "activity implementations", "exec": "shell command cmd run program script",
		"argv":        "command cmd args run",
		"_tool":       "tool uses action function",
		"_when":       "if condition cond when guard",
		"_after":      "needs dependson depends requires after waitfor dependencies runafter",
		"_each":       "foreach loop withitems each map",
		"_retry":      "retries retry attempts maxretries maxattempts",
		"_timeout":    "timeout timeoutseconds deadline",
		"_confirm":    "confirm approval requireapproval requiresapproval needsapproval humanapproval manual",
		"_id":         "id name key step",
		"_outputPath": "outputpath saveas assignto register resultpath out result output storeas into",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = append(all[name], intended)
		}
	}
	return all
}()

var withoutHyphens = strings.NewReplacer("_", "", "-", "")

// Foreign is the one of some words that other systems call by this name.
func Foreign(name string, words []string) (string, bool) {
	folded := strings.ToLower(withoutHyphens.Replace(name))
	for _, intended := range foreign[folded] {
		if slices.Contains(words, intended) {
			return intended, true
		}
	}
	return "", false
}
