/**
 * A real OpenID provider (`oidc-provider`) on a loopback port: dynamic registration, refresh tokens
 * that rotate, revocation, introspection, the device grant, client credentials and resource
 * indicators. Everybody who opens its pages is logged in as `ada` and agrees.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Options of the provider. */
export interface IdentityProviderOptions {
  /** Seconds that an access token lives. @default 3600 */
  readonly accessTokenSeconds?: number;
  /** Whether access tokens for resources are JWTs. @default false: they are opaque */
  readonly hasJwtTokens?: boolean;
  /** Whether clients can register themselves. @default true */
  readonly registersClients?: boolean;
  /** Clients that are registered before. @default none */
  readonly clients?: readonly object[];
  /** The scopes of resources. @default "read write" */
  readonly resourceScopes?: string;
  /** Scopes that are granted of those that are asked for. @default all */
  readonly grants?: readonly string[];
}

/** A running provider. */
export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Requests to the token endpoint so far, by grant type. */
  readonly tokenRequests: readonly string[];
  /** Paths of all requests so far. */
  readonly paths: readonly string[];
  /** Returns a valid opaque access token as the provider knows it. */
  find(token: string): Promise<FoundToken | undefined>;
}

/** The facts of the provider about a token. */
export interface FoundToken {
  readonly audience: string | undefined;
  readonly scopes: readonly string[];
  readonly clientId: string;
}

/** Starts the provider. */
export async function startIdentityProvider(
  options: IdentityProviderOptions = {},
): Promise<IdentityProvider> {
  const { Provider } = await quietly(() => import("oidc-provider"));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = await quietly(async () => new Provider(issuer, configurationOf(options)));
  const callback = provider.callback();
  const tokenRequests: string[] = [];
  const paths: string[] = [];
  provider.on("grant.success", (context) => void tokenRequests.push(grantOf(context)));
  provider.on("grant.error", (context) => void tokenRequests.push(grantOf(context)));
  server.on("request", (request, response) => {
    paths.push(request.url?.split("?")[0] ?? "");
    if (request.url?.startsWith("/interaction/")) {
      interact(provider, options, request, response).catch(() => response.writeHead(500).end());
    } else callback(request, response);
  });
  return {
    issuer,
    tokenRequests,
    paths,
    async find(token) {
      const found =
        (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
      if (found === undefined) return undefined;
      const { aud, scope, clientId } = found;
      return { audience: Array.isArray(aud) ? aud[0] : aud, scopes: scope?.split(" ") ?? [], clientId };
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

/**
 * Opens `url` as a person with a browser does who agrees to everything.
 *
 * @param cookies those of the browser; it gets further ones
 * @returns the last page
 */
export async function browse(
  url: string,
  cookies: Map<string, string> = new Map(),
): Promise<{ readonly status: number; readonly text: string; readonly url: string }> {
  let next = url;
  let body: string | undefined;
  for (let visited = 0; visited < 20; visited += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const form = body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
    const response = await fetch(next, {
      redirect: "manual",
      method: body === undefined ? "GET" : "POST",
      headers: { cookie, ...form },
      body: body ?? null,
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    const text = await response.text();
    body = undefined;
    if (location !== null) next = new URL(location, next).href;
    else if (text.includes('name="xsrf"') && !text.includes("Success")) {
      // The pages of the device grant have one form each.
      const fields = [...text.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)].map(
        ([, name, value]) => [name, value],
      );
      next = new URL(/action="([^"]+)"/.exec(text)?.[1] ?? next, next).href;
      body = new URLSearchParams(fields as string[][]).toString();
    } else return { status: response.status, text, url: next };
  }
  throw new Error("The pages of the provider do not end");
}

/** The context of a page of the provider. */
interface Page {
  body: unknown;
}

function showPage(context: Page, text: string): void {
  context.body = text;
}

function configurationOf(options: IdentityProviderOptions): object {
  const { accessTokenSeconds = 3600, hasJwtTokens = false, registersClients = true, clients = [] } = options;
  const { resourceScopes = "read write" } = options;
  return {
    clients,
    cookies: { keys: [randomUUID()] },
    pkce: { required: () => true },
    scopes: ["openid", "offline_access"],
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
      DeviceCode: 600,
      IdToken: 600,
      AuthorizationCode: 60,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async (_context: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed("refresh_token"),
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    clientBasedCORS: () => false,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registersClients },
      revocation: { enabled: true, allowedPolicy: () => true },
      introspection: { enabled: true, allowedPolicy: () => true },
      clientCredentials: { enabled: true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: showPage,
        userCodeConfirmSource: showPage,
        successSource: (context: Page) => showPage(context, "Success"),
      },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: resourceScopes,
          audience: resource,
          accessTokenFormat: hasJwtTokens ? "jwt" : "opaque",
          accessTokenTTL: accessTokenSeconds,
          ...(hasJwtTokens ? { jwt: { sign: { alg: "RS256" } } } : {}),
        }),
      },
    },
  };
}

/** Answers a page: logs in, or agrees. */
async function interact(
  provider: InstanceType<typeof import("oidc-provider").Provider>,
  { resourceScopes = "read write", grants }: IdentityProviderOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    await provider.interactionFinished(request, response, { login: { accountId: "ada" } });
    return;
  }
  const grant = new provider.Grant({
    accountId: session?.accountId ?? "ada",
    clientId: String(params["client_id"]),
  });
  const asked = String(params["scope"] ?? "").split(" ");
  const given = asked.filter((scope) => grants === undefined || grants.includes(scope));
  grant.addOIDCScope(
    given.filter((scope) => ["openid", "offline_access"].includes(scope)).join(" ") || "openid",
  );
  const ofResource = given.filter((scope) => resourceScopes.split(" ").includes(scope));
  grant.addResourceScope(String(params["resource"]), ofResource.join(" "));
  const others = asked.filter((scope) => !given.includes(scope));
  if (others.length > 0) grant.rejectResourceScope(String(params["resource"]), others.join(" "));
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

function grantOf(context: unknown): string {
  return (context as { oidc: { params: { grant_type: string } } }).oidc.params.grant_type;
}

/** Loads or creates the provider without its advice about production. */
async function quietly<Result>(create: () => Promise<Result>): Promise<Result> {
  const { warn, info } = console;
  console.warn = () => {};
  console.info = () => {};
  try {
    return await create();
  } finally {
    console.warn = warn;
    console.info = info;
  }
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
