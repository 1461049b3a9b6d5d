/** Explanations of the codes of the package http. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { gateway, httpRequest, library, loginFile, operatorRequest, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  HTTP_ADDRESS_IN_USE: {
    cause: "Another program, often an earlier gateway, listens on the address of serve.listen.",
    files: { "toolcrib.yaml": "tool_servers: []\nserve: { auth: none }\n" },
    before: ["toolcrib serve &"],
    run: "toolcrib serve --listen 127.0.0.1:7420",
    fix: "toolcrib doctor names the process that uses the port where the system shows it. Stop it, or choose another port in serve.listen and connect the clients again.",
  },
  HTTP_AUTH_REQUIRED: {
    cause:
      "serve.auth: none is allowed only where no other machine can connect. The host of the address is not this machine alone, so anyone in the network could use all tools.",
    files: library('await startHttpServer({}, { listen: { host: "0.0.0.0", port: 0 }, auth: "none" });'),
    did: "An embedding program listens on all addresses without tokens.",
    run: "node program.mjs",
    fix: "Write serve.auth: token, or listen on 127.0.0.1 and let a proxy with TLS and a login connect to it.",
  },
  HTTP_FORM_INVALID: {
    cause:
      "The page of a login received something other than its own form: a field is missing, was changed, or the body is too large.",
    files: loginFile("open", ", per: identity"),
    before: ["toolcrib serve &"],
    run: httpRequest("POST /oauth/login", ["Content-Type: text/plain"], "a"),
    fix: "Open the page of the login again from the link that the client or toolcrib login printed, and send its form.",
  },
  HTTP_HEADERS_TOO_LARGE: {
    cause:
      "The headers of a request are larger than the gateway reads. Usually a proxy adds cookies or tokens of many kilobytes.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("GET /mcp", [`Cookie: all=${"x".repeat(40_000)}`]),
    fix: "Send fewer or shorter headers: remove cookies at the proxy, and use a token of Toolcrib instead of a large one.",
  },
  HTTP_HEADER_DUPLICATE: {
    cause:
      "A header that can occur only once, such as Host, Authorization or Mcp-Session-Id, occurs twice. Programs on the way could read different ones, so neither is used.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("GET /mcp", ["Authorization: Bearer one", "Authorization: Bearer two"]),
    fix: "Let the proxy replace the header instead of adding it.",
  },
  HTTP_HOST_REFUSED: {
    cause:
      "The Host header is not one of this gateway. The check protects a gateway on this machine from web pages that point a name of theirs to 127.0.0.1 (DNS rebinding).",
    files: gateway.files,
    before: gateway.before,
    run: "GET /mcp HTTP/1.1\nHost: gateway.local:7420\n\n",
    fix: "Use the address that toolcrib status prints, or add the name: serve: { allowed_hosts: [gateway.local] }. A proxy can also set Host to localhost.",
  },
  HTTP_INTERNAL: {
    cause:
      "The gateway failed while it answered. It is a fault in Toolcrib, and the request did nothing that is not in the audit trail.",
    did: "A client asks for the status during a fault.",
    prints: "Internal error",
    unrun: "fault",
    tested: "packages/http/test/server.test.ts",
    fix: "Read the log of the gateway at the same time: it has the error with its stack. Report it with this part of the log, and restart the gateway if it repeats.",
  },
  HTTP_LISTEN_FAILED: {
    cause:
      "The operating system refused the address for a reason other than its use: the address does not belong to this machine, the port needs privileges, or the gateway is being stopped.",
    files: { "toolcrib.yaml": "tool_servers: []\n" },
    run: "toolcrib serve --listen 192.0.2.1:7420",
    fix: "EACCES: choose a port of 1024 or higher. EADDRNOTAVAIL: write an address of this machine, which ip addr lists. ENOTFOUND: correct the host name.",
  },
  HTTP_MALFORMED: {
    cause: "What arrived is not HTTP/1.1. Often a client speaks HTTPS to a gateway that has no TLS.",
    files: gateway.files,
    before: gateway.before,
    run: "GET /mcp HTTP/1.1\nHost 127.0.0.1\n\n",
    fix: "Write http:// for a gateway on this machine, or put a proxy with TLS before it.",
  },
  HTTP_METHOD_NOT_ALLOWED: {
    cause: "The path exists, but takes other methods than the one of the request.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("POST /api/v1/status"),
    repaired: { run: httpRequest("GET /api/v1/status") },
    fix: "Use a method that the message names.",
  },
  HTTP_NOT_FOUND: {
    cause: "Nothing is served at the path. Clients often miss the end of the address: /mcp.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("GET /"),
    fix: "Use the address that toolcrib status prints, with /mcp at its end, or let toolcrib connect CLIENT write it.",
  },
  HTTP_ORIGIN_REFUSED: {
    cause:
      "A web page sent the request, and its origin is not allowed. Otherwise any page that a user opens could call tools of this machine.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("POST /mcp", ["Origin: https://app.example.com"], "{}"),
    fix: 'If the page is yours and may use the tools, write serve: { allowed_origins: ["https://app.example.com"] }.',
  },
  HTTP_QUERY_INVALID: {
    cause: "A parameter after the ? of an API request is not valid.",
    files: gateway.files,
    before: gateway.before,
    run: operatorRequest("GET", "/api/v1/servers/notes/log?lines=all"),
    fix: "Correct the parameter; the message says what is allowed.",
  },
  HTTP_REQUEST_TIMEOUT: {
    cause:
      "The request did not arrive completely within its time. A slow or broken connection, or a Content-Length that is larger than the body.",
    did: "A script announces 100 bytes of body and sends 90.",
    prints: "The request did not arrive in its time",
    unrun: "setup",
    tested: "packages/http/test/limits.test.ts",
    fix: "Send Content-Length as the real number of bytes. Behind a proxy, let the proxy read the request before it passes it on.",
  },
  HTTP_ROLE_REQUIRED: {
    cause:
      "The route changes the gateway (pauses, approvals, reload), and the token belongs to a client, not to the operator. Clients must not be able to approve their own calls.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("POST /api/v1/pauses/pause?kind=server&name=notes"),
    fix: "Use the command on the machine of the gateway, which talks to the control socket, or give the identity the role in policy.clients.",
  },
  HTTP_SCOPE_MISSING: {
    cause:
      "The configuration (serve.auth.jwt) names scopes that every access token must have, and this one lacks some.",
    did: "A client got a token without the scope tools.",
    prints: "The token of this request does not have the scopes tools\nget a token with these scopes",
    unrun: "setup",
    tested: "packages/gateway/test/client-tokens.process.test.ts",
    fix: "Let the client ask its authorization server for these scopes, and let the server grant them. If they are not needed, remove them from serve.auth.jwt.",
  },
  HTTP_UNAUTHORIZED: {
    cause:
      "The request has no token, or one that is not valid here: mistyped, of another home, expired or withdrawn. Tokens in a URL do not count, because they end up in logs.",
    files: serverFile("notes"),
    before: ["toolcrib serve &"],
    run: httpRequest("POST /mcp", ["Content-Type: application/json"], "{}"),
    fix: "toolcrib connect CLIENT writes address and token into the client. By hand: the header is Authorization: Bearer and the content of a file in the folder tokens of the home. With OAuth, let the client log in again.",
  },
  PROFILE_NOT_FOUND: {
    cause:
      "The endpoint /mcp/p/NAME names a profile that the configuration does not have, or that this client may not use.",
    files: gateway.files,
    before: gateway.before,
    run: httpRequest("POST /mcp/p/review", ["Content-Type: application/json"], "{}"),
    fix: "Use a profile of serve.profiles that the client may use, or connect the client again: toolcrib connect CLIENT --profile NAME.",
  },
};
