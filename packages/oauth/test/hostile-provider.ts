/**
 * An MCP server and its authorization server on one loopback port, which answer as a test says. It
 * approves every authorization request at once.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One answer: JSON with status 200, or a status, headers and a text. */
export type Answer =
  | { readonly [name: string]: unknown }
  | {
      readonly status: number;
      readonly headers?: { readonly [name: string]: string };
      readonly text?: string;
    };

/** Changes to the behaviour. Each function gets the URL of this server without a slash at the end. */
export interface HostileBehaviour {
  readonly resource?: (origin: string) => Answer;
  readonly metadata?: (origin: string) => Answer;
  readonly token?: (origin: string, form: URLSearchParams) => Answer;
  /** The answer to the registration of a client. */
  readonly registration?: (origin: string) => Answer;
  /** Parameters of the redirect back, besides `state`. */
  readonly redirect?: (origin: string) => { readonly [name: string]: string };
}

export interface HostileProvider extends AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  /** Method and path of each request. */
  readonly requests: readonly string[];
  /** Bodies that the token endpoint got. */
  readonly tokenForms: readonly URLSearchParams[];
  /** The header `authorization` of the requests to it. */
  readonly authorizations: readonly (string | undefined)[];
}

/** Starts the server. @param host its address */
export async function startHostileProvider(
  behaviour: HostileBehaviour,
  host = "127.0.0.1",
): Promise<HostileProvider> {
  const requests: string[] = [];
  const tokenForms: URLSearchParams[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen({ host, port: 0 }, resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", origin);
    requests.push(`${request.method} ${url.pathname}`);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    switch (url.pathname) {
      case "/mcp":
        response
          .writeHead(401, { "www-authenticate": `Bearer resource_metadata="${origin}/resource"` })
          .end();
        return;
      case "/resource":
      case "/.well-known/oauth-protected-resource/mcp":
        send(response, behaviour.resource?.(origin) ?? defaultResource(origin));
        return;
      case "/.well-known/oauth-authorization-server":
        send(response, behaviour.metadata?.(origin) ?? defaultMetadata(origin));
        return;
      case "/register":
        send(
          response,
          behaviour.registration?.(origin) ?? {
            status: 201,
            text: JSON.stringify({ ...JSON.parse(body), client_id: "registered" }),
          },
        );
        return;
      case "/authorize": {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        const given = behaviour.redirect?.(origin) ?? { code: "the-code", iss: origin };
        const all = { state: url.searchParams.get("state") ?? "", ...given };
        back.search = new URLSearchParams(all).toString();
        response.writeHead(302, { location: back.href }).end();
        return;
      }
      case "/token": {
        const form = new URLSearchParams(body);
        tokenForms.push(form);
        authorizations.push(request.headers.authorization);
        send(response, behaviour.token?.(origin, form) ?? defaultTokens);
        return;
      }
      default:
        response.writeHead(404).end();
    }
  }

  return {
    origin,
    url: `${origin}/mcp`,
    requests,
    tokenForms,
    authorizations,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function defaultResource(origin: string): { readonly [name: string]: unknown } {
  return { resource: `${origin}/mcp`, authorization_servers: [origin] };
}

export function defaultMetadata(origin: string): { readonly [name: string]: unknown } {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
  };
}

const defaultTokens = { access_token: "access-1-of-the-provider", token_type: "Bearer", expires_in: 3600 };

function send(response: ServerResponse, answer: Answer): void {
  if (typeof answer["status"] === "number") {
    const { status, headers = {}, text = "" } = answer as { status: number; headers?: object; text?: string };
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  } else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}
