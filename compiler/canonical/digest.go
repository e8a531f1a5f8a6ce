package canonical

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/obelus-dev/obelus/compiler/kinds"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// The kinds of a [plan.Part].
const (
	PartActivity = "activity" // a definition, wherever it comes from
	PartDelegate = "delegate" // another plan, by its own digest
	PartFunction = "function" // an activity that the embedding program registers; nothing but its name is known
	PartPolicy   = "policy"   // one that the plan stands under; see [PolicyParts]
	PartPlan     = "plan"     // the document, without what has a part of its own
	PartProgram  = "program"  // the bytes of a file of the workspace that an activity names
	PartSchema   = "schema"   // one that has a name
	PartServer   = "server"   // a definition, with what is locked of its tools
	PartTool     = "tool"     // a definition, wherever it comes from
)

// Digest is "sha256:" and a SHA-256 over all that decides what the plan does when it is run: the canonical JSON of its
// [plan.Plan.Parts]. It is the same however the document is laid out, and whether it is YAML or JSON.
func Digest(p *plan.Plan) (string, error) {
	parts, err := p.Parts()
	if err != nil {
		return "", err
	}
	return DigestOf(parts)
}

// DecidedBy lets what decides what the plan does be found out, once.
func DecidedBy(p *plan.Plan) {
	p.Parts, p.Covered = sync.OnceValues(func() ([]plan.Part, error) { return collect(p) }),
		sync.OnceValues(func() (map[string]map[string]string, error) { return FindFiles(p) })
}

// collect finds the parts out.
func collect(p *plan.Plan) ([]plan.Part, error) {
	var parts []plan.Part
	var failed error
	add := func(kind, name string, of any) {
		digest, err := DigestOf(of)
		failed = cmp.Or(failed, err)
		parts = append(parts, plan.Part{Kind: kind, Name: name, Digest: digest})
	}
	document := document(p)
	for _, apart := range []string{"tools", "schemas", "activities", "servers"} {
		if p.Form == plan.PlanFile || p.Form == plan.CallList {
			delete(document, apart)
		}
	}
	add(PartPlan, "", document)
	for _, t := range p.Tools {
		if !t.Builtin {
			add(PartTool, t.Name, toolHere(p, t))
		}
	}
	for name, schema := range p.Schemas {
		add(PartSchema, name, schema)
	}
	for name, a := range p.Activities {
		if a.Node == nil {
			add(PartFunction, name, name)
		} else {
			add(PartActivity, name, activityHere(p, a))
		}
	}
	for name, s := range p.Servers {
		add(PartServer, name, serverHere(p, s))
	}
	for path, d := range p.Delegates {
		digest, err := Digest(d)
		failed = cmp.Or(failed, err)
		parts = append(parts, plan.Part{Kind: PartDelegate, Name: from(p, path), Digest: digest})
	}
	covered, err := p.Covered()
	for name, digest := range Together(covered) {
		parts = append(parts, plan.Part{Kind: PartProgram, Name: from(p, name), Digest: digest})
	}
	delegates := p.AllDelegates()
	for _, path := range slices.Sorted(maps.Keys(delegates)) { // of several errors the same is the first
		below, err := delegates[path].Parts()
		failed = cmp.Or(failed, err)
		for _, one := range below {
			if one.In == "" {
				one.In = from(p, path)
				parts = append(parts, one)
			}
		}
	}
	slices.SortStableFunc(parts, comparePart)
	return parts, cmp.Or(failed, err)
}

func comparePart(a, b plan.Part) int {
	return cmp.Or(strings.Compare(a.In, b.In), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
}

// PolicyParts are the policies that the plan stands under. They lie outside of it and
// aren't in its digest, but an approval covers them.
func PolicyParts(p *plan.Plan) (all []plan.Part, failed error) {
	names := map[string]int{}
	for _, one := range p.Policies {
		name := one.Name
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, names[name])
		}
		digest, err := DigestOf(one.Root.Value())
		failed = cmp.Or(failed, err)
		all = append(all, plan.Part{Kind: PartPolicy, Name: name, Digest: digest})
	}
	return all, failed
}

// DigestOf is a digest over a value's canonical JSON (RFC 8785).
func DigestOf(value any) (string, error) {
	text, err := JSON(value)
	if err != nil {
		return "", err
	}
	return workspace.SumOf(text), nil
}

// ErrOther is returned when a file isn't the one that the digest covers.
var ErrOther = errors.New("not what was approved")

// Programs are the digests of the workspace's files that activities of the plan and of its
// delegates name, by path from the workspace root.
func Programs(p *plan.Plan) (map[string]string, error) {
	all := map[string]string{}
	plans := append(slices.Collect(maps.Values(p.AllDelegates())), p)
	for _, one := range plans {
		covered, err := one.Covered()
		if err != nil {
			return nil, err
		}
		maps.Copy(all, Together(covered))
	}
	return all, nil
}

// Together are the files of all activities.
func Together(byActivity map[string]map[string]string) map[string]string {
	all := map[string]string{}
	for _, activity := range slices.Sorted(maps.Keys(byActivity)) {
		for name, digest := range byActivity[activity] {
			addFile(all, name, digest)
		}
	}
	return all
}

// addFile adds a file's digest to others. If one of two files is named through the
// folder above a link (link/../name), the digest is over both.
func addFile(digests map[string]string, name, digest string) {
	if was := digests[name]; was != "" && was != digest {
		digest = workspace.SumOf([]byte(was + digest))
	}
	digests[name] = digest
}

// FindFiles finds the digests of the files that activities name, by their names and paths.
func FindFiles(p *plan.Plan) (map[string]map[string]string, error) {
	found := map[string]map[string]string{}
	if p.Workspaces == nil {
		return found, nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.Activities)) {
		files, err := FilesNow(p, name, p.Workspaces, nil)
		if err != nil {
			return nil, err
		}
		found[name] = files
	}
	return found, nil
}

// FilesNow are the digests of the workspace's files that an activity names, by path from the workspace root: those that
// a text of its argv names, and those that its "files" match. A text names a file as a whole, by what follows its first
// "=", or by what follows an option of one letter. A program that is looked for in PATH isn't among them, nor what a
// parameter decides; where a variable of the environment stands there is what lookup gives, and nothing without it.
func FilesNow(p *plan.Plan, activity string, in plan.Files,
	lookup func(variable string) string) (map[string]string, error) {
	a := p.Activities[activity]
	digests, top := map[string]string{}, topOf(p, a)
	folder := PathOf(top, a.Dir)
	names, packages := kinds.FileNames(a, lookup)
	add := func(folder, name string) error {
		digest, err := in.Sum(folder, name)
		if err != nil {
			return fmt.Errorf("the file %q, which the activity %q names, can't be read: %w", name, activity, err)
		}
		if digest != "" {
			addFile(digests, PathOf(folder, name), digest)
		}
		return nil
	}
	var patterns []string
	for _, name := range names {
		if err := add(folder, name); err != nil {
			return nil, err
		}
		if code := PathOf(folder, name); digests[code] != "" && path.Base(code) == "__main__.py" {
			patterns = append(patterns, path.Dir(code)+"/**/*.py")
		}
	}
	for _, name := range packages {
		patterns = append(patterns, PathOf(folder, name)+"/**/*.py")
	}
	for _, pattern := range a.Files {
		patterns = append(patterns, path.Join(top, pattern.Text))
	}
	slices.Sort(patterns)
	for _, pattern := range slices.Compact(patterns) {
		names, err := in.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("the files %q of the activity %q can't be found: %w", pattern, activity, err)
		}
		for _, name := range names {
			if err := add("", name); err != nil {
				return nil, err
			}
		}
	}
	return digests, nil
}

// topOf is the folder that the folder of an activity is seen from, from the workspace root.
func topOf(p *plan.Plan, a *plan.Activity) string {
	if plan.DefinedIn(a) == plan.Document {
		return p.Workspace
	}
	return ""
}

// PathOf is the path from the workspace root of a file that is named from a folder, or an absolute one.
func PathOf(folder, name string) string {
	if name = filepath.ToSlash(name); !path.IsAbs(name) && !filepath.IsAbs(name) {
		name = path.Join(filepath.ToSlash(folder), name)
	}
	return path.Clean(name)
}

// Unchanged returns an error that wraps [ErrOther] unless the files that an activity names
// now, and the program that was found for it, are those of the workspace that the digest
// covers. The digest of the program is "" where it lies elsewhere.
func Unchanged(p *plan.Plan, activity, program string, in plan.Files,
	lookup func(variable string) string) (digest string, err error) {
	covered, err := p.Covered()
	if err != nil {
		return "", err
	}
	now, err := FilesNow(p, activity, in, lookup)
	if err == nil && program != "" {
		a := p.Activities[activity]
		folder := PathOf(topOf(p, a), a.Dir)
		if digest, err = in.Sum(folder, program); digest != "" {
			now[PathOf(folder, program)] = digest
		}
	}
	if err != nil {
		return "", err
	}
	was := covered[activity]
	names := slices.Sorted(maps.Keys(now))
	for _, name := range append(names, slices.Sorted(maps.Keys(was))...) {
		if now[name] != was[name] {
			return "", fmt.Errorf("%w: the file %q of the activity %q", ErrOther, name, activity)
		}
	}
	return digest, nil
}

// Changed says of each part that two lists don't have in common what became of it from the one to the other: `the tool
// "pay" is another`, "is new" or "is gone". Of a delegate that has changed, the changed parts are listed.
func Changed(was, is []plan.Part) []string {
	var all []string
	before := map[plan.Part]string{}
	for _, key := range was {
		digest := key.Digest
		key.Digest = ""
		before[key] = digest
	}
	for _, one := range is {
		key := one
		key.Digest = ""
		digest, known := before[key]
		delete(before, key)
		switch {
		case !known:
			all = append(all, one.String()+" is new")
		case digest != one.Digest && one.Kind != PartDelegate:
			all = append(all, one.String()+" is another")
		}
	}
	for _, one := range slices.SortedStableFunc(maps.Keys(before), comparePart) {
		all = append(all, one.String()+" is gone")
	}
	return all
}
