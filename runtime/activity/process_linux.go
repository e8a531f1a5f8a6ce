package activity

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/obelus-dev/obelus/compiler/canonical"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"golang.org/x/sys/unix"
)

// dieWithThread has a program die with the thread that starts it.
func dieWithThread(to *syscall.SysProcAttr) { to.Pdeathsig = syscall.SIGKILL }

// awaitEnd waits until the program has ended and leaves it unreaped, so that its process group keeps its id.
func awaitEnd(cmd *exec.Cmd) (reap func()) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	return func() { _ = cmd.Wait() }
}

// fromDescriptor has a program start from the file that is opened here and has a digest, whatever then becomes of its
// name. A script stays as it is, since its interpreter opens it by its name.
func fromDescriptor(cmd *exec.Cmd, dir, digest string) (*os.File, error) {
	name := cmd.Path
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	sum, err := workspace.SumFrom(file)
	if to, _ := filepath.EvalSymlinks(name); sum != digest {
		sum = workspace.SumOfLink(to, sum)
	}
	start := make([]byte, 2)
	_, _ = file.ReadAt(start, 0) // of what is shorter the system says what is wrong
	switch {
	case err != nil:
	case sum != digest:
		err = fmt.Errorf("%w: the program %q", canonical.ErrOther, name)
	case string(start) != "#!":
		cmd.Path = fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	}
	return file, err
}

// inputFile is a file in memory, without a name.
func inputFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "stdin"), nil
}
