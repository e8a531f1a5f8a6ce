package activity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/compiler"
	"github.com/obelus-dev/obelus/compiler/workspace"
)

// Pins tell whether what carries a call out is still what it was when somebody approved
// it, as far as that isn't said where it is defined (S10.1): which file its program is,
// what the files of the workspace hold that its argv names, and what the variables hold
// that it is given by name.
type Pins struct {
	Activities map[string]*compiler.Activity // by the names that [Of] gives
	Root       string                        // the workspace
	// Key is mixed in, so that nobody who doesn't know it can try what a variable holds.
	// Without one nothing is pinned.
	Key string
}

// files are the program that an activity starts, and what the files hold that it names.
func (p *Pins) files(def *compiler.Activity, program string) []string {
	program = compiler.Filled(program, os.Getenv)
	if filepath.Base(program) == program {
		program, _ = exec.LookPath(program)
	}
	pinned := []string{program}
	for _, name := range def.Files(os.Getenv) {
		file, err := filepath.Abs(name)
		content := ""
		if err == nil {
			content, err = workspace.Folder{Dir: p.Root}.Sum(file)
		}
		pinned = append(pinned, file, content, fmt.Sprint(err))
	}
	return pinned
}

// Of is a digest of what an activity starts with these arguments, or sends; "" if nothing
// of it can change unseen.
func (p *Pins) Of(name string, argv []string) string {
	def := p.Activities[name]
	var pinned []string
	switch {
	case p.Key == "" || def == nil:
		return ""
	case len(def.Argv) > 0 && len(argv) > 0:
		pinned = p.files(def, argv[0])
	case def.Kind != "http" || len(def.Variables) == 0:
		return ""
	}
	variables := slices.Clone(def.Inherit)
	for _, v := range def.Variables {
		variables = append(variables, v.Name)
	}
	for _, variable := range variables {
		value, there := os.LookupEnv(variable)
		if there {
			value = "=" + value
		}
		pinned = append(pinned, value)
	}
	sum := hmac.New(sha256.New, []byte(p.Key))
	text, _ := json.Marshal(pinned)
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
