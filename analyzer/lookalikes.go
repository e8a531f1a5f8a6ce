package analyzer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/expression"
	"github.com/obelus-dev/obelus/compiler/source"
)

// foreign are the ways in which other systems write a reference. Where bare is set, what
// is inside may leave out the kind; without a closing mark it ends where a path does.
var foreign = []struct {
	open, closing string
	bare          bool
}{
	{"${{", "}}", true}, {"{{", "}}", true}, {"${", "}", true}, {"#{", "}", false}, {"{", "}", false}, {"$(", ")", false},
	{"%", "%", false}, {"<%=", "%>", false}, {"@", "", false}, {"$.", "", false}, {"‡", "", false}, {"&dagger;", "", false},
}

// A path is what stands inside: keys after points, or in brackets and any quotes.
var foreignPath = regexp.MustCompile(`^(?:\$\.|†|\.)?([\pL_][\pL\pN_-]*(?:\.[\pL\pN_-]+|\[(?:\d+|'[^']*'|"[^"]*")\])*)`)

// maxForeign bounds how much of a string is searched.
const maxForeign = 1 << 12

// foreignReferences looks through the literal strings of a value.
func (p *Pass) foreignReferences(call *compiler.Call, n *source.Node) {
	for _, item := range n.Items {
		p.foreignReferences(call, item)
	}
	for _, f := range n.Fields {
		p.foreignReferences(call, f.Value)
	}
	if n.Kind != source.String || len(n.Text) > maxForeign || expression.IsExpression(n.Text) || expression.IsText(n.Text) || !strings.ContainsAny(n.Text, ".{[") && !strings.Contains(n.Text, "$") {
		return
	}
	if _, _, _, told := expression.Lookalike(n.Text); told {
		return
	}
	from, to, ref, sure, ok := p.foreignReference(n.Text)
	if !ok || slices.ContainsFunc(p.found, func(d diag.Diagnostic) bool { return d.Rule == p.rule && d.Span == n.Span() }) {
		return
	}
	f := p.Report(n.Within(from, to), "this is a literal string, though %q looks like a reference", n.Text[from:to]).About(call.Label())
	if strings.TrimSpace(n.Text[:from]+n.Text[to:]) == "" {
		f.Advise("an expression begins with †: write %q", ref.String()).Offer("make it a reference", n, 0, len(n.Text), ref.String(), sure)
		return
	}
	inside := "†{" + strings.TrimPrefix(ref.String(), "†") + "}"
	f.Advise("in a text an expression stands in †{ … }: write %q", inside).Offer("make it a reference", n, from, to, inside, sure)
}

// foreignReference finds the first reference in a text that is written as in another
// system and names something that is there. Without any mark it counts only as the
// whole text, and not surely.
func (p *Pass) foreignReference(text string) (from, to int, ref expression.Reference, sure, ok bool) {
	if ref, end, ok := p.foreignAt(text, 0, false); ok && strings.TrimSpace(text[end:]) == "" {
		return 0, end, ref, false, true
	}
	expressions := 0 // up to here †{ … } was passed
	for at := range text {
		if expressions = max(expressions, expression.SkipBraces(text, at)); at < expressions {
			continue
		}
		for _, way := range foreign {
			if !strings.HasPrefix(text[at:], way.open) || strings.HasSuffix(text[:at], "†") || way.closing == "" && at > 0 && text[at-1] != ' ' {
				continue
			}
			inner := at + len(way.open)
			inner += len(text[inner:]) - len(strings.TrimLeft(text[inner:], " "))
			ref, end, ok := p.foreignAt(text, inner, way.bare)
			if !ok {
				continue
			}
			if way.closing != "" {
				end += len(text[end:]) - len(strings.TrimLeft(text[end:], " "))
				if !strings.HasPrefix(text[end:], way.closing) {
					continue
				}
			}
			return at, end + len(way.closing), ref, true, true
		}
	}
	return 0, 0, ref, false, false
}

// foreignAt reads a path that begins at a place of a text, and reports whether what it
// names is there: its kind first, or, where bare allows it, a path of the state.
func (p *Pass) foreignAt(text string, at int, bare bool) (ref expression.Reference, end int, ok bool) {
	found := foreignPath.FindStringSubmatchIndex(text[at:])
	if found == nil {
		return ref, 0, false
	}
	path := strings.ReplaceAll(text[at+found[2]:at+found[3]], "'", "\"")
	for _, prefix := range []string{"†", "†state."} {
		ref, err := expression.ParsePath(prefix + path)
		if err == nil && len(ref.Path) > 0 && p.named(ref) {
			return ref, at + found[1], true
		}
		if !bare {
			break
		}
	}
	return ref, 0, false
}

// named reports whether the first key of a reference is one that a call writes, that the
// document holds or declares, or, of the input, that another reference reads.
func (p *Pass) named(ref expression.Reference) bool {
	if ref.Kind != "input" && ref.Kind != "state" && !p.isKind(ref.Kind) {
		return false
	}
	path := []expression.Segment{{Key: ref.Kind}}
	if p.isKind(ref.Kind) {
		path = append([]expression.Segment{{Key: "data"}}, path...)
	}
	if id, ok := p.lookup(path); ok && p.children(id).has(ref.Path[0]) {
		return true
	}
	return ref.Kind == "input" && slices.ContainsFunc(p.Plan.Reads, func(r compiler.Read) bool {
		return r.Ref.Kind == "input" && len(r.Ref.Path) > 0 && r.Ref.Path[0] == ref.Path[0]
	})
}
