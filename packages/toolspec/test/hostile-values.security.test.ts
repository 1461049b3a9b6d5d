/** Hostile argument values: the origin, the segments of the template, and the lines of headers do not change. */

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { anyCharacter, runCount, runsAll } from "@toolcrib/testing";
import { exampleVariables, type RequestPlan, ToolspecError } from "@toolcrib/toolspec";
import fc from "fast-check";
import { plan, specWith } from "./samples.ts";

/** Texts that parsers interpret differently, combined with random ones. */
const piece = fc.constantFrom(
  ".",
  "..",
  "/",
  "\\",
  "%",
  "%2e",
  "%2E",
  "%2f",
  "%5c",
  "%00",
  "%25",
  "%252e",
  "?",
  "#",
  "&",
  "=",
  "+",
  ";",
  ":",
  "@",
  "//",
  "\r\n",
  "\n",
  "\r",
  "\0",
  "\t",
  " ",
  "\x0b",
  "\x7f",
  "\x85",
  "\u2028",
  "\ud800",
  "\udc00",
  "\uff0e",
  "\u2024",
  "\uff0f",
  "\u2215",
  "é",
  "😀",
  "a",
  "id",
  "{id}",
  "{+id}",
  "evil.test",
  "https://evil.test/",
  "Host: evil.test",
  "[",
  "]",
  "'",
  '"',
  "<",
  ">",
  "|",
  "^",
  "`",
  "$",
  "__proto__",
  "0",
  "1e3",
  "true",
  "null",
);
const hostile = fc.oneof(
  { weight: 4, arbitrary: fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter(fc), maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }) },
);
const anyValue = fc.oneof(
  hostile,
  fc.array(hostile, { maxLength: 3 }),
  fc.dictionary(hostile, hostile, { maxKeys: 3 }),
);

const runs = { numRuns: runsAll ? 10_000 : runCount(2000) };
const refusals: ReadonlySet<string> = new Set([
  "TOOLSPEC_VALUE_HOSTILE",
  "TOOLSPEC_ARGUMENT_INVALID",
  "TOOLSPEC_REQUEST_TOO_LARGE",
]);

/** Returns the plan, or undefined if the call is refused with a proper error. */
function tryPlan(...args: Parameters<typeof plan>): RequestPlan | undefined {
  try {
    return plan(...args);
  } catch (error) {
    if (error instanceof ToolspecError && refusals.has(error.code)) return undefined;
    throw error;
  }
}

/** Checks the invariants of a URL with every URL parser. */
function checkUrl(url: string, segments: readonly (string | undefined)[]): URL {
  const parsed = new URL(url);
  assert.equal(parsed.href, url, "a parser that normalises changes nothing");
  assert.equal(parsed.origin, "https://api.example.com");
  assert.equal(parsed.username + parsed.password + parsed.port + parsed.hash, "");
  assert.match(url, /^[\x21-\x7e]+$/);
  const found = parsed.pathname.split("/").slice(1);
  assert.equal(found.length, segments.length);
  for (const [index, segment] of segments.entries())
    if (segment !== undefined) assert.equal(found[index], segment);
  // A proxy or server that decodes the path any number of times finds no ".." segment.
  for (let path = parsed.pathname, round = 0; round < 5; round += 1) {
    for (const part of path.split(/[/\\]/)) assert.doesNotMatch(part, /^\.{1,2}(?:;.*)?$/s);
    assert.doesNotMatch(path, /[\x00-\x1f\x7f]/);
    path = path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return parsed;
}

const required = "in: path, type: string, required: true";

test(`${runs.numRuns} path values do not change the template's segments`, () => {
  const spec = specWith(
    `method: DELETE\npath: /repos/{id}/x({id}).json/{b}:run\nparams:\n  - {name: id, ${required}}\n  - {name: b, ${required}}`,
  );
  let sent = 0;
  fc.assert(
    fc.property(hostile, hostile, (id, b) => {
      const planned = tryPlan(spec, { id, b });
      if (planned === undefined) return;
      sent += 1;
      const { pathname } = checkUrl(planned.url, ["repos", undefined, undefined, undefined]);
      const [, , first = "", second = "", third = ""] = pathname.split("/");
      assert.equal(decodeURIComponent(first), id);
      assert.equal(decodeURIComponent(second), `x(${id}).json`);
      assert.equal(decodeURIComponent(third), `${b}:run`);
    }),
    runs,
  );
  assert.ok(sent > (500 / 10_000) * runs.numRuns, `only ${sent} were sent`);
});

test(`${runs.numRuns} values with kept slashes do not change the text around them`, () => {
  const spec = specWith(`method: GET\npath: /v1/{+id}:run/end\nparams:\n  - {name: id, ${required}}`, 2);
  const parts = fc.array(hostile, { minLength: 1, maxLength: 3 }).map((values) => values.join("/"));
  let sent = 0;
  fc.assert(
    fc.property(parts, (id) => {
      const planned = tryPlan(spec, { id });
      if (planned === undefined) return;
      sent += 1;
      const count = id.split("/").length;
      const middle = Array.from({ length: count }, () => undefined);
      const { pathname } = checkUrl(planned.url, ["v1", ...middle, "end"]);
      assert.ok(pathname.endsWith(":run/end"));
      assert.equal(decodeURIComponent(pathname), `/v1/${id}:run/end`);
    }),
    runs,
  );
  assert.ok(sent > (300 / 10_000) * runs.numRuns, `only ${sent} were sent`);
});

test(`${runs.numRuns} values of variables do not change the template's segments, for any values of the operator and the agent`, () => {
  const lines = `method: GET\npath: /{team}/x{team}{id}.json/{w}\nparams:\n  - {name: id, ${required}}`;
  const spec = specWith(lines, 2, "variables: {team: {}, w: {}}\n");
  let sent = 0;
  fc.assert(
    fc.property(hostile, hostile, hostile, (team, w, id) => {
      let planned: RequestPlan | undefined;
      try {
        planned = tryPlan(spec, { id }, { variables: { team, w }, reserved: ["call.team", "call.w"] });
      } catch (error) {
        // An invalid setting is not an error of the arguments.
        assert.ok(error instanceof ToolspecError && error.code === "TOOLSPEC_VARIABLE_UNSET", String(error));
      }
      if (planned === undefined) return;
      sent += 1;
      const { pathname } = checkUrl(planned.url, [undefined, undefined, undefined]);
      const [, first = "", second = "", third = ""] = pathname.split("/");
      assert.equal(decodeURIComponent(first), team);
      assert.equal(decodeURIComponent(second), `x${team}${id}.json`);
      assert.equal(decodeURIComponent(third), w);
    }),
    runs,
  );
  assert.ok(sent > (200 / 10_000) * runs.numRuns, `only ${sent} were sent`);
});

test("values that are harmless alone do not combine to control characters or dot segments", () => {
  const lines = `method: GET\npath: /x{a}{b}/end\nparams:\n  - {name: a, ${required}}\n  - {name: b, ${required}}`;
  const dots = lines.replace("/x{a}", "/{a}");
  for (const [path, a, b] of [
    [lines, "%", "1e3"],
    [lines, "%0", "0"],
    [lines, "%25", "0a"],
    [dots, ".", "."],
    [dots, "%2", "e"],
  ] as const) {
    assert.throws(
      () => plan(specWith(path), { a, b }),
      (error) => error instanceof ToolspecError && error.code === "TOOLSPEC_VALUE_HOSTILE",
      `${a} and ${b}`,
    );
  }
  assert.equal(
    plan(specWith(lines), { a: "%", b: "→é" }).url,
    "https://api.example.com/x%25%E2%86%92%C3%A9/end",
  );
});

test(`${runs.numRuns} URLs yield the variables that they were built from`, () => {
  const lines = `method: GET\npath: /v{v}/{team}/x/{+id}/{w}.json\nparams:\n  - {name: id, ${required}}`;
  const spec = specWith(lines, 2, "variables: {v: {}, team: {}, w: {}}\n");
  const [tool] = spec.tools;
  assert.ok(tool);
  const ids = fc.array(fc.constantFrom("a", "b c", "{w}"), { minLength: 1, maxLength: 3 });
  let sent = 0;
  fc.assert(
    fc.property(hostile, hostile, hostile, ids, (v, team, w, id) => {
      const variables = { v, team, w };
      let planned: RequestPlan | undefined;
      try {
        planned = plan(spec, { id: id.join("/") }, { variables });
      } catch (error) {
        assert.ok(error instanceof ToolspecError && error.code === "TOOLSPEC_VARIABLE_UNSET", String(error));
        return;
      }
      sent += 1;
      assert.deepEqual(exampleVariables(tool, spec, planned.url), variables);
    }),
    runs,
  );
  assert.ok(sent > (200 / 10_000) * runs.numRuns, `only ${sent} were sent`);
});

test(`${runs.numRuns} query names and values are read back unchanged`, () => {
  const name = hostile.filter(
    (text) => text.trim() !== "" && text.length <= 200 && text.isWellFormed() && !text.includes("\0"),
  );
  let sent = 0;
  fc.assert(
    fc.property(name, anyValue, (given, value) => {
      const type = Array.isArray(value) ? "array" : typeof value === "string" ? "string" : "object";
      const written = JSON.stringify(given).replace(/[\x7f-\u{10ffff}]/gu, escapeForYaml);
      const spec = specWith(
        `method: GET\npath: /q\nparams:\n  - {name: ${written}, in: query, type: ${type}}`,
      );
      const planned = tryPlan(spec, Object.fromEntries([[given, value]]));
      if (planned === undefined) return;
      sent += 1;
      const { searchParams } = checkUrl(planned.url, ["q"]);
      const expected = Array.isArray(value)
        ? value
        : [typeof value === "string" ? value : JSON.stringify(value)];
      assert.deepEqual(
        [...searchParams],
        expected.map((one) => [given, one]),
      );
    }),
    runs,
  );
  assert.ok(sent > (3000 / 10_000) * runs.numRuns, `only ${sent} were sent`);
});

function escapeForYaml(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}

test(`${runs.numRuns} header values produce one line each`, () => {
  const spec = specWith(
    "method: GET\npath: /h\nparams:\n  - {name: X-S, in: header, type: string}\n  - {name: X-A, in: header, type: array}\n  - {name: X-O, in: header, type: object}",
  );
  let sent = 0;
  fc.assert(
    fc.property(anyValue, (value) => {
      const name = Array.isArray(value) ? "X-A" : typeof value === "string" ? "X-S" : "X-O";
      const planned = tryPlan(spec, { [name]: value });
      if (planned === undefined) return;
      sent += 1;
      assert.deepEqual(Object.keys(planned.headers), ["Accept", "User-Agent", name]);
      for (const line of Object.values(planned.headers)) assert.match(line, /^[\t\x20-\x7e]*$/);
      // Node's own client accepts them, and refuses values that would split a header.
      const request = httpRequest({
        host: "127.0.0.1",
        headers: planned.headers,
        method: "GET",
        agent: false,
      });
      request.on("error", () => {});
      request.destroy();
    }),
    runs,
  );
  assert.ok(sent > (1000 / 10_000) * runs.numRuns, `only ${sent} were sent`);
});

test(`${runs.numRuns} bodies contain exactly the given values`, () => {
  const params =
    "\nparams:\n  - {name: s, in: body, type: string}\n  - {name: a, in: body, type: array}\n  - {name: o, in: body, type: object}";
  const specs = {
    json: specWith(`method: POST\npath: /b${params}`),
    form: specWith(`method: POST\npath: /b\nencoding: form${params}`),
    multipart: specWith(`method: POST\npath: /b\nencoding: multipart${params}`, 2),
  };
  let sent = 0;
  const args = fc.record({
    s: hostile,
    a: fc.array(hostile, { maxLength: 3 }),
    o: fc.dictionary(hostile, hostile, { maxKeys: 2 }),
  });
  fc.assert(
    fc.property(fc.constantFrom("json", "form", "multipart"), args, (encoding, given) => {
      const planned = tryPlan(specs[encoding], given);
      if (planned === undefined) return;
      sent += 1;
      checkUrl(planned.url, ["b"]);
      const text = new TextDecoder().decode(planned.body);
      const pairs = [["s", given.s], ...given.a.map((one) => ["a", one]), ["o", JSON.stringify(given.o)]];
      if (encoding === "json") assert.deepEqual(JSON.parse(text), { ...given, o: { ...given.o } });
      else if (encoding === "form") assert.deepEqual([...new URLSearchParams(text)], pairs);
      else assert.deepEqual(readMultipart(text, planned.headers["Content-Type"] ?? ""), pairs);
    }),
    runs,
  );
  assert.ok(sent > (3000 / 10_000) * runs.numRuns, `only ${sent} were sent`);
});

/** Returns the names and contents of the parts, split by the boundary alone. */
function readMultipart(text: string, contentType: string): string[][] {
  const boundary = /boundary=(.*)$/.exec(contentType)?.[1] ?? "";
  const parts = `\r\n${text}`.split(`\r\n--${boundary}`);
  assert.equal(parts.at(-1), "--\r\n");
  return parts.slice(1, -1).map((part) => {
    const end = part.indexOf("\r\n\r\n");
    return [/name="(.*?)"/.exec(part)?.[1] ?? "", part.slice(end + 4)];
  });
}
