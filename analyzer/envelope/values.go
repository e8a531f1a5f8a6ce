package envelope

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/compiler/schema"
)

// value holds a value, put together of its leaves, against what it may be. Own is the value itself, if that is known.
func (j *judge) value(what, of string, leaves []Leaf, own *any, allowed *Values) {
	if j.covers(leaves, own, allowed) {
		return
	}
	if !j.telling {
		j.misses++
		return
	}
	if len(allowed.Leaves) == 0 || len(allowed.Literals)+len(allowed.Schema) > 0 {
		j.differs(what, of, leaves, allowed)
		return
	}
	// Of a value that is put together as written only the parts that are otherwise.
	for _, leaf := range leaves {
		at := slices.IndexFunc(allowed.Leaves, func(o Leaf) bool { return o.Path == leaf.Path })
		if at < 0 {
			j.differs(what, of+leaf.Path, leaf, "nothing")
		} else if !j.sameLeaf(leaf, allowed.Leaves[at]) {
			is, approved := leaf, allowed.Leaves[at]
			if is.Expression == approved.Expression { // but for who wrote what it reads
				is.Sources = j.actual(is.Sources)
			}
			j.differs(what, of+leaf.Path, is, approved)
		}
	}
	for _, leaf := range allowed.Leaves {
		if !slices.ContainsFunc(leaves, func(o Leaf) bool { return o.Path == leaf.Path }) {
			j.differs(what, of+leaf.Path, "left out", leaf)
		}
	}
}

func (j *judge) covers(leaves []Leaf, own *any, allowed *Values) bool {
	literal := len(leaves) == 1 && leaves[0].Path == "" && leaves[0].Literal != nil
	if allowed.Any || slices.EqualFunc(leaves, allowed.Leaves, j.sameLeaf) {
		return true
	}
	if literal && slices.ContainsFunc(allowed.Literals, func(l Literal) bool { return l.equal(*leaves[0].Literal) }) {
		return true
	}
	if allowed.Schema == nil {
		return false
	}
	s := schema.New(decoded(allowed.Schema), schema.Options{})
	switch {
	case s.Compile() != nil:
		return false
	case own != nil:
		return s.Accepts(*own)
	case literal && leaves[0].Literal.Digest == "":
		return s.Accepts(decoded(leaves[0].Literal.Is))
	case literal:
		return false
	}
	return j.given.Later
}

// sameLeaf reports whether a part of a value is as approved: the same literal, or the
// same expression over what nobody else has written.
func (j *judge) sameLeaf(is, approved Leaf) bool {
	if is.Path != approved.Path || is.Expression != approved.Expression || (is.Literal == nil) != (approved.Literal == nil) {
		return false
	}
	if is.Literal != nil {
		return is.Literal.equal(*approved.Literal)
	}
	for _, s := range is.Sources {
		if !slices.ContainsFunc(approved.Sources, func(o Source) bool { return s.Path == o.Path && j.writtenBy(s, o) }) {
			return false
		}
	}
	return true
}

// writtenBy reports whether nobody but those approved has written what stands at a source.
func (j *judge) writtenBy(s, approved Source) bool {
	if s.Start && !approved.Start && !j.given.Live {
		return false
	}
	for _, tool := range j.actual([]Source{s})[0].Tools {
		if !slices.Contains(approved.Tools, tool) {
			return false
		}
	}
	return true
}

// actual are sources with those who have written there, where that is known.
func (j *judge) actual(sources []Source) []Source {
	all := slices.Clone(sources)
	for i := range all {
		if writers, known := j.given.Writers[all[i].Path]; known {
			all[i].Tools = writers
		}
	}
	return all
}

// String is what a value may be, in words.
func (v *Values) String() string {
	if v.Any {
		return "anything"
	}
	var all []string
	for _, l := range v.Literals {
		all = append(all, l.String())
	}
	if len(v.Leaves) > 0 {
		all = append(all, leavesText(v.Leaves))
	}
	if v.Schema != nil {
		all = append(all, "what fits "+string(v.Schema))
	}
	return listed(all)
}

func (l Literal) String() string {
	if l.Digest != "" {
		return "a hidden value (" + l.Digest[:min(len(l.Digest), 15)] + "…)"
	}
	return string(l.Is)
}

func (l Leaf) String() string {
	if l.Literal != nil {
		return l.Literal.String()
	}
	var from []string
	for _, s := range l.Sources {
		if s.Path != l.Expression || len(s.Tools) > 0 {
			from = append(from, s.String())
		}
	}
	if len(from) == 1 && len(l.Sources) == 1 && l.Sources[0].Path == l.Expression {
		return from[0]
	}
	if len(from) == 0 {
		return l.Expression
	}
	return l.Expression + " from " + strings.Join(from, ", ")
}

func (s Source) String() string {
	if len(s.Tools) == 0 {
		return s.Path
	}
	return s.Path + " written by " + strings.Join(s.Tools, ", ")
}

func leavesText(leaves []Leaf) string {
	var all []string
	for _, l := range leaves {
		text := l.String()
		if l.Path != "" {
			text = strings.TrimPrefix(l.Path, ".") + ": " + text
		}
		all = append(all, text)
	}
	if len(leaves) == 1 && leaves[0].Path == "" {
		return all[0]
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// literal is a value as one that the text holds.
func literal(v any) facts.Literal { return facts.Literal{Text: json.RawMessage(facts.Compact(v))} }
