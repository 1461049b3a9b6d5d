/** OAuth for one server with a secret store in memory, and people who log in. */

import assert from "node:assert/strict";
import { type AccessTokens, login, type OAuthDeps, type OAuthServer } from "@toolcrib/oauth";
import { browse, makeTemporaryDirectory } from "@toolcrib/testing";

/** Dependencies whose clock can be moved. */
export interface TestDeps extends OAuthDeps, AsyncDisposable {
  /** The stored secrets. */
  readonly secrets: Map<string, string>;
  /** The secrets that redaction knows. */
  readonly learned: Set<string>;
  /** Moves the clock forward. */
  advance(ms: number): void;
}

export async function createTestDeps(): Promise<TestDeps> {
  const folder = await makeTemporaryDirectory();
  const secrets = new Map<string, string>();
  const learned = new Set<string>();
  let offsetMs = 0;
  return {
    secrets,
    learned,
    advance: (ms) => {
      offsetMs += ms;
    },
    store: {
      get: async (name) => secrets.get(name),
      async set(name, value) {
        const result = secrets.has(name) ? "changed" : "created";
        secrets.set(name, value);
        return result;
      },
      delete: async (name) => secrets.delete(name),
    },
    lockFolder: folder.path,
    now: () => Date.now() + offsetMs,
    learn: (value) => void learned.add(value),
    scrub: (text) => [...learned].reduce((left, value) => left.replaceAll(value, "[secret]"), text),
    internalRanges: [],
    loginCommand: (id) => `toolcrib login ${id}`,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

export function serverAt(url: string, options: Partial<OAuthServer> = {}): OAuthServer {
  return { id: "notes", url, grant: "authorization_code", per: "gateway", ...options };
}

/** Logs in as a person with a browser who agrees. */
export async function logIn(
  server: OAuthServer,
  deps: OAuthDeps,
  options: Partial<Parameters<typeof login>[2]> = {},
): ReturnType<typeof login> {
  let page: Promise<unknown> = Promise.resolve();
  const result = await login(server, deps, {
    method: "browser",
    show: (prompt) => {
      page = browse(prompt.url);
      page.catch(() => {});
    },
    signal: AbortSignal.timeout(20_000),
    ...options,
  });
  await page;
  return result;
}

/** Returns the current token of `tokens`. */
export async function tokenOf(tokens: AccessTokens): Promise<string> {
  const { authorization } = await tokens.credentialsFor(undefined)({ signal: new AbortController().signal });
  assert.match(authorization, /^Bearer ./);
  return authorization.slice("Bearer ".length);
}
