package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/spell"
	"github.com/stile-lock/stile/internal/terminal"
)

// envVariable returns the environment variable that sets a flag.
func envVariable(flag string) string {
	return "STILE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// applyEnvironment sets flags from the environment, unless they were given.
func applyEnvironment(c *cobra.Command, flags string) error {
	for name := range strings.FieldsSeq(flags) {
		text, ok := os.LookupEnv(envVariable(name))
		if !ok || text == "" || c.Flags().Changed(name) {
			continue
		}
		if err := c.Flags().Set(name, text); err != nil {
			return fmt.Errorf("%s=%q: %w", envVariable(name), text, flagReason(err))
		}
	}
	return nil
}

// flagReason unwraps a flag's own error from that of pflag.
func flagReason(err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return errors.Unwrap(value)
	}
	return err
}

// applyConfigFile sets flags from a TOML file, unless they are set already.
func applyConfigFile(c *cobra.Command, flag, path, flags string) error {
	all := map[string]any{}
	if _, err := toml.DecodeFile(path, &all); err != nil {
		return fmt.Errorf("--%s %q: cannot read the file: %w", flag, path, terminal.FileReason(err))
	}
	known := strings.Fields(flags)
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s: unknown key %q: must be %s%s", path, key, spell.Either(known...), spell.DidYouMean(key, known...))
		}
		if c.Flags().Changed(key) {
			continue
		}
		text, err := flagText(all[key])
		if err == nil {
			err = c.Flags().Set(key, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %s = %q: %w", path, key, text, flagReason(err))
		}
	}
	return nil
}

// flagText formats a value from a file as a flag takes it.
func flagText(v any) (string, error) {
	switch v := v.(type) {
	case string, int64, float64, bool:
		return fmt.Sprint(v), nil
	case []any:
		var all []string
		for _, x := range v {
			s, err := flagText(x)
			if err != nil {
				return "", err
			}
			all = append(all, s)
		}
		return strings.Join(all, ","), nil
	}
	return fmt.Sprint(v), errors.New("must be text, a number, true, false, or a list of these")
}
