package activity

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until the program has ended and leaves it unreaped, so that
// its process group keeps its id.
func awaitEnd(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}
