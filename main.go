// Command deckhand watches a folder of Markdown notes and kanban boards and
// makes the boards the control plane for coding agents.
package main

import (
	"os"

	"deckhand/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
