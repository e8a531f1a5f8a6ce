package activity

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// boot names the time for which the system has been up: processes of another are gone.
var boot = sync.OnceValue(func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
})

// beginning is when a process began, in words that are its own: the time for which the
// system has been up, and the tick in it, and the session in which we started it.
func beginning(process int) string {
	s, ok := stat(process)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s/%d/%d", boot(), s.session, s.began)
}

// A status is what the system says of a process.
type status struct {
	state          byte
	group, session int
	began          uint64 // in ticks
}

func stat(process int) (s status, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return s, false
	}
	at := strings.LastIndexByte(string(text), ')') // the name may hold anything
	fields := strings.Fields(string(text[at+1:]))
	if at < 0 || len(fields) < 20 {
		return s, false
	}
	s.state = fields[0][0]
	s.group, _ = strconv.Atoi(fields[2])
	s.session, _ = strconv.Atoi(fields[3])
	s.began, _ = strconv.ParseUint(fields[19], 10, 64)
	return s, true
}

// groupsAtWork are the processes that haven't ended, by the group that they are in.
func groupsAtWork() map[int][]member {
	entries, _ := os.ReadDir("/proc")
	groups := map[int][]member{}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, ok := stat(id); ok && s.state != 'Z' && s.state != 'X' {
			groups[s.group] = append(groups[s.group], member{id, fmt.Sprintf("%s/%d/%d", boot(), s.session, s.began)})
		}
	}
	return groups
}

// sameGroup reports whether a process group is the one that a program began. Its number
// is nobody else's as long as one of the group is there; it is another's if a process
// of that number began at another time, or if the group is of another session, or began
// before the program.
func sameGroup(one registered, members []member) bool {
	up, rest, _ := strings.Cut(one.Began, "/")
	session, tick, _ := strings.Cut(rest, "/")
	began, err := strconv.ParseUint(tick, 10, 64)
	if up != boot() || err != nil {
		return false
	}
	if leader, there := stat(one.Process); there && leader.began != began {
		return false
	}
	for _, m := range members {
		_, rest, _ := strings.Cut(m.began, "/")
		its, tick, _ := strings.Cut(rest, "/")
		if n, err := strconv.ParseUint(tick, 10, 64); err != nil || n < began || its != session {
			return false
		}
	}
	return true
}
