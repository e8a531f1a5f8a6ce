//go:build unix

package workspace

import (
	"fmt"
	"os"
	"syscall"
)

// Shared says how others than the user and the system's own may write to a file or
// a folder; "" when they can't. A group of the user's own number is the user's alone:
// many systems give everybody one, and let it write.
func Shared(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	mode, user := info.Mode(), os.Geteuid()
	switch {
	case !ok:
		return ""
	case mode.Perm()&0o002 != 0:
		return fmt.Sprintf("can be written by everybody (%v)", mode)
	case int(stat.Uid) != user && stat.Uid != 0:
		return fmt.Sprintf("belongs to another user (%d)", stat.Uid)
	case mode.Perm()&0o020 != 0 && stat.Gid != 0 && int(stat.Gid) != user:
		return fmt.Sprintf("can be written by a group (%v)", mode)
	}
	return ""
}
