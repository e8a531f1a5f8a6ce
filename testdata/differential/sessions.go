package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// A session is one of cmd/obelus/testdata: commands behind "$", and the files that they begin with.
type session struct {
	name  string
	files []txtar.File
	lines []string
}

func (m *material) readSessions(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		return err
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			return err
		}
		s := session{name: "session " + strings.TrimSuffix(filepath.Base(name), ".txtar")}
		for _, f := range archive.Files {
			if f.Name != "output" {
				s.files = append(s.files, f)
			}
		}
		for text := range strings.Lines(string(archive.Comment)) {
			if command, ok := strings.CutPrefix(strings.TrimRight(text, "\n"), "$ "); ok {
				s.lines = append(s.lines, command)
			}
		}
		m.sessions = append(m.sessions, s)
	}
	return nil
}

// A step is what a command of a session gave.
type step struct {
	status int
	lines  []line
	shown  string
}

// compareSession plays a session with both programs: exit statuses are compared, and output that is JSON.
func compareSession(s session, old, changed program) []difference {
	before, err := old.play(s)
	if err != nil {
		return []difference{{name: s.name, what: "session", old: err.Error()}}
	}
	after, err := changed.play(s)
	if err != nil {
		return []difference{{name: s.name, what: "session", changed: err.Error()}}
	}
	var differences []difference
	for i := range before {
		if before[i].status != after[i].status {
			differences = append(
				differences,
				difference{
					name:    s.name,
					what:    fmt.Sprintf("%s: exit status %d -> %d", s.lines[i], before[i].status, after[i].status),
					old:     before[i].shown,
					changed: after[i].shown,
				},
			)
			continue
		}
		for _, d := range compareLines(s.name, before[i].lines, after[i].lines) {
			d.what = s.lines[i] + ": " + d.what
			differences = append(differences, d)
		}
	}
	return differences
}

// play carries out the commands of a session in a folder of its own.
func (p program) play(s session) ([]step, error) {
	folder := filepath.Join(p.runs, p.role, strings.ReplaceAll(s.name, " ", "-"))
	p.plans = filepath.Join(folder, "work")
	state := filepath.Join(folder, "state")
	p.env = append(
		slices.DeleteFunc(slices.Clone(p.env), func(v string) bool { return strings.HasPrefix(v, "OBELUS_TRUST=") }),
		"HOME="+folder,
		"XDG_STATE_HOME="+state,
		"XDG_CONFIG_HOME="+filepath.Join(folder, "config"),
		"TMPDIR="+folder,
		"SSH_AUTH_SOCK=",
	)
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.plans, 0o755); err != nil {
		return nil, err
	}
	for _, f := range s.files {
		path := filepath.Join(p.plans, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			return nil, err
		}
		if bytes.HasPrefix(f.Data, []byte("-----BEGIN OPENSSH PRIVATE KEY")) { // the program reads public keys alone
			public, err := exec.Command("ssh-keygen", "-y", "-f", path).Output()
			if err != nil {
				return nil, fmt.Errorf("ssh-keygen of %s: %w", f.Name, err)
			}
			if err := os.WriteFile(path+".pub", public, 0o644); err != nil {
				return nil, err
			}
		}
	}
	steps := make([]step, len(s.lines))
	for i, command := range s.lines {
		a, err := p.carryOut(words(command))
		if err != nil {
			steps[i] = step{status: -2, shown: err.Error()}
			continue
		}
		out := lasting(a.out, folder)
		steps[i] = step{status: a.status, shown: lasting(a.err+a.out, folder)}
		if strings.HasPrefix(out, "{") {
			steps[i].lines = linesOf(out, lineOf)
		}
	}
	return steps, nil
}

// carryOut carries out one command of a session: obelus, cat, sort, cp or link.
func (p program) carryOut(args []string) (answer, error) {
	in := func(i int) string { return filepath.Join(p.plans, args[i]) }
	switch args[0] {
	case "cat", "sort":
		text, err := os.ReadFile(in(1))
		return answer{out: string(text)}, err
	case "cp":
		text, err := os.ReadFile(in(1))
		if err != nil {
			return answer{}, err
		}
		return answer{}, os.WriteFile(in(2), text, 0o644)
	case "link":
		return answer{}, os.Symlink(args[1], in(2))
	}
	var input []byte
	var rest []string
	into := ""
	for i := 1; i < len(args); i++ {
		switch args[i] {
		case "<":
			i++
			text, err := os.ReadFile(in(i))
			if err != nil {
				return answer{}, err
			}
			input = text
		case ">":
			i++
			into = in(i)
		default:
			rest = append(rest, args[i])
		}
	}
	if len(rest) > 0 && slices.Contains([]string{"run", "resume", "check", "simulate"}, rest[0]) && into == "" &&
		!slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "--format") || a == "--fix" || a == "--diff" || a == "-o"
		}) {
		rest = append(rest, "--format", "json")
	}
	a := p.runWith(input, rest...)
	if into != "" {
		return answer{status: a.status, err: a.err}, os.WriteFile(into, []byte(a.out), 0o644)
	}
	return a, nil
}

var (
	ownFolder = regexp.MustCompile(`[^"\s]*/(old|again|new)/session-[^/"\s]*/`)
	runID     = regexp.MustCompile(`\b[0-9]{8}-[0-9]{6}-([a-z0-9-]+)-[0-9a-f]{4}\b`)
	pin       = regexp.MustCompile(`\b([0-9a-f]{16})-[0-9a-f]{16}\b`)
	stamp     = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(\.[0-9]+)?(Z|[+-][0-9:]{5})?`)
	aTime     = regexp.MustCompile(`"(at|started|ended|elapsed|took|duration|time)":[0-9.e+-]+`)
	aDay      = regexp.MustCompile(`\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b`)
	aPid      = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
	digest    = regexp.MustCompile(`"(previous|hash|signature|id)":"[^"]*"`)
)

// lasting takes out of a text what no two runs have alike.
func lasting(text, folder string) string {
	text = strings.ReplaceAll(text, folder, "FOLDER")
	text = ownFolder.ReplaceAllString(text, "FOLDER/")
	text = runID.ReplaceAllString(text, "RUN-$1")
	text = pin.ReplaceAllString(text, "$1-PIN")
	text = stamp.ReplaceAllString(text, "TIME")
	text = aTime.ReplaceAllString(text, `"$1":0`)
	text = aDay.ReplaceAllString(text, "DAY")
	text = digest.ReplaceAllString(text, `"$1":""`)
	return aPid.ReplaceAllString(text, "ADDRESS")
}

// words splits a command at spaces that aren't quoted.
func words(command string) []string {
	var all []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open {
				all = append(all, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		all = append(all, word.String())
	}
	return all
}
