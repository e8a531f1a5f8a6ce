package activity

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/workspace"
	"golang.org/x/sys/unix"
)

// ownGroup has a program begin a process group, die with the thread that starts it,
// and be known by a descriptor that can be waited for without a thread.
func ownGroup(cmd *exec.Cmd) {
	descriptor := -1
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &descriptor}
}

// awaitEnd waits until the program has ended and leaves it unreaped, so that
// its process group keeps its id.
func awaitEnd(cmd *exec.Cmd) {
	pid := cmd.Process.Pid
	if fd := *cmd.SysProcAttr.PidFD; fd >= 0 {
		_ = syscall.SetNonblock(fd, true)
		f := os.NewFile(uintptr(fd), "process")
		defer f.Close()
		ended := false
		if conn, err := f.SyscallConn(); err == nil {
			_ = conn.Read(func(uintptr) bool {
				var info unix.Siginfo
				err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
				ended = err == nil && info.Signo != 0
				return ended || err != nil && err != unix.EINTR
			})
		}
		if ended {
			return
		}
	}
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// scratch is a file without a name.
func scratch() (*os.File, error) {
	fd, err := unix.MemfdCreate("parameters", unix.MFD_CLOEXEC)
	if err == nil {
		return os.NewFile(uintptr(fd), "parameters"), nil
	}
	return temporary()
}

// fromDescriptor has a program start from the file that is opened here and has a digest,
// whatever then becomes of its name. A script stays as it is, since its interpreter opens
// it by its name.
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
	start := make([]byte, 2)
	_, _ = file.ReadAt(start, 0) // of what is shorter the system says what is wrong
	switch {
	case err != nil:
	case sum != digest:
		err = fmt.Errorf("%w: the program %q", compiler.ErrOther, name)
	case string(start) != "#!":
		cmd.Path = fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	}
	return file, err
}
