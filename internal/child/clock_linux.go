package child

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// An alarm sends on its channel when a moment has come. Go's own timers do not count the
// time during which the machine sleeps; this one does.
type alarm struct {
	C    chan struct{}
	file *os.File
	fd   int
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("cannot create a timer: %w", err)
	}
	a := &alarm{C: make(chan struct{}, 1), file: os.NewFile(uintptr(fd), "timer"), fd: fd}
	go a.listen()
	return a, nil
}

func (a *alarm) listen() {
	var count [8]byte
	for {
		if _, err := a.file.Read(count[:]); err != nil {
			return
		}
		select {
		case a.C <- struct{}{}:
		default:
		}
	}
}

// set moves the alarm to another moment, or to never.
func (a *alarm) set(at Moment) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(at, 0)))}
	_ = unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
}

func (a *alarm) stop() { a.file.Close() }
