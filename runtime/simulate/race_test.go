//go:build race

package simulate_test

func init() { sparse = 20 } // the race detector costs a factor of ten
