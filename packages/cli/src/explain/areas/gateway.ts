/** Explanations of the codes of the package gateway. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { call, gateway, library, message, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  ARGUMENTS_INVALID: {
    cause:
      "The arguments do not match the input schema of the tool. The answer to the client lists each problem, and the signature of the tool, so that a model can correct the call.",
    files: serverFile("notes"),
    run: "toolcrib call notes:search --arg limit=ten --json",
    fix: "Correct the arguments: toolcrib describe TOOL shows the schema.",
  },
  AUDIT_UNAVAILABLE: {
    cause:
      "Each call is recorded before it is made. The record could not be written, mostly because the disk is full, so the call is not made.",
    did: "The disk of the home is full, and an agent calls a tool.",
    prints:
      'The call was not made because it could not be recorded: Cannot write the audit trail in "/home/ada/.toolcrib/audit": ENOSPC',
    unrun: "machine",
    tested: "packages/gateway/test/call-paths.process.test.ts",
    fix: "Free disk space, or make the file system writable. Calls go on as soon as a record can be written; no restart is needed.",
  },
  BACKEND_NOT_FOUND: {
    cause:
      "A tool of an embedding program has several backends, and the selector that the program gave chose none of them.",
    files: library(
      "const registry = createRegistry({ backendSelector: () => undefined });",
      'registry.registerLocal("search", "Finds notes", { type: "object" }, () => 3, { namespace: "notes" });',
      'registry.registerBackend({ name: "notes", url: "http://127.0.0.1:9000/notes" });',
      "await registry.start();",
      'await registry.execute("notes:search", {}).catch(({ cause }) => Promise.reject(cause));',
    ),
    did: "A selector returns undefined. The cause of the registry's error is that of the call.",
    run: "node program.mjs",
    fix: "Let the selector return one of the backends that it is given.",
  },
  CALLS_OVERLOADED: {
    cause:
      "serve.limits.max_concurrent_calls limits the calls of all clients that run at a time. All places are taken.",
    files: serverFile(
      "notes",
      ["mutability_class: read_only"],
      "serve: { auth: none, limits: { max_concurrent_calls: 1 } }\n",
    ),
    did: "The first call takes longer than the second one can wait.",
    before: ["toolcrib serve &", `${call("notes__export", {}, 6)} &`],
    run: call("notes__search", { query: "milk" }),
    fix: "Try again. If this load is normal, raise serve.limits.max_concurrent_calls, and look for slow tools in toolcrib audit list.",
  },
  CALLS_SHARE_EXCEEDED: {
    cause:
      "One client may use a share of the calls in flight only, so that others can still call. This client has used its share.",
    files: serverFile(
      "notes",
      ["mutability_class: read_only"],
      "serve: { auth: none, limits: { max_concurrent_calls: 2 } }\n",
    ),
    before: ["toolcrib serve &", `${call("notes__export", {}, 6)} &`],
    run: call("notes__search", { query: "milk" }),
    fix: "Wait for answers before sending more calls, or raise serve.limits.max_concurrent_calls.",
  },
  CALL_CANCELLED: {
    cause:
      "The client cancelled the call, closed its connection, or the gateway is stopping. The call may have had an effect.",
    files: serverFile("notes", ["mutability_class: read_only"], "serve: { auth: none }\n"),
    before: [
      "toolcrib serve &",
      `${call("notes__export")} &`,
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"not needed"}}',
      "kill %1",
    ],
    run: "toolcrib audit export 2>&1 | grep CALL_CANCELLED",
    fix: "If you did not cancel it, look at the time limit of the client, which is often shorter than that of the gateway.",
  },
  CALL_FAILED: {
    cause:
      "The call failed for a reason that has no code of its own, often a fault of the server of the tool.",
    did: "An embedding program connects a server by a transport of its own, which throws an error when it sends.",
    prints: '"crm:search" failed: the pipe is too long (call 0197c0de)',
    unrun: "setup",
    tested: "packages/gateway/test/registry-backends.test.ts",
    fix: "Look up the call with toolcrib audit show ID, and the log of its server in the folder logs of the home.",
  },
  CALL_TIMEOUT: {
    cause:
      "The tool did not answer within its deadline. It may still run, and the call may have had an effect.",
    files: serverFile("notes", ["containment: { max_execution_seconds: 1 }"]),
    did: "The tool needs longer than a second.",
    run: "toolcrib call notes:export",
    fix: "Ask for less in one call. If the tool needs longer, raise containment.max_execution_seconds of its server; the time limit of the client must be longer too.",
  },
  CALL_TOO_DEEP: {
    cause:
      "Composites and chains call tools, which can be composites again. A limit ends circles and very deep nesting.",
    did: "A saved tool calls another one, which calls the first.",
    prints: "Inner calls can be at most 16 levels deep",
    unrun: "setup",
    tested: "packages/gateway/test/call-paths.process.test.ts",
    fix: "Remove the circle, or let one composite do the work of several.",
  },
  CONTAINMENT_VIOLATION: {
    cause:
      "The server runs elsewhere (over the network), so its declared containment cannot be enforced there. A call that would need more than what is declared is refused here.",
    files: serverFile("notes", ["containment: { network_egress: deny }"]),
    did: "The tool has the annotation openWorldHint: true.",
    run: "toolcrib call notes:fetch",
    fix: "If the server may do that, declare it in containment of the server, as the hint shows. Otherwise remove the tool from the list of the client with policy.deny.",
  },
  INPUT_REQUIRED: {
    cause:
      "Not an error. The tool asked its client a question (elicitation) and ended this call with it; the audit trail records that. The client repeats the call with the answers.",
    did: "A tool asks which account to use.",
    prints: '{"type":"call.completed","data":{"tool":"crm:search","code":"INPUT_REQUIRED"}}',
    unrun: "setup",
    tested: "packages/gateway/test/parked-calls.security.process.test.ts",
    fix: "Nothing. If a client cannot answer questions, use one that declares elicitation.",
  },
  MUTABILITY_VIOLATION: {
    cause:
      "The server is declared with mutability_class: read_only, and the tool says that it writes, or does not say that it only reads.",
    files: serverFile("notes", ["mutability_class: read_only"]),
    run: "toolcrib call notes:delete_file",
    fix: "If writing is intended, change mutability_class of the server, as the hint shows. Otherwise the refusal is right.",
  },
  PARAMS_INVALID: {
    cause:
      "The parameters of a request are not those of its method, or an argument is one that the operator has set.",
    files: gateway.files,
    before: gateway.before,
    run: message("tools/call", { arguments: {} }),
    fix: "Leave out the argument that the message names, or correct the parameters.",
  },
  POLICY_DENIED: {
    cause:
      "The policy does not allow this client to use the tool: policy.deny names it, policy.allow does not, or a Cedar policy forbids it.",
    files: serverFile("notes", [], "policy: { deny: ['notes:delete_*'] }\n"),
    run: "toolcrib call notes:delete_file",
    repaired: { files: serverFile("notes") },
    fix: "toolcrib why TOOL --client NAME shows the rule that decided, and what would allow it. Change the policy only if the client should have the tool.",
  },
  POLICY_UNAVAILABLE: {
    cause:
      "The engine of Cedar policies failed while it judged the call, or before, more than three times within a minute. Nothing that it has to judge is permitted meanwhile. A failed engine is replaced by a new one.",
    did: "An agent makes a call that the policy engine fails at.",
    prints:
      '"notes__write_file" was not called: the policy engine failed; try again in a minute\nthe operator sees the reason: toolcrib why CALL',
    unrun: "machine",
    tested: "packages/gateway/test/policy-files.test.ts",
    fix: "Try again in a minute. If it fails again, toolcrib audit list --type policy.failed shows how: simplify the policies and report it.",
  },
  PROMPT_NOT_FOUND: {
    cause:
      "No prompt has this name, or the client may not see it. Names have the id of their server as prefix.",
    files: gateway.files,
    before: gateway.before,
    run: message("prompts/get", { name: "review" }),
    repaired: { run: message("prompts/get", { name: "notes__review" }) },
    fix: "List the prompts (prompts/list) and use a name as listed.",
  },
  RESOURCE_NOT_FOUND: {
    cause:
      "No server offers the resource to this client: the URI is misspelled, its server is not ready, or the policy hides it.",
    files: { "toolcrib.yaml": "tool_servers: []\nserve: { auth: none }\n" },
    before: ["toolcrib serve &"],
    run: message("resources/read", { uri: "file:///tmp/gone.txt" }),
    fix: "List the resources (resources/list, resources/templates/list), and see toolcrib status for servers that are not ready.",
  },
  RESULT_INVALID: {
    cause:
      "The result does not match the output schema that the tool declares, so a client that relies on the schema would fail.",
    files: serverFile("notes"),
    did: "The tool promises a number in its output schema and returns a text.",
    run: "toolcrib call notes:total",
    fix: "Report it to the maintainers of the server, or update it. The call itself was made.",
  },
  RESULT_TOO_LARGE: {
    cause:
      "The result has more bytes than serve.limits.result_max_bytes. Large results fill the context of a model and the memory of the gateway.",
    files: serverFile("long", [], "serve: { limits: { result_max_bytes: 65536 } }\n"),
    did: "The tool returns a text of 100 KiB.",
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Ask for less: filters, pages, a range. Raise the limit only if clients can use such results.",
  },
  TOOL_CHANGED: {
    cause:
      "The definition of the tool changed between the time when the client read it and the call, such as after an update of the server. The call could mean something else now, so it is not sent.",
    did: "A server is updated and started again while an agent works.",
    prints:
      '"github:create_issue" was not called: its definition changed\ndescribe or list the tool again, then repeat the call',
    unrun: "moment",
    tested: "packages/gateway/test/changed-calls.security.process.test.ts",
    fix: "Let the client list the tools again, and repeat the call if the new definition still fits.",
  },
  TOOL_DEFINITION_CHANGED: {
    cause:
      "The definition of the tool (description, schema, annotations) differs from the one that was accepted. A changed description can carry instructions for the model (rug pull), so the tool is held back.",
    did: "A server is updated from 1.2 to 1.3, and a description has changed.",
    prints:
      '"github:create_issue" waits for approval. The operator can see and approve it: toolcrib approve github',
    unrun: "setup",
    tested: "packages/gateway/test/definition-mutations.process.test.ts",
    fix: "toolcrib approve SERVER shows the difference. Approve it if it is a normal change; otherwise pin the former version of the server.",
  },
  TOOL_NOT_APPROVED: {
    cause:
      "With first_contact: approve, definitions of a server are held back until the operator has read and approved them. These are new.",
    did: "A new server was added with first_contact: approve, and an agent looks for its tools.",
    prints: '"notes:search" waits for approval. The operator can see and approve it: toolcrib approve notes',
    unrun: "setup",
    tested: "packages/store/test/definition-pins.test.ts",
    fix: "Read and approve them: toolcrib approve SERVER.",
  },
  TOOL_NOT_FOUND: {
    cause:
      "No tool has this name, or the client may not see it; the answer is the same, so that a client cannot find out what it may not use.",
    files: gateway.files,
    before: gateway.before,
    run: call("notes__serch", { query: "milk" }),
    repaired: { run: call("notes__search", { query: "milk" }) },
    fix: "Use a name from tools/list or search_tools. If the tool should be there, toolcrib why NAME --client CLIENT says why it is not.",
  },
  TOOL_UNAVAILABLE: {
    cause:
      "The tool exists and cannot be called now: its server is not ready or disabled, the tool is hidden, quarantined, or not approved.",
    files: serverFile("notes", ["first_contact: ask"]),
    run: "toolcrib call notes:search --arg query=milk",
    repaired: { before: ["toolcrib approve notes --yes"] },
    fix: "toolcrib status shows the state of the server and its reason; its log is in the folder logs of the home.",
  },
};
