package terminal

import "testing"

// LANGUAGE.md#tools-and-activities: no line of a text that is shown passes for a line of ours.
func TestDisplay(t *testing.T) {
	for value, want := range map[string]string{
		"one line":                     "one line",
		"two\n  ✓ fake#9   1 ms  ok\n": "│ two\n│   ✓ fake#9   1 ms  ok",
		"a\x1b[2K\rb":                  `a<U+001B>[2K\rb`,
	} {
		if got := Display(value); got != want {
			t.Errorf("Display(%q) is %q, want %q", value, got, want)
		}
	}
}
