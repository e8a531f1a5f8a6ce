//go:build unix

package activity

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func askGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGTERM) }

func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
