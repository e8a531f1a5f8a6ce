package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/obelus-dev/obelus/compiler/catalogue"
)

// A Refused entry of a server's list is a tool that isn't taken for one.
type Refused struct{ Tool, Why string }

// Tools are the tools that the server lists, by name, and what of its list is refused: an odd
// entry spoils no other one, and of two tools of one name neither is believed.
func (s *Session) Tools(ctx context.Context) (tools []catalogue.Tool, refused []Refused, err error) {
	type entry struct {
		tool catalogue.Tool
		why  string // it is refused
	}
	listed, entries := map[string][]entry{}, 0
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		if pages == maxPages {
			return nil, nil, &Refusal{Message: fmt.Sprintf("it has more than %d pages of tools", maxPages)}
		}
		list, next, err := s.page(ctx, cursor)
		if err != nil {
			return nil, nil, err
		}
		if entries+len(list) > maxTools {
			return nil, nil, &Refusal{Message: fmt.Sprintf("it has more than %d tools", maxTools)}
		}
		for _, one := range list {
			t, why := s.toolOf(one)
			if entries++; t.Name == "" {
				refused = append(refused, Refused{fmt.Sprintf("(entry %d)", entries), why})
			} else {
				listed[t.Name] = append(listed[t.Name], entry{t, why})
			}
		}
		cursor = next
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		switch all := listed[name]; {
		case len(all) > 1:
			why := fmt.Sprintf("%d tools of this name are listed, and none is believed", len(all))
			refused = append(refused, Refused{name, why})
		case all[0].why != "":
			refused = append(refused, Refused{name, all[0].why})
		default:
			tools = append(tools, all[0].tool)
		}
	}
	slices.SortStableFunc(refused, func(a, b Refused) int { return strings.Compare(a.Tool, b.Tool) })
	return tools, refused, nil
}

// page is one of the pages of tools, and where they go on; "" at the end.
func (s *Session) page(ctx context.Context, cursor string) (list []json.RawMessage, next string, err error) {
	params := object{}
	if cursor != "" {
		params["cursor"] = cursor
	}
	came, err := s.ask(ctx, "tools/list", params)
	if err != nil {
		return nil, "", err
	}
	var page map[string]json.RawMessage
	if json.Unmarshal(came, &page) != nil {
		return nil, "", &Refusal{Message: "it is no mapping"}
	}
	if json.Unmarshal(page["tools"], &list) != nil || list == nil {
		return nil, "", &Refusal{Message: "it has no list \"tools\""}
	}
	if at := page["nextCursor"]; at != nil && json.Unmarshal(at, &next) != nil {
		return nil, "", &Refusal{Message: "where its list goes on (\"nextCursor\") is no text"}
	}
	return list, next, nil
}

// toolOf reads an entry of a list of tools; why says what is odd about one.
func (s *Session) toolOf(entry json.RawMessage) (t catalogue.Tool, why string) {
	var called map[string]json.RawMessage
	if json.Unmarshal(entry, &called) != nil {
		return t, "it is no mapping"
	}
	if json.Unmarshal(called["name"], &t.Name) != nil || t.Name == "" {
		return t, "it has no \"name\""
	}
	value, err := s.decode(entry)
	said, ok := value.(map[string]any)
	if err != nil || !ok {
		return t, fmt.Sprintf("it can't be read: %v", err)
	}
	t.Input, t.Output = said["inputSchema"], said["outputSchema"]
	for _, key := range []string{"inputSchema", "outputSchema", "annotations"} {
		if _, ok := said[key].(map[string]any); !ok && said[key] != nil {
			return t, fmt.Sprintf("its %q is no mapping", key)
		}
	}
	description, isText := said["description"].(string)
	if !isText && said["description"] != nil {
		return t, "its \"description\" is no text"
	}
	t.Description = description
	if execution, _ := said["execution"].(map[string]any); execution["taskSupport"] == "required" {
		return t, "it can only be called as a task (\"taskSupport\": \"required\")"
	}
	hints, _ := said["annotations"].(map[string]any)
	for _, name := range catalogue.Hints {
		is, ok := hints[name].(bool)
		if !ok && hints[name] != nil {
			return t, fmt.Sprintf("its %q is neither true nor false", name)
		} else if !ok {
			continue
		}
		if t.Hints == nil {
			t.Hints = map[string]bool{}
		}
		t.Hints[name] = is
	}
	t.SetDigest()
	return t, ""
}

// An Answer is what a tool gave back.
type Answer struct {
	Failed     bool
	Structured any    // structuredContent; nil where there is none
	Text       string // the texts of its content
	Content    []any  // all of its content, if that isn't all text
}

// Call calls a tool. The error is a [*Refusal] if the server has answered with one.
func (s *Session) Call(ctx context.Context, tool string, params []byte) (*Answer, error) {
	came, err := s.ask(ctx, "tools/call", object{"name": tool, "arguments": jsontext.Value(params)})
	if err != nil {
		return nil, err
	}
	value, err := s.decode(came)
	if err != nil {
		return nil, &Refusal{Message: err.Error()}
	}
	result, ok := value.(map[string]any)
	if !ok {
		return nil, &Refusal{Message: "it is no mapping"}
	}
	a := &Answer{Failed: result["isError"] != nil && result["isError"] != false,
		Structured: result["structuredContent"]}
	if _, asks := result["inputRequests"]; asks {
		return nil, &Refusal{Message: "it asks for more before it answers, which nobody here can give"}
	}
	content, ok := result["content"].([]any)
	if !ok && a.Structured == nil {
		return nil, &Refusal{Message: "it has neither \"structuredContent\" nor a list \"content\""}
	}
	var texts []string
	for _, one := range content {
		block, _ := one.(map[string]any)
		if text, ok := block["text"].(string); ok && block["type"] == "text" {
			texts = append(texts, text)
		} else {
			a.Content = content
		}
	}
	a.Text = strings.Join(texts, "\n")
	return a, nil
}
