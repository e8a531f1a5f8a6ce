package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/obelus-dev/obelus/compiler/workspace"
)

// A Part is one thing that decides what a plan does when it is run (S6.6). Names are
// those that the plan itself has for it, and paths are seen from its folder, so that a
// part is the same wherever its definition stands and wherever the workspace lies.
type Part struct {
	In     string `json:"in,omitempty"` // the delegate that it is a part of; none for the plan itself
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"` // none for a document
	Digest string `json:"digest"`         // "sha256:" and 64 digits
}

// The kinds of a [Part].
const (
	PartActivity = "activity" // a definition, wherever it comes from
	PartDelegate = "delegate" // another plan, by its own digest
	PartFunction = "function" // an activity that the embedding program registers; nothing but its name is known
	PartPolicy   = "policy"   // one that the plan stands under; see [Plan.PolicyParts]
	PartPlan     = "plan"     // the document, without what has a part of its own
	PartProgram  = "program"  // the bytes of a file of the workspace that an activity's argv names
	PartSchema   = "schema"   // one that has a name
	PartServer   = "server"   // a definition, with what is locked of its tools
	PartTool     = "tool"     // a definition, wherever it comes from
)

// Digest is "sha256:" and a SHA-256 over all that decides what the plan does when it is
// run: the canonical JSON of its [Plan.Parts]. It is the same however the document is
// laid out, and whether it is YAML or JSON.
func (p *Plan) Digest() (string, error) {
	parts, err := p.Parts()
	if err != nil {
		return "", err
	}
	return DigestOf(parts)
}

// Parts are all that decides what the plan does when it is run, in a fixed order: its own
// and those of the plans that it delegates to. They are found out once, and the files of
// the workspace are read for it then. Nobody changes them.
func (p *Plan) Parts() ([]Part, error) { return p.parts() }

// decidedBy lets what decides what the plan does be found out, once.
func (p *Plan) decidedBy() {
	p.parts, p.ownPrograms = sync.OnceValues(p.collect), sync.OnceValues(p.findPrograms)
}

// collect finds the parts out.
func (p *Plan) collect() ([]Part, error) {
	var parts []Part
	var failed error
	add := func(kind, name string, of any) {
		digest, err := DigestOf(of)
		failed = cmp.Or(failed, err)
		parts = append(parts, Part{Kind: kind, Name: name, Digest: digest})
	}
	document := p.document()
	for _, apart := range []string{"tools", "schemas", "activities", "servers"} {
		if p.Form == PlanFile || p.Form == CallList {
			delete(document, apart)
		}
	}
	add(PartPlan, "", document)
	for _, t := range p.Tools {
		if !t.Builtin {
			add(PartTool, t.Name, p.toolHere(t))
		}
	}
	for name, schema := range p.schemas {
		add(PartSchema, name, schema)
	}
	for name, a := range p.Activities {
		if a.Node == nil {
			add(PartFunction, name, name)
		} else {
			add(PartActivity, name, p.activityHere(a))
		}
	}
	for name, s := range p.Servers {
		add(PartServer, name, p.serverHere(s))
	}
	for path, d := range p.Delegates {
		digest, err := d.Digest()
		failed = cmp.Or(failed, err)
		parts = append(parts, Part{Kind: PartDelegate, Name: p.from(path), Digest: digest})
	}
	own, err := p.ownPrograms()
	for name, digest := range own {
		parts = append(parts, Part{Kind: PartProgram, Name: p.from(name), Digest: digest})
	}
	for path, d := range p.AllDelegates() {
		below, err := d.Parts()
		failed = cmp.Or(failed, err)
		for _, one := range below {
			if one.In == "" {
				one.In = p.from(path)
				parts = append(parts, one)
			}
		}
	}
	slices.SortFunc(parts, comparePart)
	return parts, cmp.Or(failed, err)
}

func comparePart(a, b Part) int {
	return cmp.Or(strings.Compare(a.In, b.In), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
}

// PolicyParts are the policies that the plan stands under. They lie outside of it and
// aren't in its digest, but whoever approves it approves it under them (S16.1).
func (p *Plan) PolicyParts() (all []Part, failed error) {
	names := map[string]int{}
	for _, one := range p.Policies {
		name := one.Name
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, names[name])
		}
		digest, err := DigestOf(one.Root.Value())
		failed = cmp.Or(failed, err)
		all = append(all, Part{Kind: PartPolicy, Name: name, Digest: digest})
	}
	return all, failed
}

// DigestOf is a digest over a value's canonical JSON (RFC 8785).
func DigestOf(value any) (string, error) {
	text, err := canonicalJSON(value)
	if err != nil {
		return "", err
	}
	return workspace.SumOf(text), nil
}

// Programs are the digests of the workspace's files that programs of the plan and of its
// delegates are started with, by path from the workspace root (S6.6).
func (p *Plan) Programs() (map[string]string, error) {
	all := map[string]string{}
	plans := append(slices.Collect(maps.Values(p.AllDelegates())), p)
	for _, one := range plans {
		own, err := one.ownPrograms()
		if err != nil {
			return nil, err
		}
		maps.Copy(all, own)
	}
	return all, nil
}

func (p *Plan) findPrograms() (map[string]string, error) {
	found := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Activities)) {
		a := p.Activities[name]
		if len(a.Argv) == 0 || p.sum == nil {
			continue
		}
		if a.Whence() == Document && !path.IsAbs(a.Dir) {
			there := *a
			there.Dir = path.Join(p.workspace, a.Dir)
			a = &there
		}
		for _, file := range p.Naming(a).Files(nil) {
			if _, known := found[file]; known {
				continue
			}
			digest, err := p.sum(file)
			if err != nil {
				return nil, fmt.Errorf("the file %q, which the activity %q names, can't be read: %w", file, name, err)
			}
			found[file] = digest
		}
	}
	maps.DeleteFunc(found, func(_, digest string) bool { return digest == "" })
	return found, nil
}

// Files are the paths that an activity's argv may name files by, from the folder that its
// own is seen from: each text, what follows its first "=", and of what may be the code of
// a shell the words that may name one ([codeReading.pathsIn]), but what it
// writes to; and what calls have it start ([Plan.Naming]). Most are those of no file. A
// program that is looked for in PATH isn't among them, nor what a parameter says
// otherwise; where a variable of the environment stands there is what lookup gives, and
// nothing without it.
func (a *Activity) Files(lookup func(variable string) string) []string {
	var names []string
	hold := func(name string) { names = append(names, name) }
	a.filesIn(lookup, codeReading{hold: hold, file: func(name string) string {
		hold(name)
		return ""
	}})
	for _, text := range a.started {
		names = append(names, a.at(text))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Held are those of the [Activity.Files] that nothing can take the place of, since its argv
// doesn't tell whether a word of its code names them, or from where: they are to be as
// they were themselves.
func (a *Activity) Held() (names []string) {
	a.filesIn(nil, codeReading{file: func(string) string { return "" }, hold: func(name string) { names = append(names, name) }})
	return names
}

// at is the path of what an argv names.
func (a *Activity) at(text string) string {
	name := filepath.ToSlash(text)
	if !filepath.IsAbs(text) && !path.IsAbs(name) {
		name = path.Join(filepath.ToSlash(a.Dir), name)
	}
	return path.Clean(name)
}

// WithFiles is the activity with other paths in the place of those that its argv names
// files by, as they stand there without a variable, and of those that a call has it start;
// "" keeps one. The error says that one can't stand there.
func (a *Activity) WithFiles(instead func(name string) string) (*Activity, error) {
	var err error
	with := *a
	with.instead = instead
	unfit := func(path string) {
		err = fmt.Errorf("the path %q can't stand in an argv in the place of what it is a copy of", path)
	}
	with.Argv = a.filesIn(nil, codeReading{file: func(name string) string {
		path := instead(name)
		if strings.Contains(path, "{") { // as of a parameter
			unfit(path)
		}
		return path
	}, unfit: unfit})
	return &with, err
}

// filesIn is the argv with what r says in the place of the paths that it may name files by.
func (a *Activity) filesIn(lookup func(variable string) string, r codeReading) []Argument {
	file, hold := r.file, r.hold
	fits := func(text string) bool {
		return text != "" && len(text) <= longestPath && !strings.ContainsAny(text, "{}\x00")
	}
	r.file = func(text string) string {
		if !fits(text) {
			return ""
		}
		return file(a.at(text))
	}
	r.hold = func(text string) {
		if hold != nil && fits(text) {
			hold(a.at(text))
		}
	}
	argv := make([]Argument, len(a.Argv))
	for i, argument := range a.Argv {
		argv[i] = Argument{slices.Clone(argument.Texts), argument.Option}
		for j, text := range argument.Texts {
			if variable.MatchString(text) {
				if lookup == nil {
					continue
				}
				text = Filled(text, lookup)
			}
			if i == 0 && text == filepath.Base(text) {
				continue
			}
			edits := r.named(text, nameBegins(text))
			if edits == nil && inCode(text) {
				edits = r.pathsIn(text)
			}
			slices.SortFunc(edits, func(a, b edit) int { return b.start - a.start })
			for _, e := range edits {
				text = text[:e.start] + e.with + text[e.end:]
			}
			argv[i].Texts[j] = text
		}
	}
	return argv
}

// inCode reports whether a text may be the code of a shell, with words in it.
func inCode(text string) bool { return strings.ContainsAny(text, " \t\n;|&()<>'\"`\\") }

const longestPath = 4096

// String names a part to people.
func (p Part) String() string {
	text := "the " + p.Kind
	if p.Name != "" {
		text += fmt.Sprintf(" %q", p.Name)
	}
	if p.In != "" {
		text += fmt.Sprintf(" of the delegate %q", p.In)
	}
	return text
}

// Changed says of each part that two lists don't have in common what became of it from
// the one to the other: `the tool "pay" is another`, "is new" or "is gone". Of a delegate
// that has become another it is said which of its parts did.
func Changed(was, is []Part) []string {
	var all []string
	before := map[Part]string{}
	for _, one := range was {
		before[Part{In: one.In, Kind: one.Kind, Name: one.Name}] = one.Digest
	}
	for _, one := range is {
		key := Part{In: one.In, Kind: one.Kind, Name: one.Name}
		digest, known := before[key]
		delete(before, key)
		switch {
		case !known:
			all = append(all, one.String()+" is new")
		case digest != one.Digest && one.Kind != PartDelegate:
			all = append(all, one.String()+" is another")
		}
	}
	for _, one := range slices.SortedFunc(maps.Keys(before), comparePart) {
		all = append(all, one.String()+" is gone")
	}
	return all
}
