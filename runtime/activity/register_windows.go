package activity

// There are no process groups here to be found again: a program that outlives us is
// nobody's.

func beginning(int) string { return "" }

func survivors([]registered) []Survivor { return nil }

func signalAll([]Survivor, bool) {}
