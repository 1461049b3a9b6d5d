// biome-ignore-all format: generated, one piece
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of users
/** The output of the examples; written by `npm test -- packages/cli/test/explain-examples.process.test.ts --update`. */

/** The output of each example that runs, by code. */
export const recorded: { readonly [code: string]: string } = {
  "-32001":
    "HTTP 404 Not Found\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32001,\"message\":\"Session not found\",\"data\":{\"code\":\"MCP_INVALID_MESSAGE\"}}}",
  "-32002":
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32002,\"message\":\"Resource not found\",\"data\":{\"toolcrib/server\":\"notes\",\"toolcrib/trustState\":\"unverified\"}}}",
  "-32020":
    "HTTP 400 Bad Request\n{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32020,\"message\":\"Header mismatch: the header \\\"mcp-method\\\" says \\\"tools/list\\\", the body says \\\"tools/call\\\"\",\"data\":{\"code\":\"MCP_INVALID_MESSAGE\"}}}",
  "-32021":
    "HTTP 200 OK\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"code\\\":-32021,\\\"message\\\":\\\"The client that made this call does not support sampling (use a client that declares the capability \\\\\\\"sampling\\\\\\\")\\\",\\\"data\\\":{\\\"requiredCapabilities\\\":{\\\"sampling\\\":{}},\\\"code\\\":\\\"MCP_CLIENT_CAPABILITY_MISSING\\\",\\\"hint\\\":\\\"use a client that declares the capability \\\\\\\"sampling\\\\\\\"\\\"}}\"}],\"_meta\":{\"toolcrib/server\":\"notes\",\"toolcrib/trustState\":\"unverified\",\"io.modelcontextprotocol/serverInfo\":{\"name\":\"toolcrib\",\"title\":\"Toolcrib\",\"version\":\"0.1.0\"}},\"resultType\":\"complete\"}}",
  "-32022":
    "HTTP 400 Bad Request\n{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32022,\"message\":\"Unsupported protocol version: \\\"2031-01-01\\\"\",\"data\":{\"supported\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"],\"requested\":\"2031-01-01\",\"code\":\"MCP_UNSUPPORTED_VERSION\"}}}",
  "-32600":
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid request: \\\"jsonrpc\\\" must be \\\"2.0\\\"\",\"data\":{\"code\":\"MCP_INVALID_MESSAGE\"}}}",
  "-32601":
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,\"message\":\"Method not found: \\\"resource/list\\\"\",\"data\":{\"code\":\"MCP_METHOD_NOT_FOUND\"}}}",
  "-32602":
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"Unknown tool: \\\"notes__serch\\\" (did you mean \\\"notes__search\\\"?)\",\"data\":{\"code\":\"TOOL_NOT_FOUND\",\"hint\":\"did you mean \\\"notes__search\\\"?\"}}}",
  "-32603":
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"the prompt cannot be filled\",\"data\":{\"toolcrib/server\":\"notes\",\"toolcrib/trustState\":\"unverified\"}}}",
  "-32700":
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error: JSON text is not valid at line 1, column 19 (position 18): expected a name in \\\"double quotes\\\", found the end of the text\",\"data\":{\"code\":\"MCP_INVALID_MESSAGE\"}}}",
  APPROVALS_FULL:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\\"notes__write_file\\\" was not called: each call needs the operator's approval, because its server \\\"notes\\\" is unverified and the tool is not known to be read-only, and too many calls of this client wait for one\\nHint: wait until the operator decided about earlier calls (toolcrib approve)\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"APPROVALS_FULL\",\"toolcrib/callId\":\"CALL\"}}}",
  APPROVAL_DENIED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\\"notes__write_file\\\" was not called: exactly this call was denied (call:0123456789abcdef)\\nHint: do not repeat it; ask the user what to do instead\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"APPROVAL_DENIED\",\"toolcrib/callId\":\"CALL\"}}}",
  APPROVAL_OUTDATED:
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Nothing was approved: the definitions of \\\"notes\\\" that wait for approval changed in the meantime (look at them again, then approve them)\",\"data\":{\"code\":\"APPROVAL_OUTDATED\",\"hint\":\"look at them again, then approve them\"}}}",
  APPROVAL_REQUIRED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\\"notes__write_file\\\" was not called: each call needs the operator's approval, because its server \\\"notes\\\" is unverified and the tool is not known to be read-only\\nHint: the operator can approve exactly this call: toolcrib approve call:0123456789abcdef; repeat the call with the same arguments within 10 minutes of the approval. To call the tool without approvals, the operator can set policy.waive_approval: [\\\"notes__write_file\\\"]; or trust_state: verified for the server, which also gives a process the network unless it has containment: { network_egress: deny }\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"APPROVAL_REQUIRED\",\"toolcrib/callId\":\"CALL\"}}}",
  APPROVAL_TOO_LARGE:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\\"notes__write_file\\\" was not called: each call needs the operator's approval, because its server \\\"notes\\\" is unverified and the tool is not known to be read-only, and nobody can read its arguments for one: they have more than 65536 bytes, or a name in the call is too long\\nHint: pass less in one call. To call the tool without approvals, the operator can set policy.waive_approval: [\\\"notes__write_file\\\"]\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"APPROVAL_TOO_LARGE\",\"toolcrib/callId\":\"CALL\"}}}",
  APPROVAL_UNAVAILABLE:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\\"notes__write_file\\\" was not called: each call needs the operator's approval, because its server \\\"notes\\\" is unverified and the tool is not known to be read-only, and approvals cannot be read or stored: Cannot read \\\"/home/ada/.toolcrib/approvals/calls.json\\\": it is a directory (EISDIR)\\nHint: remove the file: calls that wait for approval then have to be requested again\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"APPROVAL_UNAVAILABLE\",\"toolcrib/callId\":\"CALL\"}}}",
  ARGUMENTS_INVALID:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"Invalid arguments for \\\"notes__search\\\":\\n- the arguments must have required property 'query' (keyword: required)\\n  schema of query: {\\\"type\\\":\\\"string\\\"}\\n- /limit must be integer (keyword: type)\\n  schema: {\\\"type\\\":\\\"integer\\\"}\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"ARGUMENTS_INVALID\",\n    \"toolcrib/callId\": \"CALL\"\n  }\n}",
  AUDIT_ANCHOR_UNREADABLE:
    "error AUDIT_ANCHOR_UNREADABLE: Anchor file \"/home/ada/anchors.jsonl\" has no anchor: it proves nothing\nhint: name the file of audit.anchor.file, or the one that audit.anchor.command fills: a regular file with one anchor a line",
  AUDIT_DAMAGED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"code\":\"AUDIT_DAMAGED\",\"reason\":\"The audit trail is not what was signed before: the records up to 4 were signed at TIME, and the last one was 3\",\"msg\":\"audit trail\"}",
  AUDIT_INDEX_FAILED:
    "error AUDIT_INDEX_FAILED: Cannot move the damaged index \"/home/ada/.toolcrib/toolcrib.db\" away\nhint: delete it; it is rebuilt from the segments",
  AUDIT_INDEX_REBUILT:
    "AUDIT_INDEX_REBUILT The audit index \".toolcrib/toolcrib.db\" was damaged and is rebuilt; the damaged file is kept next to it",
  AUDIT_QUERY_INVALID:
    "AUDIT_QUERY_INVALID: Cannot return 5000 audit records; a whole number from 1 to 1000 is allowed",
  AUDIT_RETENTION_FAILED:
    "AUDIT_RETENTION_FAILED Cannot delete old audit segments: Cannot write \".toolcrib/audit-retention.json\": it is a directory (EISDIR)",
  AUDIT_SEGMENT_DAMAGED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"code\":\"AUDIT_SEGMENT_DAMAGED\",\"reason\":\"Audit segment \\\"001-00000001.jsonl\\\" ended in an unfinished line of 15 bytes at byte N; writing continues after it\",\"msg\":\"audit trail\"}",
  AUDIT_UNREADABLE:
    "{\n  \"error\": {\n    \"code\": \"AUDIT_UNREADABLE\",\n    \"message\": \"Cannot read audit segment \\\"002-00000001.jsonl\\\": it is a directory, not a regular file\",\n    \"hint\": \"move it out of the folder audit of the home\"\n  }\n}\nerror AUDIT_UNREADABLE: Cannot read audit segment \"002-00000001.jsonl\": it is a directory, not a regular file\nhint: move it out of the folder audit of the home",
  AUDIT_UNWRITABLE:
    "error AUDIT_UNWRITABLE: Cannot start the audit trail in \"/home/ada/.toolcrib/audit\": EFBIG\nhint: free disk space, make the file system of the home directory writable, or use another home with --home",
  BACKEND_NOT_FOUND:
    "BACKEND_NOT_FOUND: The backend selector chose no backend of \"notes:search\"",
  BUDGETS_UNREADABLE:
    "error BUDGETS_UNREADABLE: \"notes__search\" was not called: what was used of its budgets cannot be read\nhint: the operator can repair or remove the file that the log of the gateway names",
  BUDGET_EXCEEDED:
    "error BUDGET_EXCEEDED: \"notes__search\" was not called (limit \"daily\"): 0 of 1 calls a day are left\nhint: it is possible again in N h, at TIME; the operator can change guards.limits",
  CALLS_OVERLOADED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"More than 1 calls are in flight\\nHint: try again after other calls have ended, or raise serve.limits.max_concurrent_calls\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"CALLS_OVERLOADED\",\"toolcrib/callId\":\"CALL\"}}}",
  CALLS_SHARE_EXCEEDED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"This client has used up its share of the 2 calls in flight\\nHint: wait for answers before sending more, or raise serve.limits.max_concurrent_calls\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"CALLS_SHARE_EXCEEDED\",\"toolcrib/callId\":\"CALL\"}}}",
  CALL_CANCELLED:
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"call.completed\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"depth\":0,\"client\":{\"issuer\":\"toolcrib:anonymous\",\"subject\":\"anonymous\",\"name\":\"anonymous\",\"clientInfo\":{\"name\":\"example\",\"version\":\"1.0.0\"}},\"tool\":\"notes:export\",\"origin\":\"server\",\"server\":\"notes\",\"outcome\":\"cancelled\",\"code\":\"CALL_CANCELLED\",\"durationMs\":N}}",
  CALL_PAUSED:
    "error CALL_PAUSED: \"notes__search\" was not called: server \"notes\" is paused (disk is full)\nhint: the operator can resume it: toolcrib resume server notes",
  CALL_TIMEOUT:
    "error CALL_TIMEOUT: \"notes__export\" did not answer within 1 s\nhint: containment.max_execution_seconds of the tool server \"notes\" sets this limit",
  CEDAR_ANNOTATION:
    "team.cedar:1:2: error CEDAR_ANNOTATION\nUnknown annotation @mesage\n1 | @mesage(\"ask the team\")\n     ^^^^^^\nhint: did you mean @message?",
  CEDAR_ID_DUPLICATE:
    "team.cedar:3:5: error CEDAR_ID_DUPLICATE\nTwo policies of this file have the id \"all\"\n3 | @id(\"all\")\n        ^^^^^\nhint: give each its own @id\n\nteam.cedar:4:29: error CEDAR_INVALID\nUnrecognized action `Action::\"manage\"`\n4 | forbid(principal, action in Action::\"manage\", resource);\n                                ^^^^^^^^^^^^^^^^\nhint: did you mean `Action::\"save\"`?",
  CEDAR_INVALID:
    "team.cedar:1:54: error CEDAR_INVALID\nAttribute `owner` on entity type `Client` not found\n1 | permit(principal, action, resource) when { principal.owner == \"ada\" };\n                                                         ^^^^^\nhint: did you mean `issuer`?",
  CEDAR_LOCKED_OUT:
    "team.cedar: warning CEDAR_LOCKED_OUT\nThe client \"alice\" may use nothing: no policy permits it anything (it has a token)\nhint: add to a policy file: permit(principal == Client::\"alice\", action in Action::\"use\", resource);\n\nteam.cedar:1:21: warning CEDAR_UNMATCHED\nThe policy \"1\" is about Client::\"ci\", and no client has this name\n1 | permit(principal == Client::\"ci\", action, resource);\n                        ^^^^^^^^^^^^\nhint: did you mean \"cli\"?\n\nOK toolcrib.yaml\nOK team.cedar",
  CEDAR_SUSPICIOUS:
    "team.cedar:1:61: warning CEDAR_SUSPICIOUS\nString `\"pаyload\"` contains mixed scripts\n1 | permit(principal, action, resource) when { resource.name == \"pаyload\" };\n                                                                ^^^^^^^^^\n\nOK team.cedar",
  CEDAR_SYNTAX:
    "team.cedar:1:36: error CEDAR_SYNTAX\nUnexpected end of input\n1 | permit(principal, action, resource)\n                                       ^\nhint: expected `;` or identifier",
  CEDAR_TEMPLATE:
    "team.cedar:1:21: error CEDAR_TEMPLATE\n?principal and ?resource belong to templates, which are not supported\n1 | permit(principal == ?principal, action, resource);\n                        ^^^^^^^^^^\nhint: write a policy for each client and tool",
  CEDAR_TOOL_ID:
    "OK toolcrib.yaml\n\nteam.cedar:1:39: error CEDAR_TOOL_ID\nThe policy \"1\" names the tool \"github__list_issues\", which is a name on the wire and no id\n1 | permit(principal, action, resource == Tool::\"github__list_issues\");\n                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: did you mean Tool::\"github:list_issues\"?",
  CEDAR_TOO_COMPLEX:
    "OK toolcrib.yaml\n\nteam.cedar:1:107: error CEDAR_TOO_COMPLEX\nA policy nests more than 64 levels (brackets, members and operators in a row)\n1 | permit(principal, action, resource) when { (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((…\n                                                                                                              ^\nhint: split the condition with && or ||",
  CEDAR_TOO_LARGE:
    "OK toolcrib.yaml\n\nteam.cedar: error CEDAR_TOO_LARGE\nA policy file can have at most 262144 characters\nhint: split it into several files",
  CEDAR_UNMATCHED:
    "team.cedar:1:21: warning CEDAR_UNMATCHED\nThe policy \"1\" is about Client::\"cly\", and no client has this name\n1 | permit(principal == Client::\"cly\", action, resource);\n                        ^^^^^^^^^^^^^\nhint: did you mean \"cli\"?\n\nOK toolcrib.yaml\nOK team.cedar",
  CEDAR_VALUE_UNKNOWN:
    "team.cedar:1:98: error CEDAR_VALUE_UNKNOWN\ntrust_state is never \"unverifed\"\n1 | forbid(principal, action, resource) when { resource has server && resource.server.trust_state == \"unverifed\" };\n                                                                                                     ^^^^^^^^^^^\nhint: did you mean \"unverified\"?",
  CLIENTS_ENTRY_INVALID:
    "Not readable:\n  .cursor/mcp.json:1:57: error CLIENTS_ENTRY_INVALID Server \"notes\": \"args\" must be a list, but is a text\n\nNothing new to import.",
  CLIENTS_FILE_SHAPE:
    "Not readable:\n  .cursor/mcp.json:1:1: error CLIENTS_FILE_SHAPE The file must contain a map, but contains a list\n\nNothing new to import.",
  CLIENTS_FILE_SYNTAX:
    "Not readable:\n  .codeium/windsurf/mcp_config.json:3:3: error CLIENTS_FILE_SYNTAX It is not readable JSON: comma expected\n\nNothing new to import.",
  CLI_APPROVAL_NOT_FOUND:
    "error CLI_APPROVAL_NOT_FOUND: No call with the id \"call:0123456789abcdef\" waits for approval\nhint: toolcrib approve lists those that wait; a call waits for an hour",
  CLI_APPROVAL_OUTDATED:
    "error CLI_APPROVAL_OUTDATED: Nothing was approved: other definitions of \"notes\" wait than those of --digest\nhint: look at them again, then approve them",
  CLI_ARGUMENTS_INVALID:
    "<arguments>:1:11: error CLI_ARGUMENTS_INVALID\nThis is not JSON: expected a value\n1 | {\"query\": milk}\n              ^\n\nerror CLI_ARGUMENTS_INVALID: Cannot read the arguments: they are not valid JSON\nhint: put them in 'single quotes' with \"double quotes\" inside, or use --arg NAME=VALUE",
  CLI_ARGUMENT_UNSEEN:
    "toolcrib.yaml:3:64: warning CLI_ARGUMENT_UNSEEN\nThe server \"files\" is contained and sees nothing in \"/home\": no sandbox shows a whole home, or a folder that holds homes or belongs to the system\n3 |     transport: { kind: stdio, command: node, args: [server.js, /home] }\n                                                                   ^^^^^\nhint: name the folders below it that the server works with; or name it in read_paths, and the server reads all of it but folders with credentials\n\nOK toolcrib.yaml",
  CLI_CALL_NOT_FOUND:
    "error CLI_CALL_NOT_FOUND: The audit trail has no call \"0197c0de\"\nhint: see toolcrib audit list --long; each home has its own trail (--home)",
  CLI_CLIENT_NOT_FOUND:
    "error CLI_CLIENT_NOT_FOUND: No client called \"absent\" has received labelled data\nhint: see toolcrib labels show",
  CLI_CODE_NOT_FOUND:
    "error CLI_CODE_NOT_FOUND: No error code \"CONFIG_URL_INSECUR\" exists\nhint: did you mean CONFIG_URL_INSECURE? toolcrib explain lists all",
  CLI_CONFIG_INVALID:
    "toolcrib.yaml:1:18: error CONFIG_TRANSPORT_KIND\ntransport.kind missing or invalid: the server has no transport\n1 | tool_servers: [{ id: notes }]\n                     ^^\nhint: add transport: { kind: stdio, command: … } or transport: { kind: streamable_http, url: … }\n\nerror CLI_CONFIG_INVALID: The configuration has an error: toolcrib.yaml\nhint: fix the errors listed above",
  CLI_CONFIG_NOT_EDITABLE:
    "error CLI_CONFIG_NOT_EDITABLE: Cannot add to toolcrib.yaml: the notation of its tool_servers cannot be edited automatically\nhint: add this yourself:\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: streamable_http\n      url: \"https://notes.example.com/mcp\"\n    trust_state: unverified",
  CLI_CONFIG_NOT_FOUND:
    "error CLI_CONFIG_NOT_FOUND: No configuration: there is no toolcrib.yaml in /home/ada or /home/ada/.toolcrib\nhint: take the servers of your clients over with toolcrib import, create one with toolcrib init, or name one with --config FILE",
  CLI_CONNECTION_NOT_FOUND:
    "error CLI_CONNECTION_NOT_FOUND: Cursor is not connected to this home\nhint: toolcrib connect lists the clients of this machine",
  CLI_CREDENTIAL_MISSING:
    "error CLI_CREDENTIAL_MISSING: No value for the credential \"token\": TOOLCRIB_CREDENTIAL_TOKEN is not set\nhint: a proxy that inserts secrets sets it, such as toolcrib egress; without HTTPS_PROXY, the command reads secrets itself",
  CLI_EXPORT_FAILED:
    "error METATOOL_TEST_INVALID\nCannot use \"toolcrib.tests[0].name\": it must be a string of 1 to 100 characters\n\nerror METATOOL_TEST_INVALID\nCannot use \"toolcrib.tests[0].params\": it must be an object\n\nerror METATOOL_TEST_INVALID\nCannot use \"toolcrib.tests[0].replies\": it must be a list\n\nerror METATOOL_TEST_INVALID\nCannot use \"toolcrib.tests[0].expect\": it must be an object with a result or an error\n\nerror CLI_EXPORT_FAILED: Cannot export \"report\": its tests have errors\nhint: correct or remove them in the file of the tool; toolcrib saved test report shows them too",
  CLI_FETCHED_NOT_FOUND:
    "error CLI_FETCHED_NOT_FOUND: There is no fetched package \"npm-absent\"\nhint: no package was fetched yet",
  CLI_FETCH_FAILED:
    "error CLI_FETCH_FAILED: Cannot fetch \"http://127.0.0.1:9000/status-404/echo.mcpkg\": the response is HTTP 404",
  CLI_FILE_EXISTS:
    "error CLI_FILE_EXISTS: toolcrib.yaml already exists\nhint: edit it, or overwrite it with --force",
  CLI_FILE_UNUSABLE:
    "error CLI_FILE_UNUSABLE: Cannot read absent.star: the file does not exist",
  CLI_GATEWAY_UNUSABLE:
    "error CLI_GATEWAY_UNUSABLE: The gateway at http://127.0.0.1:7420 cannot be used: its control socket \"/home/ada/.toolcrib/run/….sock\" is missing\nhint: restart the gateway with this version of toolcrib, or use the configuration without it: --config FILE",
  CLI_HOME_IN_USE:
    "error CLI_HOME_IN_USE: Another gateway uses the home \"/home/ada/.toolcrib\", and serve.shared_home is false: http://127.0.0.1:7420 (process PID)\nhint: use that gateway, stop it, or use another home with --home",
  CLI_IMPORT_FAILED:
    "error OPENAPI_OPERATION_MISSING\nThe document has no operations\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  CLI_PACKAGE_INVALID:
    "manifest.json:4:14: error MCPKG_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"\n4 |   \"version\": \"1.0\",\n                 ^^^^^\nhint: write 1.0.0\n\nerror CLI_PACKAGE_INVALID: The package \"echo\" has 1 error(s)",
  CLI_PACKAGE_UNTESTED:
    "manifest.json: warning MCPKG_FILE_UNUSED\n\"tests/echo.test.json\" is not in \"tests\", so it never runs\nhint: add it to tests\n\nerror CLI_PACKAGE_UNTESTED: The package demo.echo 0.1.0 has no tests\nhint: write tests/NAME.test.json and name it in tests of the manifest",
  CLI_PROFILE_NOT_FOUND:
    "error CLI_PROFILE_NOT_FOUND: There is no profile \"wrok\" for this client\nhint: did you mean work?",
  CLI_PROGRAM_FAILED:
    "Traceback (most recent call last):\n  program.star:2:16: in <toplevel>\nprogram.star:2:16: error CLI_PROGRAM_FAILED\nlist index 5 out of range [-2:1]\n2 | result = values[5]\n                   ^",
  CLI_PROGRAM_INVALID:
    "program.star:1:13: error STARLARK_SYNTAX\ngot newline, want primary expression\n1 | result = 1 +\n                ^\nhint: the expression continues; put the rest on this line or use parentheses\n\nerror CLI_PROGRAM_INVALID: Cannot run program.star: it has errors",
  CLI_PROGRAM_UNUSABLE:
    "error CLI_PROGRAM_UNUSABLE: Cannot run \"absent-program\": spawn absent-program ENOENT\nhint: write the program and its arguments after --",
  CLI_PROXY_UNUSABLE:
    "error CLI_PROXY_UNUSABLE: Cannot reach the proxy: socket hang up\nhint: check HTTPS_PROXY in the environment",
  CLI_PUBLISH_REFUSED:
    "error CLI_PUBLISH_REFUSED: Cannot publish it as 0.9.0: its parameters and its reach are the same, and 1.0.0 is released\nhint: publish 1.0.1 or later; without --bump and --package-version, the version follows from what changed",
  CLI_RUNNER_MISSING:
    "Looking mcp-server-fetch up in the registry…\nerror CLI_RUNNER_MISSING: The server needs uvx, which is not installed\nhint: install uv (docs.astral.sh/uv) and a Python, and start Toolcrib with a PATH that contains uvx",
  CLI_SERVER_NOT_FOUND:
    "error CLI_SERVER_NOT_FOUND: No server has the id \"githob\", and no log\nhint: there are notes",
  CLI_SERVER_NOT_READY:
    "error CLI_SERVER_NOT_READY: \"notes:search\" is not known: the server \"notes\" is unavailable: The server at http://127.0.0.1:9000/status-503 answered HTTP 503: no\nhint: try again when it is ready; see toolcrib status",
  CLI_SERVICE_FAILED:
    "error CLI_SERVICE_FAILED: systemctl --user daemon-reload ended with 1: Job for toolcrib.service failed\nhint: toolcrib service logs shows why a service does not start",
  CLI_SERVICE_UNAVAILABLE:
    "error CLI_SERVICE_UNAVAILABLE: No systemd of this user can run a service: systemctl is not on the PATH\nhint: log in with a session of your own (loginctl enable-linger keeps its services running), let another supervisor run toolcrib serve --quiet, or run the image of the gateway in a container",
  CLI_TEST_CALLS_OTHERS:
    "error CLI_TEST_CALLS_OTHERS: The chain demo.report is not installed, and its tests would call demo.search as you, without an approval\nhint: read its steps and tests, then add --allow-calls; or install it, and test it by its toolId",
  CLI_TIMEOUT:
    "error CLI_TIMEOUT: \"notes:export\" did not respond within N ms (--timeout)",
  CLI_TOKEN_NOT_FOUND:
    "error CLI_TOKEN_NOT_FOUND: No token is called \"desc\"\nhint: did you mean desk?",
  CLI_TOOLSPEC_NOT_FOUND:
    "error CLI_TOOLSPEC_NOT_FOUND: The catalog has no toolspec \"githob\"\nhint: did you mean github?",
  CLI_TOOL_NOT_FOUND:
    "error CLI_TOOL_NOT_FOUND: Unknown tool: \"notes:serch\"\nhint: see toolcrib list",
  CLI_USAGE:
    "error CLI_USAGE: Unknown command 'serch'\nhint: did you mean search?",
  CONFIG_AUTH_EXPOSED:
    "toolcrib.yaml:1:38: error CONFIG_AUTH_EXPOSED\nserve.auth none is refused on \"0.0.0.0:7420\": other machines can reach that address\n1 | serve: { listen: 0.0.0.0:7420, auth: none }\n                                         ^^^^\nhint: write auth: token, or listen on 127.0.0.1",
  CONFIG_CA_FILE_INVALID:
    "toolcrib.yaml:1:22: error CONFIG_CA_FILE_INVALID\nCannot use \"/home/ada/company.pem\": it does not exist (ENOENT)\n1 | egress: { ca_files: [company.pem] }\n                         ^^^^^^^^^^^\nhint: name a file with certificates in PEM (-----BEGIN CERTIFICATE-----)",
  CONFIG_COMMAND_NOT_FOUND:
    "toolcrib.yaml:3:40: warning CONFIG_COMMAND_NOT_FOUND\nCommand \"mcp-server-absent\" is not found on this machine, or is not executable\n3 |     transport: { kind: stdio, command: mcp-server-absent }\n                                           ^^^^^^^^^^^^^^^^^\nhint: install it, use its absolute path, or start Toolcrib with a PATH that contains it\n\nOK toolcrib.yaml",
  CONFIG_COMMAND_REQUIRED:
    "toolcrib.yaml:3:18: error CONFIG_COMMAND_REQUIRED\ntransport.command required for stdio\n3 |     transport: { kind: stdio }\n                     ^^^^\nhint: add command: with the path to the executable",
  CONFIG_COMMAND_SUSPICIOUS:
    "toolcrib.yaml:3:40: warning CONFIG_COMMAND_SUSPICIOUS\ntransport.command must be only the executable, but contains a space\n3 |     transport: { kind: stdio, command: \"npx -y mcp-notes\" }\n                                           ^^^^^^^^^^^^^^^^^^\nhint: write command: npx and the rest as args\n\ntoolcrib.yaml:3:40: warning CONFIG_COMMAND_NOT_FOUND\nCommand \"npx -y mcp-notes\" is not found on this machine, or is not executable\n3 |     transport: { kind: stdio, command: \"npx -y mcp-notes\" }\n                                           ^^^^^^^^^^^^^^^^^^\nhint: put the arguments into args: command: npx, args: [\"-y\", \"mcp-notes\"]\n\nOK toolcrib.yaml",
  CONFIG_CONFLATED_TARGET:
    "toolcrib.yaml:3:9: error CONFIG_CONFLATED_TARGET\nconflated tool_server and provider target: \"notes\" is also the id of the provider target at toolcrib.yaml:1:30\n3 |   - id: notes\n            ^^^^^\nhint: use distinct ids for tool servers and provider targets",
  CONFIG_CREDENTIAL_MISSING:
    "toolcrib.yaml:2:13: error CONFIG_CREDENTIAL_MISSING\nToolspec \"acme\" needs a secret for \"token\"\n2 |   - { path: ./acme }\n                ^^^^^^\nhint: add credentials: { token: { secret_key_ref: acme-token } } and run toolcrib secret set acme-token",
  CONFIG_CREDENTIAL_UNKNOWN:
    "toolcrib.yaml:2:21: error CONFIG_CREDENTIAL_MISSING\nToolspec \"acme\" needs a secret for \"token\"\n2 |   - { path: ./acme, credentials: { key: { secret_key_ref: acme-token } } }\n                        ^^^^^^^^^^^\nhint: add credentials: { token: { secret_key_ref: acme-token } } and run toolcrib secret set acme-token\n\ntoolcrib.yaml:2:36: error CONFIG_CREDENTIAL_UNKNOWN\nThe manifest acme/manifests/acme/0.1.0.yaml has no credential \"key\"\n2 |   - { path: ./acme, credentials: { key: { secret_key_ref: acme-token } } }\n                                       ^^^\nhint: it has token",
  CONFIG_DUPLICATE_KEY:
    "toolcrib.yaml:2:1: error CONFIG_DUPLICATE_KEY\nDuplicate field \"tool_servers\": it is given before in the same map\n2 | tool_servers: []\n    ^^^^^^^^^^^^\nhint: remove one of the two",
  CONFIG_FIELD_MISPLACED:
    "toolcrib.yaml:4:5: error CONFIG_FIELD_MISPLACED\nField \"tools\" belongs to a server with transport.manifest\n4 |     tools: all\n        ^^^^^\nhint: remove it: policy.allow and policy.deny decide which tools are offered",
  CONFIG_FIELD_REQUIRED:
    "toolcrib.yaml:2:5: error CONFIG_FIELD_REQUIRED\nField \"id\" is required in \"tool_servers[0]\"\n2 |   - transport: { kind: stdio, command: node }\n        ^^^^^^^^^\nhint: add id",
  CONFIG_FILE_TOO_LARGE:
    "toolcrib.yaml: error CONFIG_FILE_TOO_LARGE\nCannot read a configuration of more than 1,048,576 bytes\nhint: split it into several files and pass them all: they are composed left to right",
  CONFIG_FILE_UNREADABLE:
    "absent.yaml: error CONFIG_FILE_UNREADABLE\nCannot read the configuration: the file does not exist\nhint: check the path, and that the user who runs Toolcrib can read the file",
  CONFIG_FOREIGN_DISABLED:
    "mcp.json:1:19: warning CONFIG_FOREIGN_DISABLED\nServer \"notes\" is disabled in its file and ignored\n1 | { \"mcpServers\": { \"notes\": { \"command\": \"node\", \"disabled\": true } } }\n                      ^^^^^^^\n\nOK mcp.json",
  CONFIG_FOREIGN_FIELD:
    "mcp.json:1:49: warning CONFIG_FOREIGN_FIELD\nField \"autoApprove\" of server \"notes\" has no effect here\n1 | { \"mcpServers\": { \"notes\": { \"command\": \"node\", \"autoApprove\": [\"x\"] } } }\n                                                    ^^^^^^^^^^^^^\nhint: set allowed tools in the section policy of Toolcrib's own configuration\n\nOK mcp.json",
  CONFIG_HEADER_NOT_ALLOWED:
    "toolcrib.yaml:3:86: error CONFIG_HEADER_NOT_ALLOWED\nHeader \"Host\" cannot be declared: only Toolcrib sets it\n3 |     transport: { kind: streamable_http, url: https://mcp.example.com/mcp, headers: { Host: other.example.com } }\n                                                                                         ^^^^\nhint: remove it",
  CONFIG_IDLE_UNUSED:
    "toolcrib.yaml:4:5: error CONFIG_IDLE_UNUSED\nidle_seconds has no effect: the server does not start lazily\n4 |     idle_seconds: 60\n        ^^^^^^^^^^^^\nhint: write start: lazy, or remove idle_seconds",
  CONFIG_ID_COLLISION:
    "toolcrib.yaml:3:11: error CONFIG_ID_COLLISION\nIds \"my_notes\" and \"my-notes\" (toolcrib.yaml:2:11) differ only in case or separators\n3 |   - { id: my_notes, transport: { kind: stdio, command: node } }\n              ^^^^^^^^\nhint: rename one of the two, or give both the same id if the later one replaces the earlier one",
  CONFIG_ID_DUPLICATE:
    "toolcrib.yaml:3:11: error CONFIG_ID_DUPLICATE\nDuplicate id \"notes\": the tool server in line 2 has the same id\n3 |   - { id: notes, transport: { kind: stdio, command: node } }\n              ^^^^^\nhint: give each tool server of a file a different id",
  CONFIG_ID_INVALID:
    "toolcrib.yaml:2:11: error CONFIG_ID_INVALID\nId \"my notes\" cannot be used: letters, digits and _ . - are allowed\n2 |   - { id: my notes, transport: { kind: stdio, command: node } }\n              ^^^^^^^^\nhint: write a name such as my-notes",
  CONFIG_ID_NORMALIZED:
    "mcp.json:1:19: warning CONFIG_ID_NORMALIZED\nServer \"My Notes\" gets the id \"My-Notes\": its name is not valid in tool names\n1 | { \"mcpServers\": { \"My Notes\": { \"command\": \"node\" } } }\n                      ^^^^^^^^^^\n\nOK mcp.json",
  CONFIG_INLINE_SECRET:
    "toolcrib.yaml:3:67: error CONFIG_INLINE_SECRET\ninline secret not allowed: environment variable \"GITHUB_TOKEN\" contains a literal\n3 |     transport: { kind: stdio, command: node, env: { GITHUB_TOKEN: ****************************************** } }\n                                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: write GITHUB_TOKEN: { secret_key_ref: { env: GITHUB_TOKEN } } and set that variable, or secret_key_ref: NAME for a secret in the store of Toolcrib",
  CONFIG_INVALID_VALUE:
    "toolcrib.yaml:4:18: error CONFIG_INVALID_VALUE\n\"tool_servers[0].trust_state\" must be unverified, verified or certified, but is \"trusted\"\n4 |     trust_state: trusted\n                     ^^^^^^^\nhint: write trust_state: verified",
  CONFIG_MANIFEST_INVALID:
    "manifest.yaml:1:1: error MANIFEST_FIELD_REQUIRED\nField \"tier\" is required in the manifest\n1 | schemaVersion: 2\n    ^^^^^^^^^^^^^\nhint: add tier\n\nmanifest.yaml:10:1: error MANIFEST_UNKNOWN_FIELD\nUnknown field \"teir\" in the manifest\n10 | teir: sealed\n     ^^^^\nhint: did you mean tier?\n\ntoolcrib.yaml:2:53: error CONFIG_MANIFEST_INVALID\nCannot use \"manifest.yaml\": the manifest has errors\n2 |   - { id: acme, transport: { kind: stdio, manifest: ./manifest.yaml } }\n                                                        ^^^^^^^^^^^^^^^\nhint: fix the errors listed for this file",
  CONFIG_MANIFEST_LOCK:
    "toolcrib.yaml:3:41: error CONFIG_MANIFEST_LOCK\n\"image.digest\" is the SHA-256 of a lock, and the manifest has none\n3 |     transport: { kind: stdio, manifest: ./manifest.yaml }\n                                            ^^^^^^^^^^^^^^^\nhint: restore the lock, or write both again: toolcrib lint-manifests --live MANIFEST --write",
  CONFIG_MANIFEST_NOT_FOUND:
    "toolcrib.yaml:3:41: error CONFIG_MANIFEST_NOT_FOUND\nCannot read \"absent.yaml\": the file does not exist\n3 |     transport: { kind: stdio, manifest: ./absent.yaml }\n                                            ^^^^^^^^^^^^^\nhint: write the path of a manifest, or a name that toolcrib catalog list shows",
  CONFIG_MANIFEST_UNREADABLE:
    "toolcrib.yaml:3:41: error CONFIG_MANIFEST_UNREADABLE\nCannot read \"notes.yaml\": its symbolic links form a loop\n3 |     transport: { kind: stdio, manifest: ./notes.yaml }\n                                            ^^^^^^^^^^^^\nhint: check the permissions of the file",
  CONFIG_POLICY_FLOOR:
    "toolcrib.yaml:6:36: error CONFIG_POLICY_FLOOR\nTool server \"notes\" is below the policy floor: network_egress: allow (toolcrib.yaml:6:36) is less than deny, which toolcrib.yaml:1:36 requires\n6 |     containment: { network_egress: allow }\n                                       ^^^^^\nhint: write network_egress: deny, or change the floor where it is set",
  CONFIG_POLICY_UNREADABLE:
    "toolcrib.yaml:1:19: error CONFIG_POLICY_UNREADABLE\nCannot read the policy file \"absent.cedar\": the file does not exist\n1 | policy: { files: [absent.cedar] }\n                      ^^^^^^^^^^^^\nhint: check the path, and that the user who runs Toolcrib can read the file",
  CONFIG_RESOURCE_HOST:
    "toolcrib.yaml:3:5: warning CONFIG_RESOURCE_HOST\nRequests to \"tools.example.com\" are refused, which serve.auth.resource names: it is not in serve.allowed_hosts\n3 |     resource: https://tools.example.com/mcp\n        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: write allowed_hosts: [tools.example.com], unless a proxy replaces the Host header\n\nOK toolcrib.yaml",
  CONFIG_RULE_UNMATCHED:
    "toolcrib.yaml:1:18: warning CONFIG_RULE_UNMATCHED\nRule \"ntoes:*\" matches nothing known: no tool server and no toolspec is called \"ntoes\"\n1 | policy: { deny: [\"ntoes:*\"] }\n                     ^^^^^^^^^\nhint: did you mean \"notes:*\"?\n\nOK toolcrib.yaml",
  CONFIG_SCOPE_MISSING:
    "toolcrib.yaml:4:36: error CONFIG_SCOPE_MISSING\nnetwork_egress: scoped needs its scope: egress_allow is absent\n4 |     containment: { network_egress: scoped }\n                                       ^^^^^^\nhint: add egress_allow: [api.example.com], or write network_egress: deny",
  CONFIG_SCOPE_UNUSED:
    "toolcrib.yaml:4:42: error CONFIG_SCOPE_UNUSED\negress_allow has no effect: network_egress is \"deny\"\n4 |     containment: { network_egress: deny, egress_allow: [api.example.com] }\n                                             ^^^^^^^^^^^^\nhint: write network_egress: scoped, or remove egress_allow",
  CONFIG_SECRET_EXPOSED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"CONFIG_SECRET_EXPOSED\",\"reason\":\"Tool server \\\"notes\\\" cannot start: Cannot use the secret file \\\"/home/ada/token.txt\\\": its mode 644 gives other users of this machine access (headers.Authorization) [toolcrib.yaml:3:104] (run chmod 600 /home/ada/token.txt)\",\"msg\":\"server is not available\"}",
  CONFIG_SECRET_NOT_AVAILABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"CONFIG_SECRET_NOT_AVAILABLE\",\"reason\":\"Tool server \\\"notes\\\" cannot start: Cannot read secret \\\"notes\\\" from the keychain: the command secret-tool is not found (headers.Authorization) [toolcrib.yaml:3:104] (install secret-tool (libsecret-tools), or store it in the secret store: toolcrib secret set)\",\"msg\":\"server is not available\"}",
  CONFIG_SECRET_NOT_FOUND:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"CONFIG_SECRET_NOT_FOUND\",\"reason\":\"Tool server \\\"notes\\\" cannot start: Cannot find secret \\\"notes-token\\\": there is no file \\\"/home/ada/.toolcrib/secrets/notes-token\\\", and TOOLCRIB_SECRET_NOTES_TOKEN is not set (headers.Authorization) [toolcrib.yaml:3:104] (run toolcrib secret set notes-token, or put it into that file (mode 600), or set TOOLCRIB_SECRET_NOTES_TOKEN)\",\"msg\":\"server is not available\"}",
  CONFIG_SECRET_UNREADABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"CONFIG_SECRET_UNREADABLE\",\"reason\":\"Tool server \\\"notes\\\" cannot start: Cannot decrypt secret \\\"notes-token\\\": it was encrypted with a different key (headers.Authorization) [toolcrib.yaml:3:104] (restore the key that it was set with (secrets/.store/key, TOOLCRIB_SECRETS_KEY), or remove the secret and set it again)\",\"msg\":\"server is not available\"}",
  CONFIG_SECRET_UNUSABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"CONFIG_SECRET_UNUSABLE\",\"reason\":\"Tool server \\\"notes\\\" cannot start: Cannot send header \\\"Authorization\\\": its value contains a line break or another character that a header cannot carry [toolcrib.yaml:3:104] (store the value in one line)\",\"msg\":\"server is not available\"}",
  CONFIG_SYNTAX:
    "toolcrib.yaml:3:1: error CONFIG_SYNTAX\nThe indentation does not match the preceding lines\n3 |    transport: {}\n    ^\nhint: indent the fields of one map, and the items of one list, by the same number of spaces",
  CONFIG_TOOLSPEC_HOST:
    "toolcrib.yaml:2:32: error CONFIG_TOOLSPEC_HOST\nThe variables of toolspec \"acme\" produce \"evil.example/.acme.example\", which is not a host name\n2 |   - { path: ./acme, variables: { tenant: evil.example/ }, credentials: { token: { secret_key_ref: acme-token } } }\n                                   ^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: a variable is a part of a host name: letters, digits and hyphens",
  CONFIG_TOOLSPEC_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:6:5: error TOOLSPEC_FIELD_REQUIRED\nField \"method\" is required in \"tools[0]\"\n6 |   - name: get_repo\n        ^^^^\nhint: add method\n\nacme/toolspecs/acme/0.1.0.yaml:8:5: error TOOLSPEC_UNKNOWN_FIELD\nUnknown field \"metod\" in \"tools[0]\"\n8 |     metod: GET\n        ^^^^^\nhint: did you mean method?\n\ntoolcrib.yaml:2:13: error CONFIG_TOOLSPEC_INVALID\nCannot use \"acme/toolspecs/acme/0.1.0.yaml\": the toolspec and its manifest have 2 errors\n2 |   - { path: ./acme, credentials: { token: { secret_key_ref: acme-token } } }\n                ^^^^^^\nhint: fix the errors listed for these files",
  CONFIG_TOOLSPEC_NOT_FOUND:
    "toolcrib.yaml:2:21: error CONFIG_TOOLSPEC_NOT_FOUND\nCannot read \"absent\": the file does not exist\n2 | toolspecs: [{ path: ./absent }]\n                        ^^^^^^^^\nhint: write the path of a manifest, of a toolspec, or of a folder with one pair",
  CONFIG_TOOLSPEC_UNREADABLE:
    "toolcrib.yaml:2:13: error CONFIG_TOOLSPEC_UNREADABLE\nCannot read \"acme\": its symbolic links form a loop\n2 |   - { path: ./acme }\n                ^^^^^^\nhint: write the path of a manifest, of a toolspec, or of a folder with one pair",
  CONFIG_TOOLSPEC_VARIABLE:
    "toolcrib.yaml:2:13: error CONFIG_TOOLSPEC_VARIABLE\nVariable \"tenant\" of toolspec \"acme\" is not set: name of the company\n2 |   - { path: ./acme, credentials: { token: { secret_key_ref: acme-token } } }\n                ^^^^^^\nhint: add variables: { tenant: … }",
  CONFIG_TOOL_UNKNOWN:
    "toolcrib.yaml:2:29: error CONFIG_TOOL_UNKNOWN\nThe toolspec has no tool \"get_rep\"\n2 |   - { path: ./acme, tools: [get_rep], credentials: { token: { secret_key_ref: acme-token } } }\n                                ^^^^^^^\nhint: did you mean get_repo?",
  CONFIG_TOO_COMPLEX:
    "toolcrib.yaml:5:4: error CONFIG_TOO_COMPLEX\nCannot read the configuration: with its aliases it has more than 100,000 values\n5 | e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
  CONFIG_TRANSPORT_KIND:
    "toolcrib.yaml:3:24: error CONFIG_TRANSPORT_KIND\ntransport.kind missing or invalid: it is \"http\", allowed are stdio, sse or streamable_http\n3 |     transport: { kind: http, url: https://mcp.example.com/mcp }\n                           ^^^^\nhint: write kind: streamable_http",
  CONFIG_UNKNOWN_FIELD:
    "toolcrib.yaml:3:46: error CONFIG_UNKNOWN_FIELD\nUnknown field \"arg\" in \"tool_servers[0].transport\"\n3 |     transport: { kind: stdio, command: node, arg: [x] }\n                                                 ^^^\nhint: did you mean args?",
  CONFIG_URL_CREDENTIALS:
    "toolcrib.yaml:3:46: error CONFIG_URL_CREDENTIALS\ntransport.url cannot contain a user name or password\n3 |     transport: { kind: streamable_http, url: \"https://********@mcp.example.com/mcp\" }\n                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: remove the text before the @ and write headers: { Authorization: { secret_key_ref: NAME } }",
  CONFIG_URL_INSECURE:
    "toolcrib.yaml:3:46: error CONFIG_URL_INSECURE\ntransport.url cannot be http to \"mcp.example.com\": http is allowed to this machine only\n3 |     transport: { kind: streamable_http, url: http://mcp.example.com/mcp }\n                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: write https, or allow_http: true if you trust the network",
  CONFIG_URL_INVALID:
    "toolcrib.yaml:3:46: error CONFIG_URL_INVALID\nCannot read transport.url: it is not a complete URL\n3 |     transport: { kind: streamable_http, url: mcp.example.com/mcp }\n                                                 ^^^^^^^^^^^^^^^^^^^\nhint: write a scheme and a host: https://host/path",
  CONFIG_URL_REQUIRED:
    "toolcrib.yaml:3:18: error CONFIG_URL_REQUIRED\ntransport.url required for streamable_http\n3 |     transport: { kind: streamable_http }\n                     ^^^^\nhint: add url: with the endpoint, such as https://host/mcp",
  CONFIG_VARIABLE_NOT_AVAILABLE:
    "toolcrib.yaml:3:60: warning CONFIG_VARIABLE_NOT_AVAILABLE\nVariables are not replaced here: \"${LEVEL}\" is literal text\n3 |     transport: { kind: stdio, command: node, env: { LEVEL: \"${LEVEL}\" } }\n                                                               ^^^^^^^^^^\nhint: write LEVEL: { secret_key_ref: { env: LEVEL } }\n\nOK toolcrib.yaml",
  CONFIG_VARIABLE_NOT_SET:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"CONFIG_VARIABLE_NOT_SET\",\"reason\":\"Tool server \\\"notes\\\" cannot start: Cannot fill \\\"${NOTES_TOKEN}\\\" (env.TOKEN): NOTES_TOKEN is not set [mcp.json:1:89] (set NOTES_TOKEN in the environment that starts Toolcrib, or write ${NOTES_TOKEN:-default})\",\"msg\":\"server is not available\"}",
  CONFIG_WRONG_TYPE:
    "toolcrib.yaml:3:52: error CONFIG_WRONG_TYPE\n\"tool_servers[0].transport.args\" must be a list, but is a string\n3 |     transport: { kind: stdio, command: node, args: --stdio }\n                                                       ^^^^^^^\nhint: write it as a list: [\"--stdio\"]",
  CONTAINMENT_VIOLATION:
    "error CONTAINMENT_VIOLATION: \"notes__fetch\" was not called: it can reach other systems: its annotations are not believed, and its server \"notes\" has network_egress: deny\nhint: the operator of the gateway can allow it for the server: containment.network_egress: allow, or trust_state: verified once the server is verified",
  CONTROL_LISTEN_FAILED:
    "error CONTROL_LISTEN_FAILED: Cannot create the control socket in \"/proc\": ENOENT\nhint: set TMPDIR to a folder on a local file system with a short path",
  CURSOR_STALE:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"The cursor is not valid, or the list changed since it was given (list again from the start, without a cursor)\",\"data\":{\"code\":\"CURSOR_STALE\",\"hint\":\"list again from the start, without a cursor\"}}}",
  CURSOR_UNKNOWN:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"The cursor names no part of a result\\nHint: copy it from the end of the part before; parts are kept for ten minutes after the last reading: call the tool again for a result that is gone\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"CURSOR_UNKNOWN\",\"toolcrib/callId\":\"CALL\"}}}",
  EGRESS_ADDRESS_DENIED:
    "error EGRESS_ADDRESS_DENIED: Cannot reach \"api.acme.example\": it has an address that is not public (private)\nhint: check the name of the host; for a host in your own network, see egress.internal_ranges",
  EGRESS_AUTHORITY_INVALID:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"192.0.2.7:443\",\"code\":\"EGRESS_AUTHORITY_INVALID\",\"reason\":\"Cannot read \\\"192.0.2.7:443\\\": it is not \\\"https://\\\", a host name in ASCII, and a path\",\"msg\":\"a request was refused\"}\ncurl: (56) CONNECT tunnel failed, response 400",
  EGRESS_AUTHORITY_MISMATCH:
    "{\"code\":\"EGRESS_AUTHORITY_MISMATCH\",\"reason\":\"Cannot pass the request on in this tunnel: it names another host\",\"hint\":\"CONNECT, the name of the TLS handshake and the host of the request must be the same\"}\n{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"api.acme.example\",\"code\":\"EGRESS_AUTHORITY_MISMATCH\",\"reason\":\"Cannot pass the request on in this tunnel: it names another host\",\"msg\":\"a request was refused\"}",
  EGRESS_CLOSED:
    "EGRESS_CLOSED: Cannot open a proxy: the egress was closed",
  EGRESS_CONNECTION_LOST:
    "error EGRESS_CONNECTION_LOST: Cannot read from \"api.acme.example\": the connection failed",
  EGRESS_HOST_DENIED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"evil.example\",\"code\":\"EGRESS_HOST_DENIED\",\"reason\":\"Cannot reach \\\"evil.example\\\": it is not an allowed host\",\"msg\":\"a request was refused\"}\ncurl: (56) CONNECT tunnel failed, response 403",
  EGRESS_LISTEN_FAILED:
    "EGRESS_LISTEN_FAILED: Cannot listen on 127.0.0.1: listen EMFILE: too many open files 127.0.0.1",
  EGRESS_PLACEHOLDER_MISPLACED:
    "{\"code\":\"EGRESS_PLACEHOLDER_MISPLACED\",\"reason\":\"Cannot send a placeholder in the url: it is allowed only in the place of its credential\"}\n{\"level\":\"error\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"api.acme.example\",\"credential\":\"token\",\"owner\":\"process:acme\",\"where\":\"url\",\"msg\":\"a placeholder was in a place that is not allowed\"}\n{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"api.acme.example\",\"code\":\"EGRESS_PLACEHOLDER_MISPLACED\",\"reason\":\"Cannot send a placeholder in the url: it is allowed only in the place of its credential\",\"msg\":\"a request was refused\"}",
  EGRESS_PLAIN_HTTP:
    "{\"code\":\"EGRESS_PLAIN_HTTP\",\"reason\":\"Cannot pass on a request in plain HTTP\",\"hint\":\"use https:// URLs, or NO_PROXY for servers that the program starts itself on this machine; plain HTTP can be read and changed in transit\"}\n{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"api.acme.example\",\"code\":\"EGRESS_PLAIN_HTTP\",\"reason\":\"Cannot pass on a request in plain HTTP\",\"msg\":\"a request was refused\"}",
  EGRESS_PORT_DENIED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"api.acme.example\",\"code\":\"EGRESS_PORT_DENIED\",\"reason\":\"Cannot reach port 5432 of \\\"api.acme.example\\\": allowed ports are 443\",\"msg\":\"a request was refused\"}\ncurl: (56) CONNECT tunnel failed, response 403",
  EGRESS_REQUEST_INVALID:
    "{\"code\":\"EGRESS_REQUEST_INVALID\",\"reason\":\"Cannot read the request: it is not HTTP/1.1\"}",
  EGRESS_RESPONSE_INVALID:
    "error EGRESS_RESPONSE_INVALID: Cannot read a response: its content coding is none of gzip, deflate, br, zstd",
  EGRESS_SECRET_UNAVAILABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"toolspec:acme\",\"host\":\"api.acme.example\",\"callId\":\"CALL\",\"code\":\"EGRESS_SECRET_UNAVAILABLE\",\"reason\":\"Cannot use secret \\\"acme-token\\\" for credential \\\"token\\\": it cannot be read\",\"msg\":\"a request was refused\"}\nCannot use secret \"acme-token\" for credential \"token\": it cannot be read\nHint: run toolcrib secret set acme-token, or put it into that file (mode 600), or set TOOLCRIB_SECRET_ACME_TOKEN",
  EGRESS_SETTINGS_INVALID:
    "EGRESS_SETTINGS_INVALID: Cannot read internal range \"10.0.0\" write an address and a number of bits, such as 10.0.0.0/8 or fd00::/8",
  EGRESS_TLS_FAILED:
    "error EGRESS_TLS_FAILED: Cannot trust \"api.acme.example\": the TLS handshake failed (ERR_SSL_WRONG_VERSION_NUMBER)\nhint: check the name of the host and its certificate; for a certificate authority of your own, see egress.ca_files",
  EGRESS_UNREACHABLE:
    "error EGRESS_UNREACHABLE: Cannot reach \"api.acme.example\": its addresses cannot be found",
  EGRESS_UPGRADE_REFUSED:
    "{\"code\":\"EGRESS_UPGRADE_REFUSED\",\"reason\":\"Cannot change the protocol to \\\"websocket\\\"\",\"hint\":\"the proxy passes on HTTP requests; WebSocket and CONNECT within the tunnel are not supported\"}\n{\"level\":\"warn\",\"time\":\"TIME\",\"source\":\"process:acme\",\"host\":\"api.acme.example\",\"code\":\"EGRESS_UPGRADE_REFUSED\",\"reason\":\"Cannot change the protocol to \\\"websocket\\\"\",\"msg\":\"a request was refused\"}",
  EMBEDDINGS_ANSWER_INVALID:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"code\":\"EMBEDDINGS_ANSWER_INVALID\",\"reason\":\"Cannot use the answer of the embeddings endpoint: it has no list \\\"data\\\"\",\"msg\":\"search goes by words: embeddings do not work\"}",
  EMBEDDINGS_UNAVAILABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"code\":\"EMBEDDINGS_UNAVAILABLE\",\"reason\":\"Cannot use the embeddings endpoint: it answered with the status 503\",\"msg\":\"search goes by words: embeddings do not work\"}",
  EMBEDDINGS_UNWRITABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"code\":\"EMBEDDINGS_UNWRITABLE\",\"reason\":\"Cannot write \\\"/home/ada/.toolcrib/embeddings/….vectors\\\": EEXIST\",\"msg\":\"search goes by words: embeddings do not work\"}",
  FILE_EXPOSED:
    "FILE_EXPOSED: Cannot close \"/proc/self\" to other users of this machine: EPERM run chmod 700 '/proc/self' as its owner",
  FILE_LOCK_UNUSABLE:
    "FILE_LOCK_UNUSABLE: Cannot lock \"/proc/home.lock\" use a file system that supports file locks, and let the user who runs toolcrib own the directory",
  HOOK_DENIED:
    "error HOOK_DENIED: \"notes__search\" was not called: the hook \"no-milk\" refused it: milk is not allowed",
  HOOK_FAILED:
    "error HOOK_FAILED: \"notes__search\" was not called: the hook \"no-milk\" did not check it: it exited with code 3\nhint: the operator can find out more in the log of the gateway, and in logs/hook-no-milk.log of its home (hooks.before_call)",
  HTTP_ADDRESS_IN_USE:
    "error HTTP_ADDRESS_IN_USE: Cannot listen on 127.0.0.1:7420: the address is in use\nhint: the gateway of this home uses it (process PID, since TIME): use that gateway, stop it with kill PID, or use another address: toolcrib serve --listen 127.0.0.1:PORT",
  HTTP_AUTH_REQUIRED:
    "HTTP_AUTH_REQUIRED: Cannot listen on \"0.0.0.0\" without tokens: other machines can reach it write serve.auth: token, or listen on 127.0.0.1",
  HTTP_FORM_INVALID:
    "HTTP 400 Bad Request\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"This is not the form of the page, or it is too large\",\"data\":{\"code\":\"HTTP_FORM_INVALID\"}}}",
  HTTP_HEADERS_TOO_LARGE:
    "HTTP 431 Request Header Fields Too Large\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"The headers of the request are too large\",\"data\":{\"code\":\"HTTP_HEADERS_TOO_LARGE\"}}}",
  HTTP_HEADER_DUPLICATE:
    "HTTP 400 Bad Request\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"The header \\\"authorization\\\" occurs more than once\",\"data\":{\"code\":\"HTTP_HEADER_DUPLICATE\"}}}",
  HTTP_HOST_REFUSED:
    "HTTP 403 Forbidden\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Requests with this Host header are not accepted (use localhost or 127.0.0.1, or add the host to serve.allowed_hosts)\",\"data\":{\"code\":\"HTTP_HOST_REFUSED\",\"hint\":\"use localhost or 127.0.0.1, or add the host to serve.allowed_hosts\"}}}",
  HTTP_LISTEN_FAILED:
    "error HTTP_LISTEN_FAILED: Cannot listen on 192.0.2.1:7420: EADDRNOTAVAIL",
  HTTP_MALFORMED:
    "HTTP 400 Bad Request\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"The request is not valid HTTP/1.1\",\"data\":{\"code\":\"HTTP_MALFORMED\"}}}",
  HTTP_METHOD_NOT_ALLOWED:
    "HTTP 405 Method Not Allowed\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"This path takes GET, HEAD only\",\"data\":{\"code\":\"HTTP_METHOD_NOT_ALLOWED\"}}}",
  HTTP_NOT_FOUND:
    "HTTP 404 Not Found\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Nothing is served at this path (MCP clients use /mcp, /mcp/s/<server> or /mcp/p/<profile>)\",\"data\":{\"code\":\"HTTP_NOT_FOUND\",\"hint\":\"MCP clients use /mcp, /mcp/s/<server> or /mcp/p/<profile>\"}}}",
  HTTP_ORIGIN_REFUSED:
    "HTTP 403 Forbidden\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Requests with this Origin header are not accepted (add the origin to serve.allowed_origins if this web page may use your tools)\",\"data\":{\"code\":\"HTTP_ORIGIN_REFUSED\",\"hint\":\"add the origin to serve.allowed_origins if this web page may use your tools\"}}}",
  HTTP_QUERY_INVALID:
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Cannot read \\\"lines\\\": it is a number from 1 to 10000\",\"data\":{\"code\":\"HTTP_QUERY_INVALID\"}}}",
  HTTP_ROLE_REQUIRED:
    "HTTP 403 Forbidden\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"This route needs the role \\\"operator\\\", which this client does not have (use the toolcrib command on the machine of the gateway, as the user who runs it)\",\"data\":{\"code\":\"HTTP_ROLE_REQUIRED\",\"hint\":\"use the toolcrib command on the machine of the gateway, as the user who runs it\"}}}",
  HTTP_UNAUTHORIZED:
    "HTTP 401 Unauthorized\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"This request has no valid token (send the header \\\"Authorization: Bearer TOKEN\\\" with a token from the folder tokens of the home of Toolcrib; tokens in a URL are not accepted)\",\"data\":{\"code\":\"HTTP_UNAUTHORIZED\",\"hint\":\"send the header \\\"Authorization: Bearer TOKEN\\\" with a token from the folder tokens of the home of Toolcrib; tokens in a URL are not accepted\"}}}",
  IMAGE_NAME_INVALID:
    "error IMAGE_NAME_INVALID: \"registry.example.com/tools\" is not a reference with a tag\nhint: give one: --ref registry.example.com/tools/github:0.1.0",
  IMAGE_PART_INVALID:
    "IMAGE_PART_INVALID: Cannot use the archive of libc6 2.36-9+deb12u14: its digest is not the recorded one use a mirror or registry that has the recorded version",
  IMAGE_TOOL_NAME_TAKEN:
    "error IMAGE_TOOL_NAME_TAKEN: Two services are called \"acme\", or almost\nhint: build one version of each service, and services that differ in more than hyphens",
  IMAGE_VARIABLE_UNSET:
    "error IMAGE_VARIABLE_UNSET: The tool \"get_repo\" needs a value for the variable \"tenant\", in letters, digits and . _ -\nhint: give it: --variable tenant=VALUE",
  INSTALL_CHAIN_CYCLE:
    "error INSTALL_CHAIN_CYCLE: Nothing is installed: chains call each other: demo.a → demo.b → demo.a\nhint: a chain that reaches itself never ends; remove one of these steps",
  INSTALL_DOWNGRADE:
    "error INSTALL_DOWNGRADE: Cannot install demo.echo 0.1.0 from \"/home/ada/demo.echo-0.1.0.mcpkg\": version 0.2.0 is installed, which is newer\nhint: old versions can have known faults; to go back nevertheless, add --allow-downgrade",
  INSTALL_FOLDER_TAKEN:
    "error INSTALL_FOLDER_TAKEN: Cannot install demo.echo 0.1.0: \"/home/ada/.mcp/tools/demo.echo\" has other content, and Toolcrib did not install it\nhint: move it away; to remove it and install the package in its place, add --allow-replacing-folder",
  INSTALL_FOLDER_UNUSABLE:
    "error INSTALL_FOLDER_UNUSABLE: Cannot use \"/home/ada/.mcp/tools\": it is a link or a file\nhint: packages are installed in real folders; remove it",
  INSTALL_KEY_CHANGED:
    "error INSTALL_KEY_CHANGED: Cannot install demo.echo 0.2.0 from \"/home/ada/demo.echo-0.2.0.mcpkg\": it is signed by sha256:…, and the key of this tool is sha256:…\nhint: if its publisher confirms the new key, add --allow-key sha256:…",
  INSTALL_KEY_MISMATCH:
    "error INSTALL_KEY_MISMATCH: Cannot install demo.echo 0.1.0 from \"/home/ada/demo.echo-0.1.0.mcpkg\": it is not signed, and --key-id names sha256:1111111111111111111111111111111111111111111111111111111111111111\nhint: get the package from its publisher, and compare the key with the one that the publisher states",
  INSTALL_LOCK_INVALID:
    "error INSTALL_LOCK_INVALID: Cannot use \"/home/ada/mcp.lock\": it is not JSON\nhint: restore it from version control; or delete it, and write that of the installed packages with: toolcrib lock",
  INSTALL_NOT_FOUND:
    "error INSTALL_NOT_FOUND: The package demo.absent is not installed in /home/ada\nhint: toolcrib info lists what is installed",
  INSTALL_NO_REGISTRY:
    "error INSTALL_NO_REGISTRY: Cannot install \"demo.echo\": no registry is configured\nhint: add registries to toolcrib.yaml, or name one with --registry; ./demo.echo is the folder of this name",
  INSTALL_PACKAGE_CHANGED:
    "error INSTALL_PACKAGE_CHANGED\nThe package demo.echo 0.1.0 in \"/home/ada/.mcp/tools/demo.echo\" was changed after it was installed, and is not used: \"tests/echo.test.json\" has 102 bytes instead of 106\nhint: install it again: toolcrib install /home/ada/demo.echo-0.1.0.mcpkg; or remove it: toolcrib uninstall demo.echo\n\nerror INSTALL_NOT_FOUND: The package demo.echo is not installed here\nhint: install it with: toolcrib install demo.echo; toolcrib info lists what is installed",
  INSTALL_PACKAGE_INVALID:
    "manifest.json:4:14: error MCPKG_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"\n4 |   \"version\": \"1.0\",\n                 ^^^^^\nhint: write 1.0.0\n\nerror INSTALL_PACKAGE_INVALID: Cannot install \"./echo\": the package has 1 error(s), the first is: \"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"",
  INSTALL_PACKAGE_NOT_FOUND:
    "First use of the registry ./registry: its key sha256:… counts from now on; compare it with the one that its operator states\nerror INSTALL_PACKAGE_NOT_FOUND: ./registry has no package demo.echo with a version in ^2\nhint: search with: toolcrib registry search demo.echo; pre-releases and withdrawn versions must be named exactly",
  INSTALL_REACH_NOT_APPROVED:
    "The program of demo.report 0.1.0 can call these tools:\n  notes:search\nwarning: these tools do not exist here, and calls fail until they do: notes:search\nerror INSTALL_REACH_NOT_APPROVED: Nothing is installed: the program of demo.report 0.1.0 can call notes:search, which you have not approved for it\nhint: read the program, then approve these tools: --allow-tool notes:search",
  INSTALL_RECORD_UNREADABLE:
    "error INSTALL_RECORD_UNREADABLE: Cannot read the record of installed packages \"/home/ada/.toolcrib/packages/.record.json\": it is not JSON\nhint: restore the file; or move it away and install the packages again (pinned keys of publishers are then forgotten)",
  INSTALL_RELEASE_CHANGED:
    "error INSTALL_RELEASE_CHANGED: Cannot install demo.echo 0.1.0 from \"/home/ada/demo.echo-0.1.0.mcpkg\": the same version is installed with other content: sha256:…, and this is sha256:…\nhint: a release never changes; if its publisher replaced it, add --allow-changed-release",
  INSTALL_SIGNATURE_STRIPPED:
    "error INSTALL_SIGNATURE_STRIPPED: Cannot install demo.echo 0.2.0 from \"/home/ada/demo.echo-0.2.0.mcpkg\": it is not signed, and the one before it was signed by sha256:…\nhint: somebody may have removed the signature; if its publisher confirms it, add --allow-stripped-signature",
  INSTALL_SOURCE_INVALID:
    "error INSTALL_SOURCE_INVALID: Cannot install \"demo.echo@latest-ish\": \"latest-ish\" is no range of versions\nhint: write a version or a range, such as demo.echo@1.2.0 or demo.echo@^1.2",
  INSTALL_SOURCE_UNUSABLE:
    "error INSTALL_SOURCE_UNUSABLE: Cannot read \"./absent.mcpkg\": there is no such file or folder",
  INSTALL_TOOLS_MISSING:
    "error INSTALL_TOOLS_MISSING: Nothing is installed: a chain needs demo.search (for demo.report)\nhint: install them first, or name their files in the same command; they are not installed, and no registry has demo.search",
  INSTALL_TOOL_NEEDED:
    "error INSTALL_TOOL_NEEDED: Nothing is removed: the chain of demo.report calls demo.echo\nhint: remove both in one command; to remove it nevertheless, add --allow-broken-chains",
  INSTALL_TOOL_TWICE:
    "error INSTALL_TOOL_TWICE: Cannot install demo.echo twice: it is in \"/home/ada/demo.echo-0.1.0.mcpkg\" and in \"/home/ada/echo\"",
  INSTALL_UNSIGNED:
    "First use of the registry ./registry: its key sha256:… counts from now on; compare it with the one that its operator states\nerror INSTALL_UNSIGNED: Cannot install demo.echo 0.1.0 from \"demo.echo@*\": it is not signed, and comes from a registry\nhint: ask its publisher for a signed one; to install it nevertheless, add --allow-unsigned",
  JSON_INVALID:
    "JSON_INVALID: JSON text is not valid at line 1, column 9 (position 8): expected a name in \"double quotes\"",
  JSON_NOT_SERIALIZABLE:
    "JSON_NOT_SERIALIZABLE: Cannot write the number NaN as JSON",
  JSON_TOO_DEEP:
    "JSON_TOO_DEEP: JSON text nests deeper than 128 levels",
  JSON_TOO_LARGE:
    "JSON_TOO_LARGE: JSON text has 20000000 characters; at most 16777216 are allowed",
  JSON_TOO_MANY_VALUES:
    "JSON_TOO_MANY_VALUES: JSON text has more than 1000000 values",
  LEARNING_FILE_UNREADABLE:
    "error LEARNING_FILE_UNREADABLE: Cannot read the folder \"/home/ada/.toolcrib/search\": a part of its path is not a directory (ENOTDIR)\nhint: move the file at this path away: Toolcrib makes the folder anew",
  LEARNING_UNWRITABLE:
    "error LEARNING_UNWRITABLE: Cannot remove the files in \"/home/ada/.toolcrib/search\": EEXIST",
  MANIFEST_BARE_WORD:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/manifests/acme/0.1.0.yaml:3:14: warning MANIFEST_BARE_WORD\nA YAML 1.1 reader takes \"yes\" without quotes for true\n3 | displayName: yes\n                 ^^^\nhint: write it in quotes: \"yes\"\n\n0 error(s), 1 warning(s)",
  MANIFEST_BUILDER_INVALID:
    "acme/manifests/acme/0.1.0.yaml:9:12: error MANIFEST_BUILDER_INVALID\n\"image.builder\" must be go-static, node, python or toolpack, but is \"cargo\"\n9 |   builder: cargo\n               ^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_CATEGORY_INVALID:
    "acme/manifests/acme/0.1.0.yaml:3:11: error MANIFEST_CATEGORY_INVALID\n\"category\" must be ai, analytics, comms, CRM, data, design, dev-tools, documents, e-commerce, finance, HR/ATS, marketing, productivity, search, social, storage or support, but is \"stuff\"\n3 | category: stuff\n              ^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_CREDENTIAL_DUPLICATE:
    "acme/manifests/acme/0.1.0.yaml:16:11: error MANIFEST_CREDENTIAL_DUPLICATE\nDuplicate credential \"token\": line 13 has the same id\n16 |   - { id: token, type: api_key, inject: { header: X-Key, format: \"{token}\" } }\n               ^^^^^\nhint: give each credential a unique id\n\n1 error(s), 0 warning(s)",
  MANIFEST_CREDENTIAL_TYPE_INVALID:
    "acme/manifests/acme/0.1.0.yaml:14:11: error MANIFEST_CREDENTIAL_TYPE_INVALID\n\"credentials[0].type\" must be oauth2, api_key, basic or custom_env, but is \"password\"\n14 |     type: password\n               ^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_DIGEST_INVALID:
    "acme/manifests/acme/0.1.0.yaml:7:11: error MANIFEST_DIGEST_INVALID\n\"image.digest\" must be sha256: and 64 hexadecimal digits in lower case, but is \"…\"\n7 |   digest: 0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0\n              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_DIGEST_PLACEHOLDER:
    "acme/manifests/acme/0.1.0.yaml:7:11: error MANIFEST_DIGEST_PLACEHOLDER\nThe digest of the image is a placeholder: no image was built\n7 |   digest: sha256:0000000000000000000000000000000000000000000000000000000000000000\n              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: build the image, and write its digest: toolcrib toolpack build --manifest FILE --toolspec FILE --update-manifest\n\n1 error(s), 0 warning(s)",
  MANIFEST_DUPLICATE_KEY:
    "acme/manifests/acme/0.1.0.yaml:11:1: error MANIFEST_DUPLICATE_KEY\nDuplicate field \"tier\": it is given before in the same map\n11 | tier: entrusted\n     ^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  MANIFEST_EGRESS_DENIED:
    "acme/manifests/acme/0.1.0.yaml:11:26: error MANIFEST_EGRESS_DENIED\nCannot allow \"api.acme.example\": the denylist has \"acme.example\"\n11 | entitlements: { egress: [api.acme.example] }\n                              ^^^^^^^^^^^^^^^^\nhint: remove the entry\n\n1 error(s), 0 warning(s)",
  MANIFEST_EGRESS_INVALID:
    "acme/manifests/acme/0.1.0.yaml:11:44: error MANIFEST_EGRESS_INVALID\nCannot allow \"*\": a wildcard is \"*.\" at the beginning and matches one label\n11 | entitlements: { egress: [api.acme.example, \"*\"] }\n                                                ^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_ENTRYPOINT_INVALID:
    "acme/manifests/acme/0.1.0.yaml:8:15: error MANIFEST_ENTRYPOINT_INVALID\n\"image.entrypoint\" must be an absolute path, but is \"server\"\n8 |   entrypoint: server\n                  ^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_FIELD_REQUIRED:
    "acme/manifests/acme/0.1.0.yaml:1:1: error MANIFEST_FIELD_REQUIRED\nField \"tier\" is required in the manifest\n1 | schemaVersion: 2\n    ^^^^^^^^^^^^^\nhint: add tier\n\n1 error(s), 0 warning(s)",
  MANIFEST_FILE_DUPLICATE:
    "acme/manifests/acme/0.1.0.yml:2:7: error MANIFEST_FILE_DUPLICATE\n\"acme@0.1.0\" is also in acme/manifests/acme/0.1.0.yaml\n2 | name: acme\n          ^^^^\nhint: remove one of the two files\n\n1 error(s), 0 warning(s)",
  MANIFEST_FILE_MISPLACED:
    "acme/manifests/acme/0.1.0.yaml:3:10: error MANIFEST_FILE_MISPLACED\n\"version\" is \"0.2.0\", but the file name is \"0.1.0\"\n3 | version: 0.2.0\n             ^^^^^\nhint: write version: 0.1.0, or move the file\n\nacme/toolspecs/acme/0.1.0.yaml:3:10: error TOOLSPEC_VERSION_MISMATCH\n\"version\" is \"0.1.0\", but \"0.2.0\" in the manifest acme/manifests/acme/0.1.0.yaml\n3 | version: 0.1.0\n             ^^^^^\nhint: write version: 0.2.0\n\n2 error(s), 0 warning(s)",
  MANIFEST_FILE_TOO_LARGE:
    "acme/manifests/acme/0.1.0.yaml: error MANIFEST_FILE_TOO_LARGE\nCannot read a manifest of more than 1,048,576 bytes\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_COLLIDES:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/manifests/acme/0.1.0.yaml:16:51: warning MANIFEST_INJECT_COLLIDES\nCredentials \"token\" and \"other\" are both sent in the header \"Authorization\": the last one is\n16 |   - { id: other, type: api_key, inject: { header: Authorization, format: \"Token {token}\" } }\n                                                       ^^^^^^^^^^^^^\nhint: remove one of the two, or give it another header\n\n0 error(s), 1 warning(s)",
  MANIFEST_INJECT_ENTRUSTED:
    "acme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_ENTRUSTED\nCredential \"token\" has no inject.env: the entrusted tier takes env and nothing else\n15 |     inject: { header: Authorization, format: \"Bearer {token}\" }\n                   ^^^^^^\nhint: write inject: { env: NAME }\n\nacme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_ENTRUSTED\nCredential \"token\" has inject.header: the entrusted tier takes env and nothing else\n15 |     inject: { header: Authorization, format: \"Bearer {token}\" }\n                   ^^^^^^\nhint: remove header; auth in the toolspec states where the secret goes\n\nacme/manifests/acme/0.1.0.yaml:15:38: error MANIFEST_INJECT_ENTRUSTED\nCredential \"token\" has inject.format: the entrusted tier takes env and nothing else\n15 |     inject: { header: Authorization, format: \"Bearer {token}\" }\n                                          ^^^^^^\nhint: remove format; auth in the toolspec states where the secret goes\n\nacme/toolspecs/acme/0.1.0.yaml:4:1: error TOOLSPEC_AUTH_REQUIRED\n\"auth\" is required: the manifest is of the entrusted tier and does not say where its credential goes\n4 | baseUrl: https://api.acme.example\n    ^^^^^^^\nhint: add auth: { header: Authorization, format: \"Bearer {token}\" }\n\n4 error(s), 0 warning(s)",
  MANIFEST_INJECT_ENV:
    "acme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_SEALED\nCredential \"token\" has no inject.header and inject.format: the sealed tier takes header and format, query, or pathPrefix, and no env\n15 |     inject: { env: \"my token\" }\n                   ^^^\nhint: write inject: { header: Authorization, format: \"Bearer {token}\" }\n\nacme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_SEALED\nCredential \"token\" has inject.env: the sealed tier takes header and format, query, or pathPrefix, and no env\n15 |     inject: { env: \"my token\" }\n                   ^^^\nhint: remove env\n\nacme/manifests/acme/0.1.0.yaml:15:20: error MANIFEST_INJECT_ENV\n\"credentials[0].inject.env\" must be the name of an environment variable, but is \"my token\"\n15 |     inject: { env: \"my token\" }\n                        ^^^^^^^^^^\n\n3 error(s), 0 warning(s)",
  MANIFEST_INJECT_FORMAT:
    "acme/manifests/acme/0.1.0.yaml:15:46: error MANIFEST_INJECT_FORMAT\n\"inject.format\" of credential \"token\" must contain {token}\n15 |     inject: { header: Authorization, format: ******** }\n                                                  ^^^^^^^^\nhint: write the text around the token: format: \"Bearer {token}\"\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_HEADER:
    "acme/manifests/acme/0.1.0.yaml:15:23: error MANIFEST_INJECT_HEADER\nCannot send credential \"token\" in the header \"Content-Length\": it is set by the client itself\n15 |     inject: { header: Content-Length, format: \"Bearer {token}\" }\n                           ^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_PATH_PREFIX:
    "acme/manifests/acme/0.1.0.yaml:15:27: error MANIFEST_INJECT_PATH_PREFIX\n\"inject.pathPrefix\" of credential \"token\" must begin with \"/\"\n15 |     inject: { pathPrefix: \"bot{token}\" }\n                               ^^^^^^^^^^^^\nhint: write the prefix of every path: pathPrefix: \"/bot{token}\"\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_PLACE:
    "acme/manifests/acme/0.1.0.yaml:15:64: error MANIFEST_INJECT_PLACE\nCredential \"token\" has inject.header and inject.query, but goes to one place\n15 |     inject: { header: Authorization, format: \"Bearer {token}\", query: key }\n                                                                    ^^^^^\nhint: remove query, or declare a second credential\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_SEALED:
    "acme/manifests/acme/0.1.0.yaml:15:13: error MANIFEST_INJECT_SEALED\nCredential \"token\" has no inject.header and inject.format: the sealed tier takes header and format, query, or pathPrefix, and no env\n15 |     inject: {}\n                 ^^\nhint: write inject: { header: Authorization, format: \"Bearer {token}\" }\n\n1 error(s), 0 warning(s)",
  MANIFEST_LOADER_VARIABLE:
    "acme/manifests/acme/0.1.0.yaml:16:21: error MANIFEST_LOADER_VARIABLE\nCredential \"token\" has placeholderEnv: NODE_OPTIONS, a variable that chooses the code that a program loads when it starts\n16 |     placeholderEnv: NODE_OPTIONS\n                         ^^^^^^^^^^^^\nhint: name the variable in which the server reads its credential\n\n1 error(s), 0 warning(s)",
  MANIFEST_NAME_INVALID:
    "acme/manifests/acme/0.1.0.yaml:2:7: error MANIFEST_NAME_INVALID\n\"name\" must be lower-case letters, digits and inner hyphens, without underscores, but is \"Acme_API\"\n2 | name: Acme_API\n          ^^^^^^^^\nhint: write acme-api\n\n1 error(s), 0 warning(s)",
  MANIFEST_NEEDS_VERSION_2:
    "acme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_NEEDS_VERSION_2\nField \"query\" belongs to schemaVersion 2, and this manifest is of schemaVersion 1\n15 |     inject: { query: key }\n                   ^^^^^\nhint: write schemaVersion: 2, or send the credential in a header\n\nacme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_SEALED\nCredential \"token\" has no inject.header and inject.format: the sealed tier takes header and format, and no env\n15 |     inject: { query: key }\n                   ^^^^^\nhint: write inject: { header: Authorization, format: \"Bearer {token}\" }\n\n2 error(s), 0 warning(s)",
  MANIFEST_PACKAGE_INVALID:
    "acme/manifests/acme/0.1.0.yaml:4:61: error MANIFEST_PACKAGE_INVALID\n\"source.package\" must be a folder within the repository, without .., but is \"../other\"\n4 | source: { repo: github.com/acme/acme, tag: v0.1.0, package: ../other }\n                                                                ^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_PLACEHOLDER_ENV:
    "acme/manifests/acme/0.1.0.yaml:16:21: error MANIFEST_PLACEHOLDER_ENV\n\"credentials[0].placeholderEnv\" must be the name of an environment variable, but is \"a b\"\n16 |     placeholderEnv: \"a b\"\n                         ^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_REQUIREMENT_INVALID:
    "acme/manifests/acme/0.1.0.yaml:12:1: error MANIFEST_REQUIREMENT_INVALID\nThe manifest of an API has \"requires\", which is for servers\n12 | requires:\n     ^^^^^^^^\nhint: declare variables in the toolspec\n\nacme/manifests/acme/0.1.0.yaml:13:5: error MANIFEST_REQUIREMENT_INVALID\nA requirement is one value, and this one has variable and argument\n13 |   - { variable: ACME_URL, argument: URL }\n         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: write variable: NAME or argument: NAME\n\n2 error(s), 0 warning(s)",
  MANIFEST_SCHEMA_VERSION:
    "acme/manifests/acme/0.1.0.yaml:1:16: error MANIFEST_SCHEMA_VERSION\n\"schemaVersion\" must be 1 or 2, but is 9\n1 | schemaVersion: 9\n                   ^\nhint: write schemaVersion: 1\n\n1 error(s), 0 warning(s)",
  MANIFEST_SOURCE_UNUSABLE:
    "acme/manifests/acme/0.1.0.yaml:4:38: error MANIFEST_SOURCE_UNUSABLE\n\"source.tag\" of the manifest \"acme\" is \"main\", which is no exact version\n4 | source: { repo: npm:@acme/acme, tag: main }\n                                         ^^^^\nhint: write an exact version, such as 1.2.3\n\n1 error(s), 0 warning(s)",
  MANIFEST_SYNTAX:
    "acme/manifests/acme/0.1.0.yaml:11:1: error MANIFEST_SYNTAX\nThe indentation does not match the preceding lines\n11 | entitlements: { egress: [api.acme.example] }\n     ^\nhint: indent the fields of one map, and the items of one list, by the same number of spaces\n\n1 error(s), 0 warning(s)",
  MANIFEST_TIER_INVALID:
    "acme/manifests/acme/0.1.0.yaml:10:7: error MANIFEST_TIER_INVALID\n\"tier\" must be sealed or entrusted, but is \"open\"\n10 | tier: open\n           ^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_TOOLSPEC_MISSING:
    "acme/manifests/acme/0.1.0.yaml:9:12: error MANIFEST_TOOLSPEC_MISSING\nThe manifest has builder: toolpack and no toolspec\n9 |   builder: toolpack\n               ^^^^^^^^\nhint: add toolspecs/acme/0.1.0.yaml, or 0.1.0.toolspec.yaml next to the manifest\n\n1 error(s), 0 warning(s)",
  MANIFEST_TOOL_DUPLICATE:
    "acme/manifests/acme/0.1.0.yaml:18:13: error MANIFEST_TOOL_DUPLICATE\nDuplicate tool \"get_repo\": line 17 has the same name\n18 |   - { name: get_repo, default: false }\n                 ^^^^^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  MANIFEST_TOO_COMPLEX:
    "manifest.yaml:5:4: error MANIFEST_TOO_COMPLEX\nCannot read the manifest: with its aliases it has more than 100,000 values\n5 | e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_UNKNOWN_FIELD:
    "acme/manifests/acme/0.1.0.yaml:11:1: error MANIFEST_UNKNOWN_FIELD\nUnknown field \"label\" in the manifest\n11 | label: x\n     ^^^^^\nhint: allowed: schemaVersion, name, version, source, image, tier, entitlements, credentials, requires, tools, displayName, description, category, icon\n\n1 error(s), 0 warning(s)",
  MANIFEST_VALUE_INVALID:
    "acme/manifests/acme/0.1.0.yaml:3:14: error MANIFEST_VALUE_INVALID\n\"displayName\" is empty\n3 | displayName: \"\"\n                 ^^\nhint: write a value, or remove the field\n\n1 error(s), 0 warning(s)",
  MANIFEST_VENDOR_INVALID:
    "acme/manifests/acme/0.1.0.yaml:15:13: error MANIFEST_VENDOR_INVALID\n\"credentials[0].vendor\" must be lower-case letters, digits and inner hyphens, without underscores, but is \"Acme Inc\"\n15 |     vendor: \"Acme Inc\"\n                 ^^^^^^^^^^\nhint: write acme-inc\n\n1 error(s), 0 warning(s)",
  MANIFEST_VENDOR_REQUIRED:
    "acme/manifests/acme/0.1.0.yaml:14:11: error MANIFEST_VENDOR_REQUIRED\nCredential \"token\" is of type oauth2 and has no vendor\n14 |     type: oauth2\n               ^^^^^^\nhint: add vendor: NAME, such as google\n\n1 error(s), 0 warning(s)",
  MANIFEST_VERSION_INVALID:
    "acme/manifests/acme/0.1.0.yaml:3:10: error MANIFEST_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH without leading zeros, but is \"v1\"\n3 | version: v1\n             ^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_WRONG_TYPE:
    "acme/manifests/acme/0.1.0.yaml:3:14: error MANIFEST_WRONG_TYPE\n\"displayName\" must be a string, but is a list\n3 | displayName: [acme]\n                 ^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_ARCHIVE_INVALID:
    "error MCPKG_ARCHIVE_INVALID: Cannot read the archive: the file is no ZIP archive\nhint: of a package or bundle that is not packed, pass the folder with its manifest.json, not a file in it",
  MCPKG_ARCHIVE_TOO_LARGE:
    "error MCPKG_ARCHIVE_TOO_LARGE: Cannot pack \"/home/ada/echo\": it has more than 500 files\nhint: leave out what the tool does not need; names that begin with a dot are left out",
  MCPKG_ASSERTION_INVALID:
    "tests/echo.test.json:10:5: error MCPKG_ASSERTION_INVALID\nThe assertion for \"$.message\" has no condition; it must have exactly one\n10 |     {\n         ^\nhint: write one of equals, notEquals, exists and notExists\n\n1 error(s), 0 warning(s)",
  MCPKG_CHAIN_INVALID:
    "manifest.json:39:20: error MCPKG_CHAIN_INVALID\nStep \"one\" uses \"two\", which is no step, no outputKey and not input\n39 |         \"message\": \"$.two.text\"\n                        ^^^^^^^^^^^^\nhint: known at this step: input\n\n1 error(s), 0 warning(s)",
  MCPKG_COMMAND_INVALID:
    "manifest.json:11:16: error MCPKG_COMMAND_INVALID\nCannot run \"../tool\": \"../tool\" is neither node, python or dotnet nor the path of a file in the package, such as ./bin/tool\n11 |     \"command\": \"../tool\"\n                    ^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_DUPLICATE_KEY:
    "manifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"name\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add name\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"version\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add version\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"description\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add description\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"capabilities\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add capabilities\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"input_schema\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add input_schema\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"output_schema\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add output_schema\n\nmanifest.json:1:26: error MCPKG_DUPLICATE_KEY\nDuplicate field \"toolId\": it is given before in the same map\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n                             ^^^^^^^^\nhint: remove one of the two\n\n7 error(s), 0 warning(s)",
  MCPKG_ENDPOINT_INVALID:
    "manifest.json:12:12: error MCPKG_ENDPOINT_INVALID\nA URL begins with https://, and not with ftp://\n12 |     \"url\": \"ftp://example.com/echo\"\n                ^^^^^^^^^^^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_FIELD_REQUIRED:
    "manifest.json:2:3: error MCPKG_FIELD_REQUIRED\nField \"description\" is required in the manifest\n2 |   \"toolId\": \"demo.echo\",\n      ^^^^^^^^\nhint: add description\n\n1 error(s), 0 warning(s)",
  MCPKG_FILE_MISSING:
    "manifest.json:36:12: warning MCPKG_FILE_UNUSED\n\"tests/echo.test.json\" is not in \"tests\", so it never runs\n36 |   \"tests\": [\n                ^\nhint: add it to tests\n\nmanifest.json:37:5: error MCPKG_FILE_MISSING\nThe package has no file \"tests/absent.test.json\"\n37 |     \"tests/absent.test.json\"\n         ^^^^^^^^^^^^^^^^^^^^^^^^\nhint: paths are relative to the manifest, with / between their parts\n\n1 error(s), 1 warning(s)",
  MCPKG_FILE_TOO_LARGE:
    "manifest.json: error MCPKG_FILE_TOO_LARGE\nCannot read a manifest of more than 1,048,576 bytes\n\nmanifest.json: warning MCPKG_FILE_UNUSED\n\"tests/echo.test.json\" is not in \"tests\", so it never runs\nhint: add it to tests\n\n1 error(s), 1 warning(s)",
  MCPKG_FILE_UNUSED:
    "demo.echo 0.1.0 is valid: 3 files, 1 test, not signed\nmanifest.json:36:12: warning MCPKG_FILE_UNUSED\n\"tests/other.test.json\" is not in \"tests\", so it never runs\n36 |   \"tests\": [\n                ^\nhint: add it to tests\n\n0 error(s), 1 warning(s)",
  MCPKG_FOLDER_UNUSABLE:
    "error MCPKG_FOLDER_UNUSABLE: Cannot read \"/home/ada/echo/tests/more.json\": it is a link or a device; a package has regular files only",
  MCPKG_JSON_PATH_INVALID:
    "tests/echo.test.json:11:15: error MCPKG_JSON_PATH_INVALID\n\"$.message[\" is not a JSONPath: unclosed bracketed selection ('.message[':10)\n11 |       \"path\": \"$.message[\",\n                   ^^^^^^^^^^^^\nhint: see RFC 9535, such as $.status or $.items[0].id\n\n1 error(s), 0 warning(s)",
  MCPKG_JSON_PATH_LIMIT:
    "MCPKG_JSON_PATH_LIMIT: The JSONPath \"$..*\" needs more than 100000 nodes name the members on the way instead of searching at all depths, or shorten the pattern",
  MCPKG_KEY_INVALID:
    "error MCPKG_KEY_INVALID: Cannot use the key: it is not a private key for Ed25519 in PEM\nhint: create one with: openssl genpkey -algorithm ed25519",
  MCPKG_PATH_INVALID:
    "error MCPKG_PATH_INVALID: Cannot use the path \"aux.txt\" in a package: \"aux.txt\" is the name of a device on Windows",
  MCPKG_PROGRAM_INVALID:
    "error MCPKG_PROGRAM_INVALID\nThe program \"main.star\" declares the tool \"notes:search\" twice\n\n1 error(s), 0 warning(s)",
  MCPKG_REGISTRY_DIGEST_MISMATCH:
    "First use of the registry ./registry: its key sha256:… counts from now on; compare it with the one that its operator states\nerror MCPKG_REGISTRY_DIGEST_MISMATCH: The archive of demo.echo 0.1.0 from the registry \"./registry\" is not used: it has the digest sha256:…, and the index names sha256:…\nhint: its operator checks it with: toolcrib registry verify FOLDER",
  MCPKG_REGISTRY_EXPIRED:
    "The registry ./registry is left out: The index of the registry \"./registry\" is not used: it expired on TIME (MCPKG_REGISTRY_EXPIRED)\n  hint: its operator renews it with: toolcrib registry renew FOLDER; a mirror may serve an old copy of /home/ada/registry",
  MCPKG_REGISTRY_FOLDER_INVALID:
    "Created the registry key sha256:… in /home/ada/.toolcrib/registry-key.pem: keep a copy, clients accept no other key\nerror MCPKG_REGISTRY_FOLDER_INVALID: \"/home/ada/folder\" is not a registry: it has no index.json\nhint: create one with: toolcrib registry init /home/ada/folder",
  MCPKG_REGISTRY_KEY_MISMATCH:
    "The registry acme is left out: The index of the registry \"acme\" is not used: it is signed by sha256:…, and its key is sha256:1111111111111111111111111111111111111111111111111111111111111111 (the one of the configuration) (MCPKG_REGISTRY_KEY_MISMATCH)\n  hint: ask its operator, not over the same connection; if the key was replaced, accept it in the configuration of this registry: key: sha256:…",
  MCPKG_REGISTRY_LISTEN_FAILED:
    "error MCPKG_REGISTRY_LISTEN_FAILED: Cannot listen on 192.0.2.1:7421: EADDRNOTAVAIL\nhint: choose another address: --listen 127.0.0.1:PORT",
  MCPKG_REGISTRY_PACKAGE_INVALID:
    "manifest.json:4:14: error MCPKG_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"\n4 |   \"version\": \"1.0\",\n                 ^^^^^\nhint: write 1.0.0\n\nmanifest.json:37:5: error MCPKG_FILE_MISSING\nThe package has no file \"tests/echo.test.json\"\n37 |     \"tests/echo.test.json\"\n         ^^^^^^^^^^^^^^^^^^^^^^\nhint: paths are relative to the manifest, with / between their parts\n\nerror MCPKG_REGISTRY_PACKAGE_INVALID: Cannot add \"echo.mcpkg\": it has 2 error(s)",
  MCPKG_REGISTRY_PACKAGE_UNSIGNED:
    "error MCPKG_REGISTRY_PACKAGE_UNSIGNED: Cannot add demo.echo 0.1.0: it is not signed\nhint: sign it with: toolcrib sign FILE, or accept it with --allow-unsigned",
  MCPKG_REGISTRY_PLACE_INVALID:
    "error MCPKG_REGISTRY_PLACE_INVALID: Cannot use the registry \"ftp://registry.example/\": it must be an https URL\nhint: write https://HOST/PATH/, or the path of a folder",
  MCPKG_REGISTRY_PUBLISHER_CHANGED:
    "error MCPKG_REGISTRY_PUBLISHER_CHANGED: Cannot add demo.echo 0.2.0: it is signed by sha256:…, and 0.1.0 by sha256:…\nhint: sign it with the key of the earlier versions, or accept the new key with --allow-new-key",
  MCPKG_REGISTRY_RESPONSE_INVALID:
    "The registry http://127.0.0.1:9000/status-404/ is left out: Cannot read \"http://127.0.0.1:9000/status-404/index.json\": the response is HTTP 404 (MCPKG_REGISTRY_RESPONSE_INVALID)\n  hint: check the URL of the registry: index.json must be there, and all files that it names",
  MCPKG_REGISTRY_ROLLED_BACK:
    "The registry ./registry is left out: The index of the registry \"./registry\" is not used: it is number 1 of TIME, and number 2 was seen before (MCPKG_REGISTRY_ROLLED_BACK)\n  hint: a mirror or a cache serves an old copy: use the registry itself, or wait until the copy is current",
  MCPKG_REGISTRY_SIGNATURE_INVALID:
    "The registry ./registry is left out: The index of the registry is not used: The signed statement is not valid: it is of the type \"application/vnd.toolcrib.mcpkg-regestry+json\" (MCPKG_REGISTRY_SIGNATURE_INVALID)\n  hint: its operator checks it with: toolcrib registry verify FOLDER",
  MCPKG_REGISTRY_STATE_INVALID:
    "The registry ./registry is left out: Cannot read \"/home/ada/.toolcrib/registries/…/state.json\": it has the pinned key of a registry, and is damaged (MCPKG_REGISTRY_STATE_INVALID)\n  hint: remove the folder, and compare the key that is shown at the next use with the one that the registry's operator states",
  MCPKG_REGISTRY_UNREACHABLE:
    "The registry http://127.0.0.1:PORT/ is left out: Cannot read \"http://127.0.0.1:PORT/index.json\": Cannot read from \"127.0.0.1\": the connection failed (MCPKG_REGISTRY_UNREACHABLE)",
  MCPKG_REGISTRY_VERSION_EXISTS:
    "error MCPKG_REGISTRY_VERSION_EXISTS: Cannot add demo.echo 0.1.0: the registry has this version already, with other contents (sha256:…)\nhint: raise the version in manifest.json, and pack it again",
  MCPKG_REGISTRY_VERSION_NOT_FOUND:
    "error MCPKG_REGISTRY_VERSION_NOT_FOUND: \"/home/ada/registry\" has no demo.echo 9.0.0\nhint: it has 0.1.0",
  MCPKG_SCHEMA_INVALID:
    "manifest.json:15:13: error MCPKG_SCHEMA_INVALID\nThe type of \"input_schema\" must be \"object\", but is \"string\"\n15 |     \"type\": \"string\"\n                 ^^^^^^^^\nhint: arguments are an object\n\ntests/echo.test.json:3:12: error MCPKG_TEST_INPUT_INVALID\nThe input of the test does not match the input schema: it must be string\n3 |   \"input\": {\n               ^\n\n2 error(s), 0 warning(s)",
  MCPKG_SIGNATURE_INVALID:
    "error MCPKG_SIGNATURE_INVALID: The signature of the package is not valid: \"tests/echo.test.json\" was changed after it was signed\nhint: get the package from its publisher again; after a change of your own, sign it again",
  MCPKG_SYNTAX:
    "manifest.json:1:34: error MCPKG_SYNTAX\nCannot read this JSON value\n1 | { \"toolId\": \"demo.echo\", \"name\": }\n                                     ^\nhint: texts stand in double quotes; the rest is true, false, null, a number, {…} or […]\n\n1 error(s), 0 warning(s)",
  MCPKG_TEST_INPUT_INVALID:
    "tests/echo.test.json:3:12: error MCPKG_TEST_INPUT_INVALID\nThe input of the test does not match the input schema: it must have required property 'message'\n3 |   \"input\": {\n               ^\n\n1 error(s), 0 warning(s)",
  MCPKG_TOOL_ID_INVALID:
    "manifest.json:2:13: error MCPKG_TOOL_ID_INVALID\n\"toolId\" must be two or more parts of a-z, 0-9 and _ with dots between, such as acme.crm.search, but is \"Echo\"\n2 |   \"toolId\": \"Echo\",\n                ^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_TOO_COMPLEX:
    "tests/echo.test.json:1:107: error MCPKG_TOO_COMPLEX\nCannot read the test: it nests deeper than 64 levels\n1 | { \"name\": \"deep\", \"input\": {}, \"expected\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…\n                                                                                                              ^\n\n1 error(s), 0 warning(s)",
  MCPKG_UNKNOWN_FIELD:
    "demo.echo 0.1.0 is valid: 2 files, 1 test, not signed\nmanifest.json:39:3: warning MCPKG_UNKNOWN_FIELD\nUnknown member \"descripton\": it has no effect\n39 |   \"descripton\": \"Echo\"\n       ^^^^^^^^^^^^\nhint: did you mean description?\n\n0 error(s), 1 warning(s)",
  MCPKG_VALUE_INVALID:
    "manifest.json:11:15: error MCPKG_VALUE_INVALID\n\"endpoint.method\" must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, but is \"FETCH\"\n11 |     \"method\": \"FETCH\",\n                   ^^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_VERSION_INVALID:
    "manifest.json:4:14: error MCPKG_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"\n4 |   \"version\": \"1.0\",\n                 ^^^^^\nhint: write 1.0.0\n\n1 error(s), 0 warning(s)",
  MCPKG_WRONG_TYPE:
    "manifest.json:6:19: error MCPKG_WRONG_TYPE\n\"capabilities\" must be a list, but is a string\n6 |   \"capabilities\": \"demo\",\n                      ^^^^^^\nhint: write it as a list: [\"demo\"]\n\n1 error(s), 0 warning(s)",
  MCP_CLIENT_CAPABILITY_MISSING:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"code\\\":-32600,\\\"message\\\":\\\"The client that made this call does not support sampling (use a client that declares the capability \\\\\\\"sampling\\\\\\\")\\\",\\\"data\\\":{\\\"code\\\":\\\"MCP_CLIENT_CAPABILITY_MISSING\\\",\\\"hint\\\":\\\"use a client that declares the capability \\\\\\\"sampling\\\\\\\"\\\"}}\"}],\"_meta\":{\"toolcrib/server\":\"notes\",\"toolcrib/trustState\":\"unverified\"}}}",
  MCP_CONNECTION_CLOSED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"MCP_CONNECTION_CLOSED\",\"reason\":\"The server ended before its handshake: it exited with code 1 after N ms; last stderr: NOTES_TOKEN is not set\",\"msg\":\"server is not available\"}",
  MCP_CREDENTIALS_UNAVAILABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"crm\",\"attempt\":1,\"code\":\"MCP_CREDENTIALS_UNAVAILABLE\",\"reason\":\"Cannot get the credentials for the server at http://127.0.0.1:9000/status-401: A login is needed: nobody is logged in to \\\"crm\\\" (run toolcrib login crm)\",\"msg\":\"server is not available\"}",
  MCP_HTTP_ERROR:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"MCP_HTTP_ERROR\",\"reason\":\"The server at http://127.0.0.1:9000/status-404 answered HTTP 404: no (check the URL, and whether the server speaks this transport (streamable_http or sse))\",\"msg\":\"server is not available\"}",
  MCP_INVALID_MESSAGE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"MCP_INVALID_MESSAGE\",\"reason\":\"The server at http://127.0.0.1:9000/page answered HTTP 200 with \\\"text/html\\\" and no JSON-RPC answer\",\"msg\":\"server is not available\"}",
  MCP_MESSAGE_TOO_DEEP:
    "error MCP_MESSAGE_TOO_DEEP: The server's answer nests too deeply; the call may have had an effect\nhint: check the effect before you repeat it",
  MCP_MESSAGE_TOO_LARGE:
    "error MCP_MESSAGE_TOO_LARGE: The server's answer is larger than 33554432 bytes",
  MCP_METHOD_NOT_FOUND:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,\"message\":\"Method not found: \\\"resource/list\\\"\",\"data\":{\"code\":\"MCP_METHOD_NOT_FOUND\"}}}",
  MCP_SESSION_EXPIRED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"MCP_SESSION_EXPIRED\",\"reason\":\"The server at http://127.0.0.1:9000/restarted no longer knows the session\",\"msg\":\"server is not available\"}",
  MCP_UNAUTHORIZED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"MCP_UNAUTHORIZED\",\"reason\":\"The server at http://127.0.0.1:9000/status-401 refused the credentials (HTTP 401): no (check the headers of this server's transport; values may be given with secret_key_ref)\",\"msg\":\"server is not available\"}",
  MCP_UNREACHABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"MCP_UNREACHABLE\",\"reason\":\"The server at http://127.0.0.1:PORT/mcp cannot be reached: ECONNREFUSED (check that it runs and that the URL is right)\",\"msg\":\"server is not available\"}",
  MCP_UNSUPPORTED_VERSION:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"MCP_UNSUPPORTED_VERSION\",\"reason\":\"The server speaks none of our protocol versions; it offers 2031-01-01\",\"msg\":\"server is not available\"}",
  METATOOL_ARGUMENT_FORM:
    "{\n  \"error\": {\n    \"type\": \"validation_error\",\n    \"message\": \"The tool was not saved: notes.search takes one dict or arguments by name, got string (line 2)\",\n    \"details\": {\n      \"problems\": [\n        {\n          \"path\": \"code\",\n          \"line\": 2,\n          \"column\": 21,\n          \"snippet\": \"return notes.search(\\\"milk\\\")\",\n          \"message\": \"notes.search takes one dict or arguments by name, got string\",\n          \"code\": \"METATOOL_ARGUMENT_FORM\",\n          \"hint\": \"write notes.search({\\\"query\\\": …})\"\n        }\n      ]\n    }\n  }\n}",
  METATOOL_ARGUMENT_MISSING:
    "{\n  \"name\": \"report\",\n  \"status\": \"created\",\n  \"reach\": [\n    \"notes:search\"\n  ],\n  \"dynamic\": false,\n  \"annotations\": {\n    \"readOnlyHint\": false,\n    \"destructiveHint\": true,\n    \"idempotentHint\": false,\n    \"openWorldHint\": true\n  },\n  \"labels\": {},\n  \"egressHosts\": [\n    \"127.0.0.1\"\n  ],\n  \"needsApproval\": false,\n  \"permissions\": \"caller\",\n  \"warnings\": [\n    {\n      \"path\": \"code\",\n      \"line\": 2,\n      \"column\": 21,\n      \"snippet\": \"return notes.search({})\",\n      \"message\": \"notes.search needs \\\"query\\\"\",\n      \"code\": \"METATOOL_ARGUMENT_MISSING\"\n    }\n  ]\n}",
  METATOOL_ARGUMENT_TYPE:
    "{\n  \"name\": \"report\",\n  \"status\": \"created\",\n  \"reach\": [\n    \"notes:search\"\n  ],\n  \"dynamic\": false,\n  \"annotations\": {\n    \"readOnlyHint\": false,\n    \"destructiveHint\": true,\n    \"idempotentHint\": false,\n    \"openWorldHint\": true\n  },\n  \"labels\": {},\n  \"egressHosts\": [\n    \"127.0.0.1\"\n  ],\n  \"needsApproval\": false,\n  \"permissions\": \"caller\",\n  \"warnings\": [\n    {\n      \"path\": \"code\",\n      \"line\": 2,\n      \"column\": 48,\n      \"snippet\": \"return notes.search({\\\"query\\\": \\\"milk\\\", \\\"limit\\\": \\\"ten\\\"})\",\n      \"message\": \"\\\"limit\\\" of notes.search is integer, got string\",\n      \"code\": \"METATOOL_ARGUMENT_TYPE\"\n    }\n  ]\n}",
  METATOOL_ARGUMENT_UNKNOWN:
    "{\n  \"name\": \"report\",\n  \"status\": \"created\",\n  \"reach\": [\n    \"notes:search\"\n  ],\n  \"dynamic\": false,\n  \"annotations\": {\n    \"readOnlyHint\": false,\n    \"destructiveHint\": true,\n    \"idempotentHint\": false,\n    \"openWorldHint\": true\n  },\n  \"labels\": {},\n  \"egressHosts\": [\n    \"127.0.0.1\"\n  ],\n  \"needsApproval\": false,\n  \"permissions\": \"caller\",\n  \"warnings\": [\n    {\n      \"path\": \"code\",\n      \"line\": 2,\n      \"column\": 39,\n      \"snippet\": \"return notes.search({\\\"query\\\": \\\"milk\\\", \\\"limt\\\": 10})\",\n      \"message\": \"notes.search has no \\\"limt\\\" (did you mean \\\"limit\\\"?)\",\n      \"code\": \"METATOOL_ARGUMENT_UNKNOWN\",\n      \"hint\": \"it takes \\\"query\\\", \\\"limit\\\"\"\n    }\n  ]\n}",
  METATOOL_CLOSED:
    "METATOOL_CLOSED: Cannot use the saved tools: the store is closed",
  METATOOL_DIRECTORY_BUSY:
    "METATOOL_DIRECTORY_BUSY: Cannot lock \"tools\": another process has been writing to it for N ms try again; if this persists, look for a toolcrib process that hangs",
  METATOOL_DIRECTORY_UNUSABLE:
    "error METATOOL_DIRECTORY_UNUSABLE: Cannot create the directory of saved tools \"/home/ada/.toolcrib/tools\": EEXIST\nhint: give the user who runs toolcrib write access to it, or use another directory",
  METATOOL_FIELD_INVALID:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"error\\\":{\\\"type\\\":\\\"validation_error\\\",\\\"message\\\":\\\"The tool was not saved; it has 3 problems: Cannot use \\\\\\\"description\\\\\\\": it is missing; it must be a text, …\\\",\\\"details\\\":{\\\"problems\\\":[{\\\"path\\\":\\\"description\\\",\\\"message\\\":\\\"Cannot use \\\\\\\"description\\\\\\\": it is missing; it must be a text\\\",\\\"code\\\":\\\"METATOOL_FIELD_INVALID\\\"},{\\\"path\\\":\\\"inputSchema\\\",\\\"message\\\":\\\"Cannot use \\\\\\\"inputSchema\\\\\\\": it is missing; it must be an object\\\",\\\"code\\\":\\\"METATOOL_FIELD_INVALID\\\"},{\\\"path\\\":\\\"desc\\\",\\\"message\\\":\\\"Unknown field \\\\\\\"desc\\\\\\\"; the fields are name, description, inputSchema, code\\\",\\\"code\\\":\\\"METATOOL_FIELD_INVALID\\\"}]}}}\"}],\"structuredContent\":{\"error\":{\"type\":\"validation_error\",\"message\":\"The tool was not saved; it has 3 problems: Cannot use \\\"description\\\": it is missing; it must be a text, …\",\"details\":{\"problems\":[{\"path\":\"description\",\"message\":\"Cannot use \\\"description\\\": it is missing; it must be a text\",\"code\":\"METATOOL_FIELD_INVALID\"},{\"path\":\"inputSchema\",\"message\":\"Cannot use \\\"inputSchema\\\": it is missing; it must be an object\",\"code\":\"METATOOL_FIELD_INVALID\"},{\"path\":\"desc\",\"message\":\"Unknown field \\\"desc\\\"; the fields are name, description, inputSchema, code\",\"code\":\"METATOOL_FIELD_INVALID\"}]}}},\"isError\":true}}",
  METATOOL_FIELD_TOO_LARGE:
    "{\n  \"error\": {\n    \"type\": \"validation_error\",\n    \"message\": \"The tool was not saved: Cannot use \\\"code\\\": it has 110031 bytes; at most 102400 are allowed\",\n    \"details\": {\n      \"problems\": [\n        {\n          \"path\": \"code\",\n          \"message\": \"Cannot use \\\"code\\\": it has 110031 bytes; at most 102400 are allowed\",\n          \"code\": \"METATOOL_FIELD_TOO_LARGE\"\n        }\n      ]\n    }\n  }\n}",
  METATOOL_FILE_IN_THE_WAY:
    "{\n  \"error\": {\n    \"type\": \"validation_error\",\n    \"message\": \"The tool was not saved: Cannot change \\\"report\\\": its file exists and is not a usable saved tool, so it is left alone\",\n    \"details\": {\n      \"problems\": [\n        {\n          \"path\": \"name\",\n          \"message\": \"Cannot change \\\"report\\\": its file exists and is not a usable saved tool, so it is left alone\",\n          \"code\": \"METATOOL_FILE_IN_THE_WAY\",\n          \"hint\": \"fix or remove the file, or use another name; /home/ada/.toolcrib/tools/report.json: error METATOOL_FILE_SYNTAX Cannot read the saved tool: its file is not valid JSON from here on\"\n        }\n      ]\n    }\n  }\n}",
  METATOOL_FILE_NAME:
    "TOOL    RUNS  TESTS  DESCRIPTION\nreport  0     0      Reports about notes\n/home/ada/.toolcrib/tools/report2.json: error METATOOL_FILE_NAME\nCannot use the saved tool: its name is \"report\" and that of its file is \"report2.json\"\nhint: name the file \"report.json\", or the tool \"report2\"",
  METATOOL_FILE_SYNTAX:
    "No saved tools.\n/home/ada/.toolcrib/tools/report.json:3:3: error METATOOL_FILE_SYNTAX\nCannot read the saved tool: its file is not valid JSON from here on\n3 |   \"name\": \"report\"\n      ^",
  METATOOL_FILE_TOO_LARGE:
    "TOOL    RUNS  TESTS  DESCRIPTION\nreport  0     0      Reports about notes\n/home/ada/.toolcrib/tools/log.json: error METATOOL_FILE_TOO_LARGE\nCannot read the saved tool: its file is longer than 1048576 bytes",
  METATOOL_FILE_UNREADABLE:
    "TOOL    RUNS  TESTS  DESCRIPTION\nreport  0     0      Reports about notes\n/home/ada/.toolcrib/tools/folder.json: error METATOOL_FILE_UNREADABLE\nCannot read the saved tool: it is not a file\nhint: move it elsewhere",
  METATOOL_FILE_VERSION:
    "No saved tools.\n/home/ada/.toolcrib/tools/report.json: error METATOOL_FILE_VERSION\nCannot read the saved tool: its version is \"9.0\"; only \"1.0\" is supported",
  METATOOL_NAME_HIDDEN:
    "{\n  \"name\": \"report\",\n  \"status\": \"created\",\n  \"reach\": [],\n  \"dynamic\": false,\n  \"annotations\": {\n    \"readOnlyHint\": true,\n    \"destructiveHint\": false,\n    \"idempotentHint\": true,\n    \"openWorldHint\": false\n  },\n  \"labels\": {},\n  \"egressHosts\": [],\n  \"needsApproval\": false,\n  \"permissions\": \"caller\",\n  \"warnings\": [\n    {\n      \"path\": \"code\",\n      \"line\": 2,\n      \"column\": 1,\n      \"snippet\": \"params = 1\",\n      \"message\": \"\\\"params\\\" hides the predeclared params from here on\",\n      \"code\": \"METATOOL_NAME_HIDDEN\",\n      \"hint\": \"use another name, such as params_value\"\n    }\n  ]\n}",
  METATOOL_NAME_INVALID:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"error\\\":{\\\"type\\\":\\\"validation_error\\\",\\\"message\\\":\\\"The tool was not saved; it has 2 problems: Cannot save a tool as \\\\\\\"../report\\\\\\\": allowed are 1 to 64 of the characters A-Z a-z 0-9 _ . -, of which the first is a letter, a digit or _, …\\\",\\\"details\\\":{\\\"problems\\\":[{\\\"path\\\":\\\"name\\\",\\\"message\\\":\\\"Cannot save a tool as \\\\\\\"../report\\\\\\\": allowed are 1 to 64 of the characters A-Z a-z 0-9 _ . -, of which the first is a letter, a digit or _\\\",\\\"code\\\":\\\"METATOOL_NAME_INVALID\\\",\\\"hint\\\":\\\"use \\\\\\\"_report\\\\\\\"\\\"},{\\\"path\\\":\\\"inputSchema\\\",\\\"message\\\":\\\"Cannot use \\\\\\\"inputSchema\\\\\\\": it is missing; it must be an object\\\",\\\"code\\\":\\\"METATOOL_FIELD_INVALID\\\"}]}}}\"}],\"structuredContent\":{\"error\":{\"type\":\"validation_error\",\"message\":\"The tool was not saved; it has 2 problems: Cannot save a tool as \\\"../report\\\": allowed are 1 to 64 of the characters A-Z a-z 0-9 _ . -, of which the first is a letter, a digit or _, …\",\"details\":{\"problems\":[{\"path\":\"name\",\"message\":\"Cannot save a tool as \\\"../report\\\": allowed are 1 to 64 of the characters A-Z a-z 0-9 _ . -, of which the first is a letter, a digit or _\",\"code\":\"METATOOL_NAME_INVALID\",\"hint\":\"use \\\"_report\\\"\"},{\"path\":\"inputSchema\",\"message\":\"Cannot use \\\"inputSchema\\\": it is missing; it must be an object\",\"code\":\"METATOOL_FIELD_INVALID\"}]}}},\"isError\":true}}",
  METATOOL_NAME_RESERVED:
    "{\n  \"error\": {\n    \"type\": \"validation_error\",\n    \"message\": \"The tool was not saved: Cannot save a tool as \\\"search_tools\\\": another tool or server has this name or a confusable one\",\n    \"details\": {\n      \"problems\": [\n        {\n          \"path\": \"name\",\n          \"message\": \"Cannot save a tool as \\\"search_tools\\\": another tool or server has this name or a confusable one\",\n          \"code\": \"METATOOL_NAME_RESERVED\",\n          \"hint\": \"use a different name\"\n        }\n      ]\n    }\n  }\n}",
  METATOOL_NAME_TAKEN:
    "{\n  \"error\": {\n    \"type\": \"validation_error\",\n    \"message\": \"The tool was not saved: Cannot save a tool as \\\"daily-report\\\": it is confusable with the saved tool \\\"daily_report\\\"\",\n    \"details\": {\n      \"problems\": [\n        {\n          \"path\": \"name\",\n          \"message\": \"Cannot save a tool as \\\"daily-report\\\": it is confusable with the saved tool \\\"daily_report\\\"\",\n          \"code\": \"METATOOL_NAME_TAKEN\",\n          \"hint\": \"use another name, or update \\\"daily_report\\\"\"\n        }\n      ]\n    }\n  }\n}",
  METATOOL_NOT_OWNER:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"error\\\":{\\\"type\\\":\\\"validation_error\\\",\\\"message\\\":\\\"The tool was not saved: Cannot save \\\\\\\"report\\\\\\\": the name belongs to another client or to the operator\\\",\\\"details\\\":{\\\"problems\\\":[{\\\"path\\\":\\\"name\\\",\\\"message\\\":\\\"Cannot save \\\\\\\"report\\\\\\\": the name belongs to another client or to the operator\\\",\\\"code\\\":\\\"METATOOL_NOT_OWNER\\\",\\\"hint\\\":\\\"use another name, or ask the operator\\\"}]}}}\"}],\"structuredContent\":{\"error\":{\"type\":\"validation_error\",\"message\":\"The tool was not saved: Cannot save \\\"report\\\": the name belongs to another client or to the operator\",\"details\":{\"problems\":[{\"path\":\"name\",\"message\":\"Cannot save \\\"report\\\": the name belongs to another client or to the operator\",\"code\":\"METATOOL_NOT_OWNER\",\"hint\":\"use another name, or ask the operator\"}]}}},\"isError\":true}}",
  METATOOL_PARAMETER_UNKNOWN:
    "{\n  \"name\": \"report\",\n  \"status\": \"created\",\n  \"reach\": [],\n  \"dynamic\": false,\n  \"annotations\": {\n    \"readOnlyHint\": true,\n    \"destructiveHint\": false,\n    \"idempotentHint\": true,\n    \"openWorldHint\": false\n  },\n  \"labels\": {},\n  \"egressHosts\": [],\n  \"needsApproval\": false,\n  \"permissions\": \"caller\",\n  \"warnings\": [\n    {\n      \"path\": \"code\",\n      \"line\": 2,\n      \"column\": 15,\n      \"snippet\": \"return params[\\\"dayz\\\"]\",\n      \"message\": \"The input schema has no \\\"dayz\\\" (did you mean \\\"days\\\"?)\",\n      \"code\": \"METATOOL_PARAMETER_UNKNOWN\",\n      \"hint\": \"it has \\\"days\\\"\"\n    }\n  ]\n}",
  METATOOL_RECURSIVE:
    "{\n  \"name\": \"report\",\n  \"status\": \"updated\",\n  \"reach\": [\n    \"saved:report\"\n  ],\n  \"dynamic\": false,\n  \"annotations\": {\n    \"readOnlyHint\": true,\n    \"destructiveHint\": false,\n    \"idempotentHint\": true,\n    \"openWorldHint\": false\n  },\n  \"labels\": {},\n  \"egressHosts\": [],\n  \"needsApproval\": true,\n  \"permissions\": \"caller\",\n  \"warnings\": [\n    {\n      \"path\": \"code\",\n      \"line\": 1,\n      \"column\": 1,\n      \"snippet\": \"# Reports about notes\",\n      \"message\": \"\\\"report\\\" calls itself, which ends at the limit of nested calls\",\n      \"code\": \"METATOOL_RECURSIVE\",\n      \"hint\": \"call a function of the program instead: def can call itself\"\n    }\n  ]\n}",
  METATOOL_SCHEMA_INVALID:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"error\\\":{\\\"type\\\":\\\"validation_error\\\",\\\"message\\\":\\\"The tool was not saved: The type of an input schema must be \\\\\\\"object\\\\\\\", but is \\\\\\\"string\\\\\\\"\\\",\\\"details\\\":{\\\"problems\\\":[{\\\"path\\\":\\\"inputSchema.type\\\",\\\"message\\\":\\\"The type of an input schema must be \\\\\\\"object\\\\\\\", but is \\\\\\\"string\\\\\\\"\\\",\\\"code\\\":\\\"METATOOL_SCHEMA_INVALID\\\",\\\"hint\\\":\\\"write {\\\\\\\"type\\\\\\\": \\\\\\\"object\\\\\\\", \\\\\\\"properties\\\\\\\": {…}}\\\"}]}}}\"}],\"structuredContent\":{\"error\":{\"type\":\"validation_error\",\"message\":\"The tool was not saved: The type of an input schema must be \\\"object\\\", but is \\\"string\\\"\",\"details\":{\"problems\":[{\"path\":\"inputSchema.type\",\"message\":\"The type of an input schema must be \\\"object\\\", but is \\\"string\\\"\",\"code\":\"METATOOL_SCHEMA_INVALID\",\"hint\":\"write {\\\"type\\\": \\\"object\\\", \\\"properties\\\": {…}}\"}]}}},\"isError\":true}}",
  METATOOL_TOOL_UNKNOWN:
    "{\n  \"error\": {\n    \"type\": \"validation_error\",\n    \"message\": \"The tool was not saved: notes has no tool serch (did you mean search?) (line 2)\",\n    \"details\": {\n      \"problems\": [\n        {\n          \"path\": \"code\",\n          \"line\": 2,\n          \"column\": 14,\n          \"snippet\": \"return notes.serch({\\\"query\\\": \\\"milk\\\"})\",\n          \"message\": \"notes has no tool serch (did you mean search?)\",\n          \"code\": \"METATOOL_TOOL_UNKNOWN\",\n          \"hint\": \"its tools are search, write_file, delete_file, fetch, export, total\"\n        }\n      ]\n    }\n  }\n}",
  METATOOL_TOOL_UNUSED:
    "demo.report 0.1.0 is valid: 2 files, 0 tests, not signed\nIts program can call notes:export, notes:search\nwarning METATOOL_TOOL_UNUSED\nThe package declares the tool \"notes:export\", which \"main.star\" does not name\nhint: remove it from tools of the endpoint: the operator has to approve each tool that is declared\n\n0 error(s), 1 warning(s)",
  METATOOL_TOO_MANY_TOOLS:
    "{\n  \"error\": {\n    \"type\": \"validation_error\",\n    \"message\": \"The tool was not saved: Cannot save \\\"last\\\": there are 1001 saved tools; at most 1000 are allowed\",\n    \"details\": {\n      \"problems\": [\n        {\n          \"path\": \"name\",\n          \"message\": \"Cannot save \\\"last\\\": there are 1001 saved tools; at most 1000 are allowed\",\n          \"code\": \"METATOOL_TOO_MANY_TOOLS\",\n          \"hint\": \"delete unused tools\"\n        }\n      ]\n    }\n  }\n}",
  METATOOL_UNWRITABLE:
    "warning: Cannot write \"/home/ada/.toolcrib/tools\": unable to open database file\nerror METATOOL_UNWRITABLE: Cannot write \"/home/ada/.toolcrib/tools\": unable to open database file",
  MUTABILITY_VIOLATION:
    "error MUTABILITY_VIOLATION: \"notes__delete_file\" was not called: it declares destructiveHint: true, and its server \"notes\" has mutability_class: read_only\nhint: the operator of the gateway can allow it for the server: mutability_class: unknown or write",
  OAUTH_ADDRESS_REFUSED:
    "error OAUTH_ADDRESS_REFUSED: Cannot use http://login.example.com/.well-known/oauth-authorization-server: it is not https\nhint: if you trust it, name the authorization server with transport.auth.issuer, or its range with egress.internal_ranges",
  OAUTH_CLIENT_REQUIRED:
    "error OAUTH_CLIENT_REQUIRED: The authorization server http://127.0.0.1:9000/as-closed of \"notes\" does not register clients by itself\nhint: register a client there, and write transport.auth.client_id, and client_secret if it has one",
  OAUTH_DISCOVERY_FAILED:
    "error OAUTH_DISCOVERY_FAILED: Cannot find the authorization server of \"crm\": there is no metadata of the authorization server http://127.0.0.1:9000\nhint: check transport.url, or name the authorization server with transport.auth.issuer",
  OAUTH_LOGIN_FAILED:
    "error OAUTH_LOGIN_FAILED: The authorization server http://127.0.0.1:9000/as-refused did not register Toolcrib for \"notes\": invalid_redirect_uri (no redirect to this machine)\nhint: register a client there, and write transport.auth.client_id",
  OAUTH_SETTING_INVALID:
    "error OAUTH_SETTING_INVALID: Cannot authenticate as the OAuth client of \"notes\": private_key is no unencrypted private key in PEM\nhint: correct transport.auth of this server",
  OAUTH_UNREACHABLE:
    "error OAUTH_UNREACHABLE: Cannot reach http://127.0.0.1:PORT/.well-known/oauth-authorization-server: connect ECONNREFUSED 127.0.0.1:PORT\nhint: check the connection of this machine, and transport.proxy",
  OPENAPI_BODY_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:7: warning OPENAPI_BODY_UNFIT\nThe body of operation \"find\" is left out: GET is sent without one\n8 |       requestBody: { content: { application/json: { schema: { type: object } } } }\n          ^^^^^^^^^^^",
  OPENAPI_CREDENTIAL_HIDDEN:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nsends api_key in the query, as api_key\nhides api_key in the query of 1 tool: the credential api_key\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  toolcrib secret set shop-api-key\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\n        credentials:\n          api_key: {secret_key_ref: shop-api-key}\napi.yaml:8:20: warning OPENAPI_CREDENTIAL_HIDDEN\nQuery parameter \"api_key\" of 1 tool is hidden: it is the credential \"api_key\", which is sent in the query, as api_key\n8 |       parameters: [{ name: api_key, in: query, schema: { type: string } }]\n                       ^\nhint: if it is an argument, import with --keep-argument api_key",
  OPENAPI_CREDENTIAL_MISSING:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest",
  OPENAPI_CREDENTIAL_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\napi.yaml:5:34: warning OPENAPI_CREDENTIAL_UNFIT\nCannot use security scheme \"session\": cookies are not sent\n5 | components: { securitySchemes: { session: { type: apiKey, in: cookie, name: sid } } }\n                                     ^^^^^^^\nhint: a credential is sent in a header or in the query; set one up by hand if the API takes another\n\napi.yaml:8:5: warning OPENAPI_CREDENTIAL_UNFIT\nOperation \"find\" needs \"session\", but none can be sent\n8 |     get: { operationId: find, responses: { \"200\": { description: ok } } }\n        ^^^\nhint: import these operations under another --name",
  OPENAPI_NAME_MISSING:
    "api.yaml:2:9: error OPENAPI_NAME_MISSING\nThe title \"…\" cannot be converted to a name for the manifest\n2 | info: { title: \"…\", version: \"1\" }\n            ^^^^^\nhint: give one with --name\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_OPERATION_DEPRECATED:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:5: warning OPENAPI_OPERATION_DEPRECATED\nOperation \"oldFind\" is deprecated and left out\n8 |     get: { operationId: oldFind, deprecated: true, responses: { \"200\": { description: ok } } }\n        ^^^\nhint: import it with --operation \"oldFind\"",
  OPENAPI_OPERATION_LIMIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:7:5: warning OPENAPI_OPERATION_LIMIT\n2 operations are chosen; the first 1 are imported\n7 |     post: { operationId: add, responses: { \"200\": { description: ok } } }\n        ^^^^\nhint: select operations with --tag, --path or --operation; --list shows what there is",
  OPENAPI_OPERATION_MISSING:
    "error OPENAPI_OPERATION_MISSING\nThe document has no operation \"fnd\"\nhint: did you mean find?\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_OPERATION_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:7:5: warning OPENAPI_OPERATION_UNFIT\nOperation \"probe\" is left out: tools are sent with GET, POST, PUT, PATCH or DELETE, not HEAD\n7 |     head: { operationId: probe, responses: { \"200\": { description: ok } } }\n        ^^^^",
  OPENAPI_PARAMETER_CHANGED:
    "TOOL  REQUEST\nget   GET /items/{id}\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:6:5: warning OPENAPI_PARAMETER_CHANGED\nPlaceholder \"{id}\" of operation \"get\" has no parameter and is treated as a text\n6 |     get: { operationId: get, responses: { \"200\": { description: ok } } }\n        ^^^",
  OPENAPI_PARAMETER_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:20: warning OPENAPI_PARAMETER_UNFIT\nParameter \"id\" of operation \"find\" is left out: its path has no such placeholder\n8 |       parameters: [{ name: id, in: path, required: true, schema: { type: string } }]\n                       ^",
  OPENAPI_REFERENCE:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:20: warning OPENAPI_REFERENCE\nCannot follow $ref \"#/components/parameters/limit\": its target does not exist\n8 |       parameters: [{ $ref: \"#/components/parameters/limit\" }]\n                       ^\nhint: copy the referenced part into this document",
  OPENAPI_SERVER_CHANGED:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:3:1: warning OPENAPI_SERVER_CHANGED\nServer \"http://api.shop.example\" uses http, and is called with https\n3 | servers: [{ url: http://api.shop.example }]\n    ^^^^^^^\nhint: give another with --base-url",
  OPENAPI_SERVER_UNFIT:
    "error OPENAPI_SERVER_UNFIT\nThe document has no server that can be converted to a base URL\nhint: give the base URL with --base-url https://HOST/PATH\n\napi.yaml:3:1: warning OPENAPI_SERVER_UNFIT\nCannot use a server: \"/v1\" is relative, and the URL of the document is not known\n3 | servers: [{ url: /v1 }]\n    ^^^^^^^\nhint: give the base URL with --base-url https://HOST/PATH\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_SYNTAX:
    "api.yaml:3:6: error OPENAPI_SYNTAX\n\",\" or \"}\" belongs here\n3 | paths: {}\n         ^\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_TOO_LARGE:
    "openapi.yaml:1:1: error OPENAPI_TOO_LARGE\nCannot read a document of more than 33,554,432 characters\n1 | \n    ^\n\nerror CLI_IMPORT_FAILED: Cannot import \"openapi.yaml\"",
  OPENAPI_TYPE_NARROWED:
    "TOOL  REQUEST\nadd   POST /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\n        # tools: all   # 1 more: the tools that change data\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:11:51: warning OPENAPI_TYPE_NARROWED\nParameter \"tags\" of operation \"add\" may be array and object; the tool takes it as array\n11 |             schema: { type: object, properties: { tags: { type: [array, object] } } }\n                                                       ^^^^\nhint: change the type in the toolspec if another type is needed",
  OPENAPI_VERSION:
    "api.yaml:1:1: error OPENAPI_VERSION\nCannot import a document of Swagger \"2.0\": OpenAPI 3.0 and 3.1 are supported\n1 | swagger: \"2.0\"\n    ^^^^^^^\nhint: convert it to OpenAPI 3 first, with a converter such as swagger2openapi\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OUTSIDE_WINDOW:
    "error OUTSIDE_WINDOW: \"notes__search\" was not called (limit \"nights\"): it is allowed at certain times only (UTC)\nhint: it is possible again in N h, at TIME; the operator can change guards.limits",
  PACKAGE_CHAIN_FAILED:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"The chain \\\"demo.report\\\" failed at step \\\"one\\\" (demo.echo): Cannot reach \\\"example.com\\\": it has an address that is not public (private)\\nSteps that ran before it: none\\nHint: check the name of the host; for a host in your own network, see egress.internal_ranges\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"PACKAGE_CHAIN_FAILED\",\n    \"toolcrib/callId\": \"CALL\",\n    \"toolcrib/chain\": {\n      \"step\": \"one\",\n      \"ran\": [],\n      \"cause\": \"EGRESS_ADDRESS_DENIED\"\n    },\n    \"toolcrib/server\": \"demo.report\",\n    \"toolcrib/trustState\": \"unverified\"\n  }\n}",
  PACKAGE_CHAIN_INVALID:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"The chain \\\"demo.report\\\" was not started: it needs a tool that does not exist here: \\\"demo.echo\\\" (step \\\"one\\\")\\nHint: install the packages of these tools, and check that they are ready: toolcrib status\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"PACKAGE_CHAIN_INVALID\",\n    \"toolcrib/callId\": \"CALL\",\n    \"toolcrib/server\": \"demo.report\",\n    \"toolcrib/trustState\": \"unverified\"\n  }\n}",
  PACKAGE_INPUT_INVALID:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"The request body has 12000014 bytes; at most 10485760 are allowed\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"PACKAGE_INPUT_INVALID\",\n    \"toolcrib/callId\": \"CALL\",\n    \"toolcrib/server\": \"demo.echo\",\n    \"toolcrib/trustState\": \"unverified\"\n  }\n}",
  PACKAGE_NOT_STARTED:
    "{\n  \"error\": {\n    \"code\": \"PACKAGE_NOT_STARTED\",\n    \"message\": \"\\\"demo.echo\\\" could not be started: Cannot launch command \\\"/home/ada/.mcp/tools/demo.echo/run\\\": its first line asks for interpreter \\\"/opt/ruby9\\\", which cannot be run\",\n    \"hint\": \"toolcrib info demo.echo --why explains what it needs\"\n  }\n}\nerror PACKAGE_NOT_STARTED: \"demo.echo\" could not be started: Cannot launch command \"/home/ada/.mcp/tools/demo.echo/run\": its first line asks for interpreter \"/opt/ruby9\", which cannot be run\nhint: toolcrib info demo.echo --why explains what it needs",
  PACKAGE_PROGRAM_FAILED:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"The program of the package failed: it exited with code 1: division by zero\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"PACKAGE_PROGRAM_FAILED\",\n    \"toolcrib/callId\": \"CALL\"\n  }\n}",
  PACKAGE_REPLY_MISSING:
    "    PACKAGE_REPLY_MISSING: The test made the request POST /echo, and it has no recorded reply (record it again, with real calls: toolcrib test FOLDER --record)",
  PACKAGE_RESULT_UNREADABLE:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"The program of the package has no result: its output is not one JSON value\\nHint: a program writes one JSON value to standard output, and messages to standard error\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"PACKAGE_RESULT_UNREADABLE\",\n    \"toolcrib/callId\": \"CALL\"\n  }\n}",
  PARAMS_INVALID:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"\\\"name\\\" must be a string\",\"data\":{\"code\":\"PARAMS_INVALID\"}}}",
  PAUSES_UNREADABLE:
    "error PAUSES_UNREADABLE: \"notes__search\" was not called: what the operator paused cannot be read\nhint: the operator sees the reason with toolcrib status",
  PAUSE_INVALID:
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Cannot pause: the time is not between a second and a year\",\"data\":{\"code\":\"PAUSE_INVALID\"}}}",
  POLICY_DENIED:
    "error POLICY_DENIED: \"cli\" may not use \"notes:delete_file\": the pattern \"notes:delete_*\" denies it (policy.deny[0])\nhint: the operator can change policy.deny in toolcrib.yaml",
  POLICY_INVALID:
    "POLICY_INVALID: team.cedar:1:36: error CEDAR_SYNTAX\nUnexpected end of input\n1 | permit(principal, action, resource)\n                                       ^\nhint: expected `;` or identifier",
  POLICY_TEST_INVALID:
    "team.policy-test.yaml:1:11: error POLICY_TEST_INVALID\nField \"expect\" is required in \"tests[0]\"\n1 | tests: [{ client: ci, tool: \"github:list_issues\", expects: allow }]\n              ^^^^^^\nhint: add expect\n\nteam.policy-test.yaml:1:51: error POLICY_TEST_INVALID\nUnknown field \"expects\" in \"tests[0]\"\n1 | tests: [{ client: ci, tool: \"github:list_issues\", expects: allow }]\n                                                      ^^^^^^^\nhint: did you mean expect?\n0 passed, 0 failed",
  POLICY_TEST_SYNTAX:
    "team.policy-test.yaml:1:20: error POLICY_TEST_SYNTAX\nA quoted text, list or map is not closed\n1 | tests: [{ client: ci\n                       ^\nhint: look for a missing quote, bracket, comma or colon\n0 passed, 0 failed",
  POLICY_TEST_TOO_LARGE:
    "POLICY_TEST_TOO_LARGE Cannot read a policy test of more than 1,048,576 bytes",
  POLICY_TEST_UNMATCHED:
    "team.policy-test.yaml:1:30: warning POLICY_TEST_UNMATCHED\nNo tool server and no toolspec has the id \"gitub\"\n1 | tests: [{ client: cli, tool: \"gitub:list_issues\", expect: deny }]\n                                 ^^^^^^^^^^^^^^^^^^^\nhint: did you mean \"github:list_issues\"?\n1 passed, 0 failed",
  PROCESS_COMMAND_NOT_EXECUTABLE:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"PROCESS_COMMAND_NOT_EXECUTABLE\",\"reason\":\"Cannot launch command \\\"./server.sh\\\": \\\"/home/ada/server.sh\\\" is not executable by this user (run: chmod +x '/home/ada/server.sh')\",\"msg\":\"server is not available\"}",
  PROCESS_COMMAND_NOT_FOUND:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"PROCESS_COMMAND_NOT_FOUND\",\"reason\":\"Cannot launch command \\\"notes-server\\\": not found in PATH (give the absolute path of \\\"notes-server\\\", or add its folder to PATH in env)\",\"msg\":\"server is not available\"}",
  PROCESS_DIRECTORY_INVALID:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"PROCESS_DIRECTORY_INVALID\",\"reason\":\"Cannot launch command \\\"sh\\\": working directory \\\"/home/ada/old\\\" does not exist (correct cwd, or create the folder)\",\"msg\":\"server is not available\"}",
  PROCESS_LAUNCH_INVALID:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"PROCESS_LAUNCH_INVALID\",\"reason\":\"Cannot set environment variable \\\"TOOLCRIB_SERVER\\\": the name is reserved (remove it from env; the gateway recognises its processes by it)\",\"msg\":\"server is not available\"}",
  PROCESS_SPAWN_FAILED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"PROCESS_SPAWN_FAILED\",\"reason\":\"Cannot launch command \\\"./notes\\\": its first line asks for interpreter \\\"/opt/python4\\\", which cannot be run (install the interpreter, or set it as command and the script as first of args)\",\"msg\":\"server is not available\"}",
  PROFILE_NOT_FOUND:
    "HTTP 404 Not Found\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"There is no profile \\\"review\\\" (there is no profile that you may use)\",\"data\":{\"code\":\"PROFILE_NOT_FOUND\",\"hint\":\"there is no profile that you may use\"}}}",
  PROMPT_NOT_FOUND:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"Unknown prompt: \\\"review\\\"\",\"data\":{\"code\":\"PROMPT_NOT_FOUND\"}}}",
  RATE_LIMITED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\\"notes__search\\\" was not called (limit \\\"slow\\\"): at most 1 calls an hour are allowed\\nHint: it is possible again in N h, at TIME; the operator can change guards.limits\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"RATE_LIMITED\",\"toolcrib/callId\":\"CALL\"}}}",
  REGISTRY_ALREADY_STARTED:
    "REGISTRY_ALREADY_STARTED: The registry is already started",
  REGISTRY_BACKEND_NOT_FOUND:
    "REGISTRY_BACKEND_NOT_FOUND: No backend is named \"crm\"",
  REGISTRY_EXECUTION_FAILED:
    "REGISTRY_EXECUTION_FAILED: \"math:sum\" failed: no numbers",
  REGISTRY_HANDLER_NOT_FOUND:
    "REGISTRY_HANDLER_NOT_FOUND: The local tool \"sum\" is registered without a handler pass a function as the fourth argument",
  REGISTRY_INVALID_REQUEST:
    "REGISTRY_INVALID_REQUEST: \"ftp:\" is not a scheme of a backend URL allowed are http://, https://, sse://, sses:// and stdio://; credentials go into headers",
  REGISTRY_NOT_STARTED:
    "REGISTRY_NOT_STARTED: Cannot execute \"local:sum\": the registry is not started call start() first",
  REGISTRY_TOOL_NOT_FOUND:
    "REGISTRY_TOOL_NOT_FOUND: No tool has the id \"local:add\" see listTools() and search()",
  REGISTRY_UNAUTHORIZED:
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"The request has no valid credentials\",\"data\":{\"code\":\"REGISTRY_UNAUTHORIZED\"}}}",
  RESOURCE_NOT_FOUND:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32002,\"message\":\"Resource not found: \\\"file:///tmp/gone.txt\\\"\",\"data\":{\"uri\":\"file:///tmp/gone.txt\",\"code\":\"RESOURCE_NOT_FOUND\"}}}",
  RESULT_INVALID:
    "error RESULT_INVALID: The result of \"notes__total\" does not match the tool's output schema:\n- structuredContent/total must be number\nhint: report it to the operator of this server; the result was not passed on",
  RESULT_TOO_LARGE:
    "error RESULT_TOO_LARGE: The result is larger than 65536 bytes\nhint: request less from the tool, or raise serve.limits.result_max_bytes",
  RESULT_WITHHELD:
    "error RESULT_WITHHELD: \"notes__search\" was called, and its result is withheld: the hook \"privacy\" refused it: the result names a person\nhint: do not repeat the call only for that: it was made, and can have had an effect",
  RUNNER_COMMAND_INVALID:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"RUNNER_COMMAND_INVALID\",\"reason\":\"Cannot run a package by npx: \\\"./notes\\\" is not the name of a package of a registry (name a package such as @scope/name@1.2.3, or install the program and give its path as command)\",\"msg\":\"server is not available\"}",
  SANDBOX_PATH_REFUSED:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"SANDBOX_PATH_REFUSED\",\"reason\":\"The read path \\\"/\\\" is the whole file system (name a folder that contains only what the server works with)\",\"msg\":\"server is not available\"}",
  SEARCH_INDEX_FULL:
    "SEARCH_INDEX_FULL: Cannot add \"t:1000000\" to the search index: it holds 1000000 documents already",
  SEARCH_LIMIT_INVALID:
    "SEARCH_LIMIT_INVALID: Cannot return \"0\" results: the limit must be an integer from 1 to 1000",
  SEARCH_OPTION_INVALID:
    "SEARCH_OPTION_INVALID: Cannot create a search index with k1 \"-1\": it must be a number from 0 to 1000",
  SEARCH_QUERY_TOO_LONG:
    "SEARCH_QUERY_TOO_LONG: Cannot search for a query of more than 1000 terms: at most 1000 terms are allowed describe the tool in a few words",
  SECRETS_BUSY:
    "SECRETS_BUSY: Cannot change the secret store: another process has locked it for N ms try again, or find the process that has the file write.lock open",
  SECRETS_DAMAGED:
    "error SECRETS_DAMAGED: Cannot use \"/home/ada/.toolcrib/secrets/.store/notes-token.sealed\": it is longer than the format allows\nhint: restore it from a backup, or set the secret again",
  SECRETS_EXISTS:
    "error SECRETS_EXISTS: Cannot use this name: secret \"github-token\" exists\nhint: choose another name, or remove that secret first",
  SECRETS_EXPOSED:
    "error SECRETS_EXPOSED: Cannot use \"/home/ada/.toolcrib/secrets/.store\": its mode 755 gives other users of this machine access\nhint: run chmod 700 /home/ada/.toolcrib/secrets/.store, and replace the secrets if anyone may have read them",
  SECRETS_FULL:
    "error SECRETS_FULL: Cannot store another secret: the store has 1000 secrets\nhint: remove some: toolcrib secret list, toolcrib secret rm NAME",
  SECRETS_KEY_INVALID:
    "error SECRETS_KEY_INVALID: Cannot use the key of the secret store in TOOLCRIB_SECRETS_KEY: it is not 32 bytes in base64 or hexadecimal\nhint: restore the key that the secrets were set with; openssl rand -base64 32 makes one for a new store",
  SECRETS_KEY_MISSING:
    "error SECRETS_KEY_MISSING: Cannot decrypt the secret store: its key \"/home/ada/.toolcrib/secrets/.store/key\" is missing\nhint: restore that file, or set TOOLCRIB_SECRETS_KEY; without the key, remove the secrets and set them again",
  SECRETS_KEY_WRONG:
    "error SECRETS_KEY_WRONG: Cannot decrypt secret \"notes-token\": it was encrypted with a different key\nhint: restore the key that it was set with (secrets/.store/key, TOOLCRIB_SECRETS_KEY), or remove the secret and set it again",
  SECRETS_NAME_INVALID:
    "error SECRETS_NAME_INVALID: Cannot use this name for a secret\nhint: use at most 128 letters, digits, _ - and . characters, with no . at either end",
  SECRETS_NOT_FOUND:
    "error SECRETS_NOT_FOUND: Cannot find secret \"absent\" in the secret store\nhint: see toolcrib secret list; remove variables and plain files yourself",
  SECRETS_UNREADABLE:
    "error SECRETS_UNREADABLE: Cannot read the secret file \"/home/ada/.toolcrib/secrets/notes-token\": it is a folder\nhint: make it a file that the user who runs Toolcrib can read",
  SECRETS_UNUSABLE:
    "error SECRETS_UNUSABLE: Cannot use standard input: it is empty\nhint: write the secret into it",
  SECRETS_UNWRITABLE:
    "error SECRETS_UNWRITABLE: Cannot change the secret store \"/home/ada/.toolcrib/secrets/.store\": a part of its path is not a directory (ENOTDIR)\nhint: give the user who runs Toolcrib write access to it, and check that the disk has free space",
  SECRETS_VALUE_INVALID:
    "SECRETS_VALUE_INVALID: Cannot store this secret: it is empty a secret is text of 1 to 65,536 bytes",
  SERVER_IMPORT_BUNDLE_INVALID:
    "error SERVER_IMPORT_BUNDLE_INVALID: The bundle has no \"manifest.json\" at its top",
  SERVER_IMPORT_CONTAINMENT:
    "Would add io.example/notes 1.0.0 to toolcrib.yaml:\n\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: stdio\n      command: docker\n      args: [run, \"-i\", \"--rm\", \"docker.io/example/notes:1.0.0\"]\n    trust_state: unverified\n    containment:\n      read_arguments: false\n\nThe server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.\nserver.json: warning SERVER_IMPORT_CONTAINMENT\ndocker asks a daemon to start the container: the containment of the entry does not apply inside it, and an unverified server may not reach the daemon\nhint: prefer a package of another type, or raise trust_state and containment deliberately",
  SERVER_IMPORT_DEPRECATED:
    "Would add io.example/notes 1.0.0 to toolcrib.yaml:\n\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: stdio\n      command: npx\n      args: [\"-y\", \"mcp-notes@1.0.0\"]\n    trust_state: unverified\n    containment:\n      read_arguments: false\n\nThe server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.\nserver.json:1:85: warning SERVER_IMPORT_DEPRECATED\nThe server is deprecated: its publisher does not offer it any more\n1 | { \"name\": \"io.example/notes\", \"description\": \"Notes\", \"version\": \"1.0.0\", \"status\": \"deprecated\",\n                                                                                        ^^^^^^^^^^^^",
  SERVER_IMPORT_DUPLICATE_KEY:
    "server.json:1:31: error SERVER_IMPORT_DUPLICATE_KEY\nDuplicate field \"name\": it is given before in the same map\n1 | { \"name\": \"io.example/notes\", \"name\": \"io.example/other\", \"version\": \"1.0.0\" }\n                                  ^^^^^^\nhint: remove one of the two\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_FIELD_REQUIRED:
    "server.json:1:3: error SERVER_IMPORT_FIELD_REQUIRED\nField \"name\" is required in the server.json\n1 | { \"description\": \"Notes\", \"version\": \"1.0.0\" }\n      ^^^^^^^^^^^^^\nhint: add name\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_FILE_TOO_LARGE:
    "server.json: error SERVER_IMPORT_FILE_TOO_LARGE\nCannot read a server.json of more than 1,048,576 bytes\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_LEFT_OUT:
    "Would add io.example/notes 1.0.0 to toolcrib.yaml:\n\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: stdio\n      command: npx\n      args: [\"-y\", \"mcp-notes@1.0.0\"]\n    trust_state: unverified\n    containment:\n      read_arguments: false\n\nThe server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.\nserver.json: warning SERVER_IMPORT_LEFT_OUT\nThe runtime \"deno\" is left out: the package is run by npx",
  SERVER_IMPORT_LOADER_VARIABLE:
    "server.json: error SERVER_IMPORT_LOADER_VARIABLE\nThe file sets the variable NODE_OPTIONS, which chooses the code that programs load when they start: it is not imported\nhint: leave it out by using another version of the server, or set it deliberately: --set NODE_OPTIONS=VALUE\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_SECRET_EXPOSED:
    "Would add io.example/notes 1.0.0 to toolcrib.yaml:\n\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: stdio\n      command: npx\n      args: [\"-y\", \"mcp-notes@1.0.0\"]\n      env:\n        NOTES_TOKEN: { secret_key_ref: notes-notes-token }\n    trust_state: unverified\n    containment:\n      read_arguments: false\n\nStore each secret before the server starts:\n  toolcrib secret set notes-notes-token   # variable NOTES_TOKEN\n\nThe server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.\nserver.json: warning SERVER_IMPORT_SECRET_EXPOSED\nThe file contains the value of variable NOTES_TOKEN, which it calls a secret: it is not copied\nhint: store it, and name it: --secret NOTES_TOKEN=NAME",
  SERVER_IMPORT_SYNTAX:
    "server.json:1:29: error SERVER_IMPORT_SYNTAX\nExpected a field name in double quotes\n1 | { \"name\": \"io.example/notes\",\n                                ^\nhint: write \"name\": value\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_TOO_COMPLEX:
    "server.json:1:65: error SERVER_IMPORT_TOO_COMPLEX\nCannot read the server.json: it nests deeper than 64 levels\n1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…\n                                                                    ^\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_UNPINNED:
    "server.json: error SERVER_IMPORT_UNPINNED\nThe package mcp-notes has no exact version (latest): each start could run another program\nhint: ask its publisher for an exact version, or write the entry yourself\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_UNSUPPORTED:
    "server.json: error SERVER_IMPORT_UNSUPPORTED\nThe package has the type \"floppy\" and the identifier \"notes\"; npm, pypi, nuget and oci with a name can be imported\nhint: choose another package or endpoint of the file: --list shows them\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_VALUE_INVALID:
    "server.json: error SERVER_IMPORT_VALUE_INVALID\nThe server has no input \"color\"\nhint: the findings and --list name its inputs\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_VALUE_MISSING:
    "server.json: error SERVER_IMPORT_VALUE_MISSING\nvariable NOTES_FOLDER needs a value\nhint: write --set NOTES_FOLDER=VALUE\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_WRONG_TYPE:
    "server.json:1:87: error SERVER_IMPORT_WRONG_TYPE\n\"packages\" must be a list, but is a map\n1 | { \"name\": \"io.example/notes\", \"description\": \"Notes\", \"version\": \"1.0.0\", \"packages\": {} }\n                                                                                          ^^\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_NOT_FOUND:
    "HTTP 404 Not Found\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"There is no server \\\"gitub\\\" (the servers are notes)\",\"data\":{\"code\":\"SERVER_NOT_FOUND\",\"hint\":\"the servers are notes\"}}}",
  STARLARK_BAD_ARGUMENTS:
    "program.star:1:18: error STARLARK_BAD_ARGUMENTS\npositional argument may not follow named\n1 | print(sep = \"-\", \"a\", \"b\")\n                     ^^^\nhint: the order is positional, named, *args, **kwargs\n\nprogram.star:1:23: error STARLARK_BAD_ARGUMENTS\npositional argument may not follow named\n1 | print(sep = \"-\", \"a\", \"b\")\n                          ^^^\nhint: the order is positional, named, *args, **kwargs",
  STARLARK_BAD_LOAD:
    "program.star:1:19: error STARLARK_BAD_LOAD\nload: names with leading underscores are not exported: _secret\n1 | load(\"lib.star\", \"_secret\")\n                      ^^^^^^^",
  STARLARK_BAD_PARAMETERS:
    "program.star:1:23: error STARLARK_BAD_PARAMETERS\nrequired parameter may not follow optional\n1 | def greet(name = \"x\", greeting):\n                          ^^^^^^^^\nhint: the order is required, optional, *args, keyword-only, **kwargs",
  STARLARK_BAD_TARGET:
    "program.star:1:1: error STARLARK_BAD_TARGET\ncan't assign to callexpr\n1 | len(x) = 3\n    ^^^^^^\nhint: assign to a name, an element x[i], a field x.f, or a list of those; == compares",
  STARLARK_MISPLACED:
    "program.star:1:1: error STARLARK_MISPLACED\nreturn statement not within a function\n1 | return 1\n    ^^^^^^\nhint: put the code into a def",
  STARLARK_NOT_IN_DIALECT:
    "program.star:2:5: error STARLARK_NOT_IN_DIALECT\nthis Starlark dialect does not support while loops\n2 |     while True:\n        ^^^^^\nhint: loop over a range: for _ in range(1000): with a break",
  STARLARK_PYTHON_HABIT:
    "program.star:1:5: error STARLARK_PYTHON_HABIT\nundefined: null\n1 | x = null\n        ^^^^\nhint: write None",
  STARLARK_REASSIGNED:
    "program.star:2:1: error STARLARK_REASSIGNED\ncannot reassign global total declared at program.star:1:1\n2 | total = 2\n    ^^^^^\nhint: choose another name, or put the code into a function",
  STARLARK_SYNTAX:
    "program.star:1:7: error STARLARK_SYNTAX\nconditional expression without else clause\n1 | x = 1 if True\n          ^^\nhint: write 1 if True else None",
  STARLARK_TOO_DEEP:
    "deep.star:1:304: error STARLARK_TOO_DEEP\nThe program nests deeper than 300 levels\n1 | …(((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))…\n                                             ^\nhint: give parts of it names, and join long lists with join() or a loop",
  STARLARK_TOO_LARGE:
    "large.star:1:1: error STARLARK_TOO_LARGE\nThe program is longer than 1048576 characters\n1 | x = 1\n    ^\nhint: pass large data as an argument",
  STARLARK_UNDEFINED_NAME:
    "program.star:2:7: error STARLARK_UNDEFINED_NAME\nundefined: cuont (did you mean count?)\n2 | print(cuont)\n          ^^^^^\nhint: write count",
  STARLARK_UNFINISHED:
    "program.star:2:1: error STARLARK_UNFINISHED\ngot end of file, want ']'\n2 | \n    ^\nhint: \"[\" of line 1 is not closed, or a comma is missing before this",
  STORE_BUSY:
    "STORE_BUSY: Cannot lock \".toolcrib/approvals/saved-tools.json\": another process has been writing to it for N ms try again; if this persists, look for a toolcrib process that hangs",
  STORE_CLOSED:
    "STORE_CLOSED: Cannot use the approvals: the store is closed",
  STORE_CONFLICT:
    "STORE_CONFLICT: Cannot change the approval of \"report\": version 1 is stored, and the caller read none read the current version and try again",
  STORE_RECORD_TOO_LARGE:
    "STORE_RECORD_TOO_LARGE: Cannot store the approval of \"report\": at most 524288 bytes of valid JSON are allowed",
  STORE_UNREADABLE:
    "error STORE_UNREADABLE: Cannot read the key of the fingerprints in \"/home/ada/.toolcrib/audit-fingerprints.key\": its content is no key\nhint: restore the file, or remove it: a new key is created, and values in earlier records are not found any more",
  STORE_UNWRITABLE:
    "error STORE_UNWRITABLE: Cannot write \"/home/ada/.toolcrib/guards/pauses.json\": EEXIST",
  SWITCH_INVALID:
    "error SWITCH_INVALID: Nothing was switched: no server, toolspec or package is called \"note\"\nhint: did you mean notes?",
  TASKS_UNREADABLE:
    "error TASKS_UNREADABLE: Cannot use \"/home/ada/.toolcrib/tasks\": EEXIST: file already exists, mkdir '/home/ada/.toolcrib/tasks'\nhint: let the user who runs toolcrib own the folder, or remove it: its tasks are lost then",
  TASK_CANCELLED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"The client cancelled the task\",\"data\":{\"code\":\"TASK_CANCELLED\"}}}",
  TASK_ENDED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"Cannot cancel task: it has ended\",\"data\":{\"code\":\"TASK_ENDED\"}}}",
  TASK_NOT_FOUND:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"Task not found (it belongs to another client, is not kept any more, or its tool is not available to this client now)\",\"data\":{\"code\":\"TASK_NOT_FOUND\",\"hint\":\"it belongs to another client, is not kept any more, or its tool is not available to this client now\"}}}",
  TASK_NOT_SUPPORTED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,\"message\":\"The tool \\\"toolcrib:list_saved_tools\\\" does not run as a task (call it without \\\"task\\\")\",\"data\":{\"code\":\"TASK_NOT_SUPPORTED\",\"hint\":\"call it without \\\"task\\\"\"}}}",
  TASK_RESULT_WITHHELD:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"The result of the task is withheld: its calls are paused\\nHint: it is kept until the task expires, and can be read when the tool may be used again\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"TASK_RESULT_WITHHELD\",\"toolcrib/callId\":\"CALL\",\"io.modelcontextprotocol/related-task\":{\"taskId\":\"786512e2-9e0d-44bd-8f29-789f320fe840\"}}}}",
  TOKEN_FILE_EXPOSED:
    "error TOKEN_FILE_EXPOSED: Cannot trust \"/home/ada/.toolcrib/tokens/ci\": other users of this machine may use it (mode 644, must be 600)\nhint: chmod 600 '/home/ada/.toolcrib/tokens/ci'; make a new token if anyone may have read it",
  TOKEN_FILE_UNREADABLE:
    "error TOKEN_FILE_UNREADABLE: Cannot use \"/home/ada/.toolcrib/tokens/ci\": not a regular file",
  TOKEN_INVALID:
    "error TOKEN_INVALID: Cannot use the token in TOOLCRIB_TOKEN: it must have 16 to 512 letters, digits and . _ ~ + / - characters\nhint: make one: openssl rand -hex 32",
  TOKEN_TOO_MANY:
    "error TOKEN_TOO_MANY: \"/home/ada/.toolcrib/tokens\" holds more than 1000 token files\nhint: remove the files of unused tokens",
  TOOLPACK_PATH_INVALID:
    "TOOLPACK_PATH_INVALID: Cannot use the JSONPath \"$..[\": unclosed bracketed selection ('$..[':4) write a path of RFC 9535 without match() and search()",
  TOOLPACK_TOOL_UNKNOWN:
    "TOOLPACK_TOOL_UNKNOWN: The toolspec \"acme\" has no tool \"get_repos\" did you mean get_repo?",
  TOOLSPEC_ARGUMENT_INVALID:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"Parameter \\\"id\\\" must be a string, but is an array\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"TOOLSPEC_ARGUMENT_INVALID\",\n    \"toolcrib/callId\": \"CALL\"\n  }\n}",
  TOOLSPEC_AUTH_FORBIDDEN:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_AUTH_FORBIDDEN\n\"auth\" is not allowed: the manifest is of the sealed tier, and its credentials define where they are sent\n5 | auth: { header: Authorization, format: \"Bearer {token}\" }\n    ^^^^\nhint: remove auth\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_FORMAT:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_AUTH_FORBIDDEN\n\"auth\" is not allowed: the manifest is of the sealed tier, and its credentials define where they are sent\n5 | auth: { header: Authorization, format: ****** }\n    ^^^^\nhint: remove auth\n\nacme/toolspecs/acme/0.1.0.yaml:5:40: error TOOLSPEC_AUTH_FORMAT\n\"auth.format\" must contain {token}\n5 | auth: { header: Authorization, format: ****** }\n                                           ^^^^^^\nhint: write the text around the token: format: \"Bearer {token}\"\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_HEADER:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_AUTH_FORBIDDEN\n\"auth\" is not allowed: the manifest is of the sealed tier, and its credentials define where they are sent\n5 | auth: { header: Host, format: \"{token}\" }\n    ^^^^\nhint: remove auth\n\nacme/toolspecs/acme/0.1.0.yaml:5:17: error TOOLSPEC_AUTH_HEADER\nCannot send the credential in the header \"Host\": it is set by the client itself\n5 | auth: { header: Host, format: \"{token}\" }\n                    ^^^^\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_REQUIRED:
    "acme/toolspecs/acme/0.1.0.yaml:4:1: error TOOLSPEC_AUTH_REQUIRED\n\"auth\" is required: the manifest is of the entrusted tier and does not say where its credential goes\n4 | baseUrl: https://api.acme.example\n    ^^^^^^^\nhint: add auth: { header: Authorization, format: \"Bearer {token}\" }\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_UNUSED:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/toolspecs/acme/0.1.0.yaml:5:1: warning TOOLSPEC_AUTH_UNUSED\n\"auth\" has no effect: the manifest declares no credential\n5 | auth: { header: Authorization, format: \"Bearer {token}\" }\n    ^^^^\nhint: remove auth, or declare the credential in the manifest\n\n0 error(s), 1 warning(s)",
  TOOLSPEC_BARE_WORD:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/toolspecs/acme/0.1.0.yaml:7:18: warning TOOLSPEC_BARE_WORD\nA YAML 1.1 reader takes \"no\" without quotes for false\n7 |     description: no\n                     ^^\nhint: write it in quotes: \"no\"\n\n0 error(s), 1 warning(s)",
  TOOLSPEC_BASE_URL_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:4:10: error TOOLSPEC_BASE_URL_INVALID\nCannot use \"http://api.acme.example\" as base URL: the scheme must be https; https://<host> is allowed and nothing else\n4 | baseUrl: http://api.acme.example\n             ^^^^^^^^^^^^^^^^^^^^^^^\nhint: write https://api.acme.example\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_BODY_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:15: error TOOLSPEC_BODY_INVALID\nencoding: raw sends one body parameter unchanged, but the tool has 0\n9 |     encoding: raw\n                  ^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_BODY_NOT_ALLOWED:
    "acme/toolspecs/acme/0.1.0.yaml:12:24: error TOOLSPEC_BODY_NOT_ALLOWED\nParameter \"q\" has in: body, but GET has no body: POST, PUT, PATCH and DELETE have one\n12 |       - { name: q, in: body, type: string }\n                            ^^^^\nhint: write in: query, or another method\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_DUPLICATE_KEY:
    "acme/toolspecs/acme/0.1.0.yaml:3:1: error TOOLSPEC_DUPLICATE_KEY\nDuplicate field \"name\": it is given before in the same map\n3 | name: acme\n    ^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_EGRESS_DENIED:
    "TOOLSPEC_EGRESS_DENIED: Host \"evil.acme.example\" is not in the egress list of the manifest",
  TOOLSPEC_ENCODING_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:15: error TOOLSPEC_ENCODING_INVALID\n\"tools[0].encoding\" must be json, form, multipart or raw, but is \"xml\"\n9 |     encoding: xml\n                  ^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_EXAMPLE_FAILS:
    "acme/toolspecs/acme/0.1.0.yaml:11:59: error TOOLSPEC_EXAMPLE_FAILS\nExample 1 of tool \"get_repo\" fails: expected url \"https://api.acme.example/repos/8\", but it is \"https://api.acme.example/repos/7\"\n11 |       - { args: { id: \"7\" }, request: { method: GET, url: https://api.acme.example/repos/8 } }\n                                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_FIELD_REQUIRED:
    "acme/toolspecs/acme/0.1.0.yaml:6:5: error TOOLSPEC_FIELD_REQUIRED\nField \"method\" is required in \"tools[0]\"\n6 |   - name: get_repo\n        ^^^^\nhint: add method\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_FILE_DUPLICATE:
    "acme/toolspecs/acme/0.1.0.yml:2:7: error TOOLSPEC_FILE_DUPLICATE\n\"acme@0.1.0\" is also in acme/toolspecs/acme/0.1.0.yaml\n2 | name: acme\n          ^^^^\nhint: remove one of the two files\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_FILE_MISPLACED:
    "acme/toolspecs/acme/0.1.0.yaml:2:7: error TOOLSPEC_MANIFEST_MISSING\nThe toolspec has no manifest\n2 | name: acme\n          ^^^^\nhint: add manifests/acme/0.1.0.yaml\n\nacme/toolspecs/acme/0.1.0.yaml:3:10: error TOOLSPEC_FILE_MISPLACED\n\"version\" is \"0.2.0\", but the file name is \"0.1.0\"\n3 | version: 0.2.0\n             ^^^^^\nhint: write version: 0.1.0, or move the file\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_FILE_TOO_LARGE:
    "acme/toolspecs/acme/0.1.0.yaml: error TOOLSPEC_FILE_TOO_LARGE\nCannot read a toolspec of more than 1,048,576 bytes\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_COLLIDES:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_HEADER_COLLIDES\nParameter \"authorization\" is the header of the credential (case is ignored)\n12 |       - { name: authorization, in: header, type: string }\n                     ^^^^^^^^^^^^^\nhint: remove the parameter: the credential is inserted without it\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_DUPLICATE:
    "acme/toolspecs/acme/0.1.0.yaml:13:17: error TOOLSPEC_HEADER_DUPLICATE\nHeaders \"X-Id\" and \"x-id\" are the same header: case does not count\n13 |       - { name: x-id, in: header, type: string }\n                     ^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_FORBIDDEN:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_HEADER_FORBIDDEN\nCannot send the header \"Host\": it is set by the client itself\n12 |       - { name: Host, in: header, type: string }\n                     ^^^^\nhint: remove the parameter\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_HEADER_INVALID\nParameter \"my header\" has in: header, but is not a header name\n12 |       - { name: \"my header\", in: header, type: string }\n                     ^^^^^^^^^^^\nhint: header names are letters, digits and hyphens\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HOST_NOT_ALLOWED:
    "acme/toolspecs/acme/0.1.0.yaml:4:10: error TOOLSPEC_HOST_NOT_ALLOWED\nHost \"api.other.example\" is not in the egress list of the manifest, which allows api.acme.example\n4 | baseUrl: https://api.other.example\n             ^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: add api.other.example to entitlements.egress of the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_JSON_PATH_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:10:40: error TOOLSPEC_PAGINATION_INVALID\nCannot page by \"page\": no query or body parameter has that name\n10 |     pagination: { kind: cursor, param: page, next: \"$.next[\" }\n                                            ^^^^\nhint: name a parameter of the tool\n\nacme/toolspecs/acme/0.1.0.yaml:10:52: error TOOLSPEC_JSON_PATH_INVALID\nCannot use \"$.next[\" as JSONPath: unclosed bracketed selection ('$.next[':7)\n10 |     pagination: { kind: cursor, param: page, next: \"$.next[\" }\n                                                        ^^^^^^^^^\nhint: write a path of RFC 9535 without match() and search()\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_MANIFEST_MISSING:
    "acme/toolspecs/acme/0.1.0.yaml:2:7: error TOOLSPEC_MANIFEST_MISSING\nThe toolspec has no manifest\n2 | name: acme\n          ^^^^\nhint: add manifests/acme/0.1.0.yaml\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_METHOD_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:8:13: error TOOLSPEC_METHOD_INVALID\n\"tools[0].method\" must be GET, POST, PUT, PATCH or DELETE, but is \"FETCH\"\n8 |     method: FETCH\n                ^^^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_NAME_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:2:7: error TOOLSPEC_NAME_INVALID\n\"name\" must be lower-case letters, digits and inner hyphens, without underscores, but is \"Acme\"\n2 | name: Acme\n          ^^^^\nhint: write acme\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_NAME_MISMATCH:
    "acme/toolspecs/acme/0.1.0.yaml:2:7: error TOOLSPEC_NAME_MISMATCH\n\"name\" is \"other\", but \"acme\" in the manifest acme/manifests/acme/0.1.0.yaml\n2 | name: other\n          ^^^^^\nhint: write name: acme\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_NEEDS_VERSION_2:
    "acme/toolspecs/acme/0.1.0.yaml:10:5: error TOOLSPEC_NEEDS_VERSION_2\nField \"pagination\" belongs to schemaVersion 2, and this toolspec is of schemaVersion 1\n10 |     pagination: { kind: page, param: page }\n         ^^^^^^^^^^\nhint: write schemaVersion: 2, or remove the field\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PAGINATION_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:10:19: error TOOLSPEC_PAGINATION_INVALID\nkind: page needs the JSONPath of the items of a page\n10 |     pagination: { kind: page, param: id }\n                       ^^^^\nhint: add next\n\nacme/toolspecs/acme/0.1.0.yaml:10:38: error TOOLSPEC_PAGINATION_INVALID\nCannot page by \"id\": no query or body parameter has that name\n10 |     pagination: { kind: page, param: id }\n                                          ^^\nhint: name a parameter of the tool\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_PARAM_DUPLICATE:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_PARAM_DUPLICATE\nDuplicate parameter \"id\": line 11 has the same name, and parameters share one namespace\n12 |       - { name: id, in: query, type: string }\n                     ^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PARAM_IN_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:18: error TOOLSPEC_PATH_PARAM_MISSING\nCannot bind \"{id}\" in path \"/repos/{id}\": no parameter with in: path has that name\n9 |     path: /repos/{id}\n                     ^^^^\nhint: write in: path for the parameter id\n\nacme/toolspecs/acme/0.1.0.yaml:11:25: error TOOLSPEC_PARAM_IN_INVALID\n\"tools[0].params[0].in\" must be path, query, body or header, but is \"cookie\"\n11 |       - { name: id, in: cookie, type: string, required: true }\n                             ^^^^^^\nhint: cookies are not sent\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_PARAM_TYPE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:11:37: error TOOLSPEC_PARAM_TYPE_INVALID\n\"tools[0].params[0].type\" must be string, integer, number, boolean, object or array, but is \"text\"\n11 |       - { name: id, in: path, type: text, required: true }\n                                         ^^^^\nhint: write type: string\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:11: error TOOLSPEC_PATH_INVALID\nCannot use \"repos/{id}\" as path: it must begin with /\n9 |     path: repos/{id}\n              ^^^^^^^^^^\nhint: write /repos/{id}\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_PARAM_MISSING:
    "acme/toolspecs/acme/0.1.0.yaml:9:19: error TOOLSPEC_PATH_PARAM_MISSING\nCannot bind \"{owner}\" in path \"/owners/{owner}/repos/{id}\": no parameter with in: path has that name\n9 |     path: /owners/{owner}/repos/{id}\n                      ^^^^^^^\nhint: add {name: owner, in: path, type: string, required: true}, or variables: { owner: { description: … } }\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_PARAM_OPTIONAL:
    "acme/toolspecs/acme/0.1.0.yaml:11:55: error TOOLSPEC_PATH_PARAM_OPTIONAL\nParameter \"id\" is part of the path and must be required\n11 |       - { name: id, in: path, type: string, required: false }\n                                                           ^^^^^\nhint: write required: true\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_PARAM_UNUSED:
    "acme/toolspecs/acme/0.1.0.yaml:11:17: error TOOLSPEC_PATH_PARAM_UNUSED\nParameter \"id\" has in: path, but path \"/repos\" has no placeholder \"{id}\"\n11 |       - { name: id, in: path, type: string, required: true }\n                     ^^\nhint: write {id} into the path, or another in\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_QUERY_COLLIDES:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_QUERY_COLLIDES\nParameter \"key\" is the query parameter of the credential\n12 |       - { name: key, in: query, type: string }\n                     ^^^\nhint: remove the parameter: the credential is inserted without it\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_REQUEST_TOO_LARGE:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"The URL has 70031 characters; at most 16384 are allowed\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"TOOLSPEC_REQUEST_TOO_LARGE\",\n    \"toolcrib/callId\": \"CALL\"\n  }\n}",
  TOOLSPEC_SCHEMA_VERSION:
    "acme/toolspecs/acme/0.1.0.yaml:1:16: error TOOLSPEC_SCHEMA_VERSION\n\"schemaVersion\" must be 1 or 2, but is 9\n1 | schemaVersion: 9\n                   ^\nhint: write schemaVersion: 1\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_STYLE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:12:52: error TOOLSPEC_STYLE_INVALID\n\"tools[0].params[1].style\" must be repeat, comma, brackets or json, but is \"tabs\"\n12 |       - { name: q, in: query, type: string, style: tabs }\n                                                        ^^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_SYNTAX:
    "acme/toolspecs/acme/0.1.0.yaml:6:3: error TOOLSPEC_SYNTAX\nA list or map of several lines is not allowed between brackets\n6 |   - name: get_repo\n      ^^^^^^^^^^^^^^^^\nhint: separate the values between brackets with commas\n\nacme/toolspecs/acme/0.1.0.yaml:7:18: error TOOLSPEC_SYNTAX\nA second `: ` in one line\n7 |     description: Get one repository\n                     ^\nhint: put a text that contains `: ` in quotes, or begin a new line for a nested map\n\nacme/toolspecs/acme/0.1.0.yaml:8:13: error TOOLSPEC_SYNTAX\nA second `: ` in one line\n8 |     method: GET\n                ^\nhint: put a text that contains `: ` in quotes, or begin a new line for a nested map\n\n3 error(s), 0 warning(s)",
  TOOLSPEC_TOOLS_EMPTY:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"get_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools: []\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:5:8: error TOOLSPEC_TOOLS_EMPTY\n\"tools\" must not be empty\n5 | tools: []\n           ^^\nhint: add an item\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_DUPLICATE:
    "acme/toolspecs/acme/0.1.0.yaml:12:13: error TOOLSPEC_TOOL_DUPLICATE\nDuplicate tool \"get_repo\": the tool in line 6 has the name too\n12 |   - { name: get_repo, description: Again, method: GET, path: /again }\n                 ^^^^^^^^\nhint: give each tool a name of its own, here and in the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_MISSING:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"add_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools:\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_NAME_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"get_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools:\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: error TOOLSPEC_TOOL_NAME_INVALID\n\"tools[0].name\" must be a name of one line, but is \"get\\nrepo\"\n6 |   - name: \"get\\nrepo\"\n              ^^^^^^^^^^^\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: error TOOLSPEC_TOOL_UNDECLARED\nTool \"get\\nrepo\" is not declared in the manifest acme/manifests/acme/0.1.0.yaml\n6 |   - name: \"get\\nrepo\"\n              ^^^^^^^^^^^\nhint: add {name: get\nrepo, default: false} to the tools of the manifest\n\n3 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_NAME_UNFIT:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"get_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools:\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: warning TOOLSPEC_TOOL_NAME_UNFIT\nTool name \"get repo\" has characters that MCP clients may refuse: letters, digits, _ - and . are safe\n6 |   - name: get repo\n              ^^^^^^^^\nhint: write get_repo, here and in the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: error TOOLSPEC_TOOL_UNDECLARED\nTool \"get repo\" is not declared in the manifest acme/manifests/acme/0.1.0.yaml\n6 |   - name: get repo\n              ^^^^^^^^\nhint: add {name: get repo, default: false} to the tools of the manifest\n\n2 error(s), 1 warning(s)",
  TOOLSPEC_TOOL_UNDECLARED:
    "acme/toolspecs/acme/0.1.0.yaml:12:13: error TOOLSPEC_TOOL_UNDECLARED\nTool \"ping\" is not declared in the manifest acme/manifests/acme/0.1.0.yaml\n12 |   - { name: ping, description: Ping, method: GET, path: /ping }\n                 ^^^^\nhint: add {name: ping, default: false} to the tools of the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_TOO_COMPLEX:
    "acme.toolspec.yaml:1:1: error TOOLSPEC_MANIFEST_MISSING\nThe toolspec has no manifest\n1 | a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n    ^\nhint: add manifests/NAME/VERSION.yaml\n\nacme.toolspec.yaml:5:4: error TOOLSPEC_TOO_COMPLEX\nCannot read the toolspec: with its aliases it has more than 100,000 values\n5 | e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_UNKNOWN_FIELD:
    "acme/toolspecs/acme/0.1.0.yaml:8:5: error TOOLSPEC_UNKNOWN_FIELD\nUnknown field \"verb\" in \"tools[0]\"\n8 |     verb: GET\n        ^^^^\nhint: allowed: name, description, method, path, baseUrl, encoding, params, response, pagination, annotations, examples\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VALUE_HOSTILE:
    "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"Cannot send parameter \\\"id\\\" in the path: it is or contains \\\".\\\" or \\\"..\\\" as a segment, and would change the path\\nHint: give an id, not a path\"\n    }\n  ],\n  \"isError\": true,\n  \"_meta\": {\n    \"toolcrib/code\": \"TOOLSPEC_VALUE_HOSTILE\",\n    \"toolcrib/callId\": \"CALL\"\n  }\n}",
  TOOLSPEC_VALUE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:12:56: error TOOLSPEC_VALUE_INVALID\nParameter \"count\" has an empty list of values\n12 |       - { name: count, in: query, type: integer, enum: [] }\n                                                            ^^\nhint: enum lists texts, numbers or booleans, at least one\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VARIABLE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:4:18: error TOOLSPEC_VARIABLE_INVALID\nCannot resolve \"{tenant}\" in \"https://{tenant}.acme.example\": no variable has that name\n4 | baseUrl: https://{tenant}.acme.example\n                     ^^^^^^^^\nhint: add variables: { tenant: { description: … } }\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VARIABLE_UNSET:
    "TOOLSPEC_VARIABLE_UNSET: Variable \"tenant\" of base URL \"https://{tenant}.acme.example\" has no value set tenant in the variables of the toolspec",
  TOOLSPEC_VERSION_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:3:10: error TOOLSPEC_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH without leading zeros, but is \"1\"\n3 | version: \"1\"\n             ^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VERSION_MISMATCH:
    "acme/toolspecs/acme/0.1.0.yaml:3:10: error TOOLSPEC_VERSION_MISMATCH\n\"version\" is \"0.2.0\", but \"0.1.0\" in the manifest acme/manifests/acme/0.1.0.yaml\n3 | version: 0.2.0\n             ^^^^^\nhint: write version: 0.1.0\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_WRONG_TYPE:
    "acme/toolspecs/acme/0.1.0.yaml:7:18: error TOOLSPEC_WRONG_TYPE\n\"tools[0].description\" must be a string, but is a list\n7 |     description: [x]\n                     ^^^\n\n1 error(s), 0 warning(s)",
  TOOL_DEFINITION_INVALID:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"tool\":\"notes:broken\",\"code\":\"TOOL_DEFINITION_INVALID\",\"reason\":\"\\\"notes:broken\\\" is malformed: inputSchema must be an object\",\"msg\":\"definition is quarantined\"}",
  TOOL_NAME_COLLISION:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"tool\":\"notes:read-file\",\"code\":\"TOOL_NAME_COLLISION\",\"reason\":\"\\\"notes:read-file\\\" is too similar to \\\"notes:read_file\\\", which was declared first\",\"msg\":\"definition is quarantined\"}",
  TOOL_NOT_FOUND:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"Unknown tool: \\\"notes__serch\\\" (did you mean \\\"notes__search\\\"?)\",\"data\":{\"code\":\"TOOL_NOT_FOUND\",\"hint\":\"did you mean \\\"notes__search\\\"?\"}}}",
  TOOL_UNAVAILABLE:
    "error TOOL_UNAVAILABLE: The tool \"notes:search\" cannot be called: \"notes:search\" waits for approval. The operator can see and approve it: toolcrib approve notes",
  UPSTREAM_ASK_REFUSED:
    "{\"code\":-32603,\"message\":\"\\\"sampling/createMessage\\\" was refused: the server \\\"notes\\\" is declared with interactive: false (remove interactive: false if the server has to ask clients)\",\"data\":{\"server\":\"notes\",\"code\":\"UPSTREAM_ASK_REFUSED\",\"hint\":\"remove interactive: false if the server has to ask clients\"}}",
  UPSTREAM_ASK_UNATTRIBUTED:
    "{\"code\":-32603,\"message\":\"\\\"sampling/createMessage\\\" was refused on the session of the server \\\"notes\\\" that all clients share (call again: a client that can be asked has a session of its own from now on)\",\"data\":{\"code\":\"UPSTREAM_ASK_UNATTRIBUTED\",\"hint\":\"call again: a client that can be asked has a session of its own from now on\"}}",
  UPSTREAM_CAPABILITY_MISSING:
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"call.completed\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"depth\":0,\"client\":{\"issuer\":\"toolcrib:anonymous\",\"subject\":\"anonymous\",\"name\":\"anonymous\",\"clientInfo\":{\"name\":\"example\",\"version\":\"1.0.0\"}},\"tool\":\"notes:search\",\"origin\":\"server\",\"server\":\"notes\",\"outcome\":\"failed\",\"code\":\"UPSTREAM_CAPABILITY_MISSING\",\"durationMs\":N}}",
  UPSTREAM_CLOSED:
    "error UPSTREAM_CLOSED: The server \"notes\" ended before it answered, and the call may have had an effect\nhint: check the effect before you repeat it",
  UPSTREAM_ERROR:
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"call.completed\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"depth\":0,\"client\":{\"issuer\":\"toolcrib:anonymous\",\"subject\":\"anonymous\",\"name\":\"anonymous\",\"clientInfo\":{\"name\":\"example\",\"version\":\"1.0.0\"}},\"tool\":\"notes:prompts/review\",\"origin\":\"server\",\"server\":\"notes\",\"outcome\":\"failed\",\"code\":\"UPSTREAM_ERROR\",\"durationMs\":N}}",
  UPSTREAM_LIST_ENDLESS:
    "{\"level\":\"warn\",\"time\":\"TIME\",\"server\":\"notes\",\"attempt\":1,\"code\":\"UPSTREAM_LIST_ENDLESS\",\"reason\":\"\\\"tools/list\\\" repeats the cursor \\\"page-2\\\"\",\"msg\":\"server is not available\"}",
  UPSTREAM_QUARANTINED:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"The server \\\"notes\\\" is quarantined: 3 messages broke a limit, the last one: The server's answer is larger than 33554432 bytes\\nHint: the operator can release it: toolcrib release notes\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"UPSTREAM_QUARANTINED\",\"toolcrib/callId\":\"CALL\"}}}",
  UPSTREAM_QUEUE_FULL:
    "error UPSTREAM_QUEUE_FULL: The queue of the server \"notes\" is full: 1 calls run and 1 wait",
  UPSTREAM_RESULT_INVALID:
    "error UPSTREAM_RESULT_INVALID: The server \"notes\" answered a call of its tool \"search\" with an invalid result: content is not a list. The call may have had an effect\nhint: report it to the maintainers of the server",
  UPSTREAM_TASK_CANCELLED:
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"call.completed\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"depth\":0,\"client\":{\"issuer\":\"toolcrib:anonymous\",\"subject\":\"anonymous\",\"name\":\"anonymous\",\"clientInfo\":{\"name\":\"example\",\"version\":\"1.0.0\"}},\"tool\":\"notes:job\",\"origin\":\"server\",\"server\":\"notes\",\"outcome\":\"failed\",\"code\":\"UPSTREAM_TASK_CANCELLED\",\"durationMs\":N}}",
  UPSTREAM_TASK_LOST:
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"The server \\\"notes\\\" does not know the task of this call any more: Task not found\\nHint: the call may have had an effect: check it before you repeat the call\"}],\"isError\":true,\"_meta\":{\"toolcrib/code\":\"UPSTREAM_TASK_LOST\",\"toolcrib/callId\":\"CALL\",\"io.modelcontextprotocol/related-task\":{\"taskId\":\"786512e2-9e0d-44bd-8f29-789f320fe840\"}}}}",
  "approval.granted":
    "{\"specversion\":\"1.0\",\"id\":\"…002-…\",\"source\":\"/toolcrib\",\"writer\":\"002\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"approval.granted\",\"time\":\"TIME\",\"data\":{\"tool\":\"saved:report\",\"owner\":{\"issuer\":\"toolcrib:anonymous\",\"subject\":\"anonymous\",\"name\":\"anonymous\"},\"codeDigest\":\"sha256:…\",\"reach\":[\"notes:write_file\"]}}",
  "audit.accepted":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"audit.accepted\",\"time\":\"TIME\",\"data\":{\"findings\":[{\"id\":\"…\",\"message\":\"a start found that the trail was not what was signed before: the records up to 4 were signed at TIME, and the last one was 3\"}],\"reason\":\"restored from a backup\",\"by\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"signature\":\"…\"}}",
  "audit.damaged":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"audit.damaged\",\"time\":\"TIME\",\"data\":{\"findings\":[{\"what\":\"cut_off\",\"message\":\"the records up to 4 were signed at TIME, and the last one was 3\"}],\"head\":{\"writer\":\"001\",\"sequence\":4,\"hash\":\"…\",\"time\":\"TIME\",\"closed\":true,\"run\":\"….001\",\"listNumber\":1,\"signature\":\"…\"}}}",
  "audit.key":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"audit.key\",\"time\":\"TIME\",\"data\":{\"digest\":\"sha256:…\",\"algorithm\":\"ed25519\"}}",
  "audit.recovered":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"audit.recovered\",\"time\":\"TIME\",\"data\":{\"segment\":\"001-00000001.jsonl\",\"position\":N,\"bytes\":15,\"reason\":\"torn\"}}",
  "call.completed":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"call.completed\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"depth\":0,\"client\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"tool\":\"notes:search\",\"origin\":\"server\",\"server\":\"notes\",\"outcome\":\"ok\",\"durationMs\":N,\"resultBytes\":N,\"fingerprints\":{\"/content/0/text\":\"…\"}}}",
  "call.denied":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"call.denied\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"depth\":0,\"client\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"tool\":\"notes:delete_file\",\"origin\":\"server\",\"server\":\"notes\",\"outcome\":\"denied\",\"decision\":\"deny\",\"argumentsDigest\":\"sha256:…\",\"preview\":{},\"rule\":\"mutability.read_only\",\"code\":\"MUTABILITY_VIOLATION\",\"reason\":\"\\\"notes__delete_file\\\" was not called: it declares destructiveHint: true, and its server \\\"notes\\\" has mutability_class: read_only\"}}",
  "call.intent":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"call.intent\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"depth\":0,\"client\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"tool\":\"notes:search\",\"origin\":\"server\",\"server\":\"notes\",\"argumentsDigest\":\"sha256:…\",\"preview\":{\"query\":\"milk\"},\"fingerprints\":{\"/query\":\"…\"},\"decision\":\"allow\",\"rule\":\"default\",\"containment\":\"deadline\"}}",
  "config.changed":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"config.changed\",\"time\":\"TIME\",\"data\":{\"files\":[\"toolcrib.yaml\"],\"digest\":\"sha256:…\"}}",
  "containment.violation":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"containment.violation\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"client\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"tool\":\"notes:fetch\",\"server\":\"notes\",\"rule\":\"containment.network.unverified\",\"reason\":\"it can reach other systems: its annotations are not believed\",\"effect\":\"blocked\"}}",
  "definition.approved":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"definition.approved\",\"time\":\"TIME\",\"data\":{\"server\":\"notes\",\"kind\":\"tool\",\"tool\":\"notes:search\",\"digest\":\"sha256:…\",\"previousDigest\":\"sha256:…\",\"approvedBy\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"}}}",
  "definition.changed":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"definition.changed\",\"time\":\"TIME\",\"data\":{\"server\":\"notes\",\"kind\":\"tool\",\"tool\":\"notes:search\",\"digest\":\"sha256:…\",\"previousDigest\":\"sha256:…\",\"effect\":\"quarantined\"}}",
  "egress.denied":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"egress.denied\",\"time\":\"TIME\",\"data\":{\"server\":\"acme\",\"callId\":\"CALL\",\"host\":\"api.acme.example\",\"code\":\"EGRESS_ADDRESS_DENIED\",\"reason\":\"Cannot reach \\\"api.acme.example\\\": it has an address that is not public (private)\"}}",
  "guard.paused":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"guard.paused\",\"time\":\"TIME\",\"data\":{\"kind\":\"server\",\"name\":\"notes\",\"reason\":\"disk is full\",\"by\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"cancelledCalls\":0}}",
  "guard.resumed":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"guard.resumed\",\"time\":\"TIME\",\"data\":{\"kind\":\"server\",\"name\":\"notes\",\"by\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"}}}",
  "labels.forgotten":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"labels.forgotten\",\"time\":\"TIME\",\"data\":{\"client\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"labels\":[\"private\"]}}",
  "mutability.violation":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"mutability.violation\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"client\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"tool\":\"notes:delete_file\",\"server\":\"notes\",\"rule\":\"mutability.read_only\",\"reason\":\"it declares destructiveHint: true\",\"effect\":\"blocked\"}}",
  "package.ran":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"package.ran\",\"time\":\"TIME\",\"data\":{\"server\":\"demo.echo\",\"callId\":\"CALL\",\"implementation\":\"shell\"}}",
  "policy.changed":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"policy.changed\",\"time\":\"TIME\",\"data\":{\"digest\":\"sha256:…\",\"previousDigest\":\"sha256:…\"}}",
  "policy.rejected":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"policy.rejected\",\"time\":\"TIME\",\"data\":{\"digest\":\"sha256:…\",\"problem\":\"team.cedar:2:36: error CEDAR_SYNTAX\\nUnexpected end of input\\n2 | forbid(principal, action, resource)\\n                                       ^\\nhint: expected `;` or identifier\"}}",
  "result.suspicious":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"result.suspicious\",\"time\":\"TIME\",\"data\":{\"callId\":\"CALL\",\"client\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"},\"tool\":\"notes:fetch\",\"server\":\"notes\",\"findings\":[{\"message\":\"it asks the model to set other instructions aside\",\"path\":\"content.0.text\",\"offset\":0}]}}",
  "secret.echoed":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"secret.echoed\",\"time\":\"TIME\",\"data\":{\"server\":\"acme\",\"callId\":\"CALL\",\"host\":\"api.acme.example\",\"credential\":\"token\",\"secret\":\"acme-token\",\"where\":\"body\"}}",
  "secret.used":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"secret.used\",\"time\":\"TIME\",\"data\":{\"server\":\"acme\",\"callId\":\"CALL\",\"host\":\"api.acme.example\",\"credential\":\"token\",\"secret\":\"acme-token\"}}",
  "server.quarantined":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"server.quarantined\",\"time\":\"TIME\",\"data\":{\"server\":\"notes\",\"tool\":\"notes:*\",\"reason\":\"3 messages broke a limit, the last one: The server's answer is larger than 33554432 bytes\",\"code\":\"UPSTREAM_QUARANTINED\"}}",
  "server.started":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"server.started\",\"time\":\"TIME\",\"data\":{\"server\":\"notes\",\"transport\":\"streamable_http\",\"protocolVersion\":\"2025-11-25\",\"toolCount\":6,\"containment\":\"deadline\"}}",
  "server.stopped":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"server.stopped\",\"time\":\"TIME\",\"data\":{\"server\":\"notes\",\"reason\":\"it was stopped\"}}",
  "token.created":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"token.created\",\"time\":\"TIME\",\"data\":{\"name\":\"ci\",\"by\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"}}}",
  "token.revoked":
    "{\"specversion\":\"1.0\",\"id\":\"…001-…\",\"source\":\"/toolcrib\",\"writer\":\"001\",\"sequence\":\"…\",\"previous\":\"…\",\"type\":\"token.revoked\",\"time\":\"TIME\",\"data\":{\"name\":\"ci\",\"by\":{\"issuer\":\"toolcrib:cli\",\"subject\":\"cli\",\"name\":\"cli\"}}}",
};
