package terminal

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/spell"
)

// A flagValue is a flag that parses its value and checks its bounds, so that no
// run can exhaust the machine.
type flagValue[T any] struct {
	to    *T
	kind  string                    // name of the value in the help
	parse func(s string) (T, error) // the error says what the value must be
	show  func(T) string
}

// NewFlag returns a flag that sets to. kind is the name of the value in the help,
// and the error of parse says what the value must be.
func NewFlag[T any](to *T, kind string, parse func(s string) (T, error), show func(T) string) pflag.Value {
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

// CountFlag takes a whole number from low to high.
func CountFlag(to *int, low, high int) pflag.Value { return LimitedCountFlag(to, low, high, "") }

// LimitedCountFlag is a countFlag that says why there is a maximum.
func LimitedCountFlag(to *int, low, high int, why string) pflag.Value {
	return NewFlag(to, "N", func(s string) (int, error) {
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

// SizeFlag takes a number of bytes, at least 1 MiB.
func SizeFlag(to *int64) pflag.Value {
	return NewFlag(to, "SIZE", func(s string) (int64, error) {
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
	}, FormatBytes)
}

// FormatBytes writes a number of bytes in the largest unit that fits.
func FormatBytes(n int64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if n < 1<<10 {
			return fmt.Sprintf("%d%s", n, unit)
		}
		n >>= 10
	}
	return fmt.Sprintf("%dGiB", n)
}

// JoinValues formats a list as it is given on the command line.
func JoinValues[T any](list []T) string {
	var parts []string
	for _, x := range list {
		parts = append(parts, fmt.Sprint(x))
	}
	return strings.Join(parts, ",")
}

// A CompletingFlag is a flag whose value the shell can complete.
type CompletingFlag interface {
	pflag.Value
	Complete(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)
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

// Complete implements CompletingFlag.
func (t textValue) Complete(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return t.completion(c, args, begun)
}

// CheckedFlag takes text that passes a check, whose error says what the text must be.
func CheckedFlag(to *string, check func(s string) error, completion cobra.CompletionFunc) pflag.Value {
	return textValue{to, check, completion}
}

// TextFlag takes any text that is not empty. what says what it must be; completion
// may be nil.
func TextFlag(to *string, what string, completion cobra.CompletionFunc) pflag.Value {
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

// ChoiceFlag takes one of the given words.
func ChoiceFlag(to *string, from ...string) pflag.Value {
	return textValue{to, func(s string) error {
		if slices.Contains(from, s) {
			return nil
		}
		return fmt.Errorf("must be %s%s", spell.Either(from...), spell.DidYouMean(s, from...))
	}, cobra.FixedCompletions(from, cobra.ShellCompDirectiveNoFileComp)}
}

// OutputFileFlag takes the name of a file to write, which must have one of the
// given extensions. If there is only one, the name may have none, such as that of a
// pipe. Any other extension would not match the content of the file.
func OutputFileFlag(to *string, endings ...string) pflag.Value {
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

// DirFlag takes the name of a directory.
func DirFlag(to *string) pflag.Value {
	return TextFlag(to, "a directory name", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// CheckAddress refuses anything but a host and a port.
func CheckAddress(s string) error {
	host, port, err := net.SplitHostPort(s)
	n, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil || n > 65535 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == ',' }) {
		return fmt.Errorf("must be HOST:PORT, such as 127.0.0.1:7420")
	}
	return nil
}

// AddressFlag takes a host and a port.
func AddressFlag(to *string) pflag.Value {
	return NewFlag(to, "HOST:PORT", func(s string) (string, error) { return s, CheckAddress(s) }, func(s string) string { return s })
}
