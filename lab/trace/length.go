package trace

import "unicode"

// A length is a distance on paper. It is counted in tenths of a pixel, so that all
// arithmetic is on integers and rounds equally everywhere; in JSON it is a number of
// pixels with at most one decimal.
type length int

// pixel is one pixel.
const pixel length = 10

// String formats a length in pixels.
func (l length) String() string {
	if l < 0 {
		return "-" + (-l).String()
	}
	return decimal(int64(l), int64(pixel))
}

// MarshalJSON encodes a length as a number of pixels.
func (l length) MarshalJSON() ([]byte, error) { return []byte(l.String()), nil }

// textWidth estimates the width of a text at a font size, without measuring it: a capital
// is 0.8 of the size wide, any other character 0.54. Fonts differ, so the estimate is
// high. Layouts know nothing else about fonts.
func textWidth(text string, size length) length {
	hundredths := 0
	for _, r := range text {
		switch {
		case unicode.IsUpper(r) || r > unicode.MaxLatin1:
			hundredths += 80
		default:
			hundredths += 54
		}
	}
	return (length(hundredths)*size + 99) / 100
}

// A box is a part of the plot, with heights measured from the upper edge of the page.
type box struct{ x1, y1, x2, y2 length }

func (b box) meets(c box) bool { return b.x1 < c.x2 && c.x1 < b.x2 && b.y1 < c.y2 && c.y1 < b.y2 }

// around returns a box with a point in its middle.
func around(x, y, wide, high length) box {
	return box{x - wide/2, y - high/2, x + wide/2, y + high/2}
}

func abs(l length) length { return max(l, -l) }
