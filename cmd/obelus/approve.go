package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/redact"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
)

// A signing is one approve command: its flags, and what it approves.
type signing struct {
	Format  string `flag:"--format text|markdown|json: how what the plan does is shown"`
	File    string `flag:"--approval FILE: the approval [plan.approval.json beside plan.yaml]"`
	Key     string `flag:"--key FILE: the key that signs; of a key in the SSH agent, its public key"`
	Verify  bool   `flag:"--verify: report whether the approval holds, and who signed it"`
	Full    bool   `flag:"--full: show all that each call does, below the card"`
	Show    bool   `flag:"--show: show what there is to approve, and approve nothing"`
	Yes     bool   `flag:"--yes: approve without a question"`
	Replace bool   `flag:"--replace: replace an approval of something else, or that has expired"`
	Expires string `flag:"--expires TIME: until when it counts: 12h, 30d or never"`
	Allow   string `flag:"--allow FILE: further calls of a run: {allow: {refund: {_times: 3}}, budget: {ticks: 10}}"`
	Planned bool   `flag:"--planner: show what a run with a planner may do, too"`
	approvers
	given
	person

	*cli
	plan    string
	program *project.Program
	parts   []plan.Part
	facts   *facts.Facts
	permit  *permit.Permit
	old     *approval.Approval // nil for none
	differs []string           // the parts that have changed since the old approval
}

// run shows a plan, asks, and signs: a new approval, or the old one once more.
func (a *signing) run(_ context.Context, c *cli, args []string) (err error) {
	reading := c.newReading()
	a.cli, a.plan = c, args[0]
	if a.program, err = a.withValues(c, reading, a.plan); err != nil {
		return err
	}
	if a.program.Verified == nil {
		return c.faultyPlan(a.program, a.Format, statusError)
	}
	if a.File, err = approvalOf(a.plan, a.File); err != nil && !a.Show {
		return err
	}
	if a.parts, err = approval.Parts(a.program.Plan); err != nil {
		return usageErr("%q can't be approved: %v", a.plan, err)
	}
	if len(a.Inputs)+len(a.States) > 0 { // the plan is approved with these values and no others
		part, err := approval.Given(a.input, a.state)
		if err = cmp.Or(session.Fits(a.program.Plan, a.input, a.state, false), err); err != nil {
			return err
		}
		a.parts = append(a.parts, part)
	}
	judge, _, unjudged := a.judge(a.program.Sources(), reading)
	if a.File != "" {
		var text []byte
		if text, err = approval.ReadFile(a.File, approval.MostBytes); err == nil {
			a.old, err = approval.Read(text)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil && !a.Replace && !a.Verify {
			return err
		}
	}
	if a.Verify {
		return a.verify(judge, cmp.Or(err, unjudged))
	}
	again := a.old != nil && !a.Replace
	if a.old != nil {
		a.differs = a.old.Changed(a.parts)
	}
	a.facts = facts.Of(a.program.Plan, facts.Options{Planned: a.Planned, Parts: a.parts})
	if err := a.derive(again); err != nil {
		return err
	}
	if err := a.show(); err != nil || a.Show {
		return err
	}
	question := "approve this?"
	if again {
		former := a.old.Statement.Predicate
		switch {
		case len(a.differs) > 0:
			return a.stale("is of something else: " + wording.And(a.differs[:min(len(a.differs), 10)]))
		case !former.Expires.IsZero() && judge.Now.After(former.Expires):
			return a.stale("has expired")
		case a.Allow != "":
			return a.stale("is there already")
		}
		question = fmt.Sprintf("%s approved this at %s; approve it, too?", terminal.Quoted(former.Signer),
			former.Made.Format(time.RFC3339))
	}
	if !a.Yes {
		if err := a.ask(question); err != nil {
			return err
		}
	}
	return a.sign(again, &judge)
}

// stale refuses to sign an approval in whose place there has to be a new one.
func (a *signing) stale(why string) error {
	return usageErr("the approval %q %s", a.File, why).
		Advise("%s makes a new one", a.commandLine("approve", a.plan, "--replace"))
}

// derive finds what a run under the approval may do: of one that is signed again, what it says.
func (a *signing) derive(again bool) (err error) {
	if a.permit = permit.Of(a.facts, a.parts); a.Allow != "" {
		contents, err := a.object(a.newReading(), "--allow", "@"+a.Allow)
		if err != nil {
			return err
		}
		if err = a.permit.Allow(a.facts, contents); err != nil {
			return usageErr("--allow: %q: %v", a.Allow, err)
		}
		if a.permit.Budget["ticks"] > 0 && !a.Planned {
			return usageErr("--allow: %q: ticks are those of a run with a planner", a.Allow).Advise("add --planner")
		}
	} else if again && len(a.old.Statement.Predicate.Permit) > 0 {
		if a.permit, err = permit.Read(a.old.Statement.Predicate.Permit); err != nil {
			return a.stale("has a permit that can't be read: " + err.Error())
		}
	}
	return nil
}

func (a *signing) show() error {
	digest, err := canonical.Digest(a.program.Plan)
	if err != nil {
		return err
	}
	input, state, values := a.shownValues()
	if a.Format == "json" {
		shown := diag.Ordered{"kind", "approval", "plan", a.plan, "digest", digest, "facts", a.facts, "parts",
			a.parts[1:]}.If("input", input).If("state", state).If("changed", a.differs)
		a.cli.out.JSON(append(shown, "envelope", a.permit))
		return nil
	}
	var besides, budget, found []string
	for _, entry := range a.permit.Calls {
		if entry.Allow != nil {
			besides = append(besides, entry.String())
		}
	}
	if a.Allow != "" || a.Planned {
		budget = a.permit.Budget.Lines()
	}
	for _, d := range a.program.Findings {
		if a.Full || d.Severity > diag.Info {
			found = append(found, fmt.Sprintf("%s %s %s: %s", d.Severity, d.Rule.Code, d.Span.Where(), d.Message))
		}
	}
	rows := a.facts.Card(digest, values)
	if a.Full {
		rows = append(rows, a.facts.Details()...)
	}
	add := func(title string, lines []string) {
		if len(lines) > 0 {
			rows = append(rows, facts.Section(title, lines)...)
		}
	}
	add("Further calls that are permitted", besides)
	add("Budget of all calls", budget)
	add("With these models and no others", a.permit.Models)
	add("With these values and no others", values)
	add("Findings", found)
	if len(a.differs) > 0 {
		p := a.old.Statement.Predicate
		add(fmt.Sprintf("Changed since %s approved at %s", p.Signer, p.Made.Format(time.RFC3339)), a.differs)
	}
	text := rows.Text(terminal.StyleFor(a.cli.out))
	if a.Format == "markdown" {
		text = rows.Markdown()
	}
	a.cli.out.Print("%s", text)
	return nil
}

// shownValues are input and state that alone are approved, without their secrets, and a line for each value.
func (a *signing) shownValues() (input, state map[string]json.RawMessage, lines []string) {
	secrets := &redact.Set{}
	compiler.LearnSecrets(secrets, nil, any(a.input), a.program.Plan.InputSchema)
	compiler.LearnSecrets(secrets, nil, any(a.state), a.program.Plan.StateSchema)
	shown := func(name string, values map[string]any) (all map[string]json.RawMessage) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			text := secrets.Text(terminal.JSON(values[key], ""))
			lines = append(lines, "†"+name+"."+key+": "+text)
			if !json.Valid([]byte(text)) {
				text = terminal.JSON(text, "")
			}
			if all == nil {
				all = map[string]json.RawMessage{}
			}
			all[key] = json.RawMessage(text)
		}
		return all
	}
	input = shown("input", a.input)
	return input, shown("state", a.state), lines
}

func (a *signing) ask(question string) error {
	if !terminal.CanAsk(a.in, a.err) {
		return usageErr("nobody can be asked whether this is approved").
			Advise("--yes approves it, --show only shows it")
	}
	a.err.Print("\n%s [y/N] ", question)
	line, _ := bufio.NewReader(a.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		a.err.Print("obelus: not approved\n")
		return ending(statusFound)
	}
	return nil
}

// sign signs the old approval again, or a new one, and writes it.
func (a *signing) sign(again bool, judge *approval.Judge) error {
	key, err := findKey(a.Key, a.err)
	if err != nil {
		return err
	}
	holder := judge.Signers.Signer(key)
	signer, next := holder, a.old
	if holder == "" || a.changed("as") {
		if signer, err = a.named(a.cli); err != nil {
			return err
		}
	}
	if !again {
		if next, err = a.statement(signer, judge.Now); err != nil {
			return err
		}
	}
	if err = next.Sign(key); err != nil {
		return err
	}
	text, err := next.Text()
	if err == nil {
		err = a.write(a.File, text)
	}
	if err != nil {
		return err
	}
	p, until := next.Statement.Predicate, "it doesn't expire"
	if !p.Expires.IsZero() {
		until = "it counts until " + p.Expires.Format(time.RFC3339)
	}
	a.err.Print("obelus: wrote %s in the name of %s, signed by the key %s; %s\n", terminal.Quoted(a.File),
		terminal.Quoted(p.Signer), key.Fingerprint(), until)
	if holder == "" {
		a.help("to accept this key, add this line to an allowed_signers file:\n" + key.Line(signer))
	}
	return nil
}

func (a *signing) statement(signer string, now time.Time) (*approval.Approval, error) {
	expires, err := until(a.Expires, now)
	if err != nil {
		return nil, err
	}
	shown, err := json.Marshal(a.facts)
	if len(shown) > approval.MostPayload/2 {
		shown = nil // a plan of tens of thousands of calls is compared by its parts alone
	}
	permit, unwritten := json.Marshal(a.permit)
	if err = cmp.Or(err, unwritten); err != nil {
		return nil, err
	}
	return approval.New(a.parts,
		approval.Predicate{Signer: signer, Made: now, Expires: expires, Shown: shown, Permit: permit})
}

func until(text string, now time.Time) (at time.Time, err error) {
	if text == "never" {
		return at, nil
	}
	hours := text
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, _ := strconv.ParseUint(days, 10, 16)
		hours = fmt.Sprint(n*24, "h")
	}
	if period, err := time.ParseDuration(hours); err == nil && period > 0 {
		return now.Add(period), nil
	}
	return at, usageErr("--expires can't be %q: expected a time from now such as 12h or 30d, or never", text)
}

// findKey is the key of a file, private or public. obelus reads no private key: ssh-keygen signs, and asks for the
// passphrase of a locked key; where the file is a public key, the SSH agent signs.
func findKey(name string, stderr io.Writer) (*approval.Key, error) {
	if name == "" {
		return nil, usageErr("no key can sign").Advise("name a key's file: --key ~/.ssh/id_ed25519; of a key in the " +
			"SSH agent, a file of its public key (ssh-add -L)")
	}
	public := strings.TrimSuffix(name, ".pub") + ".pub"
	line, err := os.ReadFile(public)
	if err != nil {
		return nil, usageErr("there is no public key %q", public).
			Advise("ssh-keygen -y -f %s > %s writes it", name, public)
	}
	return approval.NewKey(string(line), func(payload []byte) ([]byte, error) {
		keygen := exec.Command("ssh-keygen", "-Y", "sign", "-q", "-n", approval.Namespace, "-f", name)
		keygen.Stdin, keygen.Stderr = bytes.NewReader(payload), stderr
		armored, err := keygen.Output()
		if err != nil {
			return nil, usageErr("ssh-keygen doesn't sign with %q: %v", name, err)
		}
		return armored, nil
	})
}

// verify prints whether the approval holds, and who signed it.
func (a *signing) verify(judge approval.Judge, err error) error {
	if a.old == nil {
		a.showError(cmp.Or(err, error(usageErr("there is no approval %q", a.File).
			Advise("%s makes one; --approval names another file", a.commandLine("approve", a.plan)))))
		return ending(statusFound)
	}
	if err != nil {
		return err
	}
	v, p := a.old.Verify(judge, a.parts), a.old.Statement.Predicate
	title := fmt.Sprintf("%s, in the name of \"%s\", made %s", a.File, p.Signer, p.Made.Format(time.RFC3339))
	if !p.Expires.IsZero() {
		title += ", until " + p.Expires.Format(time.RFC3339)
	}
	var lines []string
	for _, s := range v.Signatures {
		line := fmt.Sprintf("the signature of %s counts for \"%s\"", s.Key, s.Signer)
		if s.Err != nil {
			line = fmt.Sprintf("the signature of %s doesn't count: %v", s.Key, s.Err)
		}
		lines = append(lines, line)
	}
	end := "it holds: " + wording.Counted(len(v.Signers()), "person approves", "people approve")
	if v.Err != nil {
		end = "it doesn't hold: " + v.Err.Error()
	}
	rows := append(facts.Section(title, append(lines, v.Changed...)), facts.Row{Text: diag.Escape(end)})
	a.cli.out.Print("%s", rows.Text(false))
	return endFound(v.Err != nil)
}
