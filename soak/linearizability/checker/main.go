// Checks recorded histories for linearizability with Porcupine.
//
// The argument is a file with one history as JSON on each line, as soak/linearizability/history.ts describes it.
// Prints the ids of histories that no order of their operations explains, as JSON, and draws each as HTML in the folder of the file.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	Client int   `json:"client"`
	Call   int64 `json:"call"`
	// Null when no answer came: the effect may come at any time, or never.
	Return *int64  `json:"return"`
	Input  input   `json:"input"`
	Output *output `json:"output"`
}

type history struct {
	ID         int         `json:"id"`
	Kind       string      `json:"kind"`
	Operations []operation `json:"operations"`
}

type result struct {
	Checked   int   `json:"checked"`
	Anomalies []int `json:"anomalies"`
	// Histories that took too long to decide.
	Undecided []int `json:"undecided"`
}

const patience = 20 * time.Second

func main() {
	path := os.Args[1]
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	found := result{Anomalies: []int{}, Undecided: []int{}}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one history
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			log.Fatal(err)
		}
		model, known := models[one.Kind]
		if !known {
			log.Fatalf("There is no model for %q.", one.Kind)
		}
		found.Checked++
		verdict, info := porcupine.CheckOperationsVerbose(model, operationsOf(one), patience)
		switch verdict {
		case porcupine.Illegal:
			found.Anomalies = append(found.Anomalies, one.ID)
			drawing := filepath.Join(filepath.Dir(path), fmt.Sprintf("anomaly-%d.html", one.ID))
			if err := porcupine.VisualizePath(model, info, drawing); err != nil {
				log.Print(err)
			}
		case porcupine.Unknown:
			found.Undecided = append(found.Undecided, one.ID)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		log.Fatal(err)
	}
}

// operationsOf lets operations without an answer return after all others.
func operationsOf(one history) []porcupine.Operation {
	var last int64
	for _, op := range one.Operations {
		if op.Call > last {
			last = op.Call
		}
		if op.Return != nil && *op.Return > last {
			last = *op.Return
		}
	}
	operations := make([]porcupine.Operation, 0, len(one.Operations))
	for _, op := range one.Operations {
		end := last + 1
		answer := output{IsUnknown: true}
		if op.Return != nil && op.Output != nil {
			end, answer = *op.Return, *op.Output
		}
		operations = append(operations, porcupine.Operation{
			ClientId: op.Client, Input: op.Input, Call: op.Call, Output: answer, Return: end,
		})
	}
	return operations
}
