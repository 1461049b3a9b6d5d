// The Go SDK in the feature table: a server with every feature, and a client.
//
//	features serve    serves both eras, prints the URL of each, and runs until the end of stdin
//	features connect  reads a plan from stdin, follows it, and writes what it observed to stdout
package main

import (
	"fmt"
	"os"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		err = serve()
	case len(os.Args) == 2 && os.Args[1] == "connect":
		err = followPlan(os.Stdin, os.Stdout)
	default:
		err = fmt.Errorf("usage: %s serve|connect", os.Args[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
