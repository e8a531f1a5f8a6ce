package source

import (
	"cmp"
	"strings"
)

// properties are the anchor and the tag of a node.
type properties struct {
	anchor           string
	tag              string // a name of the core schema, or "!"; "" is none, or another
	start, end       int    // of both
	tagStart, tagEnd int
}

func (p properties) some() bool { return p.end > 0 }

// property reads an anchor or a tag, if one stands next.
func (y *yamlReader) property(p *properties, flow bool) bool {
	if y.i == len(y.text) || y.text[y.i] != '&' && y.text[y.i] != '!' {
		return false
	}
	start := y.i
	end := y.tagEnd(start+1, true)
	if y.text[start] == '!' {
		end = y.tagEnd(start, flow)
	}
	switch c := y.text[start]; {
	case c == '&' && p.anchor != "", c == '!' && p.tagEnd > 0:
		y.stop(start, end, "", "a second anchor or tag for one value")
	case c == '&':
		p.anchor = y.text[start+1 : end]
		if p.anchor == "" {
			y.stop(start, end, "text that begins with & goes in quotes", "an anchor without a name")
		}
	default:
		p.tag, p.tagStart, p.tagEnd = y.coreTag(start, end), start, end
	}
	if !p.some() {
		p.start = start
	}
	p.end, y.i = end, end
	return true
}

// join puts together what stands above a node and on its own line.
func (y *yamlReader) join(above, here properties) properties {
	if above.anchor != "" && here.anchor != "" || above.tagEnd > 0 && here.tagEnd > 0 {
		y.stop(here.start, here.end, "", "a second anchor or tag for one value")
	}
	if !above.some() {
		return here
	}
	above.anchor = cmp.Or(here.anchor, above.anchor)
	if here.tagEnd > 0 {
		above.tag, above.tagStart, above.tagEnd = here.tag, here.tagStart, here.tagEnd
	}
	return above
}

// tagEnd is where a tag that begins at i ends, or in brackets a tag or the name of an anchor anywhere.
func (y *yamlScanner) tagEnd(i int, flow bool) int {
	for i < len(y.text) && !blank(y.text[i]) && !isBreak(y.text[i]) && !(flow && flowIndicator(y.text[i])) {
		i++
	}
	return i
}

const coreTags = " str int float bool null map seq "

// coreTag is the short name of a tag of the core schema; any other is reported.
func (y *yamlScanner) coreTag(start, end int) string {
	tag := y.text[start:end]
	if tag == "!" {
		return "!"
	}
	name, ok := strings.CutPrefix(tag, "!!")
	if !ok {
		name, ok = strings.CutPrefix(tag, "!<tag:yaml.org,2002:")
		name = strings.TrimSuffix(name, ">")
	}
	if ok && name != "" && strings.Contains(coreTags, " "+name+" ") {
		return name
	}
	y.report(codeSyntax, start, end, "remove it; text that begins with ! goes in quotes",
		"the tag %s isn't one of the core schema", quote(tag))
	return ""
}

// A budget counts what aliases represent.
type budget struct{ nodes, bytes int }

// An anchor is a node that aliases can represent. It is open while the node is
// being read.
type anchor struct {
	node           *Node
	height         int // of the tree below it
	weight         budget
	depth, deepest int // where it was opened, and what y.deepest was
	made           int
	aliases        budget
}

// open begins an anchored node, if it is one.
func (y *yamlReader) open(p properties) *anchor {
	if p.anchor == "" {
		return nil
	}
	a := &anchor{depth: y.depth, deepest: y.deepest, made: y.made, aliases: y.aliases}
	y.deepest = y.depth
	y.anchors[p.anchor] = a
	return a
}

// close ends a list or mapping that may be anchored and tagged.
func (y *yamlReader) close(a *anchor, p properties, n *Node) *Node {
	if p.tag != "" && !(p.tag == "map" && n.Kind == Object) && !(p.tag == "seq" && n.Kind == Array) && p.tag != "!" {
		y.report(codeSyntax, p.tagStart, p.tagEnd, "", "%s doesn't fit the tag \"!!%s\"", n.Kind, p.tag)
	}
	if a != nil {
		a.node = n
		a.height = y.deepest - a.depth
		a.weight.nodes = y.made - a.made + y.aliases.nodes - a.aliases.nodes
		a.weight.bytes = n.End - n.Start + y.aliases.bytes - a.aliases.bytes
		y.deepest = max(y.deepest, a.deepest)
	}
	return n
}

// register anchors a scalar.
func (y *yamlReader) register(p properties, n *Node) {
	if p.anchor != "" {
		y.anchors[p.anchor] = &anchor{node: n, weight: budget{1, n.End - n.Start}}
	}
}

// empty makes the null of a node that has no text.
func (y *yamlReader) empty(at int, p properties) *Node {
	n := y.newNode(Null, Plain, at, at)
	switch p.tag {
	case "str", "!":
		n.Kind = String
	case "", "null":
	default:
		y.report(codeSyntax, p.tagStart, p.tagEnd, "", "nothing follows the tag \"!!%s\"", p.tag)
	}
	y.register(p, n)
	return n
}

// alias reads *name. The node that it gives shares what is below with the
// anchored one; what a reader of the tree would come across is counted.
func (y *yamlReader) alias() *Node {
	start := y.i
	y.i = y.tagEnd(start+1, true)
	name := y.text[start+1 : y.i]
	n := y.newNode(Null, Plain, start, y.i)
	n.Alias = true
	a, known := y.anchors[name]
	switch {
	case name == "":
		y.stop(start, y.i, "text that begins with * goes in quotes", "an alias without a name")
	case !known && strings.HasSuffix(name, ":"):
		y.stop(start, y.i, "an alias that is a key needs a space before its colon",
			"the alias %s has no anchor before it", quote(name))
	case !known:
		y.report(codeSyntax, start, y.i, "text that begins with * goes in quotes",
			"the alias %s has no anchor before it", quote(name))
		return n
	case a.node == nil:
		y.report(codeSyntax, start, y.i, "write the value out",
			"the alias %s stands inside of what it stands for", quote(name))
		return n
	}
	y.spend(a, start)
	*n = *a.node
	n.Alias, n.Start, n.End = true, start, y.i
	return n
}

// spend takes an alias from the budget.
func (y *yamlReader) spend(a *anchor, start int) {
	y.deepest = max(y.deepest, y.depth+a.height)
	y.aliases.nodes += a.weight.nodes
	y.aliases.bytes += a.weight.bytes
	const help = "write the values out, or use fewer aliases"
	switch {
	case y.depth+a.height > y.limits.Depth:
		y.fail(codeLimit, start, y.i, help, "nested more than %d deep through this alias", y.limits.Depth)
	case y.aliases.nodes > y.limits.AliasNodes:
		y.fail(codeLimit, start, y.i, help, "aliases stand for more than %d values", y.limits.AliasNodes)
	case y.aliases.bytes > y.limits.AliasRatio*len(y.text):
		y.fail(codeLimit, start, y.i, help, "aliases stand for more than %d times the file", y.limits.AliasRatio)
	}
}

func (y *yamlReader) refuseOnAlias(p properties) {
	if p.some() {
		y.stop(p.start, p.end, "", "an alias can't have an anchor or a tag of its own")
	}
}
