package source

import "strings"

// A mark is an anchor as it is written. Without a name it is none.
type mark struct {
	name       string
	start, end int
}

// anchor reads an anchor, if one stands next. Until its value has been read, its name has none.
func (y *yamlReader) anchor() (m mark) {
	for y.i < len(y.text) && y.text[y.i] == '&' {
		start := y.i
		y.i = y.nameEnd(start + 1)
		switch {
		case m.name != "":
			y.stop(start, y.i, "", "a second anchor for one value")
		case y.i == start+1:
			y.stop(start, y.i, "text that begins with & goes in quotes", "an anchor without a name")
		}
		m = mark{y.text[start+1 : y.i], start, y.i}
		y.anchors[m.name] = nil
		y.skip()
	}
	return m
}

// anchored is a value that aliases can represent, if it has an anchor.
func (y *yamlReader) anchored(m mark, n *Node) *Node {
	if m.name != "" {
		if n.Alias {
			y.stop(m.start, m.end, "", "an alias can't have an anchor of its own")
		}
		y.anchors[m.name] = n
	}
	return n
}

// nameEnd is where the name of an anchor ends that begins at i.
func (y *yamlScanner) nameEnd(i int) int {
	for i < len(y.text) && !blank(y.text[i]) && !isBreak(y.text[i]) && !flowIndicator(y.text[i]) {
		i++
	}
	return i
}

// alias reads *name. The node that it gives shares what is below with the
// anchored one; what a reader of the tree would come across is counted.
func (y *yamlReader) alias() *Node {
	start := y.i
	y.i = y.nameEnd(start + 1)
	name := y.text[start+1 : y.i]
	n := y.node(Null, Plain, start, y.i)
	n.Alias = true
	anchored, known := y.anchors[name]
	switch {
	case name == "":
		y.stop(start, y.i, "text that begins with * goes in quotes", "an alias without a name")
	case !known && strings.HasSuffix(name, ":"):
		y.stop(start, y.i, keyIsText, "the alias %s has no anchor before it", quote(name))
	case !known:
		y.report(codeSyntax, start, y.i, "text that begins with * goes in quotes",
			"the alias %s has no anchor before it", quote(name))
		return n
	case anchored == nil:
		y.report(codeSyntax, start, y.i, "write the value out",
			"the alias %s stands inside of what it stands for", quote(name))
		return n
	}
	y.spend(anchored, start, y.depth)
	*n = *anchored
	n.Alias, n.Start, n.End = true, start, y.i
	return n
}

// spend takes what an alias stands for, so deep, from the budget.
func (y *yamlReader) spend(n *Node, start, depth int) {
	if n.Kind >= Array {
		depth++
	}
	y.aliasNodes++
	y.aliasBytes += len(n.Text) + 1
	const help = "write the values out, or use fewer aliases"
	switch {
	case depth > y.limits.Depth:
		y.fail(codeLimit, start, y.i, help, "nested more than %d deep through this alias", y.limits.Depth)
	case y.aliasNodes > y.limits.AliasNodes:
		y.fail(codeLimit, start, y.i, help, "aliases stand for more than %d values", y.limits.AliasNodes)
	case y.aliasBytes > y.limits.AliasRatio*len(y.text):
		y.fail(codeLimit, start, y.i, help, "aliases stand for more than %d times the file", y.limits.AliasRatio)
	}
	for _, item := range n.Items {
		y.spend(item, start, depth)
	}
	for _, f := range n.Fields {
		y.spend(f.Key, start, depth)
		y.spend(f.Value, start, depth)
	}
}
