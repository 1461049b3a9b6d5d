import assert from "node:assert/strict";
import { test } from "node:test";
import { type FilledCredential, pathVariableFaults, ToolspecError } from "@toolcrib/toolspec";
import { plan, specWith } from "./samples.ts";

const decode = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes);

/** Checks the URL, without its origin, for the lines of a tool and its arguments. */
function checkUrl(lines: string, args: object, expected: string, version = 1): void {
  test(`${lines.split("\n")[1]?.trim()} with ${JSON.stringify(args)} is ${expected}`, () => {
    const { url, body, method } = plan(specWith(lines, version), args);
    assert.equal(url, `https://api.example.com${expected}`);
    assert.equal(body, undefined);
    assert.equal(method, "GET");
  });
}

const get = (path: string, ...params: readonly string[]) =>
  `method: GET\npath: ${path}${params.length === 0 ? "" : "\nparams:"}${params.map((param) => `\n  - {${param}}`).join("")}`;
const id = "name: id, in: path, type: string, required: true";
const query = (name: string, type: string, more = "") =>
  `name: ${JSON.stringify(name)}, in: query, type: ${type}${more}`;

// Paths.
checkUrl(get("/time"), {}, "/time");
checkUrl(get("/items/{id}", id), { id: "a" }, "/items/a");
checkUrl(get("/items/{id}/", id), { id: "a" }, "/items/a/");
checkUrl(get("/items/{id}.json", id), { id: "a" }, "/items/a.json");
checkUrl(get("/leads({id})", id), { id: "a" }, "/leads(a)");
checkUrl(get("/values/{id}:append", id), { id: "A1:B2" }, "/values/A1:B2:append");
checkUrl(get("\"/search(q='{id}')\"", id), { id: "x y" }, "/search(q='x%20y')");
checkUrl(get("/users/@me/{id}!images", id), { id: "a" }, "/users/@me/a!images");
checkUrl(get("/act_{id}/ads", id), { id: "12" }, "/act_12/ads");
checkUrl(get("/a%2Fb/{id}", id), { id: "c" }, "/a%2Fb/c");
checkUrl(get("/a[0]|b/{id}", id), { id: "c" }, "/a%5B0%5D%7Cb/c");
checkUrl(get("/{id}/{id}", id), { id: "a" }, "/a/a");
checkUrl(get("/items/{id}", id), { id: "a/b" }, "/items/a%2Fb");
checkUrl(get("/items/{id}", id), { id: "a?b#c&d=e+f%g" }, "/items/a%3Fb%23c%26d=e%2Bf%25g");
checkUrl(get("/items/{id}", id), { id: "-._~!$'()*,;:@=" }, "/items/-._~!$'()*,;:@=");
checkUrl(get("/items/{id}", id), { id: "é日😀" }, "/items/%C3%A9%E6%97%A5%F0%9F%98%80");
checkUrl(get("/items/{id}", id), { id: "main...feature" }, "/items/main...feature");
checkUrl(get("/items/{id}", id), { id: "..a" }, "/items/..a");
checkUrl(get("/items/{id}", id), { id: '"<>\\^`{|}' }, "/items/%22%3C%3E%5C%5E%60%7B%7C%7D");
checkUrl(get("/items/{id}", "name: id, in: path, type: integer, required: true"), { id: 7 }, "/items/7");
checkUrl(
  get("/items/{id}", "name: id, in: path, type: boolean, required: true"),
  { id: true },
  "/items/true",
);
checkUrl(
  get("/items/{id}", "name: id, in: path, type: array, required: true"),
  { id: [1, "a b"] },
  "/items/1,a%20b",
);
checkUrl(
  get("/items/{id}", "name: id, in: path, type: object, required: true"),
  { id: { a: 1 } },
  "/items/%7B%22a%22:1%7D",
);
checkUrl(get("/v1/{+id}/run", id), { id: "spaces/x/y z" }, "/v1/spaces/x/y%20z/run", 2);
checkUrl(get("/v1/{+id}:run", id), { id: "properties/12" }, "/v1/properties/12:run", 2);

// Queries.
const q = (type: string, more = "") => get("/q", query("a", type, more));
checkUrl(q("string"), {}, "/q");
checkUrl(q("string"), { a: "" }, "/q?a=");
checkUrl(q("string"), { a: "x y&z=1/2?3+4" }, "/q?a=x%20y%26z%3D1%2F2%3F3%2B4");
checkUrl(q("string"), { a: "'()*!~" }, "/q?a=%27%28%29%2A%21~");
checkUrl(q("string"), { a: "a\r\nb\0" }, "/q?a=a%0D%0Ab%00");
checkUrl(q("string"), { a: "#" }, "/q?a=%23");
checkUrl(q("string"), { a: "é😀" }, "/q?a=%C3%A9%F0%9F%98%80");
checkUrl(q("integer"), { a: 10 }, "/q?a=10");
checkUrl(q("integer"), { a: -3 }, "/q?a=-3");
checkUrl(q("integer"), { a: -0 }, "/q?a=0");
checkUrl(q("integer"), { a: 5.0 }, "/q?a=5");
checkUrl(q("integer"), { a: 1e21 }, "/q?a=1000000000000000000000");
checkUrl(q("integer"), { a: "12" }, "/q?a=12");
checkUrl(q("integer"), { a: "123456789012345678901" }, "/q?a=123456789012345678901");
checkUrl(q("number"), { a: 1.5 }, "/q?a=1.5");
checkUrl(q("number"), { a: 1e-7 }, "/q?a=0.0000001");
checkUrl(q("number"), { a: -1.25e-9 }, "/q?a=-0.00000000125");
checkUrl(q("number"), { a: 1e25 }, "/q?a=10000000000000000905969664");
checkUrl(q("number"), { a: "1.50" }, "/q?a=1.50");
checkUrl(q("boolean"), { a: false }, "/q?a=false");
checkUrl(q("boolean"), { a: "true" }, "/q?a=true");
checkUrl(q("array"), { a: [] }, "/q");
checkUrl(
  q("array"),
  { a: [1, "b c", true, null, 1e21] },
  "/q?a=1&a=b%20c&a=true&a=null&a=1000000000000000000000",
);
checkUrl(q("array"), { a: [{ b: 1 }, [2]] }, "/q?a=%7B%22b%22%3A1%7D&a=%5B2%5D");
checkUrl(
  q("object"),
  { a: { b: [1, "x"], c: null } },
  "/q?a=%7B%22b%22%3A%5B1%2C%22x%22%5D%2C%22c%22%3Anull%7D",
);
checkUrl(get("/q", query("page[size]", "integer")), { "page[size]": 5 }, "/q?page%5Bsize%5D=5");
checkUrl(
  get("/q", query("include[]", "array")),
  { "include[]": ["a", "b"] },
  "/q?include%5B%5D=a&include%5B%5D=b",
);
checkUrl(get("/q", query("$filter", "string")), { $filter: "a eq 1" }, "/q?%24filter=a%20eq%201");
checkUrl(get("/q", query("@odata.type", "string")), { "@odata.type": "#x" }, "/q?%40odata.type=%23x");
checkUrl(get("/q", query("__proto__", "string")), JSON.parse('{"__proto__": "x"}'), "/q?__proto__=x");
checkUrl(get("/q", query("b", "string"), query("a", "string")), { a: "1", b: "2" }, "/q?b=2&a=1");

// Styles of version 2.
const styled = (type: string, style: string) => q(type, `, style: ${style}`);
checkUrl(styled("array", "repeat"), { a: [1, 2] }, "/q?a=1&a=2", 2);
checkUrl(styled("array", "comma"), { a: ["x,y", "z w"] }, "/q?a=x,y,z%20w", 2);
checkUrl(styled("array", "comma"), { a: [] }, "/q", 2);
checkUrl(styled("array", "brackets"), { a: [1, 2] }, "/q?a%5B%5D=1&a%5B%5D=2", 2);
checkUrl(
  styled("array", "brackets"),
  { a: [{ b: 1 }, { b: 2 }] },
  "/q?a%5B0%5D%5Bb%5D=1&a%5B1%5D%5Bb%5D=2",
  2,
);
checkUrl(styled("array", "json"), { a: [1, "b"] }, "/q?a=%5B1%2C%22b%22%5D", 2);
checkUrl(
  styled("object", "brackets"),
  { a: { b: 1, c: { d: true } } },
  "/q?a%5Bb%5D=1&a%5Bc%5D%5Bd%5D=true",
  2,
);
checkUrl(styled("object", "json"), { a: { b: 1 } }, "/q?a=%7B%22b%22%3A1%7D", 2);

/** Checks the media type and text of the body for the lines of a tool and its arguments. */
function checkBody(
  lines: string,
  args: object,
  type: string | undefined,
  expected: string | undefined,
  version = 1,
): void {
  test(`${lines.replace(/\s+/g, " ")} with ${JSON.stringify(args)} sends ${JSON.stringify(expected)}`, () => {
    const { headers, body, url } = plan(specWith(lines, version), args);
    assert.equal(headers["Content-Type"], type);
    assert.equal(decode(body), expected);
    assert.equal(url, "https://api.example.com/b");
  });
}

const post = (encoding: string, ...params: readonly string[]) =>
  `method: POST\npath: /b\nencoding: ${encoding}${params.length === 0 ? "" : "\nparams:"}${params.map((param) => `\n  - {${param}}`).join("")}`;
const field = (name: string, type: string, more = "") =>
  `name: ${JSON.stringify(name)}, in: body, type: ${type}${more}`;
const json = "application/json";
const form = "application/x-www-form-urlencoded";

checkBody("method: POST\npath: /b", {}, json, "{}");
checkBody("method: PUT\npath: /b", {}, json, "{}");
checkBody("method: PATCH\npath: /b", {}, json, "{}");
checkBody("method: GET\npath: /b", {}, undefined, undefined);
checkBody("method: DELETE\npath: /b", {}, undefined, undefined);
checkBody(post("json", field("a", "string")), {}, json, "{}");
checkBody(
  post("json", field("a", "string"), field("b", "integer")),
  { b: 2, a: 'x"\n' },
  json,
  '{"a":"x\\"\\n","b":2}',
);
checkBody(post("json", field("a", "integer")), { a: "42" }, json, '{"a":42}');
checkBody(post("json", field("a", "integer")), { a: 1e21 }, json, '{"a":1000000000000000000000}');
checkBody(
  post("json", field("a", "integer")),
  { a: "12345678901234567890" },
  json,
  '{"a":12345678901234567890}',
);
checkBody(post("json", field("a", "number")), { a: 1e-7 }, json, '{"a":0.0000001}');
checkBody(post("json", field("a", "boolean")), { a: "false" }, json, '{"a":false}');
checkBody(post("json", field("a", "string")), { a: "42" }, json, '{"a":"42"}');
checkBody(
  post("json", field("a", "object")),
  { a: { b: [1, null, { c: "é" }] } },
  json,
  '{"a":{"b":[1,null,{"c":"é"}]}}',
);
checkBody(post("json", field("a", "array")), { a: ["1", 2] }, json, '{"a":["1",2]}');
checkBody(
  post("json", field("event.name.html", "string")),
  { "event.name.html": "x" },
  json,
  '{"event.name.html":"x"}',
);
checkBody(
  post("json", field("__proto__", "string")),
  JSON.parse('{"__proto__": "x"}'),
  json,
  '{"__proto__":"x"}',
);
checkBody(post("form"), {}, undefined, undefined);
checkBody(post("form", field("a", "string")), {}, undefined, undefined);
checkBody(
  post("form", field("a", "string")),
  { a: "x y&z=é+*-._~'" },
  form,
  "a=x+y%26z%3D%C3%A9%2B*-._%7E%27",
);
checkBody(
  post("form", field("a", "integer"), field("b", "boolean")),
  { a: 2000, b: true },
  form,
  "a=2000&b=true",
);
checkBody(post("form", field("a", "array")), { a: [1, "b"] }, form, "a=1&a=b");
checkBody(
  post("form", field("expand[]", "array")),
  { "expand[]": ["x", "y"] },
  form,
  "expand%5B%5D=x&expand%5B%5D=y",
);
checkBody(post("form", field("a", "object")), { a: { b: 1 } }, form, "a=%7B%22b%22%3A1%7D");
checkBody(
  post("form", field("metadata[order_id]", "string")),
  { "metadata[order_id]": "6735" },
  form,
  "metadata%5Border_id%5D=6735",
);
checkBody(
  post("form", field("a", "object", ", style: brackets")),
  { a: { b: [1, 2], c: "x" } },
  form,
  "a%5Bb%5D%5B%5D=1&a%5Bb%5D%5B%5D=2&a%5Bc%5D=x",
  2,
);
checkBody(
  post("json", field("kind", "string", ", value: card"), field("a", "string")),
  { a: "x" },
  json,
  '{"kind":"card","a":"x"}',
  2,
);
checkBody(post("raw", field("a", "string")), { a: "x\ny" }, "text/plain; charset=utf-8", "x\ny", 2);
checkBody(post("raw", field("a", "string", ", contentType: text/csv")), { a: "1;2" }, "text/csv", "1;2", 2);
checkBody(post("raw", field("a", "array")), { a: [1] }, json, "[1]", 2);
checkBody(
  post("raw", field("a", "string", ", contentEncoding: base64")),
  { a: "aGk_" },
  "application/octet-stream",
  "hi?",
  2,
);
checkBody(post("raw", field("a", "string")), {}, undefined, undefined, 2);
checkBody(
  post(
    "multipart",
    field("note", "string"),
    field("meta", "object"),
    field("tags", "array"),
    field("file", "string", ", contentEncoding: base64, contentType: image/png, filename: a.png"),
  ),
  { note: "hi\r\n--toolcrib-boundary-0", meta: { a: 1 }, tags: ["x", "y"], file: "AAEC" },
  "multipart/form-data; boundary=toolcrib-boundary-1",
  [
    "--toolcrib-boundary-1",
    'Content-Disposition: form-data; name="note"',
    "",
    "hi\r\n--toolcrib-boundary-0",
    "--toolcrib-boundary-1",
    'Content-Disposition: form-data; name="meta"',
    "Content-Type: application/json",
    "",
    '{"a":1}',
    "--toolcrib-boundary-1",
    'Content-Disposition: form-data; name="tags"',
    "",
    "x",
    "--toolcrib-boundary-1",
    'Content-Disposition: form-data; name="tags"',
    "",
    "y",
    "--toolcrib-boundary-1",
    'Content-Disposition: form-data; name="file"; filename="a.png"',
    "Content-Type: image/png",
    "",
    "\0\u0001\u0002",
    "--toolcrib-boundary-1--",
    "",
  ].join("\r\n"),
  2,
);

/** Checks the header for a parameter of a type with a value. */
function checkHeader(type: string, value: unknown, expected: string): void {
  test(`a header of type ${type} with ${JSON.stringify(value)} is ${JSON.stringify(expected)}`, () => {
    const spec = specWith(get("/h", `name: X-Thing, in: header, type: ${type}`));
    assert.equal(plan(spec, { "X-Thing": value }).headers["X-Thing"], expected);
  });
}

checkHeader("string", "a b\tc~!", "a b\tc~!");
checkHeader("string", " a ", "a");
checkHeader("string", "", "");
checkHeader("integer", 12, "12");
checkHeader("boolean", true, "true");
checkHeader("array", ["a", 1], "a, 1");
checkHeader("object", { path: "/é", "a b": [1] }, '{"path":"/\\u00e9","a b":[1]}');

test("headers: a parameter replaces a default, and a credential replaces both", () => {
  const spec = specWith(
    get("/h", "name: accept, in: header, type: string", "name: X-Key, in: header, type: string"),
  );
  assert.deepEqual(plan(spec, {}).headers, { Accept: "application/json, */*", "User-Agent": "toolcrib" });
  const place = { kind: "header", name: "x-key", format: "{token}" } as const;
  const credentials = [{ id: "k", place, token: "ph" }];
  assert.deepEqual(
    plan(spec, { accept: "text/csv", "X-Key": "mine" }, { credentials, userAgent: "toolcrib/1" }).headers,
    {
      accept: "text/csv",
      "User-Agent": "toolcrib/1",
      "x-key": "ph",
    },
  );
});

test("base URLs: that of the tool, and variables", () => {
  const own = specWith("method: GET\npath: /x\nbaseUrl: https://up.example.net");
  assert.equal(plan(own, {}).url, "https://up.example.net/x");
  const top = "variables: {tenant: {default: acme}}\n";
  const spec = specWith("method: GET\npath: /x\nbaseUrl: https://{tenant}.example.net", 2, top);
  assert.equal(plan(spec, {}).url, "https://acme.example.net/x");
  assert.equal(plan(spec, {}, { variables: { tenant: "other" } }).url, "https://other.example.net/x");
});

/** Checks how a credential is sent, by its place and its value. */
function checkCredential(
  place: FilledCredential["place"],
  token: string,
  expected: { readonly url?: string; readonly headers?: { readonly [name: string]: string } },
  encoding?: "basic",
): void {
  const shown = `${JSON.stringify(place)}${encoding === undefined ? "" : ` ${encoding}`}`;
  test(`a credential at ${shown} that is ${JSON.stringify(token)} is sent as ${JSON.stringify(expected)}`, () => {
    const spec = specWith(get("/items/{id}", id, query("key", "string"), query("limit", "integer")));
    const one = encoding === undefined ? { id: "k", place, token } : { id: "k", place, token, encoding };
    const { url, headers } = plan(spec, { id: "a/b", key: "mine", limit: 2 }, { credentials: [one] });
    assert.equal(url, `https://api.example.com${expected.url ?? "/items/a%2Fb?key=mine&limit=2"}`);
    for (const [name, value] of Object.entries(expected.headers ?? {})) assert.equal(headers[name], value);
  });
}

const inHeader = { kind: "header", name: "Authorization", format: "Bearer {token}" } as const;
const inQuery = (format: string, name = "key") => ({ kind: "query", name, format }) as const;
const inPath = (format: string) => ({ kind: "pathPrefix", format }) as const;
checkCredential(inHeader, "t", { headers: { Authorization: "Bearer t" } });
checkCredential(inHeader, "a:b", { headers: { Authorization: "Bearer a:b" } });
checkCredential(inHeader, "a:é", { headers: { Authorization: "Bearer YTrDqQ==" } }, "basic");
checkCredential(inHeader, "YTpi", { headers: { Authorization: "Bearer YTpi" } }, "basic");
checkCredential(inHeader, "$&{token}", { headers: { Authorization: "Bearer $&{token}" } });
checkCredential(inQuery("{token}"), "s e&c=r+t", { url: "/items/a%2Fb?limit=2&key=s%20e%26c%3Dr%2Bt" });
checkCredential(inQuery("k:{token}"), "t", { url: "/items/a%2Fb?limit=2&key=k%3At" });
checkCredential(inQuery("{token}", "api key"), "t", {
  url: "/items/a%2Fb?key=mine&limit=2&api%20key=t",
});
checkCredential(inPath("/bot{token}"), "123:A-b_c", { url: "/bot123:A-b_c/items/a%2Fb?key=mine&limit=2" });
checkCredential(inPath("/v1/{token}/x"), "a/../b?c", {
  url: "/v1/a%2F..%2Fb%3Fc/x/items/a%2Fb?key=mine&limit=2",
});
checkCredential(inPath("/{token}"), "a:b", { url: "/YTpi/items/a%2Fb?key=mine&limit=2" }, "basic");

test("a credential that is invalid in its place is refused, and the error does not contain it", () => {
  const rows: readonly (readonly [FilledCredential["place"], string, string])[] = [
    [inHeader, "", "TOOLSPEC_CREDENTIAL_UNFIT"],
    [inHeader, "hunter2\n", "TOOLSPEC_CREDENTIAL_UNFIT"],
    [inHeader, "hunter2\r\nX-Evil: 1", "TOOLSPEC_CREDENTIAL_UNFIT"],
    [inHeader, "hunter2é", "TOOLSPEC_CREDENTIAL_UNFIT"],
    [inQuery("{token}"), "hunter2\0", "TOOLSPEC_CREDENTIAL_UNFIT"],
    [inPath("/bot{token}"), "hunter2\n", "TOOLSPEC_CREDENTIAL_UNFIT"],
    [inPath("/{token}"), "..", "TOOLSPEC_VALUE_HOSTILE"],
  ];
  for (const [place, token, code] of rows) {
    const credentials = [{ id: "k", place, token }];
    assert.throws(
      () => plan(specWith(get("/x")), {}, { credentials }),
      (error) =>
        error instanceof ToolspecError &&
        error.code === code &&
        !/hunter2/.test(JSON.stringify(error) + error.message),
      JSON.stringify(token),
    );
  }
});

/** Checks that a call is refused: the lines of the tool, its arguments, the code. */
function checkRefusal(
  lines: string,
  args: object,
  code: string,
  options: Parameters<typeof plan>[2] = {},
  version = 1,
): void {
  test(`${lines.replace(/\s+/g, " ")} with ${JSON.stringify(args).slice(0, 80)} is refused: ${code}`, () => {
    const spec = specWith(lines, version);
    assert.throws(
      () => plan(spec, args, options),
      (error) => error instanceof ToolspecError && error.code === code,
    );
  });
}

const item = get("/items/{id}", id);
const hostile = "TOOLSPEC_VALUE_HOSTILE";
const misfit = "TOOLSPEC_ARGUMENT_INVALID";
const hostileSegments = [
  "",
  ".",
  "..",
  "%2e",
  "%2E%2e",
  "%252e%252e",
  ".%2e",
  "a/..",
  "../b",
  "a/../b",
  "a\\..\\b",
  "..\\",
  "..;",
  "..;x=1",
  "..%3Bx",
  "%2e%2e%2f",
  "x%2f..%2fy",
  "a\0b",
  "a%00b",
  "a\nb",
  "a%0d%0ab",
  "a%250ab",
  "\x7f",
  "\x85",
  "a\ud800",
];
for (const value of hostileSegments) checkRefusal(item, { id: value }, hostile);
checkRefusal(
  get(
    "/x/{a}{b}",
    "name: a, in: path, type: string, required: true",
    "name: b, in: path, type: string, required: true",
  ),
  { a: ".", b: "." },
  hostile,
);
checkRefusal(get("/x/.{a}", "name: a, in: path, type: string, required: true"), { a: ";x" }, hostile);
checkRefusal(get("/x/%2e{a}", "name: a, in: path, type: string, required: true"), { a: "%2e" }, hostile);
for (const value of ["/a", "a/", "a//b", "a/../b", "a/./b", "a/%2e%2e/b", "a/\n/b"]) {
  checkRefusal(item, { id: value }, hostile, { reserved: ["call.id"] });
  checkRefusal(get("/items/{+id}", id), { id: value }, hostile, {}, 2);
}
checkRefusal(q("string"), { a: "\udc00" }, hostile);
checkRefusal(q("array"), { a: ["\udc00"] }, hostile);
checkRefusal(post("json", field("a", "object")), { a: { "\ud800": 1 } }, hostile);
for (const value of ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "é", "日", "\x7f", "\u2028"])
  checkRefusal(get("/h", "name: X-A, in: header, type: string"), { "X-A": value }, hostile);
checkRefusal(get("/h", "name: X-A, in: header, type: array"), { "X-A": ["a", "b\r\nc"] }, hostile);
checkRefusal(item, {}, misfit);
checkRefusal(item, { id: null }, misfit);
checkRefusal(item, { id: 1 }, misfit);
checkRefusal(item, { id: "a", limit: 1 }, misfit);
checkRefusal(item, JSON.parse('{"id": "a", "__proto__": {}}'), misfit);
checkRefusal(q("string"), { a: ["x"] }, misfit);
checkRefusal(post("json", field("kind", "string", ", value: card")), { kind: "iban" }, misfit, {}, 2);
checkRefusal(post("json", field("sort", "string", ", enum: [asc, desc]")), { sort: "up" }, misfit, {}, 2);
checkRefusal(q("integer"), { a: 1.5 }, misfit);
for (const value of ["1.0", "1e3", "01", "+1", " 1", "", "0x1", "-0", "1_000", "Infinity"])
  checkRefusal(q("integer"), { a: value }, misfit);
for (const value of ["1e3", ".5", "5.", "NaN", "1,5"]) checkRefusal(q("number"), { a: value }, misfit);
for (const value of ["True", "yes", "1", 1, 0, null]) checkRefusal(q("boolean"), { a: value }, misfit);
checkRefusal(q("array"), { a: "x" }, misfit);
checkRefusal(q("array"), { a: {} }, misfit);
checkRefusal(q("object"), { a: "{}" }, misfit);
checkRefusal(q("object"), { a: [] }, misfit);
checkRefusal(post("raw", field("a", "string", ", contentEncoding: base64")), { a: "%%%" }, misfit, {}, 2);
checkRefusal(q("string"), { a: "x".repeat(20_000) }, "TOOLSPEC_REQUEST_TOO_LARGE");
checkRefusal(
  get("/h", "name: X-A, in: header, type: string"),
  { "X-A": "x".repeat(9000) },
  "TOOLSPEC_REQUEST_TOO_LARGE",
);
checkRefusal(post("json", field("a", "string")), { a: "xxxx" }, "TOOLSPEC_REQUEST_TOO_LARGE", {
  bodyMaxBytes: 11,
});
checkRefusal(q("string"), {}, "TOOLSPEC_EGRESS_DENIED", { egress: [] });

test("a variable without a value, with an invalid one, or one that leads to another host is refused", () => {
  const spec = specWith(
    "method: GET\npath: /x\nbaseUrl: https://{tenant}.example.net",
    2,
    "variables: {tenant: {}}\n",
  );
  const codeOf = (tenant?: string) => {
    try {
      return plan(spec, {}, tenant === undefined ? {} : { variables: { tenant } }).url;
    } catch (error) {
      return error instanceof ToolspecError ? error.code : String(error);
    }
  };
  assert.equal(codeOf(), "TOOLSPEC_VARIABLE_UNSET");
  for (const value of [
    "",
    "a/b",
    "evil.test/",
    "a@b",
    "evil.test#",
    "127.0.0.1:80#",
    "a b",
    "A",
    "é",
    "{tenant}",
  ])
    assert.equal(codeOf(value), "TOOLSPEC_VARIABLE_UNSET", value);
  assert.equal(codeOf("a.b"), "TOOLSPEC_EGRESS_DENIED");
  assert.equal(codeOf("a"), "https://a.example.net/x");
});

test("reserved keeps slashes of the named parameter only", () => {
  const spec = specWith(get("/{id}/{b}", id, "name: b, in: path, type: string, required: true"));
  const args = { id: "properties/12 3", b: "x/y" };
  assert.equal(
    plan(spec, args, { reserved: ["call.id"] }).url,
    "https://api.example.com/properties/12%203/x%2Fy",
  );
  assert.equal(
    plan(spec, args, { reserved: ["other.id"] }).url,
    "https://api.example.com/properties%2F12%203/x%2Fy",
  );
});

test("variables in paths: one segment, and none without a value", () => {
  const lines = "method: GET\npath: /{team}/{v}{w}/x";
  const spec = specWith(lines, 2, "variables: {team: {}, v: {default: v1}, w: {default: a}}\n");
  const planned = (variables: { readonly [name: string]: string }) => {
    try {
      return plan(spec, {}, { variables }).url.replace("https://api.example.com", "");
    } catch (error) {
      return error instanceof ToolspecError ? `${error.code} ${error.message}` : String(error);
    }
  };
  const rows: readonly (readonly [{ readonly [name: string]: string }, string])[] = [
    [{ team: "acme" }, "/acme/v1a/x"],
    [{ team: "a b/c?d#e", v: "é" }, "/a%20b%2Fc%3Fd%23e/%C3%A9a/x"],
    [{ team: "%2F" }, "/%252F/v1a/x"],
    [{}, 'TOOLSPEC_VARIABLE_UNSET Variable "team" of path "/{team}/{v}{w}/x" has no value'],
    [
      { team: "" },
      'TOOLSPEC_VARIABLE_UNSET Variable "team" cannot be used in the path: it is empty, and would change the path',
    ],
    [
      { team: "a/../b" },
      'TOOLSPEC_VARIABLE_UNSET Variable "team" cannot be used in the path: it is or contains "." or ".." as a segment, and would change the path',
    ],
    [
      { team: "a\r\nb" },
      'TOOLSPEC_VARIABLE_UNSET Variable "team" cannot be used in the path: it contains control characters',
    ],
    [
      { team: "\ud800" },
      'TOOLSPEC_VARIABLE_UNSET Variable "team" cannot be used in the path: it contains half a character, which cannot be sent',
    ],
    [
      { team: "a", v: "%2", w: "e" },
      'TOOLSPEC_VARIABLE_UNSET Variable "v" cannot be used in the path: it produces a segment "." or "..", and would change the path',
    ],
  ];
  for (const [variables, expected] of rows) assert.equal(planned(variables), expected);
  // A parameter takes precedence over a variable of the same name.
  const own = specWith(
    "method: GET\npath: /{team}\nbaseUrl: https://{team}.example.net\nparams:\n  - {name: team, in: path, type: string, required: true}",
    2,
    "variables: {team: {default: acme}}\n",
  );
  assert.equal(plan(own, { team: "mine" }).url, "https://acme.example.net/mine");
});

test("pathVariableFaults() checks values in the paths that contain them", () => {
  const spec = specWith(
    "method: GET\npath: /{a}/{b}\nbaseUrl: https://{c}.example.net\nparams:\n  - {name: b, in: path, type: string, required: true}",
    2,
    "variables: {a: {}, c: {}}\n",
  );
  assert.deepEqual(pathVariableFaults(spec, { a: "x/y", b: "..", c: "..", d: ".." }), []);
  assert.deepEqual(
    pathVariableFaults(spec, { a: ".." }).map(({ name }) => name),
    ["a"],
  );
});
