package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/examples/library/service"
)

// asCommand has a process of the tests be the command itself.
const asCommand = "OBELUS_TEST_AS_COMMAND"

var (
	pageBlock     = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	namedFile     = regexp.MustCompile(`^# (\S+\.\w+)\n`)
	namedRun      = regexp.MustCompile(`\b[0-9]{8}-[0-9]{6}-([a-z]+)-[0-9a-f]{4}\b`)
	quotedCommand = regexp.MustCompile("`(obelus [a-z][^`]*)`")
	goProgram     = regexp.MustCompile(`go (?:run|install) (\./\S+)`)
	keyMaterial   = regexp.MustCompile(`SHA256:[A-Za-z0-9+/]{43}|AAAA[A-Za-z0-9+/=]{60,}`)
)

// A tutorial is a page of documentation that is executed. Its blocks run in order, in one folder with a copy of examples/:
//   - A block whose first line is a comment with only a file name is that file.
//   - In a console block, a line that begins with "$ " is a command, and its output follows. "[...]" replaces lines in
//     the middle. A command may change the folder.
//   - A sh block needs a network, a key or a second terminal. The test only parses its commands and their flags.
//   - A YAML or JSON block without a file name is parsed. So are the flags of commands in the text.
type tutorial struct {
	*testing.T
	scratch, tools, folder string // folder is where the last command was left
	service                string // the address of the example service
	runs                   map[string]string
	commands               []string
}

// serviceAddress is the address of the example service, as pages give it.
const serviceAddress = "127.0.0.1:8424"

// playTutorial executes a page, named from the repository's root. -update replaces outputs that differ.
func playTutorial(t *testing.T, name string) *tutorial {
	t.Helper()
	for _, tool := range []string{"sh", "git", "ssh-keygen", "sed", "base64"} {
		if _, err := exec.LookPath(tool); err != nil || runtime.GOOS == "windows" {
			t.Skipf("%s isn't installed", tool)
		}
	}
	server := httptest.NewServer(service.Handler())
	t.Cleanup(server.Close)
	root, tools := filepath.Join("..", ".."), t.TempDir()
	p := &tutorial{T: t, scratch: t.TempDir(), tools: tools, service: server.Listener.Addr().String()}
	p.folder, p.runs = p.scratch, map[string]string{}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(tools, "obelus"), fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asCommand, self), 0o755)
	p.write(filepath.Join(tools, "gitconfig"), "[user]\nname = Author\nemail = author@example.com\n", 0o600)
	if err := os.CopyFS(filepath.Join(p.scratch, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := pageBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		parts := pageBlock.FindStringSubmatch(block)
		kind, shown := parts[1], parts[2]
		if named := namedFile.FindStringSubmatch(shown); named != nil {
			p.write(filepath.Join(p.folder, named[1]), strings.ReplaceAll(shown, serviceAddress, p.service), 0o644)
			return block
		}
		switch kind {
		case "console":
			shown = p.console(shown)
		case "sh":
			p.parseCommands(shown)
		case "yaml":
			if _, problems := source.Parse(source.NewFile(name, []byte(shown)), source.DefaultLimits()); len(problems) > 0 {
				t.Errorf("%s: %v in\n%s", name, problems, shown)
			}
		case "json":
			if !json.Valid([]byte(shown)) {
				t.Errorf("%s: this isn't JSON:\n%s", name, shown)
			}
		}
		return "```" + kind + "\n" + shown + "```"
	})
	for _, found := range quotedCommand.FindAllStringSubmatch(pageBlock.ReplaceAllString(string(text), ""), -1) {
		p.parseFlags(found[1])
	}
	if *update && now != string(text) {
		p.write(file, now, 0o644)
	}
	return p
}

func (p *tutorial) write(name, text string, mode os.FileMode) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		p.Fatal(err)
	}
}

// console runs the commands of a block. It returns the block, with the new outputs if they differ.
func (p *tutorial) console(shown string) string {
	p.Helper()
	var printed strings.Builder
	for _, part := range strings.Split("\n"+shown, "\n$ ")[1:] {
		command, output, _ := strings.Cut(strings.TrimSuffix(part, "\n"), "\n")
		fmt.Fprintf(&printed, "$ %s\n%s", command, shorten(p.run(command), output))
	}
	if printed.Len() == 0 {
		p.Errorf("no command begins with \"$ \" in\n%s", shown)
	}
	if sameOutput(shown, printed.String()) {
		return shown
	}
	if !*update {
		p.Errorf("the page shows\n%s\nand the commands print\n%s", shown, printed.String())
	}
	return printed.String()
}

// shorten leaves out lines in the middle of an output, where the page has "[...]".
func shorten(printed, shown string) string {
	const omission = "[...]\n"
	head, tail, omits := strings.Cut(shown+"\n", omission)
	lines := slices.Collect(strings.Lines(printed))
	first, last := strings.Count(head, "\n"), len(lines)-strings.Count(tail, "\n")
	if !omits || first >= last {
		return printed
	}
	return strings.Join(lines[:first], "") + omission + strings.Join(lines[last:], "")
}

// run executes a command in the current folder of the page. It returns the output, in which every run has a fixed id.
func (p *tutorial) run(command string) string {
	p.Helper()
	p.commands = append(p.commands, command)
	actual := strings.ReplaceAll(strings.ReplaceAll(command, "go run ./cmd/obelus ", "obelus "), serviceAddress, p.service)
	actual = namedRun.ReplaceAllStringFunc(actual, func(id string) string {
		return p.runs[namedRun.FindStringSubmatch(id)[1]]
	})
	left := filepath.Join(p.tools, "left")
	cmd := exec.CommandContext(p.Context(), "sh", "-c", actual+"\npwd > "+left)
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), "PATH="+p.tools+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+p.tools,
		"XDG_STATE_HOME="+filepath.Join(p.tools, "state"), "XDG_CONFIG_HOME="+filepath.Join(p.tools, "config"), "SSH_AUTH_SOCK=",
		"GIT_CONFIG_GLOBAL="+filepath.Join(p.tools, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1")
	out, _ := cmd.CombinedOutput() // pages also show commands that fail
	folder, err := os.ReadFile(left)
	if err != nil {
		p.Fatalf("%s: %s", command, out)
	}
	p.folder = strings.TrimSpace(string(folder))
	text := strings.ReplaceAll(strings.ReplaceAll(string(out), p.service, serviceAddress), p.tools, "~/.local")
	return namedRun.ReplaceAllStringFunc(text, func(id string) string {
		plan := namedRun.FindStringSubmatch(id)[1]
		p.runs[plan] = id
		return "20261121-093012-" + plan + "-4f2a"
	})
}

// parseCommands checks commands that can't run here: the syntax of the shell, the folders of Go programs, and the flags
// of obelus.
func (p *tutorial) parseCommands(text string) {
	p.Helper()
	if out, err := exec.Command("sh", "-n", "-c", text).CombinedOutput(); err != nil {
		p.Errorf("%s in\n%s", out, text)
	}
	for _, program := range goProgram.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("..", "..", program[1])); err != nil {
			p.Error(err)
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if command, _, _ := strings.Cut(strings.TrimSpace(line), " > "); strings.HasPrefix(command, "obelus ") {
			p.parseFlags(command)
		}
	}
}

// parseFlags asks for a command's help after its own flags, so that each flag is read first.
func (p *tutorial) parseFlags(command string) {
	p.Helper()
	p.commands = append(p.commands, command)
	stdout, stderr, status := obelus(strings.NewReader(""), append(words(command)[1:], "--help")...)
	if status != statusOK || stdout == "" {
		p.Errorf("%s: %s", command, stderr)
	}
}

// sameOutput compares outputs without times and keys. Adjacent lines may have any order, because calls run in parallel.
func sameOutput(shown, printed string) bool {
	return anyOrder(keyMaterial.ReplaceAllString(shown, "KEY")) == anyOrder(keyMaterial.ReplaceAllString(printed, "KEY"))
}

// EXECUTION.md#approval: every command of the tutorials prints what they show, with the real git and ssh-keygen.
func TestTutorials(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"examples/README.md": 40, "examples/approval/README.md": 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := playTutorial(t, name)
			if len(p.commands) < least {
				t.Errorf("only %d commands were found", len(p.commands))
			}
			if name == "examples/README.md" {
				built, _ := os.ReadFile(filepath.Join(p.scratch, "trip", "trip.yaml"))
				kept, _ := os.ReadFile(filepath.Join(p.scratch, "examples", "booking", "trip.yaml"))
				if len(built) == 0 || string(built) != string(kept) {
					t.Error("the tutorial's last plan isn't examples/booking/trip.yaml")
				}
			}
		})
	}
}
