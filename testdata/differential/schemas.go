package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/obelus-dev/obelus/compiler/schema"
)

// A pair of schemas of the corpus: is every value of sub one of super?
type pair struct {
	Name, Dialect string
	Sub, Super    json.RawMessage
}

func (m *material) readPairs(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, len(text)+1)
		for lines.Scan() {
			var p pair
			if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			m.pairs = append(m.pairs, p)
		}
	}
	return nil
}

// schemas compares verdicts of containment. None may be reversed; at most 2 % may be unknown.
func schemas(old, _ program, m *material) (outcome, error) {
	result := outcome{}
	if len(m.pairs) == 0 {
		return result, nil
	}
	var batch bytes.Buffer
	for i, p := range m.pairs {
		line := map[string]json.RawMessage{
			"name":  fmt.Appendf(nil, `"%d"`, i),
			"sub":   dialect(p.Dialect, p.Sub),
			"super": dialect(p.Dialect, p.Super),
		}
		text, err := json.Marshal(line)
		if err != nil {
			return result, err
		}
		batch.Write(append(text, '\n'))
		result.cases = append(result.cases, p.Name)
	}
	before, err := verdicts(old, batch.Bytes(), len(m.pairs))
	if err != nil {
		return result, err
	}
	after, err := verdictsHere(batch.Bytes())
	if err != nil {
		return result, err
	}
	unknown, fewer, more := 0, 0, 0
	for i, p := range m.pairs {
		switch a, b := side(before[i]), side(after[i]); {
		case a == b:
		case a == "unknown":
			fewer++
		case b == "unknown":
			more++
		default:
			result.differences = append(
				result.differences,
				difference{
					name:    p.Name,
					what:    before[i] + " -> " + after[i],
					old:     string(p.Sub),
					changed: string(p.Super),
				},
			)
		}
		if after[i] == "unknown" {
			unknown++
		}
	}
	result.note = fmt.Sprintf("unknown: %d, %d more and %d fewer than the oracle's", unknown, more, fewer)
	if unknown*50 > len(m.pairs) {
		result.differences = append(
			result.differences,
			difference{
				name:    "all pairs",
				what:    "unknown",
				changed: fmt.Sprintf("%d of %d are unknown, which is more than 2 %%", unknown, len(m.pairs)),
			},
		)
	}
	return result, nil
}

// side is which of the two answers a verdict gives.
func side(verdict string) string {
	if slices.Contains([]string{"never", "may-not-fit"}, verdict) {
		return "not"
	}
	return verdict
}

// dialect names the dialect in the schema itself, where it names none.
func dialect(name string, schema json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(schema, &object); err != nil || object["$schema"] != nil {
		return schema // true, false, or it says so itself
	}
	rest := bytes.TrimPrefix(bytes.TrimSpace(schema), []byte("{"))
	uri := map[string]string{
		"draft4": "http://json-schema.org/draft-04/schema#",
		"draft7": "http://json-schema.org/draft-07/schema#",
	}[name]
	if len(object) > 0 {
		rest = append([]byte(","), rest...)
	}
	return append(fmt.Appendf(nil, "{\"$schema\":%q", uri), rest...)
}

// verdictsHere are this tree's verdicts; only the oracle has a command for them.
func verdictsHere(batch []byte) (all []string, err error) {
	for lines := json.NewDecoder(bytes.NewReader(batch)); lines.More(); {
		var line struct{ Sub, Super any }
		if err := lines.Decode(&line); err != nil {
			return nil, err
		}
		sub, super := schema.New(line.Sub, schema.Options{}), schema.New(line.Super, schema.Options{})
		verdict := schema.Verdict{}
		if sub.Compile() == nil && super.Compile() == nil {
			verdict = schema.Contains(sub, super, schema.Budget{})
		}
		all = append(all, verdict.Relation.String())
	}
	return all, nil
}

// verdicts asks the oracle about all pairs at once.
func verdicts(p program, batch []byte, pairs int) ([]string, error) {
	a := p.runWith(batch, "compat", "--batch", "-", "--format", "json")
	var all []string
	for lines := json.NewDecoder(bytes.NewReader([]byte(a.out))); lines.More(); {
		var line struct{ Verdict string }
		if err := lines.Decode(&line); err != nil {
			return nil, err
		}
		all = append(all, line.Verdict)
	}
	if len(all) != pairs {
		return nil, fmt.Errorf("%s compat --batch gave %d verdicts for %d pairs: %s", p.path, len(all), pairs, a.err)
	}
	return all, nil
}
