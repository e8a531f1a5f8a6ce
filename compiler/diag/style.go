package diag

// A Style colours text for a terminal, or doesn't.
type Style bool

func (s Style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Red and the others paint a text.
func (s Style) Red(text string) string    { return s.paint("1;31", text) }
func (s Style) Green(text string) string  { return s.paint("1;32", text) }
func (s Style) Yellow(text string) string { return s.paint("1;33", text) }
func (s Style) Blue(text string) string   { return s.paint("1;34", text) }
func (s Style) Cyan(text string) string   { return s.paint("1;36", text) }
func (s Style) Bold(text string) string   { return s.paint("1", text) }
func (s Style) Faint(text string) string  { return s.paint("2", text) }
