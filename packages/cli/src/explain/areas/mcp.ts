/** Explanations of the codes of the package mcp. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { call, gateway, message, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  CURSOR_STALE: {
    cause:
      "The cursor of a list (tools/list, resources/list) is malformed, or the list changed after it was given.",
    files: gateway.files,
    before: gateway.before,
    run: message("tools/list", { cursor: "page-2" }),
    repaired: { run: message("tools/list") },
    fix: "List again from the start, without a cursor.",
  },
  MCP_CANCELLED: {
    cause: "The side that sent the request cancelled it, or closed the response.",
    did: "A client closes the connection during a call.",
    prints: "The client closed the response",
    unrun: "setup",
    tested: "packages/mcp/test/message-router.test.ts",
    fix: "Nothing, if it was intended. Otherwise raise the time limit of the client.",
  },
  MCP_CLIENT_CAPABILITY_MISSING: {
    cause:
      "A server asked for something that only the client can give (sampling, elicitation, roots), and this client did not declare it.",
    files: serverFile(
      "sampling",
      ["interactive: true", "mutability_class: read_only"],
      "serve: { auth: none }\n",
    ),
    did: "The server asks for a model during the call, and answers with the error that it got.",
    before: ["toolcrib serve &"],
    run: call("notes__search", { query: "milk" }),
    fix: "Use a client that declares the capability, or a tool that does without. docs/reference/compatibility.md lists clients.",
  },
  MCP_CONNECTION_CLOSED: {
    cause:
      "The connection to the server ended before the answer came: the process ended, crashed, or the network broke. The request may have had an effect.",
    files: {
      "toolcrib.yaml":
        "tool_servers:\n  - id: notes\n    transport: { kind: stdio, command: node, args: [notes.mjs] }\n",
      "notes.mjs": 'console.error("NOTES_TOKEN is not set");\nprocess.exit(1);\n',
    },
    run: "toolcrib list --log-level warn 2>&1 | grep attempt",
    fix: "Read the log of the server in the folder logs of the home. The gateway connects again; repeat the call after checking its effect.",
  },
  MCP_CREDENTIALS_UNAVAILABLE: {
    cause:
      "A request to a server needs credentials that cannot be obtained: no login, a login that has ended, a secret that is missing.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: crm\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/status-401", auth: { type: oauth } }\n',
    },
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Log in: toolcrib login SERVER. For secrets: toolcrib secret test, and toolcrib secret set NAME.",
  },
  MCP_HTTP_ERROR: {
    cause: "The server answered with an HTTP status that is no answer of MCP, such as 404 or 500.",
    files: serverFile("status-404"),
    did: "The server has no MCP endpoint at this path.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { files: serverFile("notes") },
    fix: "404: correct the path of transport.url, often /mcp. 400: check the headers. 5xx: the server has a fault; try again later.",
  },
  MCP_INVALID_MESSAGE: {
    cause:
      "A message is not JSON-RPC 2.0, or its parameters are not those of its method. Often a program on stdio prints text to standard output, which belongs to messages only.",
    files: serverFile("page"),
    did: "The address is that of a web page.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { files: serverFile("notes") },
    fix: "Check that the URL or command is that of an MCP server. A server on stdio must print logs to standard error.",
  },
  MCP_MESSAGE_TOO_DEEP: {
    cause: "A message nests more deeply than is read.",
    files: serverFile("deep"),
    did: "The server returns lists of thousands of levels.",
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Ask for less, such as a part of the tree; report it to the maintainers of the server.",
  },
  MCP_MESSAGE_TOO_LARGE: {
    cause:
      "A message, a line or an event is larger than its limit, which protects the memory of the gateway.",
    files: serverFile("large"),
    did: "The tool returns a text of 65 MiB.",
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Ask for less in one call: filters, pages, a range.",
  },
  MCP_METHOD_NOT_FOUND: {
    cause: "The method does not exist, or the other side did not declare the capability for it.",
    files: gateway.files,
    before: gateway.before,
    run: message("resource/list"),
    repaired: { run: message("resources/list") },
    fix: "Correct the name of the method. A client should use only what initialize declared.",
  },
  MCP_OVERLOADED: {
    cause: "More requests are in flight than the limit allows, or a server does not read its input.",
    did: "A client sends hundreds of requests without waiting for answers.",
    prints: "More than 128 requests are in flight\nwait for answers before sending more",
    unrun: "load",
    tested: "packages/mcp/test/client-calls.process.test.ts",
    fix: "Wait for answers before sending more. For a server that does not read its input, see its log.",
  },
  MCP_REMOTE_ERROR: {
    cause: "The other side answered the request with a JSON-RPC error; the message is its own.",
    did: "An embedding program gets a prompt of a server, which answers with an error; on the audit trail it is UPSTREAM_ERROR.",
    prints: "Unknown error",
    unrun: "setup",
    tested: "packages/mcp/test/client-calls.process.test.ts",
    fix: "The message comes from the server: correct the request, or see its log.",
  },
  MCP_SESSION_EXPIRED: {
    cause:
      "The server does not know the session any more: it was restarted, or the session was idle for too long. The gateway opens another one.",
    files: serverFile("restarted"),
    did: "The server was restarted, and knows no session of before.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Repeat the request; a new session is opened. If it repeats with each request, several instances of the server do not share sessions.",
  },
  MCP_SESSION_QUOTA: {
    cause: "One client may have a share of the sessions or streams of the gateway only.",
    did: "A client opens a session for each request and ends none.",
    prints: "This client has used up its share of sessions\nend some of its sessions first",
    unrun: "load",
    tested: "packages/mcp/test/http-legacy.test.ts",
    fix: "Let the client use one session, and end it with DELETE. Sessions that are idle end by themselves.",
  },
  MCP_SHARE_EXCEEDED: {
    cause: "One client may use a share of the requests in flight, or of the memory for them, only.",
    did: "One client sends a hundred large requests at once.",
    prints:
      "This client has used up its share of the 512 requests in flight\nwait for answers before sending more",
    unrun: "load",
    tested: "packages/mcp/test/http-legacy.test.ts",
    fix: "Wait for answers before sending more, or send less data with each request.",
  },
  MCP_SHUTTING_DOWN: {
    cause: "The gateway stops. It takes no request any more, or gives up one that is in flight.",
    did: "The gateway is restarted while a client sends a request.",
    prints: "The gateway is shutting down\ntry again later",
    unrun: "moment",
    tested: "packages/cli/test/serve.process.test.ts",
    fix: "Send the request again when the gateway runs. toolcrib bridge does this by itself where no call can be made twice.",
  },
  MCP_TIMEOUT: {
    cause:
      "The server did not answer a request, or did not finish its handshake, in time. At its first start, a server started by npx or uvx may still be fetching its packages.",
    did: "A server needs two minutes for its first start.",
    prints:
      "The server did not finish its handshake within 60000 ms\nsee its log; a slow server may need more time",
    unrun: "setup",
    tested: "packages/mcp/test/client-calls.process.test.ts",
    fix: "See the log of the server. A server has 60 s to start: if it needs longer, let it do its long work after the handshake. For slow calls, raise containment.max_execution_seconds.",
  },
  MCP_UNAUTHORIZED: {
    cause:
      "The server refused the credentials (HTTP 401 or 403): a missing, wrong or expired token, or too few rights.",
    files: serverFile("status-401"),
    did: "The server needs a token.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "With OAuth: toolcrib login SERVER. With a token: create a new one at the service, and store it with toolcrib secret set NAME.",
  },
  MCP_UNREACHABLE: {
    cause:
      "The server cannot be reached, so no request was sent: it does not run, the URL is wrong, the name has no address, or a firewall is in between.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: notes\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9/mcp" }\n',
    },
    did: "Nothing listens on the port.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { files: serverFile("notes") },
    fix: "Start the server, correct transport.url, or set transport.proxy if the machine needs a proxy.",
  },
  MCP_UNREAD_LIMIT: {
    cause:
      "A client does not read its answers, so they fill memory. Further answers are dropped; calls were made.",
    did: "A client sends calls and does not read its stream.",
    prints:
      "The answer was dropped: this client has too many unread answers; the call may have had an effect\nread earlier answers first",
    unrun: "setup",
    tested: "packages/mcp/test/slow-clients.test.ts",
    fix: "Let the client read its stream, and ask for less at once.",
  },
  MCP_UNSUPPORTED_VERSION: {
    cause: "Client and server have no revision of MCP in common.",
    files: serverFile("future"),
    did: "The server speaks a later revision of the protocol only.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Update the older side. docs/reference/compatibility.md lists the revisions that Toolcrib speaks.",
  },
};
