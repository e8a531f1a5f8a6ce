package source

import "strings"

// A mark is the anchor of a node; the zero mark is none.
type mark struct {
	anchor     string
	start, end int
}

// mark reads an anchor, if one stands next.
func (y *yamlReader) mark(m *mark) bool {
	if y.i == len(y.text) || y.text[y.i] != '&' && y.text[y.i] != '!' {
		return false
	}
	start := y.i
	y.i = y.nameEnd(start + 1)
	name := y.text[start+1 : y.i]
	switch {
	case y.text[start] == '!':
		y.report(codeSyntax, start, y.i, "remove it; text that begins with ! goes in quotes", "a tag: %s",
			quote(y.text[start:y.i]))
		return true
	case m.anchor != "":
		y.stop(start, y.i, "", "a second anchor for one value")
	case name == "":
		y.stop(start, y.i, "text that begins with & goes in quotes", "an anchor without a name")
	}
	*m = mark{name, start, y.i}
	return true
}

// join is the anchor that stands above a node or on its own line.
func (y *yamlReader) join(above, here mark) mark {
	if above.anchor != "" && here.anchor != "" {
		y.stop(here.start, here.end, "", "a second anchor for one value")
	}
	if above.anchor == "" {
		return here
	}
	return above
}

// nameEnd is the end of the name of an anchor that begins at i.
func (y *yamlScanner) nameEnd(i int) int {
	for i < len(y.text) && !blank(y.text[i]) && !isBreak(y.text[i]) && !flowIndicator(y.text[i]) {
		i++
	}
	return i
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
func (y *yamlReader) open(m mark) *anchor {
	if m.anchor == "" {
		return nil
	}
	a := &anchor{depth: y.depth, deepest: y.deepest, made: y.made, aliases: y.aliases}
	y.deepest = y.depth
	y.anchors[m.anchor] = a
	return a
}

// close ends a list or mapping that may be anchored.
func (y *yamlReader) close(a *anchor, n *Node) *Node {
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
func (y *yamlReader) register(m mark, n *Node) *Node {
	if m.anchor != "" {
		y.anchors[m.anchor] = &anchor{node: n, weight: budget{1, n.End - n.Start}}
	}
	return n
}

// empty makes the null of a node that has no text.
func (y *yamlReader) empty(at int, m mark) *Node {
	return y.register(m, y.newNode(Null, Plain, at, at))
}

// alias reads *name. The node that it gives shares what is below with the
// anchored one; what a reader of the tree would come across is counted.
func (y *yamlReader) alias(flow bool) *Node {
	start := y.i
	y.i = y.nameEnd(start + 1)
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

func (y *yamlReader) refuseOnAlias(m mark) {
	if m.anchor != "" {
		y.stop(m.start, m.end, "", "an alias can't have an anchor of its own")
	}
}
