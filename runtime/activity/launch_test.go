//go:build linux

package activity

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// EXECUTION.md#running: what a program reads is there as a whole, whatever its size.
func TestInputIsWhole(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 65_000, 65_536, 65_537, 1 << 20} {
		input := []byte(strings.Repeat("x", size))
		f, err := whole(input)
		if err != nil {
			t.Fatal(err)
		}
		cat := exec.Command("cat")
		cat.Stdin = f
		out, err := cat.Output()
		if err != nil || len(out) != size {
			t.Errorf("of %d bytes %d were read: %v", size, len(out), err)
		}
		f.Close()
	}
	params := map[string]any{"text": strings.Repeat("x", 200_000)}
	got, err := openOne(t, execDef(helper("echo")...), Options{}).Run(background, "act", Request{Params: params})
	if err != nil || !reflect.DeepEqual(got.Value, params) {
		t.Errorf("large parameters: %v", err)
	}
}
