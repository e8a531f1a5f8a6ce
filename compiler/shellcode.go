package compiler

import (
	"maps"
	"path"
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
	command  int         // which of the code it belongs to
	target   byte        // what it stands behind: '<', '>', 'a' for ">>", 'c' for a copy; 0 for nothing
	first    bool        // it names the program of a command
	written  bool        // the code writes to what it names
	starts   bool        // a shell, or what starts another program, may take it for one
	taken    bool        // a shell or an interpreter runs the file that it names
}

// shellWords are the words of a shell's code, as a POSIX shell splits it. Of what isn't
// such code, as the text of another language, they are words nevertheless.
func shellWords(code string) (words []shellWord) {
	first, target, command := true, byte(0), 0
	for i := 0; i < len(code); {
		switch c := code[i]; c {
		case ' ', '\t', '\r':
			i++
		case '<', '>':
			target = c
			for i++; i < len(code) && strings.IndexByte("<>|&", code[i]) >= 0; i++ {
				if target == '>' && code[i] == '>' {
					target = 'a'
				}
			}
		case '\n', ';', '&', '|', '(', ')':
			first, target = true, 0
			command++
			i++
		default:
			w := shellWordAt(code, i)
			w.text, w.command, w.target = string(w.bytes), command, target
			w.first, w.written = first && target == 0, target == '>' || target == 'a'
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
	beforeCommand = lazily(`^(if|then|elif|else|while|until|do|done|fi|esac|\{|\}|!)$`)
	setsVariable  = lazily(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
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
	dataProgram = lazily(`^(:|\[|\[\[|if|then|elif|else|fi|while|until|for|do|done|case|esac|\{|\}|!|basename|cat|cd|chmod|cksum|cmp|comm|cp|curl|cut|date|diff|dirname|echo|exit|expr|false|fold|grep|head|ln|ls|md5sum|mkdir|mv|nl|paste|printf|pwd|read|realpath|return|rm|rmdir|seq|set|sha(1|256|512)sum|shift|sleep|stat|tail|tee|test|touch|tr|true|uniq|unset|wc)$`)
	ownVariable = lazily(`^[a-z_][a-z0-9_]*=`)
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

// A codeReading is told which files a shell's code names.
type codeReading struct {
	// file is given what may be the path of a file, and gives what takes its place; "" for
	// nothing.
	file func(name string) string
	// hold is given what may be the path of one that nothing can take the place of.
	hold func(name string)
	// own is given a name of a file that the code writes before.
	own func(name string)
	// unfit is given what can't stand where it would have to.
	unfit func(path string)

	loose bool // any word may name a program; see surveyed
}

// A codePlace is what the code in front of a word has done.
type codePlace struct {
	folders []string        // which it may be in, the first is where it begins
	written map[string]byte // the files that it has put text into ('>') or copied over ('c')
}

func (p codePlace) inside() codePlace {
	return codePlace{slices.Clone(p.folders), maps.Clone(p.written)}
}

// from are the paths of what is named in the code.
func (p *codePlace) from(name string) (all []string) {
	for _, folder := range p.folders {
		if path.IsAbs(name) || len(all) > 0 && folder == "" {
			return append(all, name)
		}
		all = append(all, path.Join(folder, name))
	}
	return all
}

// pathsIn are the edits that put in the place of paths in a shell's code what file says: of
// words with a slash or a dot that may be some, but what the code writes to, without their
// quotes, and what stands in them as code of its own. What can't be so put is held:
// names without either where something takes them for a program, and all behind "cd".
func (r codeReading) pathsIn(code string) []edit {
	_, r.loose = surveyed(code, 0)
	return r.inside(code, 0, codePlace{folders: []string{""}, written: map[string]byte{}})
}

func (r *codeReading) inside(code string, depth int, at codePlace) (edits []edit) {
	if depth > deepestCode {
		return plainPaths(code, r.file)
	}
	for _, command := range commandsOf(code) {
		command.survey()
		for _, w := range command.words {
			edits = append(edits, r.word(code, &w, depth, &at)...)
		}
		if folder, ok := command.enters(); ok && len(at.folders) <= deepestCode {
			at.folders = append(at.folders, path.Join(at.folders[len(at.folders)-1], folder))
		}
	}
	return edits
}

// word are the edits of a word of the code.
func (r *codeReading) word(code string, w *shellWord, depth int, at *codePlace) (edits []edit) {
	put := func(in *shellWord, inside []edit) {
		for _, e := range inside {
			if e, fits := in.quoted(e); fits {
				edits = append(edits, e)
			} else {
				r.unfit(e.with)
			}
		}
	}
	for _, command := range w.commands {
		put(&command, r.inside(command.text, depth+1, at.inside()))
	}
	folder := at.folders[len(at.folders)-1]
	if w.written {
		if w.target == '>' || w.target == 'c' {
			at.written[path.Join(folder, w.text)] = w.target
		}
		return edits
	}
	begins := nameBegins(w.text)
	for _, i := range begins {
		by := at.written[path.Join(folder, w.text[i:])]
		if by != 0 && r.own != nil {
			r.own(code[w.start:w.end])
		}
		if by == '>' || by == 'c' && !w.starts && !w.first { // a copy may be one of anything, which isn't to be run
			return edits
		}
	}
	inside, quoted := []edit(nil), w.text != code[w.start:w.end]
	switch isPath, moved := w.taken || strings.ContainsAny(w.text, "./"), len(at.folders) > 1; {
	case isPath && !moved:
		if inside = r.named(w.text, begins); inside == nil && !quoted {
			inside = plainPaths(w.text, r.file)
		}
	case isPath || w.starts || r.loose:
		for _, i := range begins {
			for _, name := range at.from(w.text[i:]) {
				r.hold(name)
			}
		}
	}
	if inside == nil && quoted {
		inside = r.inside(w.text, depth+1, at.inside())
	}
	put(w, inside)
	return edits
}

// named is the edit of a text that names a file, in whole or from where one of these
// begins.
func (r *codeReading) named(text string, begins []int) []edit {
	for _, i := range begins {
		if path := r.file(text[i:]); path != "" {
			return []edit{{i, len(text), path}}
		}
	}
	return nil
}

// nameBegins are where in a word the name of a file may begin: at its beginning, behind
// its first "=", and behind the option that is joined to it.
func nameBegins(text string) []int {
	begins := []int{0}
	if i := strings.IndexByte(text, '=') + 1; i > 0 {
		begins = append(begins, i)
	}
	if option, _ := optionValue(text); option != "" && !strings.HasSuffix(option, "=") {
		begins = append(begins, len(option))
	}
	return begins
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
