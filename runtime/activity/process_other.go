//go:build !linux

package activity

import (
	"os"
	"os/exec"
	"syscall"
)

// awaitEnd waits until the program has ended. It reaps it, for want of a way
// not to that all systems share; its group's id may then be anyone's.
func awaitEnd(cmd *exec.Cmd) (reap func()) {
	state, _ := cmd.Process.Wait()
	return func() {
		_ = cmd.Wait() // there is nothing left to wait for
		cmd.ProcessState = state
	}
}

func dieWithThread(*syscall.SysProcAttr) {}

// fromDescriptor is for systems that start programs from a descriptor.
func fromDescriptor(*exec.Cmd, string, string) (*os.File, error) { return nil, nil }

// inputFile is a file that is gone when it is closed, where the system can do that.
func inputFile() (*os.File, error) {
	f, err := os.CreateTemp("", "obelus-*")
	if err == nil {
		_ = os.Remove(f.Name()) // Windows leaves it to the cleaning of the folder
	}
	return f, err
}
