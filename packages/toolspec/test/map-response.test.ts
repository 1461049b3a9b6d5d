import assert from "node:assert/strict";
import { test } from "node:test";
import { anyCharacter } from "@toolcrib/testing";
import { type HttpResponse, mapResponse, mayRetry, nextPage, type ToolspecTool } from "@toolcrib/toolspec";
import fc from "fast-check";
import { specWith } from "./samples.ts";

const tool = specWith("method: GET\npath: /x").tools[0] as ToolspecTool;
const bytes = (text: string) => new TextEncoder().encode(text);
const answer = (
  status: number,
  type: string | undefined,
  body: string | Uint8Array,
  headers: object = {},
): HttpResponse => ({
  status,
  headers: { ...(type === undefined ? {} : { "Content-Type": type }), ...headers },
  body: typeof body === "string" ? bytes(body) : body,
});

/** Checks the text and the structured content of a response. */
function check(
  title: string,
  response: HttpResponse,
  text: string,
  structured?: unknown,
  isError?: boolean,
): void {
  test(`mapResponse(): ${title}`, () => {
    const { result } = mapResponse(tool, response);
    assert.equal(result.content[0]?.["text"], text);
    assert.deepEqual(result.structuredContent, structured);
    assert.equal(result.isError, isError);
  });
}

check("plain text", answer(200, "text/plain; charset=utf-8", "héllo"), "héllo");
check("JSON", answer(200, "application/json", '{"a": [1]}'), '{"a": [1]}', { a: [1] });
check("JSON with a vendor type", answer(201, "application/vnd.api+json", "[1]"), "[1]", [1]);
check("JSON in upper case", answer(200, "Application/JSON;Charset=UTF-8", "null"), "null", null);
check("JSON without a type", answer(200, undefined, ' {"a":1}'), ' {"a":1}', { a: 1 });
check("invalid JSON", answer(200, "application/json", "{oops"), "{oops");
check(
  "JSON that is nested too deep",
  answer(200, "application/json", "[".repeat(200) + "]".repeat(200)),
  "[".repeat(200) + "]".repeat(200),
);
check("text without a type", answer(200, undefined, "hi"), "hi");
check("text with an unknown type", answer(200, "application/octet-stream", "hi"), "hi");
check("a byte order mark", answer(200, "application/json", "\ufeff[1]"), "[1]", [1]);
check("Latin-1", answer(200, "text/plain; charset=iso-8859-1", new Uint8Array([0xe9])), "é");
check("an unknown charset", answer(200, "text/plain; charset=x-unknown", "é"), "é");
check("broken UTF-8", answer(200, "text/plain", new Uint8Array([0x61, 0xff])), "a\ufffd");
check("an image in SVG", answer(200, "image/svg+xml", "<svg/>"), "<svg/>");
check("no body", answer(204, undefined, ""), "HTTP 204 No Content");
check("an empty body", answer(200, "application/json", ""), "HTTP 200 OK");
check("an error", answer(404, "text/plain", "gone"), "HTTP 404 Not Found: gone", undefined, true);
check(
  "an error in JSON",
  answer(422, "application/json", '{"m":1}'),
  'HTTP 422 Unprocessable Content: {"m":1}',
  undefined,
  true,
);
check(
  "an error without a body",
  answer(500, undefined, ""),
  "HTTP 500 Internal Server Error",
  undefined,
  true,
);
check("an error of an unknown status", answer(599, "text/plain", "x"), "HTTP 599: x", undefined, true);
check(
  "an error with a binary body",
  answer(400, "image/png", new Uint8Array(9)),
  "HTTP 400 Bad Request: image/png, 9 bytes",
  undefined,
  true,
);
check(
  "a long error",
  answer(400, "text/plain", "é".repeat(2000)),
  `HTTP 400 Bad Request: ${"é".repeat(1024)}`,
  undefined,
  true,
);
check(
  "a long error, truncated at a character boundary",
  answer(400, "text/plain", `a${"é".repeat(2000)}`),
  `HTTP 400 Bad Request: a${"é".repeat(1023)}`,
  undefined,
  true,
);
check(
  "a redirect whose target contains a key",
  answer(302, "text/html", "<a>", { location: "https://me:pw@b.test/x?sig=hunter2#hunter3" }),
  "HTTP 302 Found: the redirect to https://b.test/x was not followed",
  undefined,
  true,
);
check(
  "a redirect",
  answer(302, "text/html", "<a>", { Location: "https://b.test/" }),
  "HTTP 302 Found: the redirect to https://b.test/ was not followed",
  undefined,
  true,
);
check(
  "too many requests",
  answer(429, "text/plain", "slow", { "Retry-After": "7" }),
  "HTTP 429 Too Many Requests: slow\n[retry after 7 s]",
  undefined,
  true,
);

test("a long text is truncated at a character boundary with a note, and has no structured content", () => {
  const exact = mapResponse(tool, answer(200, "application/json", `"${"x".repeat(102_398)}"`)).result;
  assert.equal(exact.structuredContent, "x".repeat(102_398));
  const { result } = mapResponse(tool, answer(200, "application/json", `"a${"é".repeat(60_000)}"`));
  assert.equal(result.structuredContent, undefined);
  assert.equal(
    result.content[0]?.["text"],
    `"a${"é".repeat(51_199)}\n[truncated: showing 102400 of 120003 bytes]`,
  );
  const cut = mapResponse(tool, { ...answer(200, "text/plain", "abc"), totalBytes: 10 }).result;
  assert.equal(cut.content[0]?.["text"], "abc\n[truncated: showing 3 of 10 bytes]");
});

test("any truncated text is a prefix of the text, of whole characters, within the limit", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter(fc), maxLength: 60 }).map((text) => text.toWellFormed()),
      fc.integer({ min: 1, max: 80 }),
      (text, textMaxBytes) => {
        fc.pre(text !== "" && !text.startsWith("\ufeff"));
        const { result } = mapResponse(tool, answer(200, "text/plain", text), { textMaxBytes });
        const shown = String(result.content[0]?.["text"]).replace(
          /\n\[truncated: showing \d+ of \d+ bytes\]$/,
          "",
        );
        assert.ok(text.startsWith(shown));
        assert.ok(bytes(shown).length <= textMaxBytes || shown === text);
        if (bytes(text).length <= textMaxBytes) assert.equal(shown, text);
      },
    ),
  );
});

test("a binary body is described, and returned if it is small", () => {
  const body = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
  const { result } = mapResponse(tool, answer(200, "image/png", body), { uri: "https://api.example.com/x" });
  assert.deepEqual(result.content, [
    { type: "text", text: "image/png, 300 bytes" },
    {
      type: "resource",
      resource: {
        uri: "https://api.example.com/x",
        mimeType: "image/png",
        blob: Buffer.from(body).toString("base64"),
      },
    },
  ]);
  const large = mapResponse(tool, answer(200, "image/png", body), { binaryMaxBytes: 299 }).result;
  assert.deepEqual(large.content, [{ type: "text", text: "image/png, 300 bytes" }]);
  const guessed = mapResponse(tool, answer(200, undefined, new Uint8Array([1, 0, 2]))).result;
  assert.equal(guessed.content[0]?.["text"], "application/octet-stream, 3 bytes");
});

test("response.select returns the matches of the JSONPath, response.maxBytes truncates", () => {
  const own = specWith("method: GET\npath: /x\nresponse: {select: $.items, maxBytes: 12}", 2)
    .tools[0] as ToolspecTool;
  const select = (path: string, value: unknown) => {
    assert.equal(path, "$.items");
    return [(value as { items: number[] }).items];
  };
  const short = mapResponse(own, answer(200, "application/json", '{"items":[1,2],"x":1}'), { select }).result;
  assert.deepEqual(short, { content: [{ type: "text", text: "[1,2]" }], structuredContent: [1, 2] });
  const long = mapResponse(own, answer(200, "application/json", '{"items":[1,2,3,4,5,6,7,8]}'), {
    select,
  }).result;
  assert.deepEqual(long.content, [
    { type: "text", text: "[1,2,3,4,5,6\n[truncated: showing 12 of 17 bytes]" },
  ]);
});

test("a GraphQL response with errors and without data is a failure", () => {
  const lines = "method: POST\npath: /graphql\nresponse: {select: $.data}";
  const graphql = specWith(lines, 2).tools[0] as ToolspecTool;
  const select = (_path: string, value: unknown) => [(value as { data: never }).data];
  const of = (own: ToolspecTool, body: string) =>
    mapResponse(own, answer(200, "application/json", body), { select }).result;
  const errors = '"errors":[{"message":"no such issue"}]';
  for (const body of [`{${errors}}`, `{"data":null,${errors}}`, `{"data":{"a":null,"b":null},${errors}}`]) {
    const failed = of(graphql, body);
    assert.equal(failed.isError, true, body);
    assert.equal(failed.content[0]?.["text"], body);
    assert.equal(of(tool, body).isError, undefined, body);
  }
  const partial = of(graphql, `{"data":{"a":1,"b":null},${errors}}`);
  assert.equal(partial.isError, undefined);
  assert.equal(partial.content[0]?.["text"], '{"a":1,"b":null}');
  assert.equal(of(graphql, '{"data":{"a":null},"errors":[]}').isError, undefined);
});

test("rate limits are read in all common formats", () => {
  const of = (headers: object) => mapResponse(tool, answer(200, undefined, "", headers)).rateLimit;
  assert.equal(of({}), undefined);
  assert.deepEqual(of({ "retry-after": "1.5" }), { retryAfterMs: 1500 });
  assert.deepEqual(of({ "Retry-After": "999999999" }), { retryAfterMs: 86_400_000 });
  assert.deepEqual(of({ "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" }), { retryAtMs: 1_792_567_680_000 });
  assert.deepEqual(of({ "X-RateLimit-Limit": "60", "x-ratelimit-remaining": "0" }), {
    limit: 60,
    remaining: 0,
  });
  assert.deepEqual(of({ "RateLimit-Remaining": "3", "Retry-After": "soon" }), { remaining: 3 });
  assert.equal(of({ "Retry-After": "-1" }), undefined);
});

test("429 can be retried, and 502 to 504 with repeatable methods", () => {
  assert.deepEqual(
    (["GET", "POST", "PUT", "PATCH", "DELETE"] as const).map((method) =>
      [429, 500, 502, 503, 504].filter((status) => mayRetry(method, status)),
    ),
    [[429, 502, 503, 504], [429], [429, 502, 503, 504], [429], [429, 502, 503, 504]],
  );
});

function paged(pagination: string): ToolspecTool {
  return specWith(
    `method: GET\npath: /x\npagination: ${pagination}\nparams:\n  - {name: after, in: query, type: string}\n  - {name: page, in: query, type: integer}\n  - {name: vars, in: query, type: object}`,
    2,
  ).tools[0] as ToolspecTool;
}

/** Checks the next page after a call with `args` and a response with this body and headers: arguments, the reason for none, or undefined. */
function checkNext(
  pagination: string,
  args: object,
  answered: { readonly body?: string; readonly headers?: object },
  expected: object | string | undefined,
): void {
  const { body = "[]", headers = {} } = answered;
  const own = pagination === "" ? tool : paged(pagination);
  const said = `${body.slice(0, 80)} ${JSON.stringify(headers).slice(0, 160)}`;
  test(`nextPage() after ${JSON.stringify(args)} of ${pagination || "a tool without pages"} with ${said}`, () => {
    const response = answer(200, "application/json", body, headers);
    const url = "https://api.example.com/x?page=1";
    const next = nextPage(own, { args: { ...args }, url, response }, (path, value) => {
      const found = (value as { [key: string]: never })[path.slice(2)];
      return found === undefined ? [] : [found];
    });
    assert.deepEqual(next?.kind === "refused" ? next.reason : next?.args, expected);
  });
}

checkNext("", {}, { body: '{"next":"c"}' }, undefined);

const cursor = "{kind: cursor, param: after, next: $.next}";
checkNext(cursor, { page: 2 }, { body: '{"next":"c1"}' }, { page: 2, after: "c1" });
for (const body of ['{"next":""}', '{"next":null}', "{}", "oops", '{"next":{}}'])
  checkNext(cursor, {}, { body }, undefined);
// A repeated cursor ends the list.
checkNext(cursor, { after: "c1" }, { body: '{"next":"c1"}' }, undefined);
checkNext(cursor, {}, { body: '{"next":17}' }, { after: "17" });
checkNext(cursor, { after: "17" }, { body: '{"next":17}' }, undefined);
checkNext("{kind: cursor, param: page, next: $.next}", {}, { body: '{"next":"17"}' }, { page: 17 });

const within = "{kind: cursor, param: vars.after, next: $.next}";
checkNext(within, {}, { body: '{"next":"c1"}' }, { vars: { after: "c1" } });
checkNext(
  within,
  { page: 1, vars: { after: "c1", first: 5 } },
  { body: '{"next":"c2"}' },
  { page: 1, vars: { after: "c2", first: 5 } },
);
checkNext(within, { vars: { after: "c1" } }, { body: '{"next":"c1"}' }, undefined);
checkNext(within, { vars: { first: 5 } }, { body: '{"next":null}' }, undefined);
checkNext(
  "{kind: cursor, param: vars.__proto__, next: $.next}",
  {},
  { body: '{"next":"c"}' },
  {
    vars: JSON.parse('{"__proto__":"c"}'),
  },
);
checkNext(
  "{kind: offset, param: vars.skip, next: $.items}",
  { vars: { skip: 2 } },
  { body: '{"items":[1,2]}' },
  { vars: { skip: 4 } },
);

const numbered = "{kind: page, param: page, next: $.items}";
checkNext(numbered, {}, { body: '{"items":[1]}' }, { page: 2 });
checkNext(numbered, { page: "4" }, { body: '{"items":[1]}' }, { page: 5 });
checkNext(numbered, { page: 5 }, { body: '{"items":[]}' }, undefined);
const fromZero = "{kind: page, param: page, next: $.items, first: 0}";
checkNext(fromZero, {}, { body: '{"items":[1]}' }, { page: 1 });
checkNext(fromZero, { page: 0 }, { body: '{"items":[1]}' }, { page: 1 });
checkNext(fromZero, { page: 1 }, { body: '{"items":[]}' }, undefined);

const pages = "{kind: page, param: page, next: $.items, total: $.pages}";
checkNext(pages, { page: 2 }, { body: '{"items":[1],"pages":3}' }, { page: 3 });
checkNext(pages, { page: 3 }, { body: '{"items":[1],"pages":3}' }, undefined);
const pagesFromZero = "{kind: page, param: page, next: $.items, first: 0, total: $.pages}";
checkNext(pagesFromZero, { page: 1 }, { body: '{"items":[1],"pages":3}' }, { page: 2 });
checkNext(pagesFromZero, { page: 2 }, { body: '{"items":[1],"pages":3}' }, undefined);

const offset = "{kind: offset, param: page, next: $.items}";
checkNext(offset, {}, { body: '{"items":[1,2,3]}' }, { page: 3 });
checkNext(offset, { page: "3", after: "a" }, { body: '{"items":[1,2]}' }, { page: 5, after: "a" });
for (const body of ['{"items":[]}', '{"items":null}', "{}", "oops"])
  checkNext(offset, { page: 5 }, { body }, undefined);
checkNext(offset, { page: 9e15 }, { body: '{"items":[1]}' }, { page: 9e15 + 1 });
checkNext(offset, { page: "1e400" }, { body: '{"items":[1]}' }, undefined);
const total = "{kind: offset, param: page, next: $.items, total: $.total}";
checkNext(total, { page: 3 }, { body: '{"items":[1,2],"total":6}' }, { page: 5 });
checkNext(total, { page: 4 }, { body: '{"items":[1,2],"total":6}' }, undefined);
checkNext(total, { page: 4 }, { body: '{"items":[1,2],"total":"6"}' }, undefined);
for (const body of [
  '{"items":[1,2]}',
  '{"items":[1,2],"total":null}',
  '{"items":[1,2],"total":"many"}',
  '{"items":[1,2],"total":""}',
])
  checkNext(total, { page: 4 }, { body }, { page: 6 });
const fromOne = "{kind: offset, param: page, next: $.items, first: 1, total: $.total}";
checkNext(fromOne, {}, { body: '{"items":[1,2],"total":3}' }, { page: 3 });
checkNext(fromOne, { page: 3 }, { body: '{"items":[1],"total":3}' }, undefined);

const linked = "{kind: link}";
const inBody = "{kind: link, next: $.next}";
const elsewhere = "pages are only requested from the same host";
const unlike = "the URL of the next page has no parameter of this tool";
const link = (target: string) => ({
  headers: { Link: `<https://api.example.com/x?page=0>; rel="prev", <${target}>; rel="next"` },
});
for (const [pagination, naming] of [
  [linked, link],
  [inBody, (target: string) => ({ body: JSON.stringify({ next: target }) })],
] as const) {
  const check = (args: object, target: string, expected: object | string | undefined) =>
    checkNext(pagination, args, naming(target), expected);
  check({ page: 1 }, "https://api.example.com/x?page=2&other=1", { page: 2 });
  check({}, "/x?after=z", { after: "z" });
  check({}, "?after=z", { after: "z" });
  check({}, "https://api.example.com:443/lists/17?page=2", { page: 2 });
  // As the link contains it.
  check({ page: 1 }, "/x?after=z", { after: "z" });
  check({ page: 1 }, "https://api.example.com/x?page=1", undefined);
  check({}, "/x?other=1", unlike);
  check({}, "::", unlike);
  check({}, "https://:::/", "the URL of the next page is invalid");
  for (const target of [
    "https://evil.test/x?page=2",
    "https://other.example.com/x?page=2",
    "https://api.example.com.evil.test/x?page=2",
    "https://api.example.com@evil.test/x?page=2",
    "https://me:pw@api.example.com/x?page=2",
    "https://api.example.com:8443/x?page=2",
    "http://api.example.com/x?page=2",
    "//evil.test/x?page=2",
    "\\\\evil.test/x?page=2",
    "javascript:alert(1)?page=2",
    "blob:https://api.example.com/x?page=2",
  ])
    check({ page: 1 }, target, elsewhere);
}
const long = `/x?page=2&${"a".repeat(17_000)}`;
checkNext(inBody, {}, { body: JSON.stringify({ next: long }) }, "the URL of the next page is invalid");
for (const body of [
  '{"next":""}',
  '{"next":null}',
  '{"next":7}',
  '{"next":{"href":"/x?page=2"}}',
  "{}",
  "oops",
])
  checkNext(inBody, {}, { body }, undefined);
// The header is ignored if the URL is in the body.
checkNext(inBody, {}, { body: "{}", ...link("/x?page=2") }, undefined);
checkNext(linked, { page: 1 }, {}, undefined);
const sentry = (results: boolean) => ({
  headers: {
    Link: `<https://api.example.com/x?after=0:0:1>; rel="previous"; results="false"; cursor="0:0:1", <https://api.example.com/x?after=0:100:0>; rel="next"; results="${results}"; cursor="0:100:0"`,
  },
});
checkNext(linked, {}, sentry(true), { after: "0:100:0" });
checkNext(linked, {}, sentry(false), undefined);
