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
	if r.keys == nil || r.keys.of != n || r.keys.what != what {
		r.keys = newKeys(n, what, known)
	}
	for _, duplicate := range r.keys.present {
		if duplicate != key && strings.EqualFold(duplicate.Text, key.Text) {
			return r.Report(diag.DuplicateKey, key.Span(), "%q repeats the key %q in other letters", key.Text,
				duplicate.Text).
				Note(duplicate.Span(), "%q is here", duplicate.Text).Advise("keep one of the two")
		}
	}
	f := r.Report(diag.UnknownKey, key.Span(), "%s has no key %q", what, key.Text)
	if near, ok := r.keys.names.Nearest(key.Text); ok {
		return Intended(f, key, near, r.keys.names)
	}
	if near, ok := Foreign(key.Text, known); ok {
		return f.Advise("did you mean %q?", near).Rename(key, 0, len(key.Text), near, false)
	}
	f.Help = r.keys.help
	return f
}

// keys are what a mapping may have, prepared for all of its keys that are unknown.
type keys struct {
	of      *source.Node
	what    string
	present []*source.Node // the known keys that it has
	names   *naming.Suggester
	help    string
}

func newKeys(n *source.Node, what string, known []string) *keys {
	k := &keys{of: n, what: what, names: naming.NewSuggester(known),
		help: "known keys are " + strings.Join(known, ", ") + "; keys that begin with x- are ignored"}
	for _, f := range n.Fields {
		if slices.Contains(known, f.Key.Text) {
			k.present = append(k.present, f.Key)
		}
	}
	return k
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
