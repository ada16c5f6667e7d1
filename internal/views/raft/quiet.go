package raft

import "fmt"

// A logger passes on Raft's log lines, and drops them by default. It panics where Raft
// asks for it: Node.guard turns that into an error.
type logger struct {
	tell func(line string)
}

func (l logger) print(v ...any) {
	if l.tell != nil {
		l.tell(fmt.Sprint(v...))
	}
}

func (l logger) printf(format string, v ...any) {
	if l.tell != nil {
		l.tell(fmt.Sprintf(format, v...))
	}
}

func (l logger) Debug(v ...any)                   { l.print(v...) }
func (l logger) Debugf(format string, v ...any)   { l.printf(format, v...) }
func (l logger) Info(v ...any)                    { l.print(v...) }
func (l logger) Infof(format string, v ...any)    { l.printf(format, v...) }
func (l logger) Warning(v ...any)                 { l.print(v...) }
func (l logger) Warningf(format string, v ...any) { l.printf(format, v...) }
func (l logger) Error(v ...any)                   { l.print(v...) }
func (l logger) Errorf(format string, v ...any)   { l.printf(format, v...) }
func (l logger) Fatal(v ...any)                   { panic(fmt.Sprint(v...)) }
func (l logger) Fatalf(format string, v ...any)   { panic(fmt.Sprintf(format, v...)) }
func (l logger) Panic(v ...any)                   { panic(fmt.Sprint(v...)) }
func (l logger) Panicf(format string, v ...any)   { panic(fmt.Sprintf(format, v...)) }
