/** An egress and one HTTPS server on loopback, to which the egress routes all given host names. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  createEgress,
  createPlaceholder,
  type Egress,
  type EgressCredential,
  type EgressEvent,
  type EgressSettings,
  type EgressSource,
} from "@toolcrib/egress";
import { type HostPattern, parseHostPattern } from "@toolcrib/hosts";
import {
  clearDefaultRoots,
  createTestAuthority,
  startTlsServer,
  type TlsServer,
  type TlsServerOptions,
} from "@toolcrib/testing";

/** A request of a tool. */
export type EgressRequest = Parameters<Egress["fetch"]>[0];

clearDefaultRoots();

/** The host of most tests. */
export const host = "api.example.com";

/** Options of the egress and its server. */
export interface FixtureOptions {
  readonly hosts?: readonly string[];
  readonly respond?: TlsServerOptions["respond"];
  readonly settings?: EgressSettings;
  readonly resolve?: Parameters<typeof createEgress>[1]["resolve"];
}

/** An egress, its server, and its events. */
export interface Fixture extends AsyncDisposable {
  readonly egress: Egress;
  readonly server: TlsServer;
  readonly events: readonly EgressEvent[];
  /** Sends a GET for a source that may reach all hosts; `request` and `source` override the defaults. */
  send(request?: Partial<EgressRequest>, source?: Partial<EgressSource>): ReturnType<Egress["fetch"]>;
}

/** Parses the patterns of an egress list. */
export function patterns(...texts: readonly string[]): readonly HostPattern[] {
  return texts.map((text) => {
    const verdict = parseHostPattern(text);
    assert.ok(verdict.kind === "valid", text);
    return verdict.value;
  });
}

/** Returns a credential in a header, for the secret `value`. */
export function credential(value: string, more: Partial<EgressCredential> = {}): EgressCredential {
  return {
    id: "token",
    place: { kind: "header", name: "Authorization", format: "Bearer {token}" },
    placeholder: createPlaceholder(randomBytes),
    secretName: "api-token",
    read: () => value,
    ...more,
  };
}

/** Starts a server, and an egress that routes requests to it. */
export async function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const { hosts = [host], respond, settings, resolve } = options;
  const authority = createTestAuthority();
  const server = await startTlsServer({ certificate: authority.sign({ hosts }), respond });
  const events: EgressEvent[] = [];
  const connectTo =
    resolve === undefined ? Object.fromEntries(hosts.map((one) => [one, server.endpoint])) : {};
  const egress = createEgress(
    { internalRanges: ["127.0.0.0/8"], caCertificates: [authority.certificate], connectTo, ...settings },
    { directory: "/nowhere", now: Date.now, randomBytes, resolve, onEvent: (event) => events.push(event) },
  );
  const source: EgressSource = { id: "toolspec:test", allow: patterns(...hosts), credentials: [] };
  return {
    egress,
    server,
    events,
    send: (request = {}, more = {}) =>
      egress.fetch(
        { method: "GET", url: `https://${host}/`, headers: {}, ...request },
        { ...source, ...more },
      ),
    async [Symbol.asyncDispose]() {
      await egress[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Returns the code of the error that `promise` rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof Error);
    return "code" in error ? String(error.code) : error.message;
  }
  return "sent";
}
