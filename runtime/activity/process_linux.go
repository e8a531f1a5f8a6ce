package activity

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"

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

// changed is when anything about a file was changed last, which a program can't set.
func changed(file fs.FileInfo) int64 {
	if stat, ok := file.Sys().(*syscall.Stat_t); ok {
		return stat.Ctim.Nano()
	}
	return 0
}
