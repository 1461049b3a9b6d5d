/**
 * The listener that a browser is redirected to after a login (RFC 8252, section 7.3): on 127.0.0.1
 * only, for one answer. An answer with another `state` is refused and changes nothing, and an answer
 * that was accepted is not accepted again.
 */

import { timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OAuthError } from "./oauth-error.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { createServer } = process.getBuiltinModule("node:http");

/** Answers with a wrong state after which the login fails. */
const maxWrongAnswers = 20;
const urlMaxLength = 16 * 1024;

/** An open listener. */
export interface LoopbackRedirect extends AsyncDisposable {
  readonly redirectUri: string;
  /** Resolves with the URL of the answer that has `state`. @throws {OAuthError} `OAUTH_LOGIN_FAILED`; the reason of `signal` */
  answer(state: string, signal: AbortSignal): Promise<URL>;
}

/** Opens the listener. @param port 0 for a free one. @throws {OAuthError} `OAUTH_LOGIN_FAILED` */
export async function openLoopbackRedirect(port: number): Promise<LoopbackRedirect> {
  const answered = Promise.withResolvers<URL>();
  answered.promise.catch(() => {});
  let expected: Buffer | undefined;
  let wrongAnswers = 0;
  let isDone = false;
  const server = createServer(
    { maxHeaderSize: urlMaxLength, requestTimeout: 10_000 },
    (request, response) => {
      request.resume();
      const url = URL.canParse(request.url ?? "", origin) ? new URL(request.url ?? "", origin) : undefined;
      if (
        request.method !== "GET" ||
        url?.pathname !== "/callback" ||
        request.headers.host !== new URL(origin).host
      ) {
        page(response, 404, "Nothing is here.");
        return;
      }
      const states = url.searchParams.getAll("state");
      const isExpected =
        expected !== undefined && states.length === 1 && isSame(Buffer.from(states[0] as string), expected);
      if (isDone || !isExpected) {
        page(response, 400, "This answer does not belong to a login that is waited for.");
        wrongAnswers += 1;
        if (wrongAnswers >= maxWrongAnswers) answered.reject(tooManyAnswers());
        return;
      }
      isDone = true;
      page(response, 200, "Toolcrib has the answer. You can close this page.");
      answered.resolve(url);
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(portError(port, cause)));
    server.listen({ host: "127.0.0.1", port }, resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectUri: `${origin}/callback`,
    async answer(state, signal) {
      expected = Buffer.from(state);
      signal.throwIfAborted();
      const abort = () => answered.reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      try {
        return await answered.promise;
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        // The page of the last answer was written; nothing else is waited for.
        setTimeout(() => server.closeAllConnections(), 200).unref();
      });
    },
  };
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`<!doctype html><title>Toolcrib</title><p>${text}</p>\n`);
}

function tooManyAnswers(): OAuthError {
  return new OAuthError(
    "OAUTH_LOGIN_FAILED",
    `The login got ${maxWrongAnswers} answers that do not belong to it`,
    {
      hint: "another program sends them; close it, and try again",
    },
  );
}

function portError(port: number, cause: NodeJS.ErrnoException): OAuthError {
  return new OAuthError(
    "OAUTH_LOGIN_FAILED",
    `Cannot listen on port ${port} of 127.0.0.1: ${cause.code ?? cause.message}`,
    {
      cause,
      hint: "end the program that uses it, or change transport.auth.redirect_port",
    },
  );
}
