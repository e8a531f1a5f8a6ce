//go:build !linux

package activity

import "os/exec"

// awaitEnd waits until the program has ended.
func awaitEnd(cmd *exec.Cmd) { cmd.Wait() }
