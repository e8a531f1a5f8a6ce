package compiler

import (
	"regexp"
	"slices"
	"strings"
)

// A shellWord is a word of a shell's code.
type shellWord struct {
	text     string // without its quotes, a NUL in the place of each command in it
	bytes    []byte // of the text
	from, to []int  // where the bytes of the text stand in the code
	quote    []byte // in which quotes: 0 for none, of a command that is put in "(" or "`"
	start    int
	end      int
	commands []shellWord // the code of those whose output is put in: $(…) and `…`
	first    bool        // it names the program of a command
	written  bool        // the code writes to what it names
}

// shellWords are the words of a shell's code, as a POSIX shell splits it. Of what isn't
// such code, as the text of another language, they are words nevertheless.
func shellWords(code string) (words []shellWord) {
	first, target := true, byte(0)
	for i := 0; i < len(code); {
		switch c := code[i]; c {
		case ' ', '\t', '\r':
			i++
		case '<', '>':
			target = c
			for i++; i < len(code) && strings.IndexByte("<>|&", code[i]) >= 0; i++ {
			}
		case '\n', ';', '&', '|', '(', ')':
			first, target = true, 0
			i++
		default:
			w := shellWordAt(code, i)
			w.text = string(w.bytes)
			w.first, w.written = first && target == 0, target == '>'
			words = append(words, w)
			if i = w.end; target == 0 {
				first = beforeCommand.MatchString(w.text) || first && setsVariable.MatchString(w.text)
			}
			target = 0
		}
	}
	return words
}

// beforeCommand is a word behind which the name of a program may stand, and setsVariable
// one behind which it still may.
var (
	beforeCommand = regexp.MustCompile(`^(if|then|elif|else|while|until|do|done|fi|esac|\{|\}|!)$`)
	setsVariable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
)

func shellWordAt(code string, i int) shellWord {
	w := shellWord{start: i}
	quote := byte(0)
	for i < len(code) {
		c := code[i]
		switch {
		case quote == 0 && strings.IndexByte(" \t\r\n;&|()<>", c) >= 0:
			w.end = i
			return w
		case c == quote:
			quote = 0
			i++
		case quote == '\'':
			w.add(c, i, i+1, quote)
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			i++
		case c == '\\' && i+1 < len(code) && (quote == 0 || strings.IndexByte("$`\"\\\n", code[i+1]) >= 0):
			if code[i+1] != '\n' {
				w.add(code[i+1], i, i+2, quote)
			}
			i += 2
		case c == '`', c == '$' && strings.HasPrefix(code[i:], "$("):
			command := commandAt(code, i, quote)
			command.text = string(command.bytes)
			w.commands = append(w.commands, command)
			w.add(0, i, command.end, quote)
			i = command.end
		default:
			w.add(c, i, i+1, quote)
			i++
		}
	}
	w.end = len(code)
	return w
}

func (w *shellWord) add(c byte, from, to int, quote byte) {
	w.bytes = append(w.bytes, c)
	w.from, w.to, w.quote = append(w.from, from), append(w.to, to), append(w.quote, quote)
}

// commandAt is the code of a command whose output is put in, in these quotes.
func commandAt(code string, i int, within byte) shellWord {
	w := shellWord{start: i}
	old, quote, deep := code[i] == '`', byte(0), 0
	if i++; !old {
		i++
	}
	for ; i < len(code); i++ {
		c := code[i]
		switch {
		case old && c == '`', !old && quote == 0 && c == ')' && deep == 0:
			w.end = i + 1
			return w
		case old && c == '\\' && i+1 < len(code) && (strings.IndexByte("$`\\", code[i+1]) >= 0 || code[i+1] == '"' && within == '"'):
			i++
			w.add(code[i], i-1, i+1, '`')
			continue
		case old:
			w.add(c, i, i+1, '`')
			continue
		case c == '\\' && quote != '\'' && i+1 < len(code):
			w.add(c, i, i+1, '(')
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '(':
			deep++
		case quote == 0 && c == ')':
			deep--
		}
		w.add(code[i], i, i+1, '(')
	}
	w.end = len(code)
	return w
}

// dataProgram is a program, or a word of the language, that takes its arguments for data
// whatever its options are, and ownVariable what sets a variable that no program heeds.
var (
	dataProgram = regexp.MustCompile(`^(:|\[|\[\[|if|then|elif|else|fi|while|until|for|do|done|case|esac|\{|\}|!|basename|cat|cd|chmod|cksum|cmp|comm|cp|curl|cut|date|diff|dirname|echo|exit|expr|false|fold|grep|head|ln|ls|md5sum|mkdir|mv|nl|paste|printf|pwd|read|realpath|return|rm|rmdir|seq|set|sha(1|256|512)sum|shift|sleep|stat|tail|tee|test|touch|tr|true|uniq|unset|wc)$`)
	ownVariable = regexp.MustCompile(`^[a-z_][a-z0-9_]*=`)
)

// onlyData reports whether a shell's code surely starts nothing by its arguments: each
// program of it is known to take them for data.
func onlyData(code string) bool { return onlyDataIn(code, 0) }

func onlyDataIn(code string, depth int) bool {
	return depth < deepestCode && !slices.ContainsFunc(shellWords(code), func(w shellWord) bool {
		return w.first && !dataProgram.MatchString(w.text) && !ownVariable.MatchString(w.text) ||
			slices.ContainsFunc(w.commands, func(c shellWord) bool { return !onlyDataIn(c.text, depth+1) })
	})
}

// An edit is a part of a text that something else takes the place of.
type edit struct {
	start, end int
	with       string
}

// pathInCode is what may be a path in a word of a shell's code.
var pathInCode = regexp.MustCompile(`[\pL\pN_./@%+~-]+`)

// deepestCode bounds the work for code in code; further in, nothing is made of quotes.
const deepestCode = 16

// pathsIn gives file the words with a slash or a dot in a shell's code that may be paths,
// but what the code writes to: without their quotes, and what stands in them as code of
// its own. They are the edits that put what file says in their place. Where that can't be
// done, unfit is called with it.
func pathsIn(code string, file func(name string) string, unfit func(path string)) []edit {
	return pathsInside(code, 0, file, unfit)
}

func pathsInside(code string, depth int, file func(name string) string, unfit func(path string)) (edits []edit) {
	if depth > deepestCode {
		return plainPaths(code, file)
	}
	for _, w := range shellWords(code) {
		put := func(in shellWord, inside []edit) {
			for _, e := range inside {
				if e, fits := in.quoted(e); fits {
					edits = append(edits, e)
				} else {
					unfit(e.with)
				}
			}
		}
		for _, command := range w.commands {
			put(command, pathsInside(command.text, depth+1, file, unfit))
		}
		if w.written || !strings.ContainsAny(w.text, "./") {
			continue
		}
		var inside []edit
		behind := strings.IndexByte(w.text, '=') + 1
		if path := file(w.text); path != "" {
			inside = []edit{{0, len(w.text), path}}
		} else if path := file(w.text[behind:]); path != "" {
			inside = []edit{{behind, len(w.text), path}}
		} else if w.text != code[w.start:w.end] {
			inside = pathsInside(w.text, depth+1, file, unfit)
		} else {
			inside = plainPaths(w.text, file)
		}
		put(w, inside)
	}
	return edits
}

// plainPaths are the edits of a text without quotes.
func plainPaths(text string, file func(name string) string) (edits []edit) {
	for _, at := range pathInCode.FindAllStringIndex(text, -1) {
		if name := text[at[0]:at[1]]; strings.ContainsAny(name, "./") {
			if path := file(name); path != "" {
				edits = append(edits, edit{at[0], at[1], path})
			}
		}
	}
	return edits
}

// quoted is the edit of the code for one of a word of it.
func (w *shellWord) quoted(e edit) (in edit, fits bool) {
	first, last := w.quote[e.start], w.quote[e.end-1]
	in = edit{w.from[e.start], w.to[e.end-1], e.with}
	one := strings.IndexByte(w.text[e.start:e.end], 0) < 0 && !slices.ContainsFunc(w.quote[e.start:e.end], func(q byte) bool { return q != first })
	switch {
	case one && first == '"':
		in.with = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(e.with)
	case one && first == '(':
	case one && first == '`' && !strings.Contains(e.with, `"`):
		in.with = strings.NewReplacer(`\`, `\\`, "$", `\$`, "`", "\\`").Replace(e.with)
	case one && first == '\'' && !strings.Contains(e.with, "'"):
	case first != '`' && e.start == 0 && e.end == len(w.text):
		in.start, in.end = w.start, w.end
		fallthrough
	case first == 0 && last == 0:
		if pathInCode.FindString(e.with) != e.with {
			in.with = "'" + strings.ReplaceAll(e.with, "'", `'\''`) + "'"
		}
	default:
		return e, false
	}
	return in, true
}
