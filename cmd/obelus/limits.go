package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/obelus-dev/obelus/compiler/source"
	"github.com/obelus-dev/obelus/compiler/wording"
	"github.com/spf13/cobra"
)

// A limitFlag raises or lowers what reading one document may cost.
type limitFlag struct{ limits *source.Limits }

func addLimits(cmd *cobra.Command, limits *source.Limits) {
	cmd.Flags().Var(limitFlag{limits}, "limit", "raise or lower a limit on reading: "+wording.Or(limitNames)+"; may be repeated")
	stands(cmd, "limit", "NAME=N")
	_ = cmd.RegisterFlagCompletionFunc("limit", cobra.FixedCompletions(limitNames, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

var limitNames = []string{"bytes", "depth", "scalar", "number", "alias-nodes", "alias-ratio"}

func (f limitFlag) String() string { return "" }
func (f limitFlag) Type() string   { return "NAME=N" }

func (f limitFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return usageErr("expected NAME=N").Advise("for example --limit bytes=256MiB")
	}
	l := f.limits
	to := map[string]*int{
		"bytes": &l.Bytes, "depth": &l.Depth, "scalar": &l.Scalar, "number": &l.Number, "alias-nodes": &l.AliasNodes, "alias-ratio": &l.AliasRatio,
	}[name]
	if to == nil {
		return usageErr("there is no limit %q", name).Advise("limits are %s", wording.Or(limitNames)).Suggest(name, limitNames)
	}
	n, ok := quantity(value)
	if !ok {
		return usageErr("expected a whole number from 1, or one with KiB, MiB or GiB").Advise("for example --limit bytes=256MiB")
	}
	*to = n
	return nil
}

// quantity reads a number that may have a binary unit.
func quantity(text string) (int, bool) {
	factor := 1
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, factor = strings.TrimSpace(number), 1<<(10*(i+1))
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > math.MaxInt32*64/factor {
		return 0, false
	}
	return n * factor, true
}
