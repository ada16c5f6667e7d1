package measure

// conclusion is what the tables show, in words. A test holds it against them.
const conclusion = `## What follows

TODO
`
