module example.com/exercise

go 1.26.0

require github.com/stile-lock/stile v0.0.0

replace github.com/stile-lock/stile => ../../..
