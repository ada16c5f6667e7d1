package scenario

import "github.com/stile-lock/stile/internal/script"

// A Scenario is the input of a run, as Parse reads it. Its fields follow the language.
type Scenario = script.Scenario

// A Graph is a graph of resources, as ParseGraph reads it.
type Graph = script.Graph

// An Error is the error of a text that does not parse: its file, line and column, and what
// is wrong.
type Error = script.Error

// A Dist is the distribution of a duration, in ticks: see Always, Uniform,
// Exponential and ParseDist.
type Dist = script.Dist

// T is one unit of time, the usual latency of a message, in ticks. All times in files and
// on the command line are in units of T, with up to six decimals.
const T = script.T

// Parse reads a scenario from the text of a .stile file. The file is named in errors.
func Parse(file, text string) (*Scenario, error) { return script.Parse(file, text) }

// ParseGraph reads a graph of resources from the text of a .stile file.
func ParseGraph(file, text string) (*Graph, error) { return script.ParseGraph(file, text) }

// IsGraph reports whether the text of a .stile file is a graph of resources.
func IsGraph(text string) bool { return script.IsGraph(text) }

// Format returns a scenario as the text of a .stile file.
func Format(s *Scenario) string { return script.Format(s) }

// Always returns the distribution of one duration, in ticks.
func Always(ticks int64) Dist { return script.Always(ticks) }

// Uniform returns the distribution of durations from lo to hi, in ticks.
func Uniform(lo, hi int64) Dist { return Dist{Shape: script.Uniform, A: lo, B: hi} }

// Exponential returns the exponential distribution with the given mean, in ticks.
func Exponential(mean int64) Dist { return Dist{Shape: script.Exponential, A: mean} }

// ParseDist parses a number, uniform:LO,HI or exp:MEAN, in units of T.
func ParseDist(s string) (Dist, error) { return script.ParseDist(s) }

// ParseTime parses a time in units of T, and returns it in ticks.
func ParseTime(s string) (int64, error) { return script.ParseTime(s) }

// FormatTime returns a time in units of T, as ParseTime reads it.
func FormatTime(ticks int64) string { return script.FormatTime(ticks) }
