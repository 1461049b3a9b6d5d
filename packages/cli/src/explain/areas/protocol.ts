/** Explanations of the error codes of JSON-RPC that clients see. */

import type { Explanations } from "../explanation.ts";
import { call, gateway, httpRequest, message, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  "-32001": {
    cause:
      "HTTP: the session of the request is not known: it ended, expired, or belongs to a gateway that was restarted without its home.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest(
      "POST /mcp",
      [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "Mcp-Session-Id: 786512e2-9e0d-44bd-8f29-789f320fe840",
      ],
      '{"jsonrpc":"2.0","id":7,"method":"tools/list"}',
    ),
    fix: "Send initialize again, without the header Mcp-Session-Id. Clients do this by themselves.",
  },
  "-32002": {
    cause:
      "Revisions up to 2025-11-25: no server offers this resource to the client. data.code is RESOURCE_NOT_FOUND. Later revisions use -32602.",
    files: gateway.files,
    before: gateway.before,
    run: message("resources/read", { uri: "file:///tmp/gone.txt" }),
    fix: "List the resources and use a URI as listed.",
  },
  "-32020": {
    cause:
      "Revision 2026-07-28: a header that mirrors the body, such as Mcp-Method, differs from it. Programs on the way decide by headers, so both must agree.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest(
      "POST /mcp",
      [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/list",
      ],
      '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"notes__search","arguments":{"query":"milk"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"example","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}}',
    ),
    fix: "Let the proxy pass the headers unchanged; update the client.",
  },
  "-32021": {
    cause:
      "Revision 2026-07-28: the request needs something that the client did not declare, such as elicitation or tasks.",
    files: serverFile("sampling", ["mutability_class: read_only"], "serve: { auth: none }\n"),
    did: "The server asks for a model during the call, and the client declares none.",
    before: ["toolcrib serve &"],
    run: httpRequest(
      "POST /mcp",
      [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Mcp-Name: notes__search",
      ],
      '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"notes__search","arguments":{"query":"milk"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"example","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}}',
    ),
    fix: "Use a client that declares the capability in the message.",
  },
  "-32022": {
    cause:
      "Revision 2026-07-28: the request names a version of the protocol that this gateway does not speak.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest(
      "POST /mcp",
      [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2031-01-01",
        "Mcp-Method: tools/list",
      ],
      '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01","io.modelcontextprotocol/clientInfo":{"name":"example","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}}',
    ),
    fix: "Use one of the versions in data.supported, or update the gateway.",
  },
  "-32042": {
    cause:
      "Revision 2025-11-25: the call needs a login, for which the person at the client has to visit a page; the address is in data.elicitations. It is not an error of the call: repeat it after the login.",
    did: "A tool of a server with a login for each client is called for the first time.",
    prints:
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"The server \\"crm\\" needs a login","data":{"elicitations":[{"mode":"url","url":"http://127.0.0.1:7420/oauth/login?ticket=…"}]}}}',
    unrun: "setup",
    tested: "packages/gateway/test/client-logins.process.test.ts",
    fix: "Visit the page, log in, and call again. Clients that know elicitation with a URL show it by themselves.",
  },
  "-32600": {
    cause:
      "The JSON is no request of JSON-RPC 2.0, or HTTP refuses it before it is dispatched (a missing token, a refused host).",
    files: gateway.files,
    before: gateway.before,
    run: '{"id": 7, "params": {}}',
    fix: "Read data.code of the error: it is the code of Toolcrib, such as HTTP_UNAUTHORIZED, and toolcrib explain explains it.",
  },
  "-32601": {
    cause:
      "The method does not exist, or the other side did not declare the capability for it. data.code is MCP_METHOD_NOT_FOUND.",
    files: gateway.files,
    before: gateway.before,
    run: message("resource/list"),
    fix: "Correct the name of the method; use what initialize declared.",
  },
  "-32602": {
    cause:
      "The parameters of a request are not valid, or name a tool, prompt, resource or task that this client does not have. data.code says which.",
    files: gateway.files,
    before: gateway.before,
    run: call("notes__serch"),
    fix: "Read message and data.hint. toolcrib explain with data.code explains more.",
  },
  "-32603": {
    cause:
      "The request was understood and failed. data.code says why, such as CALL_TIMEOUT or POLICY_DENIED.",
    files: gateway.files,
    did: "The server of the prompt answers with this number.",
    before: gateway.before,
    run: message("prompts/get", { name: "notes__review" }),
    fix: "Read data.code and data.hint; toolcrib explain with this code.",
  },
  "-32700": {
    cause: "The body of a request, or a line on stdio, is not JSON.",
    files: gateway.files,
    before: gateway.before,
    run: '{"jsonrpc": "2.0",',
    fix: "Send one JSON-RPC message in UTF-8. On stdio, a message is one line.",
  },
};
