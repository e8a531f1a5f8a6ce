package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/obelus-dev/obelus/analyzer/permit"
	"github.com/obelus-dev/obelus/cmd/obelus/internal/terminal"
	"github.com/obelus-dev/obelus/runtime/approval"
)

// statement is a new approval of what there is.
func (a *signing) statement(signer string, now time.Time) (*approval.Approval, error) {
	expires, err := until(a.Expires, now)
	if err != nil {
		return nil, err
	}
	shown, err := json.Marshal(a.facts)
	if err != nil {
		return nil, err
	}
	if len(shown) > approval.MostPayload/2 {
		shown = nil // a plan of tens of thousands of calls is compared by its parts alone
	}
	may, err := json.Marshal(a.permit)
	if err != nil {
		return nil, err
	}
	return approval.New(a.parts,
		approval.Predicate{Signer: signer, Made: now, Expires: expires, Shown: shown, Permit: may})
}

// derive works out what a run under the approval may do: of one that is signed again, what it says.
func (a *signing) derive(again bool) (err error) {
	a.permit = permit.Of(a.facts, a.parts)
	if a.Allow == "" {
		if again && len(a.old.Statement.Predicate.Permit) > 0 {
			if a.permit, err = permit.Read(a.old.Statement.Predicate.Permit); err != nil {
				return a.stale("has a permit that can't be read: " + err.Error())
			}
		}
		return nil
	}
	said, err := a.mapping(a.newReading(), "--allow", a.Allow)
	if err != nil {
		return err
	}
	if err := a.permit.Allow(a.facts, said); err != nil {
		return usageErr("--allow: %q: %v", a.Allow, err)
	}
	if a.permit.Budget["ticks"] > 0 && !a.Planned {
		return usageErr("--allow: %q: ticks are those of a run with a planner", a.Allow).Advise("add --planner")
	}
	return nil
}

// until reads when an approval ends; zero is never.
func until(text string, now time.Time) (at time.Time, err error) {
	if text == "never" {
		return at, nil
	}
	period, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n int64
		n, err = strconv.ParseInt(days, 10, 16)
		period = time.Duration(n) * 24 * time.Hour
	}
	if err == nil && period > 0 {
		return now.Add(period), nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if day = day.AddDate(0, 0, 1); err == nil && day.After(now) {
		return day, nil
	}
	return at, usageErr("--expires can't be %q: expected a time from now such as 12h or 30d, a day to come such as "+
		"2027-01-31, or never", text)
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
	a.err.Print("obelus: wrote %s in the name of %s, signed by %s; %s\n", terminal.Quoted(a.file),
		terminal.Quoted(p.Signer), by, counts)
	return nil
}

// ask asks the person at the terminal.
func (a *signing) ask(again bool, former approval.Predicate) error {
	if a.Yes {
		return nil
	}
	if !terminal.CanAsk(a.in, a.err) {
		return usageErr("nobody can be asked whether this is approved").
			Advise("--yes approves it, --show only shows it")
	}
	what := "approve this?"
	if again {
		what = fmt.Sprintf("%s approved this at %s; approve it, too?", terminal.Quoted(former.Signer),
			former.Made.Format(time.RFC3339))
	}
	a.err.Print("\n%s [y/N] ", what)
	line, _ := bufio.NewReader(a.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		a.err.Print("obelus: not approved\n")
		return ending(statusFound)
	}
	return nil
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
