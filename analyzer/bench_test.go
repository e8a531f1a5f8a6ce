package analyzer

// before is the call nearest before i, or i, that writes a result.
func before(i int) int {
	if i%10 == 1 && i >= 3 {
		return i - 1
	}
	return i
}
