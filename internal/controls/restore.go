package controls

const entryFile = "internal/views/change.go"

// restoreControls breaks rules about restoring a backup.
func restoreControls() []Control {
	twice := test(enginePackage, "TestRestoredTwice")
	return []Control{
		{
			Name: "RestoredAlone", Section: "18", Text: "a restored cluster does not wait for the leases of the lost one",
			Rewrites: []Rewrite{{entryFile, `	return x, nil
}

// fit is`, `	if broken("RestoredAlone") {
		x.Ghosts = nil
	}
	return x, nil
}

// fit is`}},
			Tests: []Test{storm("restores", 40), test(enginePackage, "TestRestored")},
		},
		{
			Name: "RestoredAgain", Section: "18", Text: "two restores of a backup begin in the same epoch",
			Rewrites: []Rewrite{{entryFile, `	floor := max(r.Epoch, `, `	if broken("RestoredAgain") {
		return r.Epoch + Jump
	}
	floor := max(r.Epoch, `}},
			Tests: []Test{storm("restores", 40), twice},
		},
		{
			Name: "UnseenEpochs", Section: "18", Text: "a restore follows the clock and ignores epochs that were seen",
			Rewrites: []Rewrite{{entryFile, `min(x.Seen, maxEpoch)) + Jump
`, `min(x.Seen, maxEpoch)) + Jump
	if broken("UnseenEpochs") {
		floor = r.Epoch + Jump
	}
`}},
			Tests: []Test{storm("restores", 40), twice},
		},
	}
}
