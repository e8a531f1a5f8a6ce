//go:build linux

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/obelus-dev/obelus/testdata/pty"
)

func init() { atHand = approving }

// approving has a person sit at a terminal of the command who approves every call.
// Asked about a call that was in flight, the person stops the run.
func approving(t *testing.T, cmd *exec.Cmd) (leave func()) {
	t.Helper()
	p := pty.Open(t, 100)
	cmd.Env = append(cmd.Env, "CI=", "TERM=xterm", "NO_COLOR=1")
	cmd.Stdin, cmd.Stderr = p.Slave, p.Slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	over, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		for {
			select {
			case <-over:
				return
			case <-time.After(2 * time.Millisecond):
			}
			switch news := p.News(); {
			case !strings.HasSuffix(news, "  > "):
			case strings.Contains(news, "r run it again"):
				p.Press("q\r")
			default:
				p.Press("y\r")
			}
		}
	}()
	return func() {
		close(over)
		<-left
		p.Slave.Close()
	}
}
