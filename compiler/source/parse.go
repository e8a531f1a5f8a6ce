package source

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/obelus-dev/obelus/compiler/wording"
)

// Limits bound what reading one file may cost. In each field zero means
// its default.
type Limits struct {
	Bytes      int // of a file
	Depth      int // of nested lists and mappings, aliases followed
	AliasRatio int // bytes that aliases represent, as a multiple of the file's
	AliasNodes int // values that aliases represent
	Scalar     int // bytes of one scalar as it is written
	Number     int // characters of one number
}

// maxDepth bounds recursion whatever a caller asks for.
const maxDepth = 10_000

// MaxProblems is how many problems one file may have before its reading ends.
const MaxProblems = 1_000

// DefaultLimits are those.
func DefaultLimits() Limits {
	return Limits{
		Bytes:      64 << 20,
		Depth:      100,
		AliasRatio: 10,
		AliasNodes: 1_000_000,
		Scalar:     8 << 20,
		Number:     40,
	}
}

func (l Limits) orDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Bytes:      cmp.Or(l.Bytes, d.Bytes),
		Depth:      min(cmp.Or(l.Depth, d.Depth), maxDepth),
		AliasRatio: cmp.Or(l.AliasRatio, d.AliasRatio),
		AliasNodes: cmp.Or(l.AliasNodes, d.AliasNodes),
		Scalar:     cmp.Or(l.Scalar, d.Scalar),
		Number:     cmp.Or(l.Number, d.Number),
	}
}

// A Problem is one thing that is wrong with a text. Its code is that of a rule
// of LANGUAGE.md#findings: OB101 (the text is no YAML or JSON, or one of LANGUAGE.md#documents's
// errors), OB103 (a
// duplicate key), OB105 (a limit), OB107 (a scalar that YAML 1.1 reads
// differently; the only warning).
type Problem struct {
	Code    string
	Warning bool
	Span    Span
	Message string // lower case, no full stop, the user's own words in double quotes
	Help    string // what to do; may be ""
	Related []Note
	Quote   bool // quotes around what stands at Span fix it
}

// A Note is a related place with words of its own.
type Note struct {
	Span    Span
	Message string
}

// The codes of problems.
const (
	codeSyntax    = "OB101"
	codeDuplicate = "OB103"
	codeLimit     = "OB105"
	codeAmbiguous = "OB107"
)

// Parse reads a file in its format into one tree. It reports what is wrong in
// the order of the text. The node is nil when the text couldn't be read to its
// end: a syntax error or an exceeded limit ends the reading, and nothing after
// it is reported. Other problems (duplicate keys, bad aliases, numbers that
// don't fit) leave a tree in which the culprit is dropped or, if it is a value,
// null. Past a thousand problems the reading ends.
//
// Time and memory grow linearly with the text, for any text.
func Parse(f *File, l Limits) (root *Node, problems []Problem) {
	return read(f, l, func(b *builder) *Node {
		b.guard()
		b.text = string(f.Text)
		if f.Format >= JSON {
			return (&jsonReader{builder: b}).document()
		}
		y := &yamlReader{yamlScanner: yamlScanner{builder: b, tab: -1, head: -1}, anchors: map[string]*Node{}}
		defer f.commenting.Do(func() { f.comments = y.comments })
		return y.document()
	})
}

// read runs a reader, and gathers what is wrong.
func read(f *File, l Limits, reader func(*builder) *Node) (root *Node, problems []Problem) {
	b := &builder{file: f, limits: l.orDefaults()}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(stopped); !ok {
				panic(r)
			}
			root = nil
		}
		slices.SortStableFunc(b.problems, func(x, y Problem) int { return cmp.Compare(x.Span.Start, y.Span.Start) })
		problems = b.problems
	}()
	return reader(b), nil
}

// stopped unwinds a reader after a problem that it can't read past.
type stopped struct{}

// A builder makes nodes and keeps what is wrong.
type builder struct {
	file     *File
	text     string
	limits   Limits
	problems []Problem

	out        []byte  // of the value of the scalar that is being read
	pieces     []piece // of it
	mapping    bool    // pieces are noted
	itemStack  []*Node // of the lists that are being read
	fieldStack []Field
}

// guard refuses what no reader should see.
func (b *builder) guard() {
	text := b.file.Text
	if len(text) > b.limits.Bytes {
		b.fail(codeLimit, 0, 0, "split the file", "the file is larger than the limit of %d bytes", b.limits.Bytes)
	}
	if len(text) >= 2 && (text[0] == 0xFF && text[1] == 0xFE || text[0] == 0xFE && text[1] == 0xFF) {
		b.fail(codeSyntax, 0, 2, "save the file as UTF-8", "the text is UTF-16; expected UTF-8")
	}
	if !utf8.Valid(text) {
		at := 0
		for at < len(text) {
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		b.fail(codeSyntax, at, at+1, "save the file as UTF-8", "the byte 0x%02X isn't valid UTF-8", text[at])
	}
}

// stop reports a problem that ends the reading.
func (b *builder) stop(start, end int, help, format string, args ...any) {
	b.fail(codeSyntax, start, end, help, format, args...)
}

func (b *builder) fail(code string, start, end int, help, format string, args ...any) {
	b.report(code, start, end, help, format, args...)
	panic(stopped{})
}

// report adds a problem that the reading survives.
func (b *builder) report(code string, start, end int, help, format string, args ...any) *Problem {
	for end < len(b.text) && !utf8.RuneStart(b.text[end]) { // cut no character in two
		end++
	}
	b.problems = append(b.problems, Problem{Code: code, Warning: code == codeAmbiguous, Span: Span{b.file, start, end},
		Message: fmt.Sprintf(format, args...), Help: help})
	if len(b.problems) >= MaxProblems {
		panic(stopped{})
	}
	return &b.problems[len(b.problems)-1]
}

func (b *builder) node(kind Kind, style Style, start, end int) *Node {
	return &Node{File: b.file, Kind: kind, Style: style, Start: start, End: end}
}

// takeItems moves what the item stack holds above a mark into a slice of its own.
func (b *builder) takeItems(mark int) []*Node { return taken(&b.itemStack, mark) }

// takeFields does the same for fields, without duplicates.
func (b *builder) takeFields(mark int) []Field {
	b.dropDuplicates(mark)
	return taken(&b.fieldStack, mark)
}

// taken moves what stands on a stack from a mark on into a slice of its own.
func taken[T any](stack *[]T, mark int) []T {
	own := slices.Clone((*stack)[mark:])
	*stack = (*stack)[:mark]
	return own
}

// fewFields is up to how many keys comparing all pairs beats a map.
const fewFields = 12

func (b *builder) dropDuplicates(mark int) {
	all := b.fieldStack[mark:]
	kept := all[:0]
	var seen map[string]*Node
	if len(all) > fewFields {
		seen = make(map[string]*Node, len(all))
	}
	for _, f := range all {
		var first *Node
		if seen != nil {
			first = seen[f.Key.Text]
		} else if i := slices.IndexFunc(kept, func(k Field) bool { return k.Key.Text == f.Key.Text }); i >= 0 {
			first = kept[i].Key
		}
		if first != nil {
			p := b.report(codeDuplicate, f.Key.Start, f.Key.End,
				"keep one of the two; a further item of a list begins with \"- \"",
				"the key %s is given twice in one mapping", quote(f.Key.Text))
			p.Related = []Note{{first.Span(), "it is first given here"}}
			continue
		}
		kept = append(kept, f)
		if seen != nil {
			seen[f.Key.Text] = f.Key
		}
	}
	b.fieldStack = b.fieldStack[:mark+len(kept)]
}

// checkScalar holds one scalar to its limit.
func (b *builder) checkScalar(start, end int) {
	if end-start > b.limits.Scalar {
		b.fail(codeLimit, start, start, "", "a scalar of %d bytes; the limit is %d", end-start, b.limits.Scalar)
	}
}

// maxInteger is the last integer that float64 and all its neighbours hold.
const maxInteger = 1<<53 - 1

// checkNumber reports a number whose value would not survive. digits is its value
// as strconv reads it, integer reports whether it has neither point nor exponent.
func (b *builder) checkNumber(n *Node, digits string, integer bool) bool {
	const help = "write it in quotes, as text"
	if len(n.Text) > b.limits.Number {
		b.report(codeLimit, n.Start, n.End, help, "a number of %d characters; the limit is %d", len(n.Text),
			b.limits.Number)
		return false
	}
	// Canonical JSON (RFC 8785) writes 1e17 as an integer, and a compiled plan is a document again.
	v, err := strconv.ParseFloat(digits, 64)
	keepsValue := integer && err == nil && (b.file.Format == JSONData && strconv.FormatFloat(v, 'f', 0, 64) == digits ||
		math.Abs(v) < 1e21 && strconv.FormatFloat(v, 'f', -1, 64) == digits)
	if problem := inexact(n.Text, digits, integer); problem != "" && !keepsValue {
		b.report(codeSyntax, n.Start, n.End, help, "%s", problem)
		return false
	}
	return true
}

// Inexact says what is lost of a number, as JSON writes it, where it becomes a
// float64: it is an integer beyond ±(2^53−1), or beyond a float64; "" when
// nothing is. Whatever brings numbers in, a document, a flag, a program or a model,
// holds them to this; but a document may hold integers as its compiled form has them.
func Inexact(number string) string {
	return inexact(number, number, !strings.ContainsAny(number, ".eE"))
}

func inexact(text, digits string, integer bool) string {
	if integer {
		if v, err := strconv.ParseInt(digits, 0, 64); err != nil || v > maxInteger || v < -maxInteger {
			return "the integer " + wording.Cut(text, 60) + " is beyond ±(2^53−1), so it would lose digits"
		}
		return ""
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(digits), "e")
	if v, err := strconv.ParseFloat(digits, 64); err != nil || v == 0 && strings.ContainsAny(mantissa, "123456789") {
		return "the number " + wording.Cut(text, 60) + " is beyond what a 64-bit float holds"
	}
	return ""
}

// quote shows a piece of the user's text in double quotes, shortened, with
// what a terminal or a reader could trip over escaped.
func quote(s string) string {
	return strconv.Quote(wording.Cut(s, 60))
}
