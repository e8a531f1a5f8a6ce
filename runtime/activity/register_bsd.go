//go:build unix && !linux

package activity

import (
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// beginning is when a process began: now, as far as anybody can tell without asking
// another program.
func beginning(int) string { return time.Now().UTC().Format(time.RFC3339) }

// groupsAtWork are the processes that haven't ended, by the group that they are in, as
// the system's own program lists them.
func groupsAtWork() map[int][]member {
	list := exec.Command("ps", "-A", "-o", "pid=", "-o", "pgid=", "-o", "stat=", "-o", "lstart=")
	list.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/bin:/usr/bin"}
	text, _ := list.Output()
	groups := map[int][]member{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 8 || strings.HasPrefix(fields[2], "Z") {
			continue
		}
		id, bad := strconv.Atoi(fields[0])
		group, worse := strconv.Atoi(fields[1])
		began, worst := time.Parse("Mon Jan 2 15:04:05 2006", strings.Join(fields[3:], " "))
		if bad == nil && worse == nil && worst == nil {
			groups[group] = append(groups[group], member{id, began.Format(time.RFC3339)})
		}
	}
	return groups
}

// sameGroup reports whether a process group is the one that a program began: the
// process of its number began when the program did, and all others later.
func sameGroup(one registered, members []member) bool {
	began, err := time.Parse(time.RFC3339, one.Began)
	if err != nil {
		return false
	}
	const blur = 2 * time.Second
	for _, m := range members {
		its, err := time.Parse(time.RFC3339, m.began)
		if err != nil || its.Before(began.Add(-blur)) || m.id == one.Process && its.After(began.Add(blur)) {
			return false
		}
	}
	return true
}
