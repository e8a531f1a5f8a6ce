package compiler

import (
	"slices"
	"strings"
)

// A shellCommand is a simple command of a shell's code.
type shellCommand struct {
	text    string      // its code
	words   []shellWord // of the code that it is part of
	program int         // which of them names its program
}

// What a word is to a shell that begins a command.
var (
	// prefix is a word behind which the program stands, and sourcing one that runs a file in
	// the shell itself.
	prefix   = lazily(`^(exec|command|builtin|eval|coproc|busybox)$`)
	sourcing = lazily(`^(\.|source)$`)
	// entering changes the folder, copying writes to the last of what it is given, and writing
	// to all of it, or removes it.
	copying   = lazily(`^(cp|mv|ln|install)$`)
	entering  = lazily(`^(cd|pushd|chdir)$`)
	writing   = lazily(`^(tee|touch|rm|rmdir|mkdir|truncate)$`)
	appending = lazily(`^-(a|-append|t|-target.*)$`) // of tee; or it is no copy to what stands last
	// searchPath is a variable that says where programs and what they load are found.
	searchPath = lazily(`^(PATH|BASH_ENV|ENV|LD_[A-Z_]+|PYTHON[A-Z]+|NODE_[A-Z]+|PERL5[A-Z]+|RUBY[A-Z]+)\+?=`)
	// argument is one of the code's own.
	argument = lazily(`^["']?\$(\{[0-9@*]\}|[0-9@*])["']?$`)
)

// commandsOf are the simple commands of a shell's code.
func commandsOf(code string) (all []shellCommand) {
	words := shellWords(code)
	for len(words) > 0 {
		n := slices.IndexFunc(words, func(w shellWord) bool { return w.command != words[0].command })
		if n < 0 {
			n = len(words)
		}
		c := shellCommand{code[words[0].start:words[n-1].end], words[:n], 0}
		for c.program < n-1 && (!c.words[c.program].first || c.words[c.program+1].first) {
			c.program++
		}
		all = append(all, c)
		words = words[n:]
	}
	return all
}

// survey marks the words of a command that something takes for a program, and those that
// it writes to. told is the code by which it may run what can't be told from the code, and
// loose says that this may be any word of all the code.
func (c *shellCommand) survey() (told []string, loose bool) {
	for i := range c.words {
		if w := &c.words[i]; searchPath.MatchString(w.text) {
			told = append(told, c.raw(w))
		}
	}
	words := c.words[c.program:]
	for len(words) > 1 && prefix.MatchString(words[0].text) {
		words = words[1:]
	}
	if len(words) == 0 || setsVariable.MatchString(words[0].text) {
		return told, false
	}
	name := words[0].text
	mark(name, words[1:])
	if folder, ok := c.enters(); entering.MatchString(name) && (!ok || folder == "") {
		told = append(told, c.text)
	}
	at := 0
	f := following{open: true}
	f.start = func(g givenWord) {
		w := &words[at]
		if w.starts, w.taken = true, g.known && f.runs(w.text); !g.known {
			if loose = true; !argument.MatchString(g.text) {
				told = append(told, g.text)
			}
		}
	}
	for at = range words {
		w := &words[at]
		if w.target != 0 {
			continue
		}
		raw := c.raw(w)
		given := givenWord{text: raw, word: w.text, decided: at > 0, known: w.literal()}
		if at == 0 && (!given.known || sourcing.MatchString(name)) {
			if !given.known && !argument.MatchString(raw) {
				f.start(given)
			}
			loose = loose || !given.known
			f.words++
			continue
		}
		if !f.next(given) {
			break
		}
	}
	if f.finds || f.unsure && !f.any || f.takesInput() {
		told, loose = append(told, c.text), loose || f.takesInput()
	}
	return told, loose
}

// mark marks those of a program's arguments that it writes to: all, or the last of those of
// one that copies.
func mark(program string, arguments []shellWord) {
	copies := copying.MatchString(program)
	if !copies && !writing.MatchString(program) {
		return
	}
	appends := slices.ContainsFunc(arguments, func(w shellWord) bool { return appending.MatchString(w.text) })
	operands := 0
	for i := len(arguments) - 1; i >= 0; i-- {
		w := &arguments[i]
		switch {
		case w.target != 0 || strings.HasPrefix(w.text, "-"):
		case !copies:
			if w.written = true; program == "tee" && !appends {
				w.target = '>'
			}
		case !appends:
			if operands++; operands == 1 {
				w.written, w.target = true, 'c'
			}
		}
	}
}

// raw is a word as the code has it.
func (c *shellCommand) raw(w *shellWord) string {
	return c.text[w.start-c.words[0].start : w.end-c.words[0].start]
}

// enters is the folder that the command changes to, where the code tells.
func (c *shellCommand) enters() (folder string, ok bool) {
	if words := c.words[c.program:]; entering.MatchString(words[0].text) {
		for _, w := range words[1:] {
			if w.target == 0 && !strings.HasPrefix(w.text, "-") {
				return w.text, w.literal()
			}
		}
	}
	return "", false
}

// literal reports whether the word is what the code says, and nothing is put in its place.
func (w *shellWord) literal() bool {
	for i, c := range w.bytes {
		if w.quote[i] != '\'' && w.to[i]-w.from[i] == 1 && (strings.IndexByte("$\x00", c) >= 0 || w.quote[i] == 0 && strings.IndexByte("*?[{", c) >= 0) || c == 0 {
			return false
		}
	}
	return len(w.bytes) == 0 || w.bytes[0] != '~' || w.quote[0] != 0
}

// surveyed is what all the commands of a shell's code are, and the code in it.
func surveyed(code string, depth int) (told []string, loose bool) {
	if depth > deepestCode {
		return nil, false
	}
	add := func(code string) {
		more, any := surveyed(code, depth+1)
		told, loose = append(told, more...), loose || any
	}
	for _, c := range commandsOf(code) {
		more, any := c.survey()
		told, loose = append(told, more...), loose || any
		for i := range c.words {
			w := &c.words[i]
			for _, inside := range w.commands {
				add(inside.text)
			}
			if w.text != c.raw(w) && strings.ContainsAny(w.text, " \t\n;|&") {
				add(w.text)
			}
		}
	}
	return told, loose
}
