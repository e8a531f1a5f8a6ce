package dot

// The colours are quiet ones that keep their contrast on white and in print;
// what matters is always said in words, by signs, or by dashes, too. Red is for danger alone.
const (
	ink        = "#24292f"
	muted      = "#59636e"
	line       = "#8c959f"
	dangerFill = "#fbdad5"
	caution    = "#9a6700"
	frameLine  = "#afb8c1"
)

// A paint is how a kind of node looks: its colours, and how round its corners are.
type paint struct {
	fill, border, text string
	round              int
}

var paints = map[Kind]paint{
	Call:    {"#f6f8fa", "#8c959f", ink, 5},
	Effect:  {"#eaf7f5", "#5a9f97", ink, 0},
	Latent:  {"#f7f2fd", "#9a7fd1", ink, 12},
	Folded:  {"#eaeef2", "#6e7781", ink, 5},
	Input:   {"#eaf4ff", "#6ea8dc", ink, 15},
	Initial: {"#eaf4ff", "#6ea8dc", ink, 15},
	Missing: {"#ffffff", "#8c959f", muted, 5},
	Output:  {"#ebf8ee", "#68b37c", ink, 15},
}

// A tone is a colour that says how grave something is.
type tone struct{ name, colour string }

var tones = []tone{{"danger", "#b42318"}, {"caution", caution}, {"fine", "#1a7f37"}, {"working", "#0969da"},
	{"differs", "#8250df"}, {"quiet", muted}}

// tone is the colour of a mark.
func (k MarkKind) tone() tone {
	switch k {
	case Destructive:
		return tones[0]
	case Error, Failed, Rejected, Cancelled, Warning, Writes, Leaves, Asks, UnknownEffect:
		return tones[1]
	case Done:
		return tones[2]
	case Running:
		return tones[3]
	case Added, Removed, Changed:
		return tones[4]
	}
	return tones[5]
}
