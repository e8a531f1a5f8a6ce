//go:build unix

package activity

import "syscall"

// survivors are those of the programs whose process group still has somebody at work.
func survivors(all []registered) []Survivor {
	if len(all) == 0 {
		return nil
	}
	groups := groupsAtWork()
	var found []Survivor
	seen := map[int]bool{}
	for _, one := range all {
		members := groups[one.Process]
		if seen[one.Process] || len(members) == 0 || !sameGroup(one, members) {
			continue
		}
		seen[one.Process] = true
		s := Survivor{Activity: one.Activity, Call: one.Call}
		for _, m := range members {
			s.Processes = append(s.Processes, m.id)
		}
		found = append(found, s)
	}
	return found
}

// A member of a process group, and when it began.
type member struct {
	id    int
	began string
}

// signalAll asks process groups to end, or kills them.
func signalAll(all []Survivor, kill bool) {
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	for _, one := range all {
		for _, id := range one.Processes {
			_ = syscall.Kill(id, signal)
		}
	}
}
