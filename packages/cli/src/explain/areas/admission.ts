/** Explanations of the codes of the package admission. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { call, gateway, httpRequest, operatorRequest, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  APPROVALS_FULL: {
    cause:
      "Each client may have a limited number of calls that wait for the operator. All places of this client are taken, so the call is refused instead of kept. One client cannot fill the list of the operator.",
    files: serverFile("notes", ["containment: { filesystem_write: allow }"], "serve: { auth: none }\n"),
    before: [
      "toolcrib serve &",
      ...Array.from({ length: 110 }, (_, at) => call("notes__write_file", { text: `milk ${at}` })),
    ],
    run: call("notes__write_file", { text: "bread" }),
    fix: "Decide about the calls that wait: toolcrib approve lists them, toolcrib approve ID allows one, and --deny refuses it. A call leaves the list after an hour. If the tool only reads, declare mutability_class: read_only for its server, or list the tool in policy.waive_approval.",
  },
  APPROVAL_DENIED: {
    cause:
      "The operator, or the person at the client, said no to exactly this call: this tool with these arguments by this client. Repeating it gives the same answer.",
    files: serverFile("notes", ["containment: { filesystem_write: allow }"], "serve: { auth: none }\n"),
    before: [
      "toolcrib serve &",
      call("notes__write_file", { text: "milk" }),
      "toolcrib approve --deny call:0123456789abcdef",
    ],
    run: call("notes__write_file", { text: "milk" }),
    fix: "Tell the user, and do something else. A call with other arguments is a new call and waits for a decision of its own. An operator who denied it by mistake can let the client call again after ten minutes, when the decision is forgotten.",
  },
  APPROVAL_OUTDATED: {
    cause:
      "Between showing and approving, something changed: the definition of the tool, the definitions of a server that wait, or the rules that made the call need an approval. An approval counts only for what was shown.",
    files: gateway.files,
    did: "The operator approves definitions that do not wait.",
    before: gateway.before,
    run: operatorRequest("POST", "/api/v1/servers/notes/approve?digest=sha256:00"),
    fix: "Run toolcrib approve again, read what waits now, and approve that. For a call, let the client make it again; it waits under a new id if it still needs an approval.",
  },
  APPROVAL_REQUIRED: {
    cause:
      "The server of the tool has trust_state: unverified, and nothing says that the tool only reads (no mutability_class: read_only, no waiver). Such calls wait for the operator, one by one.",
    files: serverFile("notes", ["containment: { filesystem_write: allow }"], "serve: { auth: none }\n"),
    before: ["toolcrib serve &"],
    run: call("notes__write_file", { text: "milk" }),
    fix: 'Approve the call: toolcrib approve shows it and its id. Then let the client repeat it with the same arguments. To call such tools without approvals, write policy.waive_approval: ["notes:write_file"], or mutability_class: read_only for the server if it cannot change anything. trust_state: verified ends the questions, too, and its default containment also gives the process of the server the network: write containment: { network_egress: deny } with it to keep that closed.',
  },
  APPROVAL_TOO_LARGE: {
    cause:
      "An approval counts for exact arguments, which are kept and shown to the operator. These arguments are longer than a person can be expected to read.",
    files: serverFile("notes", ["containment: { filesystem_write: allow }"], "serve: { auth: none }\n"),
    before: ["toolcrib serve &"],
    run: call("notes__write_file", { text: "milk ".repeat(20_000) }),
    fix: "Pass less in one call, such as the path of a file instead of its content. If large arguments are normal for this tool and you trust it, waive approvals for it in policy.waive_approval.",
  },
  APPROVAL_UNAVAILABLE: {
    cause:
      "The call needs an approval, and the file with approvals in the home cannot be read or written: the disk is full, the file is damaged, or its permissions changed. Without it a call cannot be known to be approved, so it is refused.",
    files: serverFile("notes", ["containment: { filesystem_write: allow }"], "serve: { auth: none }\n"),
    before: ["umask 077; mkdir -p .toolcrib/approvals/calls.json/x", "toolcrib serve &"],
    run: call("notes__write_file", { text: "milk" }),
    fix: "Remove what the message names: free disk space, or let the user who runs Toolcrib own the home (toolcrib doctor --fix sets the modes). Then let the client call again.",
  },
  BUDGETS_UNREADABLE: {
    cause:
      "Limits with a budget (calls, bytes or cost an hour or a day) count what was used in a file of the home. It cannot be read, so nobody knows what is left, and calls that a budget limits are refused.",
    files: serverFile(
      "notes",
      [],
      "guards: { limits: [{ name: daily, tools: ['notes:*'], budget: { calls: 1 }, every: day }] }\n",
    ),
    before: ["umask 077; mkdir -p .toolcrib/guards; echo no > .toolcrib/guards/budgets.json"],
    run: "toolcrib call notes:search --arg query=milk",
    repaired: { before: ["rm .toolcrib/guards/budgets.json"] },
    fix: "Read the log of the gateway for the file and the reason. Restore the file, or remove it: budgets then start again from zero for the current hour and day.",
  },
  BUDGET_EXCEEDED: {
    cause:
      "A rule of guards.limits allows a number of calls, bytes or units of cost in an hour or a day, and this client has used them. The limit protects a paid API, or other clients.",
    files: serverFile(
      "notes",
      [],
      "guards: { limits: [{ name: daily, tools: ['notes:*'], budget: { calls: 1 }, every: day }] }\n",
    ),
    before: ["toolcrib call notes:search --arg query=milk"],
    run: "toolcrib call notes:search --arg query=bread",
    fix: "Wait until the hour or day of the limit ends; the error data has retryAt. The operator can raise the limit in guards.limits, or give the client a rule of its own.",
  },
  CALL_PAUSED: {
    cause:
      "The operator stopped this tool, its server, this client or everything, often because something goes wrong at the moment. Calls that ran when the pause began were cancelled.",
    files: serverFile("notes"),
    before: ["toolcrib pause server notes --reason 'disk is full'"],
    run: "toolcrib call notes:search --arg query=milk",
    repaired: { before: ["toolcrib resume server notes"] },
    fix: "Wait, or ask the operator. toolcrib status lists what is paused, by whom and until when; toolcrib resume with the same words ends it: toolcrib resume server notes in the example.",
  },
  OUTSIDE_WINDOW: {
    cause:
      "A rule of guards.limits allows the call at certain hours and days only, such as deployments during working hours.",
    files: serverFile(
      "notes",
      [],
      'guards:\n  limits:\n    - { name: nights, tools: ["notes:*"], windows: [{ from: "00:00", to: "00:01" }], timezone: UTC }\n',
    ),
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Call again when the window opens; retryAt in the data of the error says when. The operator can change windows and time_zone of the rule in guards.limits.",
  },
  PAUSES_UNREADABLE: {
    cause:
      "The file that says what is paused cannot be read. A pause that is not seen would be worse than a refused call, so every call is refused until the file can be read.",
    files: serverFile("notes"),
    before: ["umask 077; mkdir -p .toolcrib/guards; echo no > .toolcrib/guards/pauses.json"],
    run: "toolcrib call notes:search --arg query=milk",
    repaired: { before: ["rm .toolcrib/guards/pauses.json"] },
    fix: "See the reason with toolcrib status. Let the user who runs Toolcrib own the file (chown), or remove a damaged file: nothing is paused then, so pause again what has to stay paused.",
  },
  PAUSE_INVALID: {
    cause:
      "A request to pause or resume names something that cannot be paused: an unknown kind, an empty name, or a time that is not between a second and a year.",
    files: gateway.files,
    did: "A script of the operator asks the gateway for a pause of 10 ms.",
    before: gateway.before,
    run: operatorRequest("POST", "/api/v1/pauses/pause?kind=server&name=notes&seconds=0.01"),
    fix: "Name a tool, a server, a client or all, and a time from one second to one year, or none. toolcrib help pause shows the forms.",
  },
  RATE_LIMITED: {
    cause:
      "A rule of guards.limits allows a number of calls a second, minute or hour, and the call came too early.",
    files: serverFile(
      "notes",
      ["mutability_class: read_only"],
      "serve: { auth: none }\nguards: { limits: [{ name: slow, tools: ['notes:*'], rate: 1/hour }] }\n",
    ),
    before: ["toolcrib serve &", call("notes__search", { query: "milk" })],
    run: call("notes__search", { query: "bread" }),
    fix: "Call again after retryAt in the data of the error. If the rate is too low for normal work, raise it in guards.limits.",
  },
  SWITCH_INVALID: {
    cause:
      "A server or a tool to enable or disable is named by an id or name that nothing has. All names of one request are checked first, and nothing is switched if one of them is wrong.",
    files: serverFile("notes"),
    run: "toolcrib disable server note",
    repaired: { run: "toolcrib disable server notes" },
    fix: "Use the id from toolcrib status, or the name of the tool from toolcrib list. A pattern has to match at least one tool.",
  },
  SERVER_NOT_FOUND: {
    cause:
      "A request or an endpoint such as /mcp/s/NAME names a server that the configuration does not have. Often a server was renamed or removed, and a client still has the old address.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("POST /mcp/s/gitub", ["Content-Type: application/json"], "{}"),
    fix: "Use one of the ids that the hint or toolcrib status lists. If a client has the old endpoint, connect it again: toolcrib connect CLIENT.",
  },
};
