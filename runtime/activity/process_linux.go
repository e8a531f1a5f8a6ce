package activity

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
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
	if lacking(err) != "" {
		return nil, err
	}
	return temporary()
}

// spare is how many programs may run at once: of the processes that our user or
// our control group may have a quarter, since programs start others and our threads
// count as well, and of the files that we may have open as many as that takes.
func spare() *supply {
	y := &supply{}
	bound := func(limit uint64, what string) {
		if most := int(min(limit/4, 1<<20)); y.most == 0 || most < y.most {
			y.most, y.because = max(1, most), fmt.Sprintf("the system allows us %d %s", limit, what)
		}
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil && limit.Cur < 1<<20 && os.Geteuid() != 0 {
		bound(limit.Cur, "processes")
	}
	for _, file := range []string{"/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"} {
		text, err := os.ReadFile(file)
		if n, bad := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil {
			bound(n, "processes")
		}
	}
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < 1<<20 {
		bound(max(limit.Cur, 68)-64, "files")
	}
	y.limit = y.most
	return y
}

// changed is when anything about a file was changed last, which a program can't set.
func changed(file fs.FileInfo) int64 {
	if stat, ok := file.Sys().(*syscall.Stat_t); ok {
		return stat.Ctim.Nano()
	}
	return 0
}
