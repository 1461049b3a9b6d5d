/**
 * Access tokens of OAuth 2 (RFC 6749) for one package: requested with client credentials or a refresh
 * token, through the egress, and kept in memory until shortly before they expire, or until the API refuses them. The
 * secrets go to the token endpoint and nowhere else; a token goes to the host of the package. A refresh token that was
 * refused is not sent again for a while: an endpoint can lock a client that insists.
 */

import { cutText, isCodedError } from "@toolcrib/diagnostics";
import { createPlaceholder, type Egress, type EgressCredential } from "@toolcrib/egress";
import { canonicalHost, parseHostPattern } from "@toolcrib/hosts";
import { isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { McpkgRuntimeError } from "../runtime-error.ts";
import type { OAuthSettings } from "./package-auth.ts";
import type { RotatedToken } from "./rotated-token.ts";

/** The credentials and settings of requests for tokens. */
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
  /** Replaces the secrets that are known, in texts of the token endpoint before they are cut. */
  readonly scrub: (text: string) => string;
  /** The refresh token that replaced the stored one. */
  readonly rotated: Pick<RotatedToken, "alone" | "read" | "write">;
  /** Reports a token that is lost with the process, because it cannot be stored. */
  readonly warn: (reason: string) => void;
}

/** Milliseconds before its end at which a token is replaced. */
const marginMs = 30_000;
/** Seconds that a token without a stated end is kept. */
const expiryDefaultSeconds = 300;
const responseMaxBytes = 64 * 1024;
const requestTimeoutMs = 15_000;
/** Milliseconds for which a refresh token that was refused is not sent again. */
const refusedMs = 60_000;

/** The access tokens of one package. */
export class OAuthTokens {
  readonly secretName: string;
  readonly #request: OAuthRequest;
  readonly #deps: OAuthDeps;
  #kept: { readonly token: string; readonly until: number } | undefined;
  #requesting: Promise<string> | undefined;
  /** A refresh token that replaced the stored one, and could not be stored. */
  #rotated: { readonly of: string; readonly token: string } | undefined;
  #refused: { readonly token: string; readonly until: number; readonly error: McpkgRuntimeError } | undefined;

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

  /** Forgets the token, which the API refused: it was revoked, or it expired early. */
  forget(): void {
    this.#kept = undefined;
  }

  async #fetch(): Promise<string> {
    const stored = await this.#request.readers["refresh_token"]?.();
    return stored === undefined
      ? await this.#ask({ grant_type: "client_credentials" }, undefined)
      : await this.#deps.rotated.alone(() => this.#refresh(stored));
  }

  /** Refreshes with the token that replaced the stored one, also in another process, or else with that. */
  async #refresh(stored: string): Promise<string> {
    const { rotated, learn, now } = this.#deps;
    const kept = this.#rotated?.of === stored ? this.#rotated.token : await rotated.read(stored);
    if (kept !== undefined) learn(kept);
    const token = kept ?? stored;
    const refused = this.#refused;
    if (refused !== undefined && refused.token === token && now() < refused.until) throw refused.error;
    return await this.#ask({ grant_type: "refresh_token", refresh_token: token }, stored);
  }

  /** Keeps a token that replaced the stored one before anything uses it: the old one is worth nothing now. */
  async #keep(stored: string, token: string): Promise<void> {
    const { rotated, learn, warn } = this.#deps;
    learn(token);
    this.#rotated = undefined;
    try {
      await rotated.write(stored, token);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      this.#rotated = { of: stored, token };
      warn(error.message);
    }
  }

  /** @param stored the stored refresh token; undefined without one */
  async #ask(grant: { readonly [name: string]: string }, stored: string | undefined): Promise<string> {
    const { toolId, egressId, tokenUrl, scopes, readers } = this.#request;
    const { egress, learn, scrub, now } = this.#deps;
    const form = new URLSearchParams(grant);
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
      const said = typeof error === "string" ? `: ${scrub(cutText(error, 200, scrub))}` : "";
      const isRefused = error === "invalid_grant" && stored !== undefined;
      const refusal = new McpkgRuntimeError(
        "PACKAGE_UNUSABLE",
        `"${toolId}" got no access token: its token endpoint answered HTTP ${response.status}${said}`,
        {
          hint: isRefused
            ? "its refresh token was revoked, or it expired: authorize the package again with its service, and store the new refresh token with toolcrib secret set"
            : "check the secrets of the package: toolcrib secret list",
        },
      );
      if (isRefused) {
        this.#refused = { token: grant["refresh_token"] ?? "", until: now() + refusedMs, error: refusal };
      }
      throw refusal;
    }
    learn(token);
    if (
      stored !== undefined &&
      typeof rotated === "string" &&
      rotated !== "" &&
      rotated !== grant["refresh_token"]
    ) {
      await this.#keep(stored, rotated);
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
