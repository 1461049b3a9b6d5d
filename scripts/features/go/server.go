package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// cancelledKeys has the keys of the calls of "wait" that were cancelled.
var (
	cancelledKeys  = map[string]int{}
	cancelledMutex sync.Mutex
)

// serve offers a server with sessions (the legacy era) and one without (both eras; only the modern one can be asked there).
func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	for path, stateless := range map[string]bool{"/legacy/mcp": false, "/modern/mcp": true} {
		server := newServer()
		routes.Handle(path, mcp.NewStreamableHTTPHandler(
			func(*http.Request) *mcp.Server { return server },
			// Without it, a stateless server does not notice that a client cancels its call.
			&mcp.StreamableHTTPOptions{Stateless: stateless, PropagateRequestCancellation: stateless},
		))
	}
	base := "http://" + listener.Addr().String()
	fmt.Printf("%s/legacy/mcp\n%s/modern/mcp\n", base, base)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, routes)
}

type none struct{}

type key struct {
	Key string `json:"key"`
}

type address struct {
	URI string `json:"uri"`
}

func newServer() *mcp.Server {
	accept := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	server := mcp.NewServer(&mcp.Implementation{Name: "go-features", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler:  complete,
		SubscribeHandler:   accept,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	mcp.AddTool(server, &mcp.Tool{Name: "progress", Description: "Reports three steps"}, reportProgress)
	mcp.AddTool(server, &mcp.Tool{Name: "wait", Description: "Runs until it is cancelled"}, wait)
	mcp.AddTool(server, &mcp.Tool{Name: "cancelled", Description: "Counts the cancelled calls with a key"}, cancelled)
	mcp.AddTool(server, &mcp.Tool{Name: "log", Description: "Logs a message"}, logMessage)
	mcp.AddTool(server, &mcp.Tool{Name: "roots", Description: "Asks for roots"}, askRoots)
	mcp.AddTool(server, &mcp.Tool{Name: "sample", Description: "Asks a model"}, askModel(nil))
	mcp.AddTool(server, &mcp.Tool{Name: "sample_tools", Description: "Asks a model that may use a tool"}, askModel([]*mcp.Tool{{
		Name:        "weather",
		Description: "Weather of a city",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
	}}))
	mcp.AddTool(server, &mcp.Tool{Name: "elicit_form", Description: "Asks a person to fill in a form"}, elicit(&mcp.ElicitParams{
		Mode:            "form",
		Message:         "What is your name?",
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	}))
	mcp.AddTool(server, &mcp.Tool{Name: "elicit_url", Description: "Asks a person to visit a page"}, elicit(&mcp.ElicitParams{
		Mode: "url", Message: "Visit the page", URL: "https://example.com/visit", ElicitationID: "visit-1",
	}))
	mcp.AddTool(server, &mcp.Tool{Name: "structured", Description: "Returns structured content"}, structured)
	mcp.AddTool(server, &mcp.Tool{Name: "links", Description: "Returns a link to a resource"}, links)
	mcp.AddTool(server, &mcp.Tool{Name: "touch", Description: "Changes a resource"}, func(
		ctx context.Context, _ *mcp.CallToolRequest, in address,
	) (*mcp.CallToolResult, any, error) {
		err := server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: in.URI})
		return text("touched"), nil, err
	})
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "features://item/{id}", Name: "item", MIMEType: "text/plain",
	}, read)
	server.AddPrompt(&mcp.Prompt{
		Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "name"}},
	}, greet)
	return server
}

func text(value string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: value}}}
}

func reportProgress(ctx context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	for step := 1; step <= 3; step++ {
		err := request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: request.Params.GetProgressToken(), Progress: float64(step), Total: 3,
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return text("done"), nil, nil
}

func wait(ctx context.Context, _ *mcp.CallToolRequest, in key) (*mcp.CallToolResult, any, error) {
	select {
	case <-ctx.Done():
		cancelledMutex.Lock()
		cancelledKeys[in.Key]++
		cancelledMutex.Unlock()
		return nil, nil, ctx.Err()
	case <-time.After(20 * time.Second):
		return nil, nil, errors.New("nobody cancelled the call")
	}
}

func cancelled(_ context.Context, _ *mcp.CallToolRequest, in key) (*mcp.CallToolResult, any, error) {
	cancelledMutex.Lock()
	defer cancelledMutex.Unlock()
	return text(fmt.Sprintf("cancelled=%d", cancelledKeys[in.Key])), nil, nil
}

func logMessage(ctx context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	err := request.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "logged by go"})
	return text("logged"), nil, err
}

func askRoots(_ context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	answer, ok := request.Params.InputResponses["roots"].(*mcp.ListRootsResult)
	if !ok {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"roots": &mcp.ListRootsParams{}}}, nil, nil
	}
	uris := []string{}
	for _, root := range answer.Roots {
		uris = append(uris, root.URI)
	}
	return text(strings.Join(uris, " ")), nil, nil
}

func askModel(tools []*mcp.Tool) mcp.ToolHandlerFor[none, any] {
	return func(_ context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		if answer, ok := request.Params.InputResponses["answer"]; ok {
			wire, err := json.Marshal(answer)
			return text(string(wire)), nil, err
		}
		var params mcp.InputRequest = &mcp.CreateMessageWithToolsParams{
			MaxTokens: 100,
			Tools:     tools,
			Messages: []*mcp.SamplingMessageV2{
				{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: "Which weather has Oslo?"}}},
			},
		}
		if tools == nil {
			params = &mcp.CreateMessageParams{
				MaxTokens: 100,
				Messages: []*mcp.SamplingMessage{
					{Role: "user", Content: &mcp.TextContent{Text: "Who are you?"}},
				},
			}
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"answer": params}}, nil, nil
	}
}

func elicit(params *mcp.ElicitParams) mcp.ToolHandlerFor[none, any] {
	return func(_ context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		if answer, ok := request.Params.InputResponses["answer"]; ok {
			wire, err := json.Marshal(answer)
			return text(string(wire)), nil, err
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"answer": params}}, nil, nil
	}
}

type doubled struct {
	Value   int `json:"value"`
	Doubled int `json:"doubled"`
}

type value struct {
	Value int `json:"value"`
}

func structured(_ context.Context, _ *mcp.CallToolRequest, in value) (*mcp.CallToolResult, doubled, error) {
	return nil, doubled{in.Value, 2 * in.Value}, nil
}

func links(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.ResourceLink{URI: "features://item/7", Name: "item 7", MIMEType: "text/plain"},
	}}, nil, nil
}

func read(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := request.Params.URI
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: uri, MIMEType: "text/plain", Text: "content of " + uri},
	}}, nil
}

func greet(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: "Greet " + request.Params.Arguments["name"]}},
	}}, nil
}

func complete(_ context.Context, request *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	for _, name := range []string{"Ann", "Anton", "Bob"} {
		if strings.HasPrefix(name, request.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}
