/** Explanations of the codes of the package upstream. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { call, gateway, httpRequest, jobsFile, message, serverFile, taskCall, taskId } from "../samples.ts";

export const explanations: Explanations = {
  UPSTREAM_ASK_REFUSED: {
    cause:
      "The server asked the client something (sampling, elicitation, roots), and its entry says interactive: false.",
    files: serverFile("sampling", ["interactive: false", "mutability_class: read_only"]),
    did: "The server asks for a model during the call, and answers with the error that it got.",
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Remove interactive: false from the entry if you want the server to ask clients.",
  },
  UPSTREAM_ASK_UNATTRIBUTED: {
    cause:
      "The server asked something on a session that all clients share, or outside of any call, so nobody knows which client to ask.",
    files: serverFile("early", ["interactive: true", "mutability_class: read_only"]),
    did: "The server asks for a model before it lists its tools, and answers calls with the error that it got.",
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Call again: the client gets a session of its own with this server.",
  },
  UPSTREAM_CAPABILITY_MISSING: {
    cause: "The server asks for something that the client of the call did not declare.",
    files: serverFile("visit", ["mutability_class: read_only"], "serve: { auth: none }\n"),
    did: "The server asks a question with a page to visit, and the client has declared forms only.",
    before: [
      "toolcrib serve &",
      httpRequest(
        "POST /mcp",
        [
          "Content-Type: application/json",
          "Accept: application/json, text/event-stream",
          "MCP-Protocol-Version: 2026-07-28",
          "Mcp-Method: tools/call",
          "Mcp-Name: notes__search",
        ],
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"notes__search","arguments":{"query":"milk"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"example","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}',
      ),
      "kill %1",
    ],
    run: "toolcrib audit export 2>&1 | grep CAPABILITY",
    fix: "Use a client that declares it, or do the step elsewhere first, such as toolcrib login SERVER.",
  },
  UPSTREAM_CLOSED: {
    cause: "The server ended or closed its connection before it answered. The call may have had an effect.",
    files: serverFile("lost"),
    did: "The server ends the connection of each call.",
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Read its log in the folder logs of the home, check the effect, and repeat the call: the server is started again.",
  },
  UPSTREAM_ERROR: {
    cause: "The server answered with a JSON-RPC error. The message is that of the server.",
    files: gateway.files,
    did: "The server answers the request with an error, which the client gets; the audit trail has the code.",
    before: [...gateway.before, message("prompts/get", { name: "notes__review" }), "kill %1"],
    run: "toolcrib audit export 2>&1 | grep UPSTREAM_ERROR",
    fix: "Correct the arguments as the message says. If it is a fault of the server, see its log.",
  },
  UPSTREAM_LIST_ENDLESS: {
    cause:
      "A list of the server does not end: its cursor repeats, or there are more pages, items or characters than are read.",
    files: serverFile("endless"),
    did: "The server gives the same cursor with each page of its tools.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Report it to the maintainers of the server, or update it.",
  },
  UPSTREAM_LOGIN_NEEDED: {
    cause:
      "The server needs a login, and the person at the client was asked to visit a page for it. The call was not made.",
    did: "A client calls a tool of a server with per-user OAuth for the first time.",
    prints: 'The login to the server "crm" was declined',
    unrun: "setup",
    tested: "packages/gateway/test/client-logins.process.test.ts",
    fix: "Visit the page that the client shows, log in, and repeat the call. The operator can log in with toolcrib login SERVER.",
  },
  UPSTREAM_PARKED_LIMIT: {
    cause:
      "Calls that wait for answers of a person keep a place, and all places, or those of this client, are taken.",
    did: "An agent starts many calls that each ask a question, and answers none.",
    prints:
      "This client's share of the calls that may wait for answers at a time are in use\nanswer the questions of other calls first",
    unrun: "load",
    tested: "packages/gateway/test/rounds.security.process.test.ts",
    fix: "Answer the open questions, or let them time out.",
  },
  UPSTREAM_QUARANTINED: {
    cause:
      "The server repeatedly sent messages over a limit, which harms the gateway. It is not used until the operator releases it.",
    files: serverFile("large", ["mutability_class: read_only"], "serve: { auth: none }\n"),
    did: "The server sends an answer of 33 MiB to each call.",
    before: ["toolcrib serve &", ...[1, 2, 3].map(() => call("notes__search", { query: "milk" }))],
    run: call("notes__search", { query: "milk" }),
    fix: "Read the log of the server, update or report it, then: toolcrib release SERVER.",
  },
  UPSTREAM_QUESTIONS_ENDLESS: {
    cause: "Within one call, the server asked in more rounds than are allowed.",
    did: "A server asks the same question again after each answer.",
    prints:
      'The server "crm" asked in more than 100 rounds within one call\nreport it to the maintainers of the server',
    unrun: "setup",
    tested: "packages/gateway/test/parked-calls.security.process.test.ts",
    fix: "Report it to the maintainers; give arguments that leave no questions.",
  },
  UPSTREAM_QUESTION_OVER: {
    cause:
      "The answers belong to a question that is not open any more: its call ended, or nobody answered in time.",
    did: "A person answers a form after lunch.",
    prints: "The question cannot be answered: its call ended",
    unrun: "setup",
    tested: "packages/gateway/test/parked-calls.security.process.test.ts",
    fix: "Make the call again, and answer in time.",
  },
  UPSTREAM_QUEUE_FULL: {
    cause: "The server runs as many calls as it may, and the queue before it is full.",
    files: serverFile(
      "notes",
      ["mutability_class: read_only"],
      "serve: { auth: none, limits: { max_calls_per_server: 1, max_queued_calls_per_server: 1 } }\n",
    ),
    did: "A call is in flight, and the server does not answer. Of two further calls, one waits.",
    before: ["toolcrib serve &", `${call("notes__export", {}, 1)} &`],
    run: "{ toolcrib call notes:search -a query=milk & toolcrib call notes:search -a query=milk & } 2>&1 | grep -m 1 QUEUE",
    fix: "Try again. If the server can do more at a time, raise its concurrency; otherwise raise serve.limits.max_queued_calls_per_server.",
  },
  UPSTREAM_QUEUE_SHARE: {
    cause: "One client may use a share of the calls of a server only.",
    did: "One agent sends a hundred calls to one server at once.",
    prints:
      'This client has used up its share of the calls to the server "crm"\nwait for answers before sending more, or raise serve.limits.max_queued_calls_per_server',
    unrun: "load",
    tested: "packages/gateway/test/fair-calls.security.process.test.ts",
    fix: "Wait for answers before sending more.",
  },
  UPSTREAM_RESULT_INVALID: {
    cause:
      "The server answered with something that is not valid in MCP. It is not passed on; the call was made.",
    files: serverFile("text"),
    did: "The server returns content as a text instead of a list.",
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Update the server, or report it to its maintainers.",
  },
  UPSTREAM_SESSION_LIMIT: {
    cause:
      "With isolated sessions each client has a session, often a process, of its own. All, or the share of this client, are in use.",
    did: "Forty clients use a server with session: per_client.",
    prints: 'All 32 client sessions of the server "crm" are in use\ntry again when other calls have ended',
    unrun: "load",
    tested: "packages/upstream/test/source-clients.process.test.ts",
    fix: "Try again later, or let clients share the server if it keeps no state for each.",
  },
  UPSTREAM_TASK_CANCELLED: {
    cause: "The server runs the call as a task, and cancelled it itself.",
    files: jobsFile("jobs-cancelled"),
    did: "The server cancels the task.",
    before: ["toolcrib serve &", taskCall, message("tasks/result", { taskId }), "kill %1"],
    run: "toolcrib audit export 2>&1 | grep UPSTREAM_TASK_CANCELLED",
    fix: "See the log of the server for the reason.",
  },
  UPSTREAM_TASK_LOST: {
    cause: "The server ran the call as a task and does not know it any more, such as after a restart.",
    files: jobsFile("jobs-lost"),
    did: "The server forgets the task.",
    before: ["toolcrib serve &", taskCall],
    run: message("tasks/result", { taskId }),
    fix: "Check whether the work was done, then repeat the call if it was not.",
  },
  UPSTREAM_UNAVAILABLE: {
    cause:
      "The server is not connected: it is starting, has failed, or waits for its next attempt. The message has the reason, the hint the time.",
    did: "A server crashed at its start because a token is missing.",
    prints:
      'The server "github" is not available to this client: it ended with exit code 1\nit is tried again in 8 s',
    unrun: "setup",
    tested: "packages/upstream/test/source-clients.process.test.ts",
    fix: "toolcrib status and the log of the server show the reason. Repair it; the gateway tries again by itself.",
  },
  UPSTREAM_WATCH_REFUSED: {
    cause:
      "The resource cannot be watched: its server does not report changes, or the maximum number is watched: 10,000 at one server, of which one client gets at most half.",
    ...gateway,
    did: "A client subscribes to a resource of a server of 2026-07-28, which reports no changes of it.",
    prints: 'The server does not report changes of "note:1"',
    unrun: "setup",
    tested: "packages/upstream/test/source-modern.process.test.ts",
    fix: "Read the resource again when you need it.",
  },
};
