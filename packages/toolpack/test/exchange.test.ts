/** Handling of responses: retries, redirects, pages, selections, errors, truncation, and calls that end early. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, isCodedError } from "@toolcrib/diagnostics";
import { slowTest, waitUntil } from "@toolcrib/testing";
import { jsonPathFault } from "@toolcrib/toolpack";
import { ToolspecError } from "@toolcrib/toolspec";
import { openLoopbackApi, type Reply } from "./loopback-api.ts";
import { createBench, manifestOf, startedAt, textsOf, toolspecOf } from "./samples.ts";

const json = { "Content-Type": "application/json" };
const ok: Reply = { headers: json, body: '{"ok":true}' };

interface Outcome {
  /** Returns the requests that arrived, without the origin. */
  readonly seen: readonly string[];
  readonly texts: readonly unknown[];
  readonly isError?: boolean;
  readonly slept?: readonly number[];
  readonly meta?: object;
  readonly structured?: unknown;
}

/** Checks the result of a call: the lines of the tool, the replies in order (the last one repeats), and the expected result. */
function check(
  title: string,
  lines: string,
  replies: readonly Reply[],
  expected: Outcome,
  given: { readonly args?: object; readonly deadline?: number; readonly credentials?: string } = {},
): void {
  test(title, async () => {
    await using api = await openLoopbackApi(
      (_request, index) => replies[Math.min(index, replies.length - 1)] ?? ok,
    );
    const bench = createBench(toolspecOf(lines), api, {
      manifest: given.credentials === undefined ? manifestOf() : manifestOf(["call"], given.credentials),
    });
    const { deadline = startedAt + 30_000 } = given;
    const result = await bench.call(given.args ?? {}, { deadline });
    assert.deepEqual(
      api.seen.map(({ line }) => line.replace("https://api.example.com", "")),
      expected.seen,
    );
    assert.deepEqual(textsOf(result), expected.texts);
    assert.equal(result.isError, expected.isError);
    assert.deepEqual(bench.slept, expected.slept ?? []);
    assert.deepEqual(result._meta, expected.meta);
    if ("structured" in expected) assert.deepEqual(result.structuredContent, expected.structured);
  });
}

const get = "method: GET\npath: /x";
const post = "method: POST\npath: /x";
const done = { texts: ['{"ok":true}'], structured: { ok: true } };
const status = (code: number, headers: { readonly [name: string]: string } = {}, body = ""): Reply => ({
  status: code,
  headers,
  body,
});

// Retries.
for (const code of [429, 502, 503, 504])
  check(`${code} of GET is retried after growing delays`, get, [status(code), status(code), ok], {
    seen: ["GET /x", "GET /x", "GET /x"],
    slept: [375, 750],
    ...done,
  });
for (const code of [502, 503, 504]) {
  check(`${code} of POST is not retried`, post, [status(code, {}, "down")], {
    seen: ["POST /x"],
    texts: [
      `HTTP ${code} ${{ 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout" }[code]}: down`,
    ],
    isError: true,
  });
  check(`${code} of PUT is retried`, "method: PUT\npath: /x", [status(code), ok], {
    seen: ["PUT /x", "PUT /x"],
    slept: [375],
    ...done,
  });
}
check("500 is not retried", get, [status(500)], {
  seen: ["GET /x"],
  texts: ["HTTP 500 Internal Server Error"],
  isError: true,
});
check("Retry-After in seconds is respected, also for POST", post, [status(429, { "Retry-After": "7" }), ok], {
  seen: ["POST /x", "POST /x"],
  slept: [7125],
  ...done,
});
check(
  "Retry-After as a date is respected",
  get,
  [status(503, { "Retry-After": new Date(startedAt + 4000).toUTCString() }), ok],
  { seen: ["GET /x", "GET /x"], slept: [4125], ...done },
);
check("a retry after the deadline is skipped", get, [status(429, { "Retry-After": "60" }, "slow down")], {
  seen: ["GET /x"],
  texts: ["HTTP 429 Too Many Requests: slow down\n[retry after 60 s]"],
  isError: true,
});
check(
  "no pause goes beyond the deadline of the call",
  get,
  [status(503)],
  { seen: ["GET /x", "GET /x"], texts: ["HTTP 503 Service Unavailable"], isError: true, slept: [375] },
  { deadline: startedAt + 1000 },
);
check("a service that stays down gets four requests", get, [status(503, {}, "no")], {
  seen: ["GET /x", "GET /x", "GET /x", "GET /x"],
  texts: ["HTTP 503 Service Unavailable: no"],
  isError: true,
  slept: [375, 750, 1500],
});

// Redirects.
for (const code of [301, 302, 303, 307, 308])
  check(`${code} within the host is followed by GET`, get, [status(code, { Location: "/y?a=1#z" }), ok], {
    seen: ["GET /x", "GET /y?a=1"],
    ...done,
  });
check(
  "a redirect to an absolute URL on the same host is followed",
  get,
  [status(302, { Location: "https://api.example.com:443/y" }), ok],
  { seen: ["GET /x", "GET /y"], ...done },
);
check("at most five redirects are followed", get, [status(302, { Location: "/x" })], {
  seen: Array(6).fill("GET /x"),
  texts: ["HTTP 302 Found: the redirect to /x was not followed", "[there were 5 redirects before it]"],
  isError: true,
});
for (const location of [
  "https://other.example.com/y?token=hunter2",
  "https://evil.test/y?token=hunter2",
  "//evil.test/y?token=hunter2",
  "https://api.example.com:8443/y?token=hunter2",
  "http://api.example.com/y?token=hunter2",
  "https://me:hunter2@api.example.com/y?token=hunter2",
  "https://api.example.com.evil.test/y",
  "javascript:alert(1)",
  "blob:https://api.example.com/y",
])
  check(
    `a redirect to ${location} is not followed`,
    get,
    [status(302, { Location: location }, "see there")],
    {
      seen: ["GET /x"],
      texts: [
        `HTTP 302 Found: the redirect to ${location.replace(/\?.*/, "").replace("me:hunter2@", "")} was not followed`,
        "[redirects are followed on the same host only]",
      ],
      isError: true,
    },
  );
check("a redirect of POST is not followed", post, [status(307, { Location: "/y" })], {
  seen: ["POST /x"],
  texts: [
    "HTTP 307 Temporary Redirect: the redirect to /y was not followed",
    "[only GET is redirected, not POST]",
  ],
  isError: true,
});
check("304 is not a redirect", get, [status(304)], {
  seen: ["GET /x"],
  texts: ["HTTP 304 Not Modified"],
  isError: true,
});
check(
  "a credential in the query is added to a redirect that lacks it",
  get,
  [status(302, { Location: "/y" }), status(302, { Location: "/z?a=1&key=%3Ck%3E" }), ok],
  { seen: ["GET /x?key=%3Ck%3E", "GET /y?key=%3Ck%3E", "GET /z?a=1&key=%3Ck%3E"], ...done },
  { credentials: "  - {id: k, type: api_key, inject: {query: key}}" },
);

// Pages.
const paged = (pagination: string, type = "string") =>
  `${get}\npagination: ${pagination}\nparams:\n  - {name: q, in: query, type: string}\n  - {name: after, in: query, type: ${type}}`;
const cursor = paged("{kind: cursor, param: after, next: $.next}");
check(
  "a cursor is returned as the argument for the next page",
  cursor,
  [{ headers: json, body: '{"items":[1],"next":"c2"}' }],
  {
    seen: ["GET /x?q=a"],
    texts: [
      '{"items":[1],"next":"c2"}',
      '[more results: call again with the same arguments and {"after":"c2"}]',
    ],
    meta: { "toolcrib/nextPage": { after: "c2" } },
    structured: { items: [1], next: "c2" },
  },
  { args: { q: "a" } },
);
check(
  "the last page has no next page",
  cursor,
  [{ headers: json, body: '{"items":[],"next":null}' }],
  {
    seen: ["GET /x?after=c2"],
    texts: ['{"items":[],"next":null}'],
  },
  { args: { after: "c2" } },
);
check(
  "pages are counted",
  paged("{kind: page, param: after, next: $.items}", "integer"),
  [{ headers: json, body: '{"items":[1]}' }],
  {
    seen: ["GET /x?after=3"],
    texts: ['{"items":[1]}', '[more results: call again with the same arguments and {"after":4}]'],
    meta: { "toolcrib/nextPage": { after: 4 } },
  },
  { args: { after: "3" } },
);
check(
  "a Link header is converted to arguments of the tool",
  paged("{kind: link}", "integer"),
  [
    {
      headers: {
        ...json,
        Link: '<https://api.example.com/lists/7?after=2&secret=x>; rel="next", </x?after=9>; rel="last"',
      },
      body: "[1]",
    },
  ],
  {
    seen: ["GET /x"],
    texts: ["[1]", '[more results: call again with the same arguments and {"after":2}]'],
    meta: { "toolcrib/nextPage": { after: 2 } },
    structured: [1],
  },
);
check(
  "parameters that a Link header lacks are not sent",
  paged("{kind: link}"),
  [{ headers: { ...json, Link: '</x?after=c2>; rel="next"' }, body: "[1]" }],
  {
    seen: ["GET /x?q=a"],
    texts: ["[1]", '[more results: call again with the same arguments without q, and {"after":"c2"}]'],
    meta: { "toolcrib/nextPage": { after: "c2", q: null } },
    structured: [1],
  },
  { args: { q: "a" } },
);
check(
  "pages are counted from 0 if the first page is 0",
  paged("{kind: page, param: after, next: $.items, first: 0}", "integer"),
  [{ headers: json, body: '{"items":[1]}' }],
  {
    seen: ["GET /x"],
    texts: ['{"items":[1]}', '[more results: call again with the same arguments and {"after":1}]'],
    meta: { "toolcrib/nextPage": { after: 1 } },
  },
);
const offset = paged("{kind: offset, param: after, next: $.items, total: $.total}", "integer");
check(
  "the offset increases by the number of items",
  offset,
  [{ headers: json, body: '{"items":[1,2,3],"total":10}' }],
  {
    seen: ["GET /x?q=a&after=3"],
    texts: [
      '{"items":[1,2,3],"total":10}',
      '[more results: call again with the same arguments and {"after":6}]',
    ],
    meta: { "toolcrib/nextPage": { after: 6 } },
  },
  { args: { q: "a", after: 3 } },
);
check(
  "the last of all items ends the list",
  offset,
  [{ headers: json, body: '{"items":[1],"total":10}' }],
  { seen: ["GET /x?after=9"], texts: ['{"items":[1],"total":10}'] },
  { args: { after: 9 } },
);
check(
  "the URL of the next page in the body is converted to arguments of the tool",
  paged("{kind: link, next: $.links.next}"),
  [{ headers: json, body: '{"links":{"next":"https://api.example.com/x?q=a&after=c%2F2"}}' }],
  {
    seen: ["GET /x?q=a"],
    texts: [
      '{"links":{"next":"https://api.example.com/x?q=a&after=c%2F2"}}',
      '[more results: call again with the same arguments and {"after":"c/2"}]',
    ],
    meta: { "toolcrib/nextPage": { after: "c/2" } },
  },
  { args: { q: "a" } },
);
check(
  "a body without a next URL ends the list",
  paged("{kind: link, next: $.links.next}"),
  [{ headers: json, body: '{"links":{"next":null}}' }],
  { seen: ["GET /x"], texts: ['{"links":{"next":null}}'] },
);
check(
  "a cursor that is too long is not returned",
  cursor,
  [{ headers: json, body: JSON.stringify({ next: "c".repeat(9000) }) }],
  {
    seen: ["GET /x"],
    texts: [JSON.stringify({ next: "c".repeat(9000) }), "[more results, but their cursor is too long]"],
  },
);
check("an error has no next page", cursor, [status(400, json, '{"next":"c2"}')], {
  seen: ["GET /x"],
  texts: ['HTTP 400 Bad Request: {"next":"c2"}'],
  isError: true,
});

// Selections.
const selecting = (path: string) => `${get}\nresponse: {select: '${path}'}`;
const items = { headers: json, body: '{"items":[{"id":1,"tags":["a"]},{"id":2}]}' };
for (const [path, text, structured] of [
  ["$.items[*].id", "[1,2]", [1, 2]],
  ["$.items[0].id", "1", 1],
  ["$.items[?@.tags].id", "1", 1],
  ["$.items[?count(@.tags) == 0].id", "2", 2],
  ["$..id", "[1,2]", [1, 2]],
  ["$.nothing", "[]", []],
] as const)
  check(`select ${path} returns ${text}`, selecting(path), [items], {
    seen: ["GET /x"],
    texts: [text],
    structured,
  });
check(
  "a selection from a body that is not JSON returns the whole body",
  selecting("$.a"),
  [{ headers: { "Content-Type": "text/plain" }, body: "{" }],
  {
    seen: ["GET /x"],
    texts: ["{"],
  },
);

// Fields of each object.
const keeping = (response: string) => `${get}\nresponse: ${response}`;
const issues = JSON.stringify({
  total: 2,
  items: [
    {
      id: 1,
      title: "Found a bug",
      url: "https://api.example.com/1",
      user: { login: "ada", url: "x" },
      labels: [{ name: "bug", color: "f00" }],
      milestone: null,
    },
    { id: 2, title: "Another", user: null, labels: [], closed_by: { login: "bob" } },
  ],
});
const fields =
  '{id: $.id, title: "$[\'title\']", by: $.user.login, labels: "$.labels[*].name", first: "$.labels[0].name", milestone: $.milestone}';
const kept = [
  { id: 1, title: "Found a bug", by: "ada", labels: ["bug"], first: "bug", milestone: null },
  { id: 2, title: "Another", labels: [] },
];
for (const [title, response, body, structured] of [
  ["of a selected list", `{select: $.items, fields: ${fields}}`, issues, kept],
  [
    "of a list next to other members",
    `{fields: {total: $.total, items: {select: $.items, fields: ${fields}}}}`,
    issues,
    { total: 2, items: kept },
  ],
  ["of each selected object", `{select: "$.items[*]", fields: {id: $.id}}`, issues, [{ id: 1 }, { id: 2 }]],
  ["of one object", `{select: "$.items[0]", fields: {id: $.id}}`, issues, { id: 1 }],
  ["of a body that is a list", "{fields: {id: $.id}}", '[{"id":1,"x":2},{"id":3}]', [{ id: 1 }, { id: 3 }]],
  ["of a body that is an object", "{fields: {id: $.id}}", '{"id":1,"x":2}', { id: 1 }],
  [
    "of a value that is not an object",
    "{fields: {id: $.id}}",
    '[1,"a",null,[{"id":1}],{"id":2,"x":1}]',
    [1, "a", null, [{ id: 1 }], { id: 2 }],
  ],
  ["of a text", "{fields: {id: $.id}}", '"text"', "text"],
  [
    "that continue into fields",
    '{fields: {a: {select: "$.a[*]", fields: {b: {select: $.b, fields: {c: $.c}}}}}}',
    '{"a":[{"b":{"c":1,"d":2}}],"e":3}',
    { a: [{ b: { c: 1 } }] },
  ],
  ["of a selection without fields", "{fields: {a: {select: $.a}}}", '{"a":{"b":1},"c":2}', { a: { b: 1 } }],
  [
    "that are not there: an answer that is something else",
    "{fields: {id: $.id, tags: '$.tags[*]'}}",
    '{"ok":false,"error":"not_authed"}',
    { ok: false, error: "not_authed" },
  ],
  [
    "with the names of JavaScript's own members",
    '{fields: {constructor: $.constructor, id: "$.__proto__"}}',
    '{"__proto__":{"a":1},"constructor":2,"x":3}',
    { constructor: 2, id: { a: 1 } },
  ],
] as const)
  check(`fields ${title} are kept, and nothing else`, keeping(response), [{ headers: json, body }], {
    seen: ["GET /x"],
    texts: [JSON.stringify(structured)],
    structured,
  });
check(
  "pagination uses the response before the selection of fields",
  `${cursor}\nresponse: {select: $.items, fields: {id: $.id}}`,
  [{ headers: json, body: '{"items":[{"id":1,"x":2}],"next":"c2"}' }],
  {
    seen: ["GET /x"],
    texts: ['[{"id":1}]', '[more results: call again with the same arguments and {"after":"c2"}]'],
    meta: { "toolcrib/nextPage": { after: "c2" } },
    structured: [{ id: 1 }],
  },
);
check(
  "an error is returned complete, regardless of the fields",
  keeping("{fields: {id: $.id}}"),
  [status(404, json, '{"id":1,"no":2}')],
  {
    seen: ["GET /x"],
    texts: ['HTTP 404 Not Found: {"id":1,"no":2}'],
    isError: true,
  },
);

// Binary, long and empty bodies.
check("an empty response is its status", get, [status(204)], {
  seen: ["GET /x"],
  texts: ["HTTP 204 No Content"],
});
check(
  "bytes are a resource",
  get,
  [{ headers: { "Content-Type": "image/png" }, body: Uint8Array.of(0, 255) }],
  {
    seen: ["GET /x"],
    texts: [
      "image/png, 2 bytes",
      { type: "resource", resource: { uri: "toolspec:demo/call", mimeType: "image/png", blob: "AP8=" } },
    ],
  },
);
check(
  "a large binary body is described",
  get,
  [{ headers: { "Content-Type": "application/zip" }, body: new Uint8Array(70_000) }],
  { seen: ["GET /x"], texts: ["application/zip, 70000 bytes"] },
);
check(
  "a long text is truncated at a character boundary",
  get,
  [{ headers: { "Content-Type": "text/plain" }, body: `a${"é".repeat(60_000)}` }],
  {
    seen: ["GET /x"],
    texts: [`a${"é".repeat(51_199)}\n[truncated: showing 102399 of 120001 bytes]`],
  },
);
check(
  "a tool can have a smaller limit",
  `${get}\nresponse: {maxBytes: 4}`,
  [{ headers: json, body: '{"a":1}' }],
  {
    seen: ["GET /x"],
    texts: ['{"a"\n[truncated: showing 4 of 7 bytes]'],
    structured: undefined,
  },
);
check(
  "an error of the service is an error of the tool",
  post,
  [status(422, json, '{"message":"Validation Failed"}')],
  {
    seen: ["POST /x"],
    texts: ['HTTP 422 Unprocessable Content: {"message":"Validation Failed"}'],
    isError: true,
  },
);

test("invalid arguments are a result with the reason, and nothing is sent", async () => {
  await using api = await openLoopbackApi(() => ok);
  const lines = "method: GET\npath: /x/{id}\nparams:\n  - {name: id, in: path, type: string, required: true}";
  const bench = createBench(toolspecOf(lines), api);
  const rows: readonly (readonly [object, string, string])[] = [
    [{}, "TOOLSPEC_ARGUMENT_INVALID", 'Parameter "id" of tool "call" is required\nHint: give it as string'],
    [
      { id: "a", ids: 1 },
      "TOOLSPEC_ARGUMENT_INVALID",
      'Tool "call" has no parameter "ids"\nHint: did you mean id?',
    ],
    [
      { id: ".." },
      "TOOLSPEC_VALUE_HOSTILE",
      'Cannot send parameter "id" in the path: it is or contains "." or ".." as a segment, and would change the path\nHint: give an id, not a path',
    ],
    [
      { id: "x".repeat(20_000) },
      "TOOLSPEC_REQUEST_TOO_LARGE",
      "The URL has 20026 characters; at most 16384 are allowed",
    ],
  ];
  for (const [args, code, text] of rows) {
    const result = await bench.call(args);
    assert.deepEqual(textsOf(result), [text]);
    assert.equal(result.isError, true);
    assert.deepEqual(result._meta, { "toolcrib/code": code, "toolcrib/callId": "call-1" });
  }
  assert.deepEqual(api.seen, []);
});

test("errors of the settings and of send are thrown unchanged", async () => {
  const lines = "method: GET\npath: /x";
  const top = "baseUrl: https://{tenant}.example.com\nvariables: {tenant: {}}\n";
  await using api = await openLoopbackApi(() => ok);
  await assert.rejects(
    createBench(toolspecOf(lines, 2, top), api).call({}),
    (error) => error instanceof ToolspecError && error.code === "TOOLSPEC_VARIABLE_UNSET",
  );
  await assert.rejects(
    createBench(toolspecOf(lines, 2, top), api, { variables: { tenant: "evil" } }).call({}),
    (error) => error instanceof ToolspecError && error.code === "TOOLSPEC_EGRESS_DENIED",
  );
  const inPath = "baseUrl: https://api.example.com\nvariables: {team: {}}\n";
  for (const variables of [undefined, { team: ".." }, { team: "" }, { team: "a\n" }])
    await assert.rejects(
      createBench(toolspecOf("method: GET\npath: /{team}/x", 2, inPath), api, { variables }).call({}),
      (error) => error instanceof ToolspecError && error.code === "TOOLSPEC_VARIABLE_UNSET",
    );
  const denied = new CodedError("EGRESS_HOST_DENIED", "The host may not be reached", {
    hint: "ask the operator",
  });
  await assert.rejects(
    createBench(toolspecOf(lines), { send: () => Promise.reject(denied) }).call({}),
    (error) => error === denied,
  );
  assert.deepEqual(api.seen, []);
});

test("a cancelled call ends at once with the reason, in every phase", async () => {
  const gone = new Error("the client disconnected");
  const before = new AbortController();
  before.abort(gone);
  await using api = await openLoopbackApi(() => new Promise(() => {}));
  const bench = createBench(toolspecOf("method: GET\npath: /x"), api);
  await assert.rejects(bench.call({}, { signal: before.signal }), (error) => error === gone);
  assert.deepEqual(api.seen, []);
  const during = new AbortController();
  // The service never answers.
  const call = assert.rejects(bench.call({}, { signal: during.signal }), (error) => error === gone);
  await waitUntil(() => api.seen.length > 0);
  during.abort(gone);
  await call;
  assert.equal(api.seen.length, 1);
});

test("createToolpackSource() lists the default tools, or the requested ones", async () => {
  await using api = await openLoopbackApi(() => ok);
  const spec = toolspecOf("method: DELETE\npath: /x");
  const { source } = createBench(spec, api, { id: "acme" });
  assert.equal(source.id, "acme");
  assert.equal(source.origin, "toolspec");
  assert.equal(source.checksArguments, true);
  assert.equal(source.health().state, "ready");
  const [tool, ...more] = source.tools();
  assert.deepEqual(more, []);
  assert.deepEqual(tool, {
    id: "acme:call",
    namespace: "acme",
    tags: ["dev-tools"],
    origin: "toolspec",
    sourceId: "acme",
    definition: {
      name: "call",
      description: "Call it",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
  });
  assert.equal(source.deadlineMs?.(tool), 30_000);
  const off = { ...manifestOf(), tools: [{ name: "call" }] };
  assert.deepEqual(createBench(spec, api, { manifest: off }).source.tools(), []);
  assert.equal(createBench(spec, api, { manifest: off, tools: ["call"] }).source.tools().length, 1);
  assert.throws(
    () => createBench(spec, api, { tools: ["cal"] }),
    (error) =>
      isCodedError(error) && error.code === "TOOLPACK_TOOL_UNKNOWN" && error.hint === "did you mean call?",
  );
});

test("createToolpackSource() refuses invalid paths, and paths that need too much work", async () => {
  await using api = await openLoopbackApi(() => ok);
  for (const path of ["$.a[", '$..[?match(@.a, "x*")]', '$[?search(@.a, "x")]'])
    assert.throws(
      () =>
        createBench(toolspecOf(`method: GET\npath: /x\nresponse: {select: ${JSON.stringify(path)}}`), api),
      (error) => isCodedError(error) && error.code === "TOOLPACK_PATH_INVALID",
      path,
    );
  assert.equal(jsonPathFault("$.a[?@.b == 1]"), undefined);
  assert.match(jsonPathFault('$[?match(@.a, "x*")]') ?? "", /match/);
});

test("a selection that takes too many steps returns the whole response", slowTest, async () => {
  const body = JSON.stringify({ items: Array.from({ length: 3000 }, (_one, index) => ({ id: index })) });
  await using api = await openLoopbackApi(() => ({ headers: json, body }));
  const lines = "method: GET\npath: /x\nresponse: {select: '$.items[?count($.items[?@.id > 1]) > 1]'}";
  const result = await createBench(toolspecOf(lines), api).call({});
  assert.equal(result.isError, undefined);
  assert.deepEqual(textsOf(result), [
    body,
    '[the whole response: The JSONPaths of this tool take more than 2000000 steps on this response, at "$.items[?count($.items[?@.id > 1]) > 1]"]',
  ]);
});
