/**
 * Access tokens of OAuth 2 (RFC 6749) for one package: requested with client credentials or a refresh
 * token, through the egress, and kept in memory until shortly before they expire. The secrets go to
 * the token endpoint and nowhere else; a token goes to the host of the package.
 */

import { createPlaceholder, type Egress, type EgressCredential } from "@toolcrib/egress";
import { canonicalHost, parseHostPattern } from "@toolcrib/hosts";
import { isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { McpkgRuntimeError } from "../runtime-error.ts";
import type { OAuthSettings } from "./package-auth.ts";

/** What tokens are requested with. */
export interface OAuthRequest extends OAuthSettings {
  readonly toolId: string;
  /** The id of the package as the egress knows it. */
  readonly egressId: string;
  /** Readers of the secrets: `client_id`, `client_secret`, `refresh_token`. */
  readonly readers: { readonly [id: string]: () => Promise<string> };
  /** Names of the secrets, for the audit. */
  readonly secretName: string;
}

/** Dependencies of the tokens. */
export interface OAuthDeps {
  readonly egress: Pick<Egress, "fetch">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  /** Receives each token, for scrubbing. */
  readonly learn: (value: string) => void;
}

/** Milliseconds before its end at which a token is replaced. */
const marginMs = 30_000;
/** Seconds that a token without a stated end is kept. */
const expiryDefaultSeconds = 300;
const responseMaxBytes = 64 * 1024;
const requestTimeoutMs = 15_000;

/** The access tokens of one package. */
export class OAuthTokens {
  readonly secretName: string;
  readonly #request: OAuthRequest;
  readonly #deps: OAuthDeps;
  #kept: { readonly token: string; readonly until: number } | undefined;
  #requesting: Promise<string> | undefined;
  /** The refresh token that the endpoint returned in place of the stored one. */
  #rotated: string | undefined;

  constructor(request: OAuthRequest, deps: OAuthDeps) {
    this.secretName = request.secretName;
    this.#request = request;
    this.#deps = deps;
  }

  /** Returns a token that is valid for a while. @throws {McpkgRuntimeError} `PACKAGE_UNUSABLE`; {CodedError} of the egress or of a secret */
  async current(): Promise<string> {
    if (this.#kept !== undefined && this.#deps.now() < this.#kept.until) return this.#kept.token;
    this.#requesting ??= this.#fetch().finally(() => {
      this.#requesting = undefined;
    });
    return await this.#requesting;
  }

  async #fetch(): Promise<string> {
    const { toolId, egressId, tokenUrl, scopes, readers } = this.#request;
    const { egress, learn, now } = this.#deps;
    const stored = await readers["refresh_token"]?.();
    const form = new URLSearchParams(
      stored === undefined
        ? { grant_type: "client_credentials" }
        : { grant_type: "refresh_token", refresh_token: this.#rotated ?? stored },
    );
    if (scopes.length > 0) form.set("scope", scopes.join(" "));
    const headers: { [name: string]: string } = {
      "Content-Type": "application/x-www-form-urlencoded",
      Accept: "application/json",
    };
    const credentials: EgressCredential[] = [];
    if (readers["client_secret"] !== undefined) {
      const credential = this.#clientCredential();
      credentials.push(credential);
      headers["Authorization"] = `Basic ${credential.placeholder}`;
    } else if (readers["client_id"] !== undefined) form.set("client_id", await readers["client_id"]());
    const response = await egress.fetch(
      {
        method: "POST",
        url: tokenUrl,
        headers,
        body: new TextEncoder().encode(form.toString()),
        signal: AbortSignal.timeout(requestTimeoutMs),
        maxBytes: responseMaxBytes,
      },
      { id: egressId, allow: [this.#hostOf(tokenUrl)], credentials },
    );
    const answer = parseAnswer(response.body);
    const { access_token: token, expires_in: seconds, refresh_token: rotated } = answer ?? {};
    if (response.status !== 200 || typeof token !== "string" || !/^[\x21-\x7e]{1,16384}$/.test(token)) {
      const { error } = answer ?? {};
      const said = typeof error === "string" ? `: ${error.slice(0, 200)}` : "";
      throw new McpkgRuntimeError(
        "PACKAGE_UNUSABLE",
        `"${toolId}" got no access token: its token endpoint answered HTTP ${response.status}${said}`,
        { hint: "check the secrets of the package: toolcrib secret list" },
      );
    }
    learn(token);
    if (typeof rotated === "string" && rotated !== "") {
      learn(rotated);
      this.#rotated = rotated;
    }
    const lifeMs = (typeof seconds === "number" && seconds > 0 ? seconds : expiryDefaultSeconds) * 1000;
    this.#kept = { token, until: now() + Math.max(0, lifeMs - marginMs) };
    return token;
  }

  /** HTTP Basic with the id and secret of the client (RFC 6749, section 2.3.1). */
  #clientCredential(): EgressCredential {
    const { readers, secretName } = this.#request;
    return {
      id: "client",
      place: { kind: "header", name: "Authorization", format: "Basic {token}" },
      placeholder: createPlaceholder(this.#deps.randomBytes),
      secretName,
      encoding: "basic",
      read: async () => {
        const id = (await readers["client_id"]?.()) ?? "";
        const secret = (await readers["client_secret"]?.()) ?? "";
        return `${formEncoded(id)}:${formEncoded(secret)}`;
      },
    };
  }

  /** @throws {McpkgRuntimeError} `PACKAGE_UNUSABLE` */
  #hostOf(url: string) {
    const { hostname, port } = new URL(url);
    const pattern = parseHostPattern(canonicalHost(hostname) ?? "");
    if (pattern.kind === "valid") return { ...pattern.value, ports: [port === "" ? 443 : Number(port)] };
    const message = `"${this.#request.toolId}" cannot authenticate: its token endpoint "${hostname}" is no host name`;
    throw new McpkgRuntimeError("PACKAGE_UNUSABLE", message);
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function parseAnswer(body: Uint8Array): { readonly [name: string]: JsonValue | undefined } | undefined {
  try {
    const value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body), { maxDepth: 16 });
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
