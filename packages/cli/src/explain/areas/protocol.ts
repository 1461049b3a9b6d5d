/** Explanations of the error codes of JSON-RPC that clients see. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  "-32001": {
    cause:
      "HTTP: the session of the request is not known: it ended, expired, or belongs to a gateway that was restarted without its home.",
    did: "A client goes on with a session from yesterday.",
    prints: '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
    unrun: "client",
    fix: "Send initialize again, without the header Mcp-Session-Id. Clients do this by themselves.",
  },
  "-32002": {
    cause:
      "Revisions up to 2025-11-25: no server offers this resource to the client. data.code is RESOURCE_NOT_FOUND. Later revisions use -32602.",
    did: "A client reads file:///tmp/gone.txt.",
    prints:
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"Resource not found: \\"file:///tmp/gone.txt\\""}}',
    unrun: "client",
    fix: "List the resources and use a URI as listed.",
  },
  "-32020": {
    cause:
      "Revision 2026-07-28: a header that mirrors the body, such as Mcp-Method, differs from it. Programs on the way decide by headers, so both must agree.",
    did: "A proxy replaces the header Mcp-Name.",
    prints: '{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"Header mismatch"}}',
    unrun: "client",
    fix: "Let the proxy pass the headers unchanged; update the client.",
  },
  "-32021": {
    cause:
      "Revision 2026-07-28: the request needs something that the client did not declare, such as elicitation or tasks.",
    did: "A tool that runs only as a task is called by a client without tasks.",
    prints: '{"jsonrpc":"2.0","id":7,"error":{"code":-32021,"message":"The client does not support tasks"}}',
    unrun: "client",
    fix: "Use a client that declares the capability in the message.",
  },
  "-32022": {
    cause:
      "Revision 2026-07-28: the request names a version of the protocol that this gateway does not speak.",
    did: "A client of a later revision asks.",
    prints: '{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"Unsupported protocol version"}}',
    unrun: "client",
    fix: "Use one of the versions in data.supported, or update the gateway.",
  },
  "-32042": {
    cause:
      "Revision 2025-11-25: the call needs a login, for which the person at the client has to visit a page; the address is in data.elicitations. It is not an error of the call: repeat it after the login.",
    did: "A tool of a server with a login for each client is called for the first time.",
    prints:
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"The server \\"crm\\" needs a login","data":{"elicitations":[{"mode":"url","url":"http://127.0.0.1:7420/oauth/login?ticket=…"}]}}}',
    unrun: "client",
    fix: "Visit the page, log in, and call again. Clients that know elicitation with a URL show it by themselves.",
  },
  "-32600": {
    cause:
      "The JSON is no request of JSON-RPC 2.0, or HTTP refuses it before it is dispatched (a missing token, a refused host).",
    did: "A client sends a list of requests (a batch), which MCP does not have.",
    prints: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"}}',
    unrun: "client",
    fix: "Read data.code of the error: it is the code of Toolcrib, such as HTTP_UNAUTHORIZED, and toolcrib explain explains it.",
  },
  "-32601": {
    cause:
      "The method does not exist, or the other side did not declare the capability for it. data.code is MCP_METHOD_NOT_FOUND.",
    did: "A client sends resource/list.",
    prints:
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found: \\"resource/list\\""}}',
    unrun: "client",
    fix: "Correct the name of the method; use what initialize declared.",
  },
  "-32602": {
    cause:
      "The parameters of a request are not valid, or name a tool, prompt, resource or task that this client does not have. data.code says which.",
    did: "A client calls a tool that does not exist.",
    prints:
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Unknown tool: \\"x\\"","data":{"code":"TOOL_NOT_FOUND"}}}',
    unrun: "client",
    fix: "Read message and data.hint. toolcrib explain with data.code explains more.",
  },
  "-32603": {
    cause:
      "The request was understood and failed. data.code says why, such as CALL_TIMEOUT or POLICY_DENIED.",
    did: "A client calls a tool that a policy denies.",
    prints: '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"…","data":{"code":"POLICY_DENIED"}}}',
    unrun: "client",
    fix: "Read data.code and data.hint; toolcrib explain with this code.",
  },
  "-32700": {
    cause: "The body of a request, or a line on stdio, is not JSON.",
    did: 'A client sends {"jsonrpc": "2.0", without the rest.',
    prints: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    unrun: "client",
    fix: "Send one JSON-RPC message in UTF-8. On stdio, a message is one line.",
  },
};
