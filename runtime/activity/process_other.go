//go:build !linux

package activity

import (
	"io/fs"
	"os"
	"os/exec"
)

// awaitEnd waits until the program has ended. It reaps it, for want of a way
// not to that all systems share; its group's id may then be anyone's.
func awaitEnd(cmd *exec.Cmd) { cmd.Wait() }

func scratch() (*os.File, error) { return temporary() }

// changed is unknown here.
func changed(fs.FileInfo) int64 { return 0 }
