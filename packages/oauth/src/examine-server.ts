/**
 * Asks an MCP server without any credential how it answers: its status, whether it speaks MCP, when its certificate
 * ends, and which login it wants. The authorization server that it names is asked for its metadata, and its token
 * endpoint where a login is configured. Nothing of the operator is sent: no token, no header and no secret of the configuration.
 *
 * Every connection is one of `oauth-fetch.ts`, with its checks of addresses and its limits.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { isJsonObject } from "@toolcrib/json";
import { parseChallenge } from "./challenge.ts";
import { discover } from "./discovery.ts";
import { OAuthError } from "./oauth-error.ts";
import { type OAuthFetch, shownUrl } from "./oauth-fetch.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";
import { oauthFetchFor } from "./server-fetch.ts";

/** The answers of a server to requests without credentials. */
export interface ExaminedServer {
  readonly status: number;
  /** Whether the answer is a message of MCP. */
  readonly speaksMcp: boolean;
  /** Milliseconds since the epoch at which its certificate ends; undefined without TLS. */
  readonly certificateEndsAt: number | undefined;
  /** The schemes of authentication that it names (`Bearer`), where it wants one. */
  readonly schemes: readonly string[];
  /** Its authorization server, where there is one. */
  readonly login: ExaminedLogin | undefined;
}

/** The authorization server of a server. */
export type ExaminedLogin =
  /** `status` of the answer of the token endpoint; undefined where it was not asked. */
  | { readonly issuer: string; readonly tokenEndpoint: string; readonly status: number | undefined }
  /** Why nobody can log in. */
  | { readonly problem: string };

/** The limits of one examination. */
export interface ExaminationLimits {
  readonly signal: AbortSignal;
  /** Bytes that responses may still have, shared by the examinations of one command. Each response has at most 512 KiB. */
  readonly bytes: { left: number };
  /**
   * Whether the token endpoint is asked. A server that the operator configured no login for does not choose to where
   * this machine sends a form.
   */
  readonly asksTokenEndpoint: boolean;
}

const schemesMaxCount = 4;

/**
 * Examines the server at `server.url`.
 *
 * @param kind `sse`: the transport of the revision 2024-11-05, which begins with a stream
 * @throws {OAuthError} `OAUTH_UNREACHABLE`, `OAUTH_ADDRESS_REFUSED`, where the server itself does not answer
 */
export async function examineServer(
  server: OAuthServer,
  kind: "streamable_http" | "sse",
  deps: Pick<OAuthDeps, "internalRanges" | "ca">,
  { signal, bytes, asksTokenEndpoint }: ExaminationLimits,
): Promise<ExaminedServer> {
  const fetch = withinBytes(oauthFetchFor(server, deps), bytes);
  let certificateEndsAt: number | undefined;
  const onCertificate = (endsAt: number) => {
    certificateEndsAt = endsAt;
  };
  const response = await fetch(server.url, { ...requestOf(kind), signal, onCertificate });
  const { status, headers } = response;
  const speaksMcp = isMcp(kind, await response.text());
  await endSession(server.url, headers.get("mcp-session-id"), fetch, signal);
  const header = headers.get("www-authenticate") ?? undefined;
  const challenge = status === 401 ? parseChallenge(header) : undefined;
  const isConfigured = server.issuer !== undefined || challenge !== undefined;
  const login = isConfigured
    ? await examineLogin(
        {
          serverId: server.id,
          url: server.url,
          issuer: server.issuer,
          challenge,
          // The examination sends no secret, so that the server can repeat none.
          scrub: (text) => text,
          signal,
        },
        fetch,
        asksTokenEndpoint,
      )
    : undefined;
  return { status, speaksMcp, certificateEndsAt, schemes: status === 401 ? schemesOf(header) : [], login };
}

/**
 * Finds the authorization server and asks its token endpoint without a grant, which it has to refuse. As in a login,
 * the endpoint is https at a public address unless the operator wrote its host or range, and a redirect is refused.
 */
async function examineLogin(
  request: Parameters<typeof discover>[0],
  fetch: OAuthFetch,
  asksTokenEndpoint: boolean,
): Promise<ExaminedLogin> {
  try {
    const { server } = await discover(request, fetch);
    const { issuer, token_endpoint: endpoint } = server;
    if (endpoint === undefined) return { problem: `the metadata of ${issuer} names no token endpoint` };
    if (!URL.canParse(endpoint)) return { problem: `the token endpoint of ${issuer} is not a URL` };
    const tokenEndpoint = shownUrl(new URL(endpoint));
    if (!asksTokenEndpoint) return { issuer, tokenEndpoint, status: undefined };
    const { status } = await fetch(endpoint, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: "",
      signal: request.signal,
    });
    if (status === 404 || status === 405 || status >= 500)
      return { problem: `the token endpoint ${tokenEndpoint} answers HTTP ${status}` };
    return { issuer, tokenEndpoint, status };
  } catch (error) {
    request.signal.throwIfAborted();
    if (!(error instanceof OAuthError)) throw error;
    return { problem: messageOf(error) };
  }
}

function requestOf(kind: "streamable_http" | "sse"): Parameters<OAuthFetch>[1] & object {
  if (kind === "sse") return { headers: { accept: "text/event-stream" } };
  const clientInfo = { name: "toolcrib-doctor", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  return {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    // Servers of every revision answer it with a message, if only with an error.
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  };
}

function isMcp(kind: "streamable_http" | "sse", text: string): boolean {
  if (kind === "sse") return /^event: ?endpoint\r?$/m.test(text);
  const events = [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data = ""]) => data);
  return [text, ...events].some((one) => {
    try {
      const value: unknown = JSON.parse(one);
      return isJsonObject(value) && value["jsonrpc"] === "2.0";
    } catch {
      return false;
    }
  });
}

/** Ends the session that the examination began. A server that does not want that keeps it for its own time. */
async function endSession(url: string, id: string | null, fetch: OAuthFetch, signal: AbortSignal) {
  if (id === null || !/^[\x21-\x7e]{1,1024}$/.test(id)) return;
  try {
    await fetch(url, { method: "DELETE", headers: { "mcp-session-id": id }, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof OAuthError)) throw error;
  }
}

function schemesOf(header: string | undefined): readonly string[] {
  const found = [
    ...(header ?? "").matchAll(/(?:^|,)\s*([A-Za-z][A-Za-z0-9-]{0,31})(?=\s+[^=\s]|\s*(?:,|$))/g),
  ];
  return [...new Set(found.map(([, scheme = ""]) => scheme))].slice(0, schemesMaxCount);
}

/** Sends requests until their responses had too many bytes together. */
function withinBytes(fetch: OAuthFetch, bytes: ExaminationLimits["bytes"]): OAuthFetch {
  return async (url, options) => {
    if (bytes.left <= 0)
      throw new OAuthError("OAUTH_UNREACHABLE", "The responses of all servers together are too long");
    const onBytes = (count: number) => {
      bytes.left -= count;
    };
    return await fetch(url, { ...options, onBytes });
  };
}
