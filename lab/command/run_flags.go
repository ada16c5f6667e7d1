package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/lab/scenario"
)

// Bounds of a run.
const (
	maxNodes   = 10_000
	maxEntries = 10_000_000
)

// countsFlag takes a list of whole numbers from 1 to high.
func countsFlag(to *[]int, high int) pflag.Value {
	return terminal.NewFlag(to, "LIST", func(s string) ([]int, error) {
		var list []int
		for part := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 || n > high {
				return nil, fmt.Errorf("must be whole numbers from 1 to %d, such as 3,5,9", high)
			}
			list = append(list, n)
		}
		return list, nil
	}, terminal.JoinValues)
}

// seedFlag takes any unsigned 64-bit number.
func seedFlag(to *uint64) pflag.Value {
	return terminal.NewFlag(to, "N", func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			err = fmt.Errorf("must be a whole number from 0 to %d", uint64(math.MaxUint64))
		}
		return n, err
	}, func(n uint64) string { return fmt.Sprint(n) })
}

// timeFlag takes a distribution of simulated time.
func timeFlag(to *scenario.Dist) pflag.Value {
	return terminal.NewFlag(to, "TIME", func(s string) (scenario.Dist, error) {
		d, err := scenario.ParseDist(s)
		if err != nil {
			err = fmt.Errorf("must be a time in T from 0 to %d: a number such as 2 or 0.5, exp:MEAN or uniform:LO,HI", script.MaxTime)
		}
		return d, err
	}, scenario.Dist.String)
}

// latencyFlag takes the latency of a message, which is more than 0.
func latencyFlag(to *scenario.Dist) pflag.Value {
	return terminal.NewFlag(to, "TIME", func(s string) (scenario.Dist, error) {
		var d scenario.Dist
		if err := timeFlag(&d).Set(s); err != nil {
			return d, err
		}
		if err := d.CheckLatency(); err != nil {
			return d, fmt.Errorf("%w: give more than 0", err)
		}
		return d, nil
	}, scenario.Dist.String)
}

// timesFlag takes a list of times. A comma separates them, and also the two ends
// of a uniform distribution.
func timesFlag(to *[]scenario.Dist) pflag.Value {
	return terminal.NewFlag(to, "TIMES", func(s string) ([]scenario.Dist, error) {
		var list []scenario.Dist
		parts := strings.Split(s, ",")
		for i := 0; i < len(parts); i++ {
			part := parts[i]
			if strings.HasPrefix(part, "uniform:") && i+1 < len(parts) {
				i++
				part += "," + parts[i]
			}
			d, err := scenario.ParseDist(part)
			if err != nil {
				return nil, fmt.Errorf("must be times in T from 0 to %d: each a number, exp:MEAN or uniform:LO,HI, such as 0,exp:50", script.MaxTime)
			}
			list = append(list, d)
		}
		return list, nil
	}, terminal.JoinValues)
}

// clockTimeFlag takes a length of real time with a unit. must says what the value must
// be.
func clockTimeFlag(to *time.Duration, low, high time.Duration, must string) pflag.Value {
	return terminal.NewFlag(to, "TIME", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < low || d > high {
			return 0, errors.New(must)
		}
		return d, nil
	}, func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	})
}

// processListFlag takes a list of processes for parseProcesses.
func processListFlag(to *string) pflag.Value {
	return terminal.TextFlag(to, "a list of processes such as 1,2,5-7", nil)
}

// choicesFlag takes one of the words that stand alone, or a list of other words
// without repetition. why explains why an unknown word is not allowed, if that is
// known; it may be nil.
func choicesFlag(to *string, from []string, why func(word string) string, alone ...string) pflag.Value {
	must := fmt.Sprintf("must be %s, or some of %s", spell.Either(alone...), strings.Join(from, ","))
	return terminal.CheckedFlag(to, func(s string) error {
		if slices.Contains(alone, s) {
			return nil
		}
		words := strings.Split(s, ",")
		for i, word := range words {
			if slices.Contains(words[:i], word) && word != "" {
				return fmt.Errorf("%.40q is listed twice: list each once", word)
			}
			if slices.Contains(from, word) {
				continue
			}
			if why != nil && why(word) != "" {
				return errors.New(why(word))
			}
			return fmt.Errorf("%s%s", must, spell.DidYouMean(word, from...))
		}
		return nil
	}, completeList(func([]string) []string { return from }, alone...))
}

// completeList completes a comma-separated list with words that are not in it yet,
// and its first word also with those that stand alone. The words can depend on the
// arguments.
func completeList(from func(args []string) []string, alone ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		listed := strings.Split(begun, ",")
		listed = listed[:len(listed)-1]
		before := strings.Join(append(listed, ""), ",")
		var list []string
		if len(listed) == 0 {
			list = append(list, alone...)
		}
		for _, word := range from(args) {
			if !slices.Contains(listed, word) {
				list = append(list, before+word)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
