package dot

// The colours are quiet ones that keep their contrast on white and in print;
// what matters is always said in words, by signs, or by dashes, too. Red is for danger alone.
const (
	ink        = "#24292f"
	muted      = "#59636e"
	line       = "#8c959f"
	danger     = "#b42318"
	dangerFill = "#fbdad5"
	caution    = "#9a6700"
	fine       = "#1a7f37"
	working    = "#0969da"
	differs    = "#8250df"
	paper      = "#ffffff"
	frameLine  = "#afb8c1"

	cautionLine = "#bf8700" // caution, for lines that are seen on white and on black
)

// A paint is how a kind of node looks.
type paint struct{ fill, border, text string }

var paints = map[Kind]paint{
	Call:    {"#f6f8fa", "#8c959f", ink},
	Effect:  {"#eaf7f5", "#5a9f97", ink},
	Latent:  {"#f7f2fd", "#9a7fd1", ink},
	Folded:  {"#eaeef2", "#6e7781", ink},
	Input:   {"#eaf4ff", "#6ea8dc", ink},
	Initial: {"#eaf4ff", "#6ea8dc", ink},
	Missing: {"#ffffff", "#8c959f", muted},
	Output:  {"#ebf8ee", "#68b37c", ink},
}

// darker are the colours that represent others on black.
var darker = map[string]string{
	paper: "#0d1117", ink: "#e6edf3", muted: "#9aa4af", line: "#768390",
	danger: "#ff7b72", dangerFill: "#4d1f1b", caution: "#d8a02a", fine: "#4cc465",
	working: "#6cb2ff", differs: "#c297ff",
	"#f6f8fa": "#161b22", "#eaf7f5": "#10292a", "#5a9f97": "#4a938d", "#f7f2fd": "#221a33", "#9a7fd1": "#a98ee0",
	"#eaeef2": "#262c35", "#6e7781": "#8b949e", frameLine: "#6e7681", "#eaf4ff": "#0f2238", "#6ea8dc": "#4b8fd1",
	"#ebf8ee": "#12261a", "#68b37c": "#3f9a58",
}

// A tone is a colour that says how grave something is.
type tone struct{ name, colour string }

var tones = []tone{{"danger", danger}, {"caution", caution}, {"fine", fine}, {"working", working},
	{"differs", differs}, {"quiet", muted}}

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
