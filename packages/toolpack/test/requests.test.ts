/** Requests on the wire, byte for byte: every place, type, encoding and format of a placeholder. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openLoopbackApi } from "./loopback-api.ts";
import { createBench, manifestOf, toolspecOf } from "./samples.ts";

const defaults = [
  "Accept: application/json, */*",
  "User-Agent: toolcrib/1.2.3",
  "Authorization: Bearer <key>",
];

interface Expected {
  readonly line: string;
  /** Headers that every request has. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** Checks the request for the lines of a tool and its arguments. */
function check(lines: string, args: object, expected: Expected, version: 1 | 2 = 2): void {
  test(`${lines.replace(/\s+/g, " ").slice(0, 160)} with ${JSON.stringify(args)} sends ${expected.line}`, async () => {
    await using api = await openLoopbackApi(() => ({}));
    const result = await createBench(toolspecOf(lines, version), api).call(args);
    assert.equal(result.isError, undefined, JSON.stringify(result));
    const [seen, ...more] = api.seen;
    assert.deepEqual(more, []);
    assert.ok(seen);
    const [method = "", path = ""] = expected.line.split(" ");
    assert.equal(seen.line, `${method} https://api.example.com${path}`);
    assert.deepEqual([...seen.headers].sort(), [...defaults, ...(expected.headers ?? [])].sort());
    assert.equal(seen.body, expected.body ?? "");
  });
}

const get = (path: string, ...params: readonly string[]) =>
  `method: GET\npath: ${path}${params.length === 0 ? "" : "\nparams:"}${params.map((param) => `\n  - {${param}}`).join("")}`;
const inPath = (name: string, type = "string") => `name: ${name}, in: path, type: ${type}, required: true`;
const inQuery = (name: string, type: string, more = "") => `name: ${name}, in: query, type: ${type}${more}`;
const inBody = (name: string, type: string, more = "") =>
  `name: ${JSON.stringify(name)}, in: body, type: ${type}${more}`;

// Paths.
check(get("/items"), {}, { line: "GET /items" }, 1);
check(get("/items/{id}", inPath("id")), { id: "a b/c?d#e%" }, { line: "GET /items/a%20b%2Fc%3Fd%23e%25" }, 1);
check(get("/items/{id}", inPath("id")), { id: "é😀" }, { line: "GET /items/%C3%A9%F0%9F%98%80" }, 1);
check(get("/items/{id}.json", inPath("id", "integer")), { id: "7" }, { line: "GET /items/7.json" }, 1);
check(get("/items/{id}", inPath("id", "number")), { id: 1.5 }, { line: "GET /items/1.5" }, 1);
check(get("/items/{id}", inPath("id", "boolean")), { id: "true" }, { line: "GET /items/true" }, 1);
check(get("/items/{id}", inPath("id", "array")), { id: ["a", 1] }, { line: "GET /items/a,1" }, 1);
check(
  get("/items/{id}", inPath("id", "object")),
  { id: { a: 1 } },
  { line: "GET /items/%7B%22a%22:1%7D" },
  1,
);
check(get("/leads({id})", inPath("id")), { id: "x" }, { line: "GET /leads(x)" }, 1);
check(get("/values/{id}:append", inPath("id")), { id: "A1:B2" }, { line: "GET /values/A1:B2:append" }, 1);
check(get("/{+id}/x", inPath("id")), { id: "properties/1 2" }, { line: "GET /properties/1%202/x" });
check(get("/{a}/{b}", inPath("a"), inPath("b")), { b: "2", a: "1" }, { line: "GET /1/2" }, 1);

// Queries.
check(get("/q", inQuery("a", "string")), { a: "b c&d=e+f" }, { line: "GET /q?a=b%20c%26d%3De%2Bf" }, 1);
check(get("/q", inQuery("a", "string")), {}, { line: "GET /q" }, 1);
check(get("/q", inQuery("a", "integer")), { a: 1e21 }, { line: "GET /q?a=1000000000000000000000" }, 1);
check(get("/q", inQuery("a", "number")), { a: "1.50" }, { line: "GET /q?a=1.50" }, 1);
check(get("/q", inQuery("a", "boolean")), { a: false }, { line: "GET /q?a=false" }, 1);
check(get("/q", inQuery("a", "array")), { a: [1, "x y"] }, { line: "GET /q?a=1&a=x%20y" }, 1);
check(get("/q", inQuery("a", "object")), { a: { b: [1] } }, { line: "GET /q?a=%7B%22b%22%3A%5B1%5D%7D" }, 1);
check(
  get("/q", inQuery('"page[size]"', "integer")),
  { "page[size]": 5 },
  { line: "GET /q?page%5Bsize%5D=5" },
  1,
);
for (const [style, query] of [
  ["repeat", "a=1&a=2"],
  ["comma", "a=1,2"],
  ["brackets", "a%5B%5D=1&a%5B%5D=2"],
  ["json", "a=%5B1%2C2%5D"],
] as const)
  check(get("/q", inQuery("a", "array", `, style: ${style}`)), { a: [1, 2] }, { line: `GET /q?${query}` });
check(
  get("/q", inQuery("a", "object", ", style: brackets")),
  { a: { b: 1, c: { d: [true] } } },
  { line: "GET /q?a%5Bb%5D=1&a%5Bc%5D%5Bd%5D%5B%5D=true" },
);
check(
  get("/q", inQuery("v", "string", ', value: "2026-01"'), inQuery("a", "string", ", enum: [x, y]")),
  { a: "y" },
  { line: "GET /q?v=2026-01&a=y" },
);

// Headers.
for (const [type, value, written] of [
  ["string", "a b", "a b"],
  ["integer", "12", "12"],
  ["number", 0.5, "0.5"],
  ["boolean", true, "true"],
  ["array", ["a", 1], "a, 1"],
  ["object", { a: "é" }, '{"a":"\\u00e9"}'],
] as const)
  check(
    get("/h", `name: X-Thing, in: header, type: ${type}`),
    { "X-Thing": value },
    { line: "GET /h", headers: [`X-Thing: ${written}`] },
    1,
  );

// Bodies.
const bodied = (method: string, encoding: string, ...params: readonly string[]) =>
  `method: ${method}\npath: /b${encoding === "" ? "" : `\nencoding: ${encoding}`}\nparams:${params.map((param) => `\n  - {${param}}`).join("")}`;
const json = ["Content-Type: application/json"];
const form = ["Content-Type: application/x-www-form-urlencoded"];
const every = [
  inBody("s", "string"),
  inBody("i", "integer"),
  inBody("n", "number"),
  inBody("b", "boolean"),
  inBody("a", "array"),
  inBody("o", "object"),
];
const values = {
  s: 'a "b"\n',
  i: "12345678901234567890",
  n: 1e-7,
  b: "false",
  a: [1, null],
  o: { k: ["é"] },
};
for (const method of ["POST", "PUT", "PATCH"]) {
  check(
    bodied(method, "", ...every),
    values,
    {
      line: `${method} /b`,
      headers: json,
      body: Buffer.from(
        '{"s":"a \\"b\\"\\n","i":12345678901234567890,"n":0.0000001,"b":false,"a":[1,null],"o":{"k":["é"]}}',
      ).toString("latin1"),
    },
    1,
  );
  check(bodied(method, "json", ...every), {}, { line: `${method} /b`, headers: json, body: "{}" }, 1);
  check(
    bodied(method, "form", ...every),
    values,
    {
      line: `${method} /b`,
      headers: form,
      body: "s=a+%22b%22%0A&i=12345678901234567890&n=0.0000001&b=false&a=1&a=null&o=%7B%22k%22%3A%5B%22%C3%A9%22%5D%7D",
    },
    1,
  );
  check(bodied(method, "form", ...every), {}, { line: `${method} /b` }, 1);
}
check(
  bodied("POST", "form", inBody("metadata[id]", "string"), inBody("items", "array", ", style: brackets")),
  { "metadata[id]": "67", items: [{ price: "p1", quantity: 2 }, { price: "p2" }] },
  {
    line: "POST /b",
    headers: form,
    body: "metadata%5Bid%5D=67&items%5B0%5D%5Bprice%5D=p1&items%5B0%5D%5Bquantity%5D=2&items%5B1%5D%5Bprice%5D=p2",
  },
);
check(
  bodied(
    "POST",
    "multipart",
    inBody("note", "string"),
    inBody("file", "string", ", contentEncoding: base64, filename: a.bin"),
  ),
  { note: "hé", file: "AP8=" },
  {
    line: "POST /b",
    headers: ["Content-Type: multipart/form-data; boundary=toolcrib-boundary-0"],
    body: [
      "--toolcrib-boundary-0",
      'Content-Disposition: form-data; name="note"',
      "",
      Buffer.from("hé").toString("latin1"),
      "--toolcrib-boundary-0",
      'Content-Disposition: form-data; name="file"; filename="a.bin"',
      "Content-Type: application/octet-stream",
      "",
      "\0\xff",
      "--toolcrib-boundary-0--",
      "",
    ].join("\r\n"),
  },
);
check(
  bodied("PUT", "raw", inBody("content", "string", ", contentType: text/csv")),
  { content: "a;b\n" },
  { line: "PUT /b", headers: ["Content-Type: text/csv"], body: "a;b\n" },
);
check(
  bodied("PUT", "raw", inBody("content", "string", ", contentEncoding: base64")),
  { content: "AP8=" },
  { line: "PUT /b", headers: ["Content-Type: application/octet-stream"], body: "\0\xff" },
);
check(
  bodied("PUT", "raw", inBody("content", "array")),
  { content: [{ a: 1 }] },
  { line: "PUT /b", headers: json, body: '[{"a":1}]' },
);
check(get("/x").replace("GET", "DELETE"), {}, { line: "DELETE /x" }, 1);
check(bodied("DELETE", "", ...every), values, {
  line: "DELETE /b",
  headers: json,
  body: Buffer.from(
    '{"s":"a \\"b\\"\\n","i":12345678901234567890,"n":0.0000001,"b":false,"a":[1,null],"o":{"k":["é"]}}',
  ).toString("latin1"),
});
check(
  bodied("DELETE", "form", inBody("why", "string")),
  { why: "a b" },
  { line: "DELETE /b", headers: form, body: "why=a+b" },
);
for (const encoding of ["json", "form", "multipart"])
  check(bodied("DELETE", encoding, inBody("why", "string")), {}, { line: "DELETE /b" });
check(bodied("DELETE", "raw", inBody("why", "string")), {}, { line: "DELETE /b" });

/** Checks the URL and headers for the credentials of a manifest. */
function checkCredentials(credentials: string, url: string, headers: readonly string[]): void {
  test(`${credentials.trim()} is sent as ${url} ${headers.join(", ")}`, async () => {
    await using api = await openLoopbackApi(() => ({}));
    const tokens: { readonly [id: string]: string } = { key: "toolcrib-ph-1", pair: "me:pass", two: "a/b" };
    const bench = createBench(toolspecOf(get("/x", inQuery("a", "string"))), api, {
      manifest: manifestOf(["call"], credentials),
      tokenOf: (id) => tokens[id] ?? assert.fail(id),
    });
    await bench.call({ a: "1" });
    assert.equal(api.seen[0]?.line, `GET https://api.example.com${url}`);
    assert.deepEqual(
      api.seen[0]?.headers.filter((line) => !/^(?:Accept|User-Agent):/.test(line)),
      headers,
    );
  });
}

checkCredentials("", "/x?a=1", []);
checkCredentials('  - {id: key, type: api_key, inject: {header: X-Key, format: "k={token}"}}', "/x?a=1", [
  "X-Key: k=toolcrib-ph-1",
]);
checkCredentials(
  '  - {id: pair, type: basic, inject: {header: Authorization, format: "Basic {token}"}}',
  "/x?a=1",
  ["Authorization: Basic bWU6cGFzcw=="],
);
checkCredentials(
  '  - {id: key, type: basic, inject: {header: Authorization, format: "Basic {token}"}}',
  "/x?a=1",
  ["Authorization: Basic toolcrib-ph-1"],
);
checkCredentials(
  "  - {id: key, type: api_key, inject: {query: api_key}}",
  "/x?a=1&api_key=toolcrib-ph-1",
  [],
);
checkCredentials(
  '  - {id: two, type: api_key, inject: {query: sig, format: "v1 {token}"}}',
  "/x?a=1&sig=v1%20a%2Fb",
  [],
);
checkCredentials(
  '  - {id: key, type: api_key, inject: {pathPrefix: "/bot{token}"}}',
  "/bottoolcrib-ph-1/x?a=1",
  [],
);
checkCredentials(
  '  - {id: key, type: api_key, inject: {header: X-Key, format: "{token}"}}\n  - {id: two, type: api_key, inject: {query: sig}}',
  "/x?a=1&sig=a%2Fb",
  ["X-Key: toolcrib-ph-1"],
);

test("variables in paths are bound from the settings, each as one segment", async () => {
  await using api = await openLoopbackApi(() => ({}));
  const top =
    "baseUrl: https://{tenant}.example.com\nvariables: {tenant: {default: api}, team: {}, version: {default: v1}}\n";
  const lines = get("/{version}/teams/{team}/{tenant}/{id}.json", inPath("id"));
  const bench = createBench(toolspecOf(lines, 2, top), api, {
    variables: { team: "a b/c" },
    reserved: ["call.team", "call.version"],
  });
  await bench.call({ id: "7" });
  assert.deepEqual(bench.source.tools()[0]?.definition.inputSchema["required"], ["id"]);
  assert.equal(api.seen[0]?.line, "GET https://api.example.com/v1/teams/a%20b%2Fc/api/7.json");
});

test("variables and slashes are bound from the settings", async () => {
  await using api = await openLoopbackApi(() => ({}));
  const top = "baseUrl: https://{tenant}.example.com\nvariables: {tenant: {default: api}}\n";
  const bench = createBench(toolspecOf(get("/{id}", inPath("id")), 2, top), api, {
    variables: { tenant: "other" },
    reserved: ["call.id"],
  });
  await bench.call({ id: "a/b" });
  assert.equal(api.seen[0]?.line, "GET https://other.example.com/a/b");
});
