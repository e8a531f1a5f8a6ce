//go:build linux

package terminal

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/schema"
	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/runtime"
	"github.com/obelus-dev/obelus/testdata/pty"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected screens in testdata")

func TestMain(m *testing.M) {
	os.Setenv("TERM", "xterm")
	os.Exit(m.Run())
}

// Each file of testdata/ask is a person at a real pseudo-terminal: a
// question, what the person does, and last what was on the screen and what was
// answered. What a person does is a line each: "press KEY" with Enter as soon as a key is
// awaited, "see TEXT", "look" (the screen is shown as it is then) and "resize COLUMNS".
func TestQuestions(t *testing.T) {
	files, err := filepath.Glob("testdata/ask/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions in testdata/ask: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			session, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var question, want []byte
			for _, f := range session.Files {
				switch f.Name {
				case "question":
					question = f.Data
				case "screen":
					want = f.Data
				}
			}
			got := []byte(converse(t, string(session.Comment), question))
			if *update {
				session.Files = []txtar.File{{Name: "question", Data: question}, {Name: "screen", Data: got}}
				if err := os.WriteFile(file, txtar.Format(session), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: the screen differs (-update accepts it)\n%s", file, udiff.Unified("want", "got", string(want), string(got)))
			}
		})
	}
}

// converse lets a person answer a question and gives the screen and the answer.
func converse(t *testing.T, script string, question []byte) string {
	columns := 80
	var steps []string
	for line := range strings.Lines(script) {
		verb, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		switch verb {
		case "columns":
			columns, _ = strconv.Atoi(rest)
		case "press", "see", "look", "resize":
			steps = append(steps, verb+" "+rest)
		}
	}
	var q runtime.Question
	if err := json.Unmarshal(question, &q); err != nil {
		t.Fatal(err)
	}
	if q.Tool == "refundPayment" {
		q.Of = &plan.Call{Use: plan.Use{Tool: &plan.Tool{Name: q.Tool, Description: "Pays money back.\nAt most what was paid.", Parameters: schema.New(map[string]any{
			"type": "object", "properties": map[string]any{"amount": map[string]any{"type": "number"}},
		}, schema.Options{})}}}
	}
	terminal := pty.Open(t, columns)
	d := dialogueAt(terminal)
	answers := askInBackground(t.Context(), d, &q)
	looked := ""
	for _, step := range steps {
		verb, rest, _ := strings.Cut(step, " ")
		switch verb {
		case "press":
			terminal.Asked()
			terminal.Press(unescape(t, rest) + "\r")
		case "see":
			terminal.Sees(rest)
		case "look":
			terminal.Asked()
			looked += terminal.Text() + "== so far\n"
		case "resize":
			columns, _ = strconv.Atoi(rest)
			terminal.Resize(columns)
		}
	}
	var a answer
	pty.Eventually(t, "the question is answered; the screen is\n"+terminal.Text(), func() bool {
		select {
		case a = <-answers:
			return true
		default:
			return false
		}
	})
	screen := terminal.Settled()
	if strings.Contains(screen, "☠") {
		t.Errorf("something acted on the terminal:\n%s", screen)
	}
	out, err := json.Marshal(a.decision)
	if err != nil {
		t.Fatal(err)
	}
	if a.err != nil {
		out = []byte(a.err.Error())
	}
	return looked + screen + fmt.Sprintf("== %s\n", out)
}

// unescape reads \r, \x1b and the like in what a person types.
func unescape(t *testing.T, text string) string {
	plain, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return plain
}

func dialogueAt(p *pty.Terminal) *Dialogue {
	return NewDialogue(p.Slave, p.Slave, NewScreen(p.Slave), readWords)
}

// readWords reads an answer as the command does, and parameters and calls only as JSON.
func readWords(_ *runtime.Question, words []string) (d runtime.Decision, err error) {
	d.Verdict, d.By = runtime.Verdict(words[0]), "terminal"
	rest := strings.Join(words[1:], " ")
	switch d.Verdict {
	case runtime.Reject:
		d.Reason = rest
	case runtime.Change:
		d.Params, err = ObjectOf("change", source.NewFile("entered.json", []byte(rest)))
	case runtime.Replace:
		d.Replacement = json.RawMessage(rest)
	}
	return d, err
}
