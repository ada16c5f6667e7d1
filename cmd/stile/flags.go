package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/lab/scenario"
)

// A flagValue is a flag that parses its value and checks its bounds, so that no
// run can exhaust the machine.
type flagValue[T any] struct {
	to    *T
	kind  string                    // name of the value in the help
	parse func(s string) (T, error) // the error says what the value must be
	show  func(T) string
}

// newFlag returns a flag that sets to. kind is the name of the value in the help,
// and the error of parse says what the value must be.
func newFlag[T any](to *T, kind string, parse func(s string) (T, error), show func(T) string) pflag.Value {
	return flagValue[T]{to, kind, parse, show}
}

func (v flagValue[T]) Set(s string) error {
	x, err := v.parse(s)
	if err == nil {
		*v.to = x
	}
	return err
}

func (v flagValue[T]) String() string {
	if v.to == nil {
		return ""
	}
	return v.show(*v.to)
}

func (v flagValue[T]) Type() string { return v.kind }

// Bounds of a run.
const (
	maxNodes   = 10_000
	maxEntries = 10_000_000
)

// countFlag takes a whole number from low to high.
func countFlag(to *int, low, high int) pflag.Value { return limitedCountFlag(to, low, high, "") }

// limitedCountFlag is a countFlag that says why there is a maximum.
func limitedCountFlag(to *int, low, high int, why string) pflag.Value {
	return newFlag(to, "N", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case err == nil && n > high && why != "":
			err = fmt.Errorf("must be a whole number from %d to %d: %s", low, high, why)
		case err != nil || n < low || n > high:
			err = fmt.Errorf("must be a whole number from %d to %d", low, high)
		}
		return n, err
	}, strconv.Itoa)
}

// countsFlag takes a list of whole numbers from 1 to high.
func countsFlag(to *[]int, high int) pflag.Value {
	return newFlag(to, "LIST", func(s string) ([]int, error) {
		var list []int
		for part := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 || n > high {
				return nil, fmt.Errorf("must be whole numbers from 1 to %d, such as 3,5,9", high)
			}
			list = append(list, n)
		}
		return list, nil
	}, joinValues)
}

// sizeFlag takes a number of bytes, at least 1 MiB.
func sizeFlag(to *int64) pflag.Value {
	return newFlag(to, "SIZE", func(s string) (int64, error) {
		number, shift := s, 0
		for i, unit := range []string{"K", "M", "G", "T"} {
			if rest, ok := strings.CutSuffix(strings.TrimSuffix(s, "iB"), unit); ok {
				number, shift = rest, 10*(i+1)
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > 1<<50>>shift || n<<shift < 1<<20 {
			return 0, fmt.Errorf("must be a size from 1MiB to 1024TiB, such as 512MiB or 8GiB")
		}
		return n << shift, nil
	}, formatBytes)
}

// formatBytes writes a number of bytes in the largest unit that fits.
func formatBytes(n int64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if n < 1<<10 {
			return fmt.Sprintf("%d%s", n, unit)
		}
		n >>= 10
	}
	return fmt.Sprintf("%dGiB", n)
}

// seedFlag takes any unsigned 64-bit number.
func seedFlag(to *uint64) pflag.Value {
	return newFlag(to, "N", func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			err = fmt.Errorf("must be a whole number from 0 to %d", uint64(math.MaxUint64))
		}
		return n, err
	}, func(n uint64) string { return fmt.Sprint(n) })
}

// timeFlag takes a distribution of simulated time.
func timeFlag(to *scenario.Dist) pflag.Value {
	return newFlag(to, "TIME", func(s string) (scenario.Dist, error) {
		d, err := scenario.ParseDist(s)
		if err != nil {
			err = fmt.Errorf("must be a time in T from 0 to %d: a number such as 2 or 0.5, exp:MEAN or uniform:LO,HI", script.MaxTime)
		}
		return d, err
	}, scenario.Dist.String)
}

// latencyFlag takes the latency of a message, which is more than 0.
func latencyFlag(to *scenario.Dist) pflag.Value {
	return newFlag(to, "TIME", func(s string) (scenario.Dist, error) {
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
	return newFlag(to, "TIMES", func(s string) ([]scenario.Dist, error) {
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
	}, joinValues)
}

// clockTimeFlag takes a length of real time with a unit. must says what the value must
// be.
func clockTimeFlag(to *time.Duration, low, high time.Duration, must string) pflag.Value {
	return newFlag(to, "TIME", func(s string) (time.Duration, error) {
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

// joinValues formats a list as it is given on the command line.
func joinValues[T any](list []T) string {
	var parts []string
	for _, x := range list {
		parts = append(parts, fmt.Sprint(x))
	}
	return strings.Join(parts, ",")
}

// A completingFlag is a flag whose value the shell can complete.
type completingFlag interface {
	pflag.Value
	complete(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)
}

// A textValue is a flag whose value is text.
type textValue struct {
	to         *string
	check      func(s string) error // the error says what the value must be
	completion cobra.CompletionFunc
}

func (t textValue) Set(s string) error {
	err := t.check(s)
	if err == nil {
		*t.to = s
	}
	return err
}

func (t textValue) String() string {
	if t.to == nil {
		return ""
	}
	return *t.to
}

func (t textValue) Type() string { return "string" }

// complete implements completingFlag.
func (t textValue) complete(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return t.completion(c, args, begun)
}

// textFlag takes any text that is not empty. what says what it must be; completion
// may be nil.
func textFlag(to *string, what string, completion cobra.CompletionFunc) pflag.Value {
	if completion == nil {
		completion = cobra.NoFileCompletions
	}
	return textValue{to, func(s string) error {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("must be %s", what)
		}
		return nil
	}, completion}
}

// processListFlag takes a list of processes for parseProcesses.
func processListFlag(to *string) pflag.Value {
	return textFlag(to, "a list of processes such as 1,2,5-7", nil)
}

// choiceFlag takes one of the given words.
func choiceFlag(to *string, from ...string) pflag.Value {
	return textValue{to, func(s string) error {
		if slices.Contains(from, s) {
			return nil
		}
		return fmt.Errorf("must be %s%s", spell.Either(from...), spell.DidYouMean(s, from...))
	}, cobra.FixedCompletions(from, cobra.ShellCompDirectiveNoFileComp)}
}

// choicesFlag takes one of the words that stand alone, or a list of other words
// without repetition. why explains why an unknown word is not allowed, if that is
// known; it may be nil.
func choicesFlag(to *string, from []string, why func(word string) string, alone ...string) pflag.Value {
	must := fmt.Sprintf("must be %s, or some of %s", spell.Either(alone...), strings.Join(from, ","))
	return textValue{to, func(s string) error {
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
	}, completeList(func([]string) []string { return from }, alone...)}
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

// outputFileFlag takes the name of a file to write, which must have one of the
// given extensions. If there is only one, the name may have none, such as that of a
// pipe. Any other extension would not match the content of the file.
func outputFileFlag(to *string, endings ...string) pflag.Value {
	return textValue{to, func(s string) error {
		ending := strings.TrimSuffix(strings.ToLower(filepath.Ext(s)), ".") // the name of a directory may be a dot
		switch {
		case strings.TrimSpace(s) == "":
			return fmt.Errorf("must be a file name %s", exampleNames(endings))
		case s == "-":
			return fmt.Errorf("must be a file name %s; for a file called - give ./-", exampleNames(endings))
		case ending == "" && len(endings) == 1 || slices.Contains(endings, ending):
			return nil
		}
		return fmt.Errorf("the file name must end in %s", spell.Either(endings...))
	}, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var bare []string
		for _, e := range endings {
			bare = append(bare, e[1:])
		}
		return bare, cobra.ShellCompDirectiveFilterFileExt
	}}
}

// exampleNames gives examples of file names with these extensions.
func exampleNames(endings []string) string { return "such as x" + spell.Either(endings...) }

// dirFlag takes the name of a directory.
func dirFlag(to *string) pflag.Value {
	return textFlag(to, "a directory name", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}
