//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/obelus-dev/obelus/testdata/pty"
)

// EXECUTION.md#approval: a person at a terminal is asked whether to approve, and by ssh-keygen for the passphrase
// of a key that is locked; nothing is written without a yes.
func TestApproveAsksOnATerminal(t *testing.T) {
	folder := t.TempDir()
	plan, key, written := filepath.Join(folder, "plan.yaml"), filepath.Join(folder, "key"), filepath.Join(folder, "plan.approval.json")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "open sesame", "-f", key).CombinedOutput(); err != nil {
		t.Skipf("ssh-keygen makes no key: %v %s", err, out)
	}
	if err := os.WriteFile(plan, []byte("calls: [{_tool: f, _outputPath: a}]\ntools: {f: {}}\nactivities: {f: {expr: \"1\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, answer, passphrase string
		status                   int
		shows                    string
	}{
		{"no", "n\r", "", statusFound, "not approved"},
		{"nothing", "\r", "", statusFound, "not approved"},
		{"wrong passphrase", "y\r", "sesame\r", statusError, "ssh-keygen doesn't sign"},
		{"yes", "yes\r", "open sesame\r", statusOK, "an allowed_signers file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pty.Open(t, 300) // so that the names of temporary files break no line
			cmd := exec.Command(os.Args[0], "approve", plan, "--key", key, "--as", "alice")
			cmd.Env = append(os.Environ(), asCommand+"=1", "CI=", "TERM=xterm")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Slave, p.Slave, p.Slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			p.Sees("approve this? [y/N]")
			p.Press(test.answer)
			if test.passphrase != "" {
				p.Sees("Enter passphrase")
				p.Press(test.passphrase)
			}
			p.Sees(test.shows)
			if cmd.Wait(); cmd.ProcessState.ExitCode() != test.status {
				t.Errorf("exit status %d", cmd.ProcessState.ExitCode())
			}
			if strings.Contains(p.Text(), "sesame") {
				t.Error("the passphrase is on the screen")
			}
			if _, err := os.Stat(written); (err == nil) != (test.status == statusOK) {
				t.Errorf("the approval: %v", err)
			}
		})
	}
}

// EXECUTION.md#approval: the keys of a real SSH agent sign.
func TestApproveWithAnAgent(t *testing.T) {
	for _, tool := range []string{"ssh-agent", "ssh-add", "ssh-keygen"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s isn't installed", tool)
		}
	}
	folder, err := os.MkdirTemp("", "a") // a socket's name is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { agent.Process.Kill(); agent.Wait() })
	pty.Eventually(t, "the agent listens", func() bool {
		c, err := net.Dial("unix", socket) // which is there before anybody listens
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	t.Setenv("SSH_AUTH_SOCK", socket)
	t.Chdir(folder)
	tool := func(name string, args ...string) {
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", name, out)
		}
	}
	plan := filepath.Join(folder, "plans", "plan.yaml")
	if err := os.Mkdir(filepath.Dir(plan), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plan, []byte("calls: [{_tool: f, _outputPath: a}]\ntools: {f: {}}\nactivities: {f: {expr: \"1\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var signers []string
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		bits := []string{"-b", "256"}
		if kind == "rsa" {
			bits[1] = "1024"
		}
		tool("ssh-keygen", append(bits, "-q", "-t", kind, "-N", "", "-C", kind, "-f", kind)...)
		tool("ssh-add", "-q", kind)
		os.Remove(kind) // the agent alone has it now
		public, err := os.ReadFile(kind + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		signers = append(signers, fmt.Sprintf("%s@example.com %s", kind, public))
		if err := os.WriteFile("signers", []byte(strings.Join(signers, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"approve", plan, "--yes", "--signers", "signers", "--key", kind + ".pub"}
		if _, stderr, status := obelus(strings.NewReader(""), args...); status != statusOK {
			t.Errorf("%s: %s", kind, stderr)
		}
		if stdout, stderr, status := obelus(strings.NewReader(""), "approve", plan, "--verify", "--signers", "signers", "--approvals", fmt.Sprint(len(signers))); status != statusOK {
			t.Errorf("%s: %s%s", kind, stdout, stderr)
		}
	}
	if _, stderr, status := obelus(strings.NewReader(""), "approve", plan, "--yes", "--key", "nobody"); status != statusError || !strings.Contains(stderr, "there is no public key \"nobody.pub\"") {
		t.Errorf("a key that isn't there: %s", stderr)
	}
}
