//go:build unix

package activity

import (
	"os"
	"syscall"
)

func askGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGTERM) }

func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

// filled is a pipe that holds a text and has no other end, or nil where the text
// doesn't fit.
func filled(text []byte) *os.File {
	const room = 64 << 10 // what a pipe holds, mostly
	if len(text) > room {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer w.Close()
	n := 0
	if conn, err := w.SyscallConn(); err == nil {
		_ = conn.Write(func(fd uintptr) bool {
			n, _ = syscall.Write(int(fd), text)
			return true // what it didn't take it hasn't room for
		})
	}
	if n != len(text) {
		r.Close()
		return nil
	}
	return r
}
