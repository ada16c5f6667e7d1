package document

import "testing"

// Two processes inside at once lose a deposit, and one after the other loses none.
func TestAccount(t *testing.T) {
	for _, c := range []struct {
		text          string
		balance, lost int64
	}{
		{"algorithm central\nprocesses 2\ndeposit P1 100\ndeposit P2 7\nat 0 P1 asks\nat 0 P2 asks\n", 107, 0},
		{"algorithm central\nprocesses 2\nholder 1 busy\nschedule steps\ndeposit P1 100\nP1 leaves\n", 100, 0},
		{"algorithm central\nprocesses 2\ndeposit P2 7\nat 0 P2 asks for 9\nat 4 crash P2\n", 0, 0},
	} {
		d := Run(c.text, Options{})
		if d.Error != nil {
			t.Fatal(d.Error)
		}
		last := d.Accounts[len(d.Accounts)-1]
		if last.Balance != c.balance || last.Lost != c.lost {
			t.Errorf("%s: balance %d and %d lost, want %d and %d", c.text, last.Balance, last.Lost, c.balance, c.lost)
		}
	}
	if d := Run("algorithm central\nprocesses 2\nat 0 P1 asks\n", Options{}); d.Accounts != nil {
		t.Errorf("an account without deposits: %+v", d.Accounts)
	}
}
