package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/envelope"
	"github.com/obelus-dev/obelus/analyzer/facts"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/compiler/diag"
	"github.com/obelus-dev/obelus/compiler/plan"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/obelus-dev/obelus/runtime/approval"
	"github.com/obelus-dev/obelus/runtime/project"
	"github.com/obelus-dev/obelus/runtime/session"
	"github.com/spf13/cobra"
)

// A signing is what one approve command works on.
type signing struct {
	*cli
	approvers
	plan, file string // the plan's file, and that of its approval
	program    *project.Program
	parts      []plan.Part
	facts      *facts.Facts
	old        *approval.Approval // that there is; nil for none

	input, state map[string]any // that alone are approved; nil for any

	key, signature, expires, format string
	allow                           string
	envelope                        *envelope.Envelope
	planner                         bool
	unsigned, yes, show, replace    bool
	as                              func() (string, error)
	named                           bool // by the command line
}

func (c *cli) approveCommand() *cobra.Command {
	a := &signing{cli: c}
	cmd := &cobra.Command{
		Use:   "approve FILE | -",
		Short: "show what a plan does, and sign that it may",
		Long: "Shows what a plan does when it is run, the worst first, and asks whether that is approved. A yes\n" +
			"is signed, and written beside the plan as plan.approval.json; \"obelus run --require-approval\" runs\n" +
			"that plan and no other, and asks only what the plan (_confirm) or a policy has people asked about.\n\n" +
			"The signature covers all that decides what runs: the plan, its tools, activities, delegates,\n" +
			"policies, the programs of the workspace, and the values of --input or --state. A second person\n" +
			"signs the same approval; an approval of something else is replaced by --replace only.\n\n" +
			"ssh-keygen signs, with a key that the SSH agent holds or a file of OpenSSH. An allowed_signers\n" +
			"file says whose signature counts. The exit status of --verify is 0 if the approval holds, else 1.",
		Example: "obelus approve plan.yaml --as alice@example.com --key ~/.ssh/id_ed25519\nobelus approve plan.yaml --show --format markdown\n" +
			"obelus approve plan.yaml --verify --signers /etc/obelus/signers\n" +
			"obelus approve plan.yaml --payload | ssh-keygen -Y sign -n obelus-plan -f KEY > plan.sig\nobelus approve plan.yaml --signature plan.sig --yes",
		Args: oneArg("a plan"),
	}
	reading := c.addReading(cmd)
	flags := cmd.Flags()
	format := choose(cmd, "format", "how what the plan does is shown", "text", "markdown", "json")
	file := addText(cmd, new(string), "approval", "FILE", "the approval; by default plan.approval.json beside a plan.yaml")
	addText(cmd, &a.key, "key", "KEY", "the key that signs: a file, or one that the SSH agent holds by its fingerprint, its comment or its public key's file;\nby default the agent's only one")
	flags.BoolVar(&a.unsigned, "unsigned", false, "write the approval without a signature: it says what was looked at, and nobody vouches for it")
	addText(cmd, &a.signature, "signature", "FILE", "add a signature over --payload that ssh-keygen has made with the namespace obelus-plan")
	payload := flags.Bool("payload", false, "print what signatures of the approval are over, and do nothing else")
	verify := flags.Bool("verify", false, "tell whether the approval holds, and who signed it")
	flags.BoolVar(&a.show, "show", false, "show what there is to approve, and approve nothing")
	flags.BoolVar(&a.yes, "yes", false, "approve without being asked")
	flags.BoolVar(&a.replace, "replace", false, "replace an approval of something else, or that has expired")
	a.expires = "90d"
	addText(cmd, &a.expires, "expires", "TIME", "until when the approval counts: a time from now such as 12h or 30d, a day such as 2027-01-31, or never")
	addText(cmd, &a.allow, "allow", "FILE", "what a run under the approval may do besides the plan, when a model plans anew or a person replaces a call: a file such as\n{allow: {search: {}, refund: {amount: {maximum: 100}, _times: 3}}, budget: {ticks: 10}}; every try counts, also of what failed and is run again")
	flags.BoolVar(&a.planner, "planner", false, "show what a run with a planner may do, too: a model writes its calls")
	a.add(cmd)
	given := addValues(cmd)
	a.as = addAs(cmd)
	flags.Lookup("as").Usage = "who approves, as allowed_signers files name people; by default the one whom the signers have the key from, or the user of the system"
	cmd.MarkFlagsMutuallyExclusive("unsigned", "key")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		a.plan, a.format, a.named = args[0], *format, cmd.Flags().Changed("as")
		if a.program, err = c.prepared(a.plan, reading); err != nil {
			return err
		}
		if a.program.Verified == nil {
			return c.faultyPlan(a.program, a.format, statusError)
		}
		if a.file, err = approvalOf(a.plan, *file); err != nil && !a.show {
			return err
		}
		if a.parts, err = approval.Parts(a.program.Plan); err != nil {
			return usageErr("%q can't be approved: %v", a.plan, err)
		}
		if err = a.take(given, reading); err != nil {
			return err
		}
		judge, _, unjudged := a.judge(a.plan, reading)
		if a.file != "" {
			if a.old, err = readApproval(a.file); err != nil && !a.replace {
				return err
			}
		}
		if *verify || *payload {
			if a.old == nil {
				return usageErr("there is no approval %q", a.file).Advise("obelus approve %s makes one; --approval names another file", a.plan)
			}
			if *verify && unjudged != nil {
				return unjudged
			} else if *verify {
				return a.verified(a.old.Verify(judge, a.parts))
			}
			if changed := a.old.Changed(a.parts); len(changed) > 0 {
				return a.stale(changed)
			}
			_, err = c.out.Write(a.old.Payload())
			return err
		}
		return a.approve(judge)
	}
	return cmd
}

// take takes input and state that the plan is to be approved with, and no others.
func (a *signing) take(given *given, reading *reading) (err error) {
	if len(given.inputs)+len(given.states) == 0 {
		return nil
	}
	if a.input, a.state, err = given.values(a.cli, reading, a.plan); err == nil {
		err = given.settle(a.program.Plan, a.input)
	}
	if err == nil {
		err = unreadInputs(a.program.Plan, a.input)
	}
	if err == nil {
		err = session.Fits(a.program.Plan, a.input, a.state)
	}
	if err != nil {
		return err
	}
	one, err := approval.Given(a.input, a.state)
	a.parts = append(a.parts, one)
	return err
}

// approve shows a plan, asks, and signs.
func (a *signing) approve(judge approval.Judge) error {
	var changed []string
	if a.old != nil {
		changed = a.old.Changed(a.parts)
	}
	a.facts = facts.Of(a.program.Plan, facts.Options{Planned: a.planner, Parts: a.parts})
	if err := a.enclose(); err != nil {
		return err
	}
	if err := a.showAll(changed); err != nil || a.show {
		return err
	}
	expired := a.old != nil && !a.old.Statement.Predicate.Expires.IsZero() && judge.Now.After(a.old.Statement.Predicate.Expires)
	again := a.old != nil && !a.replace
	switch {
	case again && len(changed) > 0:
		return a.stale(changed)
	case again && expired:
		return usageErr("the approval %q has expired", a.file).Advise("--replace makes a new one in its place")
	case again && a.unsigned:
		return usageErr("there is an approval %q already", a.file).Advise("--replace makes a new one in its place")
	}
	if err := a.ask(again); err != nil {
		return err
	}
	if a.signature != "" {
		if !again {
			return usageErr("there is no approval %q that the signature could be over", a.file).Advise("obelus approve --unsigned writes one, --payload prints what is signed")
		}
		text, err := approval.ReadFile(a.signature, approval.MostBytes)
		if err == nil {
			err = a.old.Attach(text)
		}
		if err != nil {
			return err
		}
		return a.write(a.old, "the key of "+terminal.Quoted(a.signature))
	}
	if a.unsigned {
		next, err := a.statement(nil, judge)
		if err != nil {
			return err
		}
		return a.write(next, "nobody: it has no signature")
	}
	key, err := findKey(a.key, a.err)
	if err != nil {
		return err
	}
	next := a.old
	if !again {
		if next, err = a.statement(key, judge); err != nil {
			return err
		}
	}
	if err := next.Sign(key); err != nil {
		return err
	}
	if err := a.write(next, "the key "+key.Fingerprint()); err != nil {
		return err
	}
	if judge.Signers.Signer(key) == "" {
		fmt.Fprintf(a.err, "  %s an allowed_signers file has this key count with the line\n%s\n", terminal.StyleFor(a.err).Green("help:"), key.Line(next.Statement.Predicate.Signer))
	}
	return nil
}

func (a *signing) stale(changed []string) error {
	return usageErr("the approval %q is of something else: %s", a.file, wording.And(changed[:min(len(changed), 10)])).
		Advise("--replace approves what is there now in its place")
}

// statement is a new approval of what there is.
func (a *signing) statement(key *approval.Key, judge approval.Judge) (*approval.Approval, error) {
	expires, err := until(a.expires, judge.Now)
	if err != nil {
		return nil, err
	}
	signer := ""
	if key != nil && !a.named {
		signer = judge.Signers.Signer(key)
	}
	if signer == "" {
		if signer, err = a.as(); err != nil {
			return nil, err
		}
	}
	shown, err := json.Marshal(a.facts)
	if err != nil {
		return nil, err
	}
	if len(shown) > approval.MostPayload/2 {
		shown = nil // a plan of tens of thousands of calls is compared by its parts alone
	}
	may, err := json.Marshal(a.envelope)
	if err != nil {
		return nil, err
	}
	return approval.New(a.parts, approval.Predicate{Signer: signer, Made: judge.Now, Expires: expires, Shown: shown, Envelope: may})
}

// enclose works out what a run under the approval may do.
func (a *signing) enclose() error {
	a.envelope = envelope.Of(a.facts, a.parts)
	if again := a.old != nil && !a.replace && (!a.show || a.allow == ""); again && a.allow != "" {
		return usageErr("there is an approval %q already, and --allow would change it", a.file).Advise("--replace makes a new one in its place")
	} else if again && len(a.old.Statement.Predicate.Envelope) > 0 { // it is the one that is signed
		var err error
		if a.envelope, err = envelope.Read(a.old.Statement.Predicate.Envelope); err != nil {
			return usageErr("the envelope of %q can't be read: %v", a.file, err).Advise("--replace makes a new approval in its place")
		}
	}
	if a.allow == "" {
		return nil
	}
	said, err := a.mapping(a.newReading(), "--allow", a.allow)
	if err != nil {
		return err
	}
	if err := a.envelope.Widen(a.facts, said); err != nil {
		return usageErr("--allow: %q: %v", a.allow, err).About(a.allow)
	}
	return nil
}

// periodOf reads a time that may be in days.
func periodOf(text string) (time.Duration, bool) {
	factor := time.Duration(1)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		text, factor = days+"h", 24
	}
	d, err := time.ParseDuration(text)
	return factor * d, err == nil && d >= 0 && d < math.MaxInt64/24
}

// until reads when an approval ends; zero is never.
func until(text string, now time.Time) (at time.Time, err error) {
	if text == "never" {
		return at, nil
	}
	if period, ok := periodOf(text); ok && period > 0 {
		return now.Add(period), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil && day.AddDate(0, 0, 1).After(now) {
		return day.AddDate(0, 0, 1), nil
	}
	return at, usageErr("--expires can't be %q: expected a time from now such as 12h or 30d, a day to come such as 2027-01-31, or never", text)
}

func (a *signing) write(next *approval.Approval, by string) error {
	text, err := next.Text()
	if err != nil {
		return err
	}
	if err := a.cli.write(a.file, text); err != nil || a.file == "-" {
		return err
	}
	p := next.Statement.Predicate
	counts := "it doesn't expire"
	if !p.Expires.IsZero() {
		counts = "it counts until " + p.Expires.Format(time.RFC3339)
	}
	_, err = fmt.Fprintf(a.err, "obelus: \"%s\" is written, in the name of %s and signed by %s; %s\n", diag.Escape(a.file), terminal.Quoted(p.Signer), by, counts)
	return err
}

// ask asks the person at the terminal.
func (a *signing) ask(again bool) error {
	if a.yes {
		return nil
	}
	if !terminal.CanAsk(a.in, a.err) {
		return usageErr("nobody can be asked whether this is approved").Advise("--yes approves it, --show only shows it")
	}
	what := "approve this?"
	if again {
		p := a.old.Statement.Predicate
		what = fmt.Sprintf("%s approved this at %s; approve it, too?", terminal.Quoted(p.Signer), p.Made.Format(time.RFC3339))
	}
	fmt.Fprintf(a.err, "\n%s [y/N] ", what)
	line, _ := bufio.NewReader(a.in).ReadString('\n') // its end says no
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		fmt.Fprintln(a.err, "obelus: not approved")
		return ending(statusFound)
	}
	return nil
}
