/** Credentials of the HTTP transports, which are requested for each HTTP request. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "@toolcrib/diagnostics";
import { startEchoSseServer, waitUntil } from "@toolcrib/testing";
import type { CredentialProvider, CredentialRequest } from "./option-types.ts";
import { openHttp, openSse, startScripted } from "./upstreams.ts";

const call = { name: "echo", arguments: {} };

test("Every HTTP request gets its own credentials, whether they are returned or awaited", async () => {
  for (const isAsync of [false, true]) {
    const received: string[] = [];
    await using server = await startScripted((given) => {
      received.push(`${given.request.method} ${given.request.headers.authorization}`);
      if (given.body.method !== "tools/call") return false;
      return given.result({ content: [] });
    });
    let count = 0;
    const urls: string[] = [];
    const credentials: CredentialProvider = ({ url }) => {
      count += 1;
      urls.push(url);
      // A name in capitals is replaced by the header of the protocol, never sent in addition to it.
      const headers = { authorization: `Bearer ${count}`, ACCEPT: "text/html" };
      return isAsync ? Promise.resolve(headers) : headers;
    };
    const upstream = await openHttp(server.url, { transport: { credentials } });
    await waitUntil(() => received.length === 3);
    await upstream.connection.request("tools/call", call);
    await upstream[Symbol.asyncDispose]();
    assert.deepEqual(received, [
      "POST Bearer 1",
      "POST Bearer 2",
      "GET Bearer 3",
      "POST Bearer 4",
      "DELETE Bearer 5",
    ]);
    assert.deepEqual(new Set(urls), new Set([server.url]));
  }
});

test("The SSE transport requests credentials for the stream and for each POST", async () => {
  await using server = await startEchoSseServer({ token: "t" });
  const urls: string[] = [];
  const credentials = async ({ url }: CredentialRequest) => {
    urls.push(new URL(url).pathname);
    return { authorization: "Bearer t" };
  };
  await using upstream = await openSse(server.url, { transport: { credentials } });
  assert.equal(await upstream.call("echo", { text: "on" }), "on");
  const [stream, ...posts] = urls;
  assert.equal(stream, new URL(server.url).pathname);
  assert.equal(posts.length, 3);
  assert.equal(new Set(posts).size, 1);
});

class TokenError extends CodedError {}

test("A request without credentials is not sent, and its error contains only a coded reason", async () => {
  let failure: (() => never) | undefined;
  await using server = await startScripted((given) =>
    given.body.method === "tools/call" ? given.result({ content: [] }) : false,
  );
  const credentials = () => failure?.() ?? {};
  await using upstream = await openHttp(server.url, { transport: { credentials } });
  await waitUntil(() => server.log.length === 3);
  const throws = (error: Error) => {
    failure = () => {
      throw error;
    };
  };
  throws(new TokenError("TOKEN_EXPIRED", "The refresh token has expired", { hint: "sign in again" }));
  await assert.rejects(upstream.connection.request("tools/call", call), {
    code: "MCP_CREDENTIALS_UNAVAILABLE",
    message: /: The refresh token has expired$/,
    hint: "sign in again",
  });
  throws(new Error("secret s3cr3t"));
  await assert.rejects(upstream.connection.request("tools/call", call), (error: CodedError) => {
    assert.equal(error.code, "MCP_CREDENTIALS_UNAVAILABLE");
    assert.doesNotMatch(error.message, /s3cr3t/);
    return true;
  });
  assert.equal(server.log.length, 3);
  failure = undefined;
  await upstream.connection.request("tools/call", call);
});

test("A cancelled request is not sent when its credentials arrive later", async () => {
  let isHanging = false;
  const given = Promise.withResolvers<{ authorization: string }>();
  const signals: AbortSignal[] = [];
  await using server = await startScripted(() => false);
  const credentials: CredentialProvider = ({ signal }) => {
    signals.push(signal);
    return isHanging ? given.promise : {};
  };
  const upstream = await openHttp(server.url, { transport: { credentials } });
  await waitUntil(() => server.log.length === 3);
  isHanging = true;
  const controller = new AbortController();
  const request = upstream.connection.request("tools/call", call, { signal: controller.signal });
  await waitUntil(() => signals.length === 4);
  controller.abort(new Error("changed my mind"));
  await assert.rejects(request, /changed my mind/);
  assert.equal(signals[3]?.aborted, true);
  // A provider that never answers does not keep the connection open.
  await upstream[Symbol.asyncDispose]();
  given.resolve({ authorization: "late" });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(server.log, ["POST initialize", "POST notifications/initialized", "GET"]);
});
