package source

import "strings"

// A yamlReader reads one YAML 1.2 document straight from its bytes into the
// tree, so that no place has to be worked out afterwards. It never goes back,
// so its time is linear in the text, whatever the text is.
type yamlReader struct {
	yamlScanner
	depth                  int
	anchors                map[string]*Node // nil while the value is being read
	aliasNodes, aliasBytes int              // that aliases represent
}

// A yamlScanner is at a place of the text: it reads blanks, comments and scalars there.
type yamlScanner struct {
	*builder
	i    int // the next byte
	line int // where the line of i begins
	head int // the first thing on that line, once skip has reached it
	tab  int // the first tab before head, or -1

	comments   []Comment
	flowParent int // the column of what a flow collection belongs to
}

func (y *yamlReader) document() *Node {
	y.refuseControls()
	if strings.HasPrefix(y.text, byteOrderMark) {
		y.i, y.line = len(byteOrderMark), len(byteOrderMark)
	}
	y.skip()
	if y.i < len(y.text) && y.text[y.i] == '%' && y.column() == 0 {
		y.stop(y.i, y.lineEnd(y.i), "remove it; text that begins with % goes in quotes",
			"a directive; a document is YAML 1.2 without any")
	}
	marked := y.atMarker() && y.text[y.i] == '-'
	if marked {
		y.i += len("---")
	}
	root := y.blockNode(-1, !marked, false)
	y.end()
	return root
}

// end makes sure that nothing but comments follows the document.
func (y *yamlReader) end() {
	y.skip()
	switch {
	case y.i == len(y.text):
		return
	case !y.fresh():
		y.unexpected()
	case !y.atMarker():
		y.refuseTab(y.column())
		y.stop(y.i, y.lineEnd(y.i), "check the indentation", "this line fits no list or mapping above it")
	}
	if y.text[y.i] == '.' {
		y.i += len("...")
		y.skip()
		if y.i == len(y.text) {
			return
		}
		if !y.fresh() {
			y.unexpected()
		}
	}
	y.stop(y.i, y.lineEnd(y.i), "put it into a file of its own", "a second document begins here; a file holds one")
}

// inYAML is what may be in YAML text whatever follows.
var inYAML = classOf(func(c byte) bool { return c >= ' ' && c != 0x7F && c != 0xC2 || c == '\t' || isBreak(c) })

// refuseControls refuses the characters that YAML text can't hold.
func (y *yamlScanner) refuseControls() {
	for i := inYAML.end(y.text, 0); i < len(y.text); i = inYAML.end(y.text, i+1) {
		switch c := y.text[i]; {
		case c == 0:
			y.stop(i, i+1, noNUL, "a NUL character")
		case c == 0xC2 && (y.text[i+1] >= 0xA0 || y.text[i+1] == 0x85): // the two-byte characters that print
		case c == 0xC2:
			y.stop(i, i+2, escapeIt, "a control character (U+%04X)", y.text[i+1])
		default:
			y.stop(i, i+1, escapeIt, "a control character (U+%04X)", c)
		}
	}
}

const escapeIt = "remove it, or write it as an escape in double quotes"

// skip goes over blanks, comments and line ends to the next thing.
func (y *yamlScanner) skip() {
	crossed := y.i == y.line
	if crossed {
		y.tab = -1
	}
	for y.i < len(y.text) {
		c := y.text[y.i]
		switch {
		case c == ' ':
			y.i++
			continue
		case c == '\t':
			if crossed && y.tab < 0 {
				y.tab = y.i
			}
			y.i++
			continue
		case isBreak(c):
			y.i = afterBreak(y.text, y.i)
			y.line, y.tab, crossed = y.i, -1, true
			continue
		case c == '#' && (y.i == y.line || blank(y.text[y.i-1])):
			y.comment()
			continue
		}
		break
	}
	if crossed {
		y.head = y.i
	}
}

func (y *yamlScanner) comment() {
	end := y.lineEnd(y.i)
	y.comments = append(y.comments, Comment{Span{y.file, y.i, end}, strings.Trim(y.text[y.i+1:end], " \t")})
	y.i = end
}

// fresh reports whether the next thing is the first on its line.
func (y *yamlScanner) fresh() bool { return y.i == y.head }

func (y *yamlScanner) column() int { return y.i - y.line }

func (y *yamlScanner) atMarker() bool {
	return y.i == y.line && y.i < len(y.text) && atMarker(y.text, y.i)
}

// at reports whether an indicator stands next: the character c, and behind it a
// blank or the end of the line.
func (y *yamlScanner) at(c byte) bool {
	return y.i < len(y.text) && y.text[y.i] == c && y.separated(y.i+1)
}

func (y *yamlScanner) separated(i int) bool {
	return i >= len(y.text) || blank(y.text[i]) || isBreak(y.text[i])
}

func (y *yamlScanner) lineEnd(i int) int {
	for i < len(y.text) && !isBreak(y.text[i]) {
		i++
	}
	return i
}

// refuseTab refuses a tab before the first thing of a line, if there are no
// more than n columns of spaces before it: then the tab would have to indent.
func (y *yamlScanner) refuseTab(n int) {
	if y.tab >= 0 && y.fresh() && y.tab-y.line <= n {
		y.tabAt(y.tab)
	}
}

func (y *yamlScanner) tabAt(at int) {
	y.stop(at, at+1, "indent with spaces", "a tab in the indentation")
}

func (y *yamlScanner) unexpected() {
	help := "if it is all one text, put the whole of it in quotes"
	switch y.text[y.i] {
	case '#':
		help = "a comment needs a space before its #"
	case ':':
		help = "a key needs a space behind its colon; " + help
	}
	y.stop(y.i, y.lineEnd(y.i), help, "there is text behind the end of the value")
}

func (y *yamlReader) enter(start int) {
	y.depth++
	if y.depth > y.limits.Depth {
		y.fail(codeLimit, start, min(start+1, len(y.text)), "", "nested more than %d deep", y.limits.Depth)
	}
}

// ends reports whether the node that belongs to a parent at column n is empty,
// because what comes next isn't further in. With dash, a list may stand at the
// very column of the key that it belongs to.
func (y *yamlReader) ends(n int, dash bool) bool {
	switch {
	case y.i == len(y.text):
		return true
	case !y.fresh():
		return false
	case y.atMarker():
		return true
	}
	y.refuseTab(n)
	return y.column() <= n && !(dash && y.column() == n && y.at('-'))
}

// blockNode reads the node of an indicator that has just been read, in a parent
// at column n. With compact a list or mapping may begin on the indicator's own
// line; for dash see ends.
func (y *yamlReader) blockNode(n int, compact, dash bool) *Node {
	gap := y.i
	y.skip()
	if y.ends(n, dash) {
		return y.node(Null, Plain, gap, gap)
	}
	y.flowParent = n
	if y.fresh() {
		gap = y.line
	}
	block := place{y.i, y.column(), gap, compact || y.fresh(), mark{}}
	m := y.anchor()
	switch {
	case m.name == "":
	case y.ends(n, dash):
		return y.anchored(m, y.node(Null, Plain, m.end, m.end))
	case y.fresh():
		block = place{y.i, y.column(), y.line, true, mark{}}
	default:
		block.anchor = m
	}
	return y.anchored(m, y.blockValue(n, block))
}

// blockValue reads a node in a parent at column n, behind its anchor.
func (y *yamlReader) blockValue(n int, block place) *Node {
	switch c := y.text[y.i]; {
	case y.at('-'):
		y.refuseBlock(block)
		return y.blockList(n, block.column)
	case y.at(':'):
		y.stop(y.i, y.i+1, "", "expected a key before the colon")
	case c == '|' || c == '>':
		return y.asValue(y.blockScalar(n))
	case c == '[' || c == '{':
		node := y.flowCollection()
		if y.colon() {
			y.stop(node.Start, node.End, keyIsText, "a key that is %s", node.Kind)
		}
		return node
	}
	line := y.line
	node := y.atom(n, false, false)
	if !y.colon() {
		return y.asValue(node)
	}
	if y.line != line {
		y.stop(y.i, y.i+1, "check the indentation, or put text that holds \": \" in quotes",
			"a colon behind text of several lines")
	}
	y.refuseBlock(block)
	return y.blockMapping(block.column, y.asKey(node))
}

// A place is where a list or mapping could begin: the byte, its column, where
// the blanks before it begin, whether one may begin there, and the anchor on its line.
type place struct {
	start, column, gap int
	allowed            bool
	anchor             mark
}

// refuseBlock refuses a list or mapping where none may begin.
func (y *yamlReader) refuseBlock(p place) {
	switch {
	case !p.allowed && y.text[y.i] == ':':
		y.stop(y.i, y.i+1, "put text that holds \": \" in quotes, or the inner mapping on lines of its own, further in",
			"a second colon on one line")
	case !p.allowed:
		y.stop(y.i, y.i+1, "put it in quotes if it is text, or on the next line, further in",
			"a list or mapping can't begin on this line")
	case p.anchor.name != "":
		y.stop(p.anchor.start, p.anchor.end, "put it on the line above",
			"an anchor can't stand on the first line of a list or mapping")
	}
	if k := strings.IndexByte(y.text[p.gap:p.start], '\t'); k >= 0 {
		y.tabAt(p.gap + k)
	}
}

// colon goes to the colon that makes what was just read a key, if there is one
// on this line.
func (y *yamlReader) colon() bool {
	i := y.i
	for i < len(y.text) && blank(y.text[i]) {
		i++
	}
	if i == len(y.text) || y.text[i] != ':' || !y.separated(i+1) {
		return false
	}
	y.i = i
	return true
}

// blockList reads a list whose dashes stand at a column, in a parent at column n.
func (y *yamlReader) blockList(n, column int) *Node {
	list := y.node(Array, Plain, y.i, 0)
	y.enter(y.i)
	mark := len(y.itemStack)
	for more := true; more; more = y.another(column) && y.atItem(n, column) {
		y.i++
		item := y.blockNode(column, true, false)
		y.itemStack = append(y.itemStack, item)
		list.End = item.End
	}
	list.Items = y.takeItems(mark)
	y.depth--
	return list
}

// atItem reports whether another item of a list follows. Only a list that stands
// at the column of its own key can be followed there by something else.
func (y *yamlReader) atItem(n, column int) bool {
	if y.at('-') {
		return true
	}
	if column > n {
		y.stop(y.i, y.lineEnd(y.i), "begin it with \"- \", or indent it like the rest of the item that it belongs to",
			"expected an item of the list at this column")
	}
	return false
}

// another goes to the next entry of a list or mapping at a column, if there is
// one.
func (y *yamlReader) another(column int) bool {
	y.skip()
	if y.i == len(y.text) {
		return false
	}
	if !y.fresh() {
		y.unexpected()
	}
	if y.atMarker() {
		return false
	}
	y.refuseTab(y.column())
	if y.column() > column {
		y.stop(y.i, y.lineEnd(y.i), "check the indentation",
			"this line is indented by %d; the list or mapping that it would belong to by %d", y.column(), column)
	}
	return y.column() == column
}

// blockMapping reads a mapping whose keys stand at a column. Its first key has been read, and stands before the next
// byte, a colon.
func (y *yamlReader) blockMapping(column int, key *Node) *Node {
	m := y.node(Object, Plain, key.Start, 0)
	y.enter(key.Start)
	mark := len(y.fieldStack)
	for {
		y.i++
		value := y.blockNode(column, false, true)
		y.field(key, value)
		m.End = max(key.End, value.End)
		if !y.another(column) {
			break
		}
		key = y.blockKey()
	}
	m.Fields = y.takeFields(mark)
	y.depth--
	return m
}

// blockKey reads a key and goes to its colon.
func (y *yamlReader) blockKey() *Node {
	line := y.line
	switch c := y.text[y.i]; {
	case y.at('-'):
		y.stop(y.i, y.lineEnd(y.i), "check the indentation", "an item of a list among the keys of a mapping")
	case y.at(':'):
		y.stop(y.i, y.i+1, "", "expected a key before the colon")
	case c == '[' || c == '{':
		node := y.flowCollection()
		y.stop(node.Start, node.End, keyIsText, "expected a key, found %s", node.Kind)
	}
	key := y.atom(0, true, false)
	if y.line != line {
		y.stop(key.Start, key.End, "", "a key of several lines")
	}
	if !y.colon() {
		end := y.lineEnd(key.End)
		help := "text of several lines is indented further than its key"
		if rest := y.text[key.End:end]; strings.HasPrefix(rest, ":") || strings.Contains(key.Text, ":") {
			help = "a colon needs a space behind it"
		} else if strings.Contains(rest+key.Text, "=") {
			help = "a colon and a space stand between a key and its value, and no \"=\""
		}
		y.stop(key.Start, end, help, "expected a key and a colon, found %s", quote(y.text[key.Start:end]))
	}
	return y.asKey(key)
}

// field adds an entry to the mapping that is being read.
func (y *yamlReader) field(key, value *Node) {
	if key.Text == "<<" && key.Style == Plain {
		y.report(codeSyntax, key.Start, key.End, "write out what it would bring",
			"a merge key; a reader can't see what it brings")
		return
	}
	y.fieldStack = append(y.fieldStack, Field{key, value})
}
