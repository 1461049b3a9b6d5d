package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// step is one feature to try, with the names that it has at the server.
type step struct {
	Feature   string         `json:"feature"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	// Tool that shows that a call was cancelled.
	Check    string            `json:"check"`
	URI      string            `json:"uri"`
	Prompt   string            `json:"prompt"`
	Argument map[string]string `json:"argument"`
}

type connection struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Token string `json:"token"`
	Steps []step `json:"steps"`
}

type plan struct {
	Connections []connection `json:"connections"`
	StepSeconds float64      `json:"stepSeconds"`
}

// report is a line of the output.
type report struct {
	Connection string `json:"connection"`
	Feature    string `json:"feature"`
	Observed   any    `json:"observed,omitempty"`
	Error      string `json:"error,omitempty"`
	// Whether this client has no such feature.
	Unsupported bool `json:"unsupported,omitempty"`
}

// followPlan follows all connections of a plan at the same time.
func followPlan(input io.Reader, output io.Writer) error {
	var given plan
	if err := json.NewDecoder(input).Decode(&given); err != nil {
		return err
	}
	reports := make(chan report)
	var group sync.WaitGroup
	for _, one := range given.Connections {
		group.Go(func() { followConnection(one, given.StepSeconds, reports) })
	}
	go func() {
		group.Wait()
		close(reports)
	}()
	encoder := json.NewEncoder(output)
	for one := range reports {
		if err := encoder.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// peer is a connected client with what it received.
type peer struct {
	id      string
	given   connection
	session *mcp.ClientSession
	mutex   sync.Mutex
	seen    map[string][]any
}

func (p *peer) add(kind string, value any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.seen[kind] = append(p.seen[kind], value)
}

func (p *peer) list(kind string) []any {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]any{}, p.seen[kind]...)
}

// until waits for count of kind and returns what was received until then.
func (p *peer) until(ctx context.Context, kind string, count int) ([]any, error) {
	for {
		if values := p.list(kind); len(values) >= count {
			return values, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("of %d %s, only %v were received", count, kind, p.list(kind))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

type bearer struct{ token string }

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.token != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+b.token)
	}
	return http.DefaultTransport.RoundTrip(request)
}

func followConnection(given connection, stepSeconds float64, reports chan<- report) {
	limit := time.Duration(stepSeconds * float64(time.Second))
	connecting, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	p := &peer{id: given.ID, given: given, seen: map[string][]any{}}
	session, err := p.connect(connecting, true)
	if err != nil {
		for _, one := range given.Steps {
			reports <- report{Connection: given.ID, Feature: one.Feature, Error: "connect: " + err.Error()}
		}
		return
	}
	defer session.Close()
	p.session = session
	reports <- report{Connection: given.ID, Feature: "protocol", Observed: session.InitializeResult().ProtocolVersion}
	for _, one := range given.Steps {
		act, ok := features[one.Feature]
		if !ok {
			reports <- report{Connection: given.ID, Feature: one.Feature, Unsupported: true}
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		observed, err := act(ctx, p, one)
		cancel()
		if err != nil {
			reports <- report{Connection: given.ID, Feature: one.Feature, Error: err.Error()}
		} else {
			reports <- report{Connection: given.ID, Feature: one.Feature, Observed: observed}
		}
	}
}

// connect opens a session that declares whether the client shows pages.
func (p *peer) connect(ctx context.Context, withPages bool) (*mcp.ClientSession, error) {
	return p.newClient(withPages).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: p.given.URL, HTTPClient: &http.Client{Transport: bearer{p.given.Token}},
	}, nil)
}

func (p *peer) newClient(withPages bool) *mcp.Client {
	capabilities := &mcp.ClientCapabilities{
		RootsV2:     &mcp.RootCapabilities{ListChanged: true},
		Sampling:    &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}},
		Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
	}
	if withPages {
		capabilities.AddExtension("io.modelcontextprotocol/ui", map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}})
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-client", Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities:                  capabilities,
		CreateMessageWithToolsHandler: p.sample,
		ElicitationHandler:            p.elicit,
		LoggingMessageHandler: func(_ context.Context, request *mcp.LoggingMessageRequest) {
			p.add("log", request.Params.Data)
		},
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			p.add("progress", request.Params.Progress)
		},
		ResourceUpdatedHandler: func(_ context.Context, request *mcp.ResourceUpdatedNotificationRequest) {
			p.add("update", request.Params.URI)
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///" + p.id, Name: p.id})
	return client
}

func (p *peer) sample(_ context.Context, request *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
	result := &mcp.CreateMessageWithToolsResult{Model: "m", Role: "assistant", StopReason: "endTurn"}
	if tools := request.Params.Tools; len(tools) > 0 {
		result.StopReason = "toolUse"
		result.Content = []mcp.Content{
			&mcp.ToolUseContent{ID: "use-1", Name: tools[0].Name, Input: map[string]any{"for": p.id}},
		}
	} else {
		result.Content = []mcp.Content{&mcp.TextContent{Text: "sampled for " + p.id}}
	}
	return result, nil
}

func (p *peer) elicit(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if request.Params.Mode == "url" {
		p.add("page", request.Params.URL)
		return &mcp.ElicitResult{Action: "accept"}, nil
	}
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": p.id}}, nil
}

// call returns the result of a tool as it is on the wire.
func (p *peer) call(ctx context.Context, tool string, arguments map[string]any, meta mcp.Meta) (any, error) {
	if arguments == nil {
		arguments = map[string]any{}
	}
	return p.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments, Meta: meta})
}

type act = func(context.Context, *peer, step) (any, error)

func plainCall(ctx context.Context, p *peer, s step) (any, error) {
	return p.call(ctx, s.Tool, s.Arguments, nil)
}

// features are the ones of this client. Names of the plan that are not here are reported as unsupported.
var features = map[string]act{
	"progress": func(ctx context.Context, p *peer, s step) (any, error) {
		meta := mcp.Meta{}
		meta["progressToken"] = "progress-" + p.id
		if _, err := p.call(ctx, s.Tool, s.Arguments, meta); err != nil {
			return nil, err
		}
		return p.until(ctx, "progress", 3)
	},
	"cancellation": func(ctx context.Context, p *peer, s step) (any, error) {
		before, err := p.call(ctx, s.Check, s.Arguments, nil)
		if err != nil {
			return nil, err
		}
		running, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		if _, err := p.call(running, s.Tool, s.Arguments, nil); err == nil {
			return nil, fmt.Errorf("the cancelled call returned a result")
		}
		for {
			after, err := p.call(ctx, s.Check, s.Arguments, nil)
			if err != nil {
				return nil, err
			}
			if first, second := wire(before), wire(after); first != second {
				return "cancelled", nil
			}
			time.Sleep(50 * time.Millisecond)
		}
	},
	"logging": func(ctx context.Context, p *peer, s step) (any, error) {
		meta := mcp.Meta{}
		if p.session.InitializeResult().ProtocolVersion < "2026" {
			if err := p.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
				return nil, err
			}
		} else {
			meta["io.modelcontextprotocol/logLevel"] = "debug"
		}
		if _, err := p.call(ctx, s.Tool, s.Arguments, meta); err != nil {
			return nil, err
		}
		return p.until(ctx, "log", 1)
	},
	"roots":            plainCall,
	"sampling":         plainCall,
	"sampling-tools":   plainCall,
	"elicitation-form": plainCall,
	"elicitation-url": func(ctx context.Context, p *peer, s step) (any, error) {
		result, err := p.call(ctx, s.Tool, s.Arguments, nil)
		if err != nil {
			return nil, err
		}
		pages, err := p.until(ctx, "page", 1)
		return map[string]any{"result": result, "pages": pages}, err
	},
	"completion": func(ctx context.Context, p *peer, s step) (any, error) {
		reference := &mcp.CompleteReference{Type: "ref/prompt", Name: s.Prompt}
		return p.session.Complete(ctx, &mcp.CompleteParams{
			Ref: reference, Argument: mcp.CompleteParamsArgument{Name: s.Argument["name"], Value: s.Argument["value"]},
		})
	},
	"templates": func(ctx context.Context, p *peer, s step) (any, error) {
		templates, err := p.session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{})
		if err != nil {
			return nil, err
		}
		read, err := p.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: s.URI})
		return map[string]any{"templates": templates, "read": read}, err
	},
	"subscriptions": func(ctx context.Context, p *peer, s step) (any, error) {
		if err := p.session.Subscribe(ctx, &mcp.SubscribeParams{URI: s.URI}); err != nil {
			return nil, err
		}
		if _, err := p.call(ctx, s.Tool, s.Arguments, nil); err != nil {
			return nil, err
		}
		updates, err := p.until(ctx, "update", 1)
		return updates, err
	},
	"resource-links": plainCall,
	"structured":     plainCall,
	"apps": func(ctx context.Context, p *peer, s step) (any, error) {
		tool, err := findTool(ctx, p.session, s.Tool)
		if err != nil {
			return nil, err
		}
		if tool == nil {
			return nil, fmt.Errorf("the tool %s is not listed", s.Tool)
		}
		ui, _ := tool.Meta["ui"].(map[string]any)
		uri, _ := ui["resourceUri"].(string)
		read, err := p.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		called, err := p.call(ctx, s.Check, nil, nil)
		return map[string]any{"page": uri, "read": read, "called": called}, err
	},
	"apps-page-tools": func(ctx context.Context, p *peer, s step) (any, error) {
		shown, err := findTool(ctx, p.session, s.Check)
		if err != nil {
			return nil, err
		}
		other, err := p.connect(ctx, false)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		hidden, err := findTool(ctx, other, s.Check)
		return pageTools{shown != nil, hidden != nil}, err
	},
}

// pageTools says to which clients a tool is listed that only pages call.
type pageTools struct {
	WithPages    bool `json:"withPages"`
	WithoutPages bool `json:"withoutPages"`
}

// findTool returns nil for a tool that is not listed.
func findTool(ctx context.Context, session *mcp.ClientSession, name string) (*mcp.Tool, error) {
	listed, err := session.ListTools(ctx, &mcp.ListToolsParams{})
	if err != nil {
		return nil, err
	}
	for _, tool := range listed.Tools {
		if tool.Name == name {
			return tool, nil
		}
	}
	return nil, nil
}

func wire(value any) string {
	bytes, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(bytes)
}
