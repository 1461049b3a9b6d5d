/** Detection of the era of a server, and handshakes that fail: stdio, Streamable HTTP and SSE. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { McpError, staticCredentials } from "@toolcrib/mcp";
import { freePort, startEchoHttpServer, startEchoSseServer } from "@toolcrib/testing";
import { openHttp, openSse, openStdio, startScripted } from "./upstreams.ts";

type Era = "legacy" | "modern";

/** A server by its newest protocol and whether it supports no other; the era tried first; the era and version found. */
const eras: [protocol: string, only: boolean, tried: Era | undefined, found: Era, version: string][] = [
  ["2025-11-25", false, undefined, "legacy", "2025-11-25"],
  ["2025-03-26", true, undefined, "legacy", "2025-03-26"],
  ["2024-11-05", true, "legacy", "legacy", "2024-11-05"],
  ["2026-07-28", true, undefined, "modern", "2026-07-28"],
  ["2026-07-28", true, "legacy", "modern", "2026-07-28"],
  ["2026-07-28", true, "modern", "modern", "2026-07-28"],
  // A server of both eras is used in the legacy one, unless the owner remembers the modern one.
  ["2026-07-28", false, undefined, "legacy", "2025-11-25"],
  ["2026-07-28", false, "modern", "modern", "2026-07-28"],
  // The remembered era is outdated.
  ["2025-11-25", true, "modern", "legacy", "2025-11-25"],
];

test("Over HTTP, the handshake finds the era of a server in any order of attempts", async () => {
  for (const [protocol, only, era, found, version] of eras) {
    for (const sessions of [true, false]) {
      await using server = await startEchoHttpServer({ protocol, only, sessions, instructions: "Be kind" });
      await using upstream = await openHttp(server.url, { connection: { era } });
      const { connection } = upstream;
      const what = `${protocol} ${only} ${era} ${sessions}`;
      assert.equal(connection.era, found, what);
      assert.equal(connection.protocolVersion, version, what);
      assert.deepEqual(connection.serverInfo, { name: "echo", version: "1.0.0" }, what);
      assert.equal(connection.instructions, "Be kind");
      assert.deepEqual(connection.capabilities["logging"], {});
      assert.equal(await upstream.call("echo", { text: "héllo" }), "héllo");
    }
  }
});

test("Over stdio, the handshake finds the era of a server with a single process", async () => {
  for (const [protocol, only, era, found] of [eras[0], eras[3], eras[6], eras[7], eras[8]] as typeof eras) {
    const flags = ["--protocol", protocol, ...(only ? ["--only"] : [])];
    await using upstream = await openStdio(flags, { connection: { era } });
    assert.equal(upstream.connection.era, found);
    assert.equal(await upstream.call("echo", { text: "x" }), "x");
  }
});

test("Over SSE, the handshake is the legacy one, whichever era is remembered", async () => {
  await using server = await startEchoSseServer();
  for (const era of [undefined, "legacy", "modern"] as const) {
    await using upstream = await openSse(server.url, { connection: { era } });
    assert.equal(upstream.connection.protocolVersion, "2024-11-05");
    assert.equal(await upstream.call("echo", { text: "x" }), "x");
  }
});

test("The server receives the client information of the owner", async () => {
  await using server = await startEchoHttpServer();
  await using upstream = await openHttp(server.url, { connection: { capabilities: { roots: {} } } });
  await upstream.call("echo");
  const [initialize, notification] = server.received;
  assert.deepEqual(initialize?.params, {
    protocolVersion: "2025-11-25",
    capabilities: { roots: {} },
    clientInfo: { name: "toolcrib-test", version: "0.0.1" },
  });
  assert.equal(notification?.method, "notifications/initialized");
});

test("A server without a supported version is refused with its versions, in either era", async () => {
  await using legacy = await startScripted(({ body, result }) =>
    body.method === "initialize" ? result({ protocolVersion: "1999-01-01", capabilities: {} }) : false,
  );
  await assert.rejects(openHttp(legacy.url), {
    code: "MCP_UNSUPPORTED_VERSION",
    message: /it offers 1999-01-01$/,
  });

  const supported = ["2030-01-01"];
  await using modern = await startScripted(({ body, json, result }) => {
    if (body.method === "server/discover") result({ supportedVersions: supported, capabilities: {} });
    else
      json(400, {
        jsonrpc: "2.0",
        id: body.id,
        error: { code: -32022, message: "Unsupported", data: { supported } },
      });
  });
  await assert.rejects(openHttp(modern.url), {
    code: "MCP_UNSUPPORTED_VERSION",
    message: /it offers 2030-01-01$/,
  });

  await using strict = await startScripted(({ body, json }) =>
    json(400, {
      jsonrpc: "2.0",
      id: body.id,
      error: { code: -32022, message: "Unsupported", data: { supported } },
    }),
  );
  for (const era of ["legacy", "modern"] as const) {
    await assert.rejects(openHttp(strict.url, { connection: { era } }), { code: "MCP_UNSUPPORTED_VERSION" });
  }
});

test("A modern refusal with a legacy version leads to the legacy handshake", async () => {
  await using server = await startScripted(({ body, json }) => {
    if (body.method !== "server/discover") return false;
    const data = { supported: ["2025-11-25"], requested: "2026-07-28" };
    json(400, { jsonrpc: "2.0", id: body.id, error: { code: -32022, message: "Unsupported", data } });
  });
  await using upstream = await openHttp(server.url, { connection: { era: "modern" } });
  assert.equal(upstream.connection.era, "legacy");
});

test("A version that is refused is replaced by one of both, once, and the list says which eras the server supports", async () => {
  for (const supported of [["2026-07-28"], ["2026-07-28", "2025-11-25"]]) {
    for (const refusals of [1, 2]) {
      let asked = 0;
      await using server = await startScripted(({ request, body, json, result }) => {
        assert.equal(request.headers["mcp-method"], body.method);
        if (body.method !== "server/discover") return false;
        asked += 1;
        if (asked > refusals) return result({ supportedVersions: ["2026-07-28"], capabilities: {} });
        const error = { code: -32022, message: "Unsupported", data: { supported } };
        return json(400, { jsonrpc: "2.0", id: body.id, error });
      });
      const opening = openHttp(server.url, { connection: { era: "modern", isPinned: true } });
      if (refusals === 2) await assert.rejects(opening, { code: "MCP_UNSUPPORTED_VERSION" });
      else {
        await using upstream = await opening;
        assert.equal(upstream.connection.era, "modern");
        assert.equal(upstream.connection.isModernOnly, supported.length === 1);
      }
      assert.equal(asked, 2);
    }
  }
});

test("initialize names its method in a header, too", async () => {
  const seen: unknown[] = [];
  await using server = await startScripted(({ request, body }) => {
    if (body.method === "initialize") seen.push(request.headers["mcp-method"]);
    return false;
  });
  await using _upstream = await openHttp(server.url);
  assert.deepEqual(seen, ["initialize"]);
});

test("If both handshakes are refused, the first error is reported", async () => {
  await using server = await startScripted(({ body, json }) => {
    if (body.method === "initialize")
      json(200, { jsonrpc: "2.0", id: body.id, error: { code: -32000, message: "Licence expired" } });
    else json(200, { jsonrpc: "2.0", id: body.id, error: { code: -32601, message: "Method not found" } });
  });
  await assert.rejects(openHttp(server.url), { code: "MCP_REMOTE_ERROR", message: "Licence expired" });
  assert.deepEqual(server.log, ["POST initialize", "POST server/discover"]);
});

/** Answers to a handshake, with the resulting codes. */
const httpFailures: [
  status: number,
  body: string,
  code: string,
  message: RegExp,
  hint: RegExp | undefined,
][] = [
  [
    401,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No token"}}',
    "MCP_UNAUTHORIZED",
    /refused the credentials \(HTTP 401\)/,
    /headers/,
  ],
  [403, "", "MCP_UNAUTHORIZED", /refused the credentials \(HTTP 403\)$/, /headers/],
  [
    404,
    "<h1>Not\n\n Found\u0000</h1>",
    "MCP_HTTP_ERROR",
    /answered HTTP 404: <h1>Not Found <\/h1>$/,
    /streamable_http or sse/,
  ],
  [405, "", "MCP_HTTP_ERROR", /answered HTTP 405$/, /streamable_http or sse/],
  [500, "x".repeat(3 << 20), "MCP_HTTP_ERROR", /answered HTTP 500: x{200}$/, undefined],
  [502, "Bad gateway", "MCP_HTTP_ERROR", /answered HTTP 502: Bad gateway$/, undefined],
  [301, "", "MCP_HTTP_ERROR", /answered HTTP 301$/, /only redirects within the origin/],
  [307, "", "MCP_HTTP_ERROR", /answered HTTP 307$/, /only redirects within the origin/],
];

test("HTTP errors during the handshake have a reason and a hint", async () => {
  for (const [status, text, code, message, hint] of httpFailures) {
    await using server = await startScripted(({ response }) => {
      response
        .writeHead(status, { location: "http://127.0.0.2:1/elsewhere", "content-type": "text/html" })
        .end(text);
    });
    for (const open of status >= 500 ? [openHttp] : [openHttp, openSse]) {
      await assert.rejects(open(`${server.url}?token=hunter2#part`), (error: McpError) => {
        assert.equal(error.code, code, `${status}`);
        assert.match(error.message, message);
        assert.match(error.message, /at http:\/\/127\.0\.0\.1:\d+\/mcp /);
        assert.ok(!`${error.message} ${error.hint}`.includes("hunter2"));
        if (hint === undefined) assert.equal(error.hint, undefined);
        else assert.match(error.hint ?? "", hint);
        assert.equal(error.data?.["status"], status);
        return true;
      });
    }
    assert.ok(server.log.length <= 2, "nothing is followed or repeated");
  }
});

test("A success status without a valid response is reported with the content type", async () => {
  const bodies: [status: number, type: string | undefined, text: string, message: RegExp][] = [
    [200, "text/html", "<h1>Sign in</h1>", /answered HTTP 200 with "text\/html" and no JSON-RPC answer/],
    [202, undefined, "", /answered HTTP 202 with "no content type" and no JSON-RPC answer/],
    [200, "application/json", "{}", /contains no response to the request/],
    [200, "application/json", '{"jsonrpc":"2.0","id":77,"result":{}}', /contains no response to the request/],
    [200, "application/json", "[]", /contains no response to the request/],
  ];
  for (const [status, type, text, message] of bodies) {
    await using server = await startScripted(({ response }) => {
      response.writeHead(status, type === undefined ? {} : { "content-type": type }).end(text);
    });
    await assert.rejects(openHttp(server.url), { code: "MCP_INVALID_MESSAGE", message });
  }
  await using page = await startScripted(({ response }) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Sign in</h1>");
  });
  await assert.rejects(openSse(page.url), {
    code: "MCP_UNREACHABLE",
    message: /answered with "text\/html", not a stream/,
  });
});

test("A server that does not listen is unreachable, with a hint", async () => {
  const url = `http://127.0.0.1:${await freePort()}/mcp`;
  for (const open of [openHttp, openSse]) {
    await assert.rejects(open(url), {
      code: "MCP_UNREACHABLE",
      message: /cannot be reached: ECONNREFUSED/,
      hint: /check that it runs/,
    });
  }
});

test("A broken connection does not lead to the other handshake", async () => {
  await using server = await startScripted(({ response }) => void response.socket?.destroy());
  await assert.rejects(openHttp(server.url), { code: "MCP_CONNECTION_CLOSED" });
  assert.deepEqual(server.log, ["POST initialize"]);
});

test("A handshake over its time limit fails and leaves nothing open", async () => {
  const connection = { handshakeTimeoutMs: 50 };
  const expected = { code: "MCP_TIMEOUT", message: /did not finish its handshake within 50 ms/ };
  await using hanging = await startEchoHttpServer({ hangInitialize: true });
  await assert.rejects(openHttp(hanging.url, { connection }), expected);
  await assert.rejects(openStdio(["--hang-initialize"], { connection }), expected);
  await using silent = await startScripted(() => {});
  await assert.rejects(openHttp(silent.url, { connection }), expected);
  await assert.rejects(openSse(silent.url, { connection }), expected);
  await using nameless = await startScripted(({ stream }) => stream());
  await assert.rejects(openSse(nameless.url, { connection }), expected);
});

test("Aborting the signal ends the handshake with its reason", async () => {
  await using server = await startScripted(() => {});
  for (const open of [openHttp, openSse]) {
    const controller = new AbortController();
    const opening = open(server.url, { connection: { signal: controller.signal } });
    setImmediate(() => controller.abort(new Error("not wanted any more")));
    await assert.rejects(opening, /not wanted any more/);
    await assert.rejects(
      open(server.url, { connection: { signal: controller.signal } }),
      /not wanted any more/,
    );
  }
});

test("A process that exits before its handshake closes the connection", async () => {
  await assert.rejects(openStdio(["--die"]), {
    code: "MCP_CONNECTION_CLOSED",
    message: /closed its output|take input/,
  });
});

test("An SSE endpoint of another origin gets no message and no credentials", async () => {
  const posts: string[] = [];
  await using elsewhere = await startScripted(
    ({ request }) => void posts.push(String(request.headers["authorization"])),
  );
  for (const named of [
    `${elsewhere.origin}/messages`,
    "//example.com/messages",
    "file:///etc/passwd",
    "http://[",
    "https://127.0.0.1/messages",
  ]) {
    await using server = await startScripted(({ stream }) => stream(`event: endpoint\ndata: ${named}\n\n`));
    const transport = { credentials: staticCredentials({ authorization: "Bearer secret" }) };
    await assert.rejects(openSse(server.url, { transport }), {
      code: "MCP_UNREACHABLE",
      message: /names an endpoint of another origin/,
    });
    assert.deepEqual(server.log, ["GET"]);
  }
  assert.deepEqual(posts, []);
});

test("Errors of a handshake are McpErrors with distinct codes", async () => {
  await using server = await startScripted(({ json, body }) =>
    json(200, { jsonrpc: "2.0", id: body.id, error: { code: -32001, message: "no" } }),
  );
  const error = await openHttp(server.url).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof McpError);
  assert.equal(error.rpcCode, -32001);
});

test("Over HTTP, the first request of a session waits for its GET stream", async () => {
  const seen: string[] = [];
  await using server = await startScripted(({ request, body, result, stream }) => {
    if (request.method === "GET") {
      setTimeout(() => {
        seen.push("stream");
        stream();
      }, 100);
      return undefined;
    }
    if (body.method !== "tools/list") return false;
    seen.push(body.method);
    return result({ tools: [] });
  });
  await using upstream = await openHttp(server.url);
  await upstream.connection.request("tools/list", {});
  assert.deepEqual(seen, ["stream", "tools/list"]);
});
