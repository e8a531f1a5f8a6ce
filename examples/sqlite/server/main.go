// Server is an MCP server over a SQLite file, for the plan in the parent folder. It starts the program sqlite3, so that
// no database driver has to be compiled.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// begin creates the tables of a new file.
const begin = `CREATE TABLE IF NOT EXISTS stock (item TEXT PRIMARY KEY, amount INTEGER NOT NULL);
INSERT OR IGNORE INTO stock VALUES ('apple', 3), ('bread', 40), ('cheese', 7), ('date', 12);`

// A store is a SQLite file.
type store struct{ file string }

// do runs statements, and decodes the result of the last one into rows.
func (s store) do(ctx context.Context, rows any, statements string) error {
	run := exec.CommandContext(ctx, "sqlite3", "-json", "-bail", s.file)
	run.Stdin = strings.NewReader(".timeout 10000\n" + statements)
	var complaint strings.Builder
	run.Stderr = &complaint
	out, err := run.Output()
	switch {
	case err != nil && complaint.Len() > 0:
		return errors.New(strings.TrimSpace(complaint.String()))
	case err != nil:
		return err
	case rows == nil || len(out) == 0:
		return nil
	}
	return json.Unmarshal(out, rows)
}

// literal quotes a text for SQL.
func literal(text string) (string, error) {
	if strings.ContainsAny(text, "\x00\r\n") {
		return "", errors.New("an item has one line")
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", nil
}

type lowIn struct {
	Least int `json:"least" jsonschema:"how many there should be"`
}

type lowOut struct {
	Items []entry `json:"items"`
}

type entry struct {
	Item string `json:"item"`
	Left int    `json:"left"`
}

func (s store) low(ctx context.Context, _ *mcp.CallToolRequest, in lowIn) (*mcp.CallToolResult, lowOut, error) {
	out := lowOut{Items: []entry{}}
	err := s.do(ctx, &out.Items, fmt.Sprintf("SELECT item, amount AS left FROM stock WHERE amount < %d ORDER BY item;", in.Least))
	return nil, out, err
}

type orderIn struct {
	Item string `json:"item"`
	UpTo int    `json:"upTo" jsonschema:"how many there should be then"`
}

type orderOut struct {
	Item    string `json:"item"`
	Ordered int    `json:"ordered"`
}

func (s store) order(ctx context.Context, _ *mcp.CallToolRequest, in orderIn) (*mcp.CallToolResult, orderOut, error) {
	item, err := literal(in.Item)
	if err != nil {
		return nil, orderOut{}, err
	}
	var rows []orderOut
	err = s.do(ctx, &rows, fmt.Sprintf(`BEGIN IMMEDIATE;
CREATE TEMP TABLE done AS SELECT item, max(0, %d - amount) AS ordered FROM stock WHERE item = %s;
UPDATE stock SET amount = max(amount, %d) WHERE item = %s;
COMMIT;
SELECT item, ordered FROM done;`, in.UpTo, item, in.UpTo, item))
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("there is no item %q", in.Item)
	}
	if err != nil {
		return nil, orderOut{}, err
	}
	return nil, rows[0], nil
}

func main() {
	s := store{os.Getenv("STOCK_DB")}
	if s.file == "" {
		s.file = "stock.db"
	}
	ctx := context.Background()
	if err := s.do(ctx, nil, begin); err != nil {
		log.Fatalf("the file %s can't be opened (sqlite3 must be installed): %v", s.file, err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "stock", Version: "1"}, nil)
	no := false
	mcp.AddTool(server, &mcp.Tool{Name: "low", Description: "Lists the items of which fewer are left than there should be.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}}, s.low)
	mcp.AddTool(server, &mcp.Tool{Name: "order", Description: "Orders so many of an item that there are as many as there should be.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}}, s.order)
	if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
