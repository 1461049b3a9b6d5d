import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { EgressCredential } from "@toolcrib/egress";
import { runCount, slowTest } from "@toolcrib/testing";
import fc from "fast-check";
import { credential, type Fixture, startFixture } from "./fixture.ts";

const secret = 'sk-"quoted"/a+b=c\\d&e<f> 100%-Value_42';

/** Starts a server that answers with `answer`. */
async function startEcho(answer: (response: ServerResponse) => void): Promise<Fixture> {
  return await startFixture({ respond: (_, response) => answer(response) });
}

async function fetchBody(fixture: Fixture, one: EgressCredential, maxBytes?: number): Promise<string> {
  const headers = { Authorization: `Bearer ${one.placeholder}` };
  const { body } = await fixture.send({ headers, maxBytes }, { credentials: [one] });
  return Buffer.from(body).toString("latin1");
}

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const hexBytes = (text: string): string[] => Buffer.from(text).toString("hex").match(/../g) ?? [];
const unicode = (text: string): string =>
  [...text].map((at) => `\\u${at.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/** Encodings in which an API can return a secret. */
const forms: { readonly [title: string]: (text: string) => string } = {
  plain: (text) => text,
  "as JSON": (text) => JSON.stringify(text).slice(1, -1),
  "as JSON with escaped slashes": (text) => JSON.stringify(text).slice(1, -1).replaceAll("/", "\\/"),
  "as JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  "as JSON in JSON in JSON": (text) => JSON.stringify(JSON.stringify(JSON.stringify(text))).slice(7, -7),
  "as JSON beyond need": unicode,
  "as JSON with escapes for what is no letter": (text) =>
    text.replace(/[^A-Za-z0-9]/g, (at) => unicode(at).toUpperCase().replace("U", "u")),
  "percent-encoded": encodeURIComponent,
  "percent-encoded in small letters": (text) =>
    encodeURIComponent(text).replace(/%../g, (at) => at.toLowerCase()),
  "percent-encoded beyond need": percent,
  "percent-encoded twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "as a form": (text) => new URLSearchParams({ v: text }).toString().slice(2),
  "in hexadecimal": (text) => Buffer.from(text).toString("hex"),
  "in capital hexadecimal": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  "in base64": (text) => Buffer.from(text).toString("base64"),
  "in base64 without padding": (text) => Buffer.from(text).toString("base64").replaceAll("=", ""),
  "in base64 for URLs": (text) => Buffer.from(text).toString("base64url"),
  "in base64, percent-encoded": (text) => encodeURIComponent(Buffer.from(text).toString("base64")),
  "in base64, as JSON with escaped slashes": (text) =>
    Buffer.from(text).toString("base64").replaceAll("/", "\\/"),
  "in base64, padding escaped": (text) => Buffer.from(text).toString("base64").replaceAll("=", "\\u003d"),
  "in base64, within JSON": (text) => Buffer.from(JSON.stringify(text).slice(1, -1)).toString("base64"),
  "in base64, as a URL": (text) => Buffer.from(encodeURIComponent(text)).toString("base64url"),
  "in hexadecimal, as a form": (text) =>
    Buffer.from(new URLSearchParams({ v: text }).toString().slice(2)).toString("hex"),
  "as HTML": (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  "as HTML entities": (text) => [...text].map((at) => `&#${at.charCodeAt(0)};`).join(""),
  "as hexadecimal HTML entities": (text) =>
    [...text].map((at) => `&#x${at.charCodeAt(0).toString(16)};`).join(""),
  "as HTML entities that are escaped twice": (text) =>
    [...text].map((at) => `&amp;#${at.charCodeAt(0)};`).join(""),
  "in upper case": (text) => text.toUpperCase(),
  reversed: (text) => [...text].reverse().join(""),
  "percent-encoded twice in full": (text) => percent(text).replaceAll("%", "%25"),
  "in base64, wrapped": (text) =>
    Buffer.from(text)
      .toString("base64")
      .replace(/.{16}(?=.)/g, "$&\r\n"),
  "in base64, wrapped inside a JSON string": (text) =>
    Buffer.from(text)
      .toString("base64")
      .replace(/.{16}(?=.)/g, "$&\\n"),
  "in hexadecimal with colons": (text) => hexBytes(text).join(":"),
  "in hexadecimal with spaces": (text) => hexBytes(text).join(" "),
  "in capital hexadecimal with hyphens": (text) => hexBytes(text).join("-").toUpperCase(),
  "in hexadecimal with 0x": (text) => hexBytes(text).join(", 0x"),
};

for (const [title, form] of Object.entries(forms)) {
  test(`fetch() removes a secret from a body ${title}, in one piece and byte by byte`, async () => {
    const one = credential(secret);
    const text = `{"a":"${form(secret)}","b":"${form(secret)}"}`;
    let isPieced = false;
    await using fixture = await startEcho(async (response) => {
      if (!isPieced) return void response.end(text);
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.from([byte]));
        await setImmediate();
      }
      response.end();
    });
    for (isPieced of [false, true]) {
      assert.equal(await fetchBody(fixture, one), `{"a":"${one.placeholder}","b":"${one.placeholder}"}`);
    }
    const echoed = fixture.events.filter(({ kind }) => kind === "secret.echoed");
    assert.equal(echoed.length, 2);
    assert.ok(
      echoed[0]?.kind === "secret.echoed" &&
        echoed[0].where === "body" &&
        echoed[0].secretName === "api-token",
    );
  });
}

test("fetch() removes a secret from base64 at every offset", async () => {
  const one = credential(secret);
  for (const before of ["", "u", "us", "use", "user"]) {
    for (const encoding of ["base64", "base64url"] as const) {
      await using fixture = await startEcho((response) => {
        response.end(Buffer.from(`${before}${secret}:after`).toString(encoding));
      });
      const text = await fetchBody(fixture, one);
      assert.match(text, new RegExp(one.placeholder));
      const rest = text.replace(one.placeholder, "");
      for (const part of [rest, `A${rest}`, `AA${rest}`, `AAA${rest}`]) {
        assert.doesNotMatch(Buffer.from(part, "base64").toString("latin1"), /quoted|Value/);
      }
    }
  }
});

test("fetch() removes secrets from the headers of a response with any status", async () => {
  const one = credential("s3cret-value");
  await using fixture = await startEcho((response) => {
    response.writeHead(401, "Unauthorized", {
      "www-authenticate": `Bearer error="bad token s3cret-value"`,
      location: "https://elsewhere.example/?t=s3cret-value",
      "x-encoded": Buffer.from("s3cret-value").toString("base64"),
      "set-cookie": ["a=s3cret-value", "b=2"],
    });
    response.end("s3cret-value");
  });
  const headers = { Authorization: `Bearer ${one.placeholder}` };
  const response = await fixture.send({ headers }, { credentials: [one] });
  assert.equal(response.status, 401);
  assert.equal(response.headers["www-authenticate"], `Bearer error="bad token ${one.placeholder}"`);
  assert.equal(response.headers["location"], `https://elsewhere.example/?t=${one.placeholder}`);
  assert.equal(response.headers["x-encoded"], one.placeholder);
  assert.equal(response.headers["set-cookie"], `a=${one.placeholder}\nb=2`);
  assert.equal(Buffer.from(response.body).toString(), one.placeholder);
  assert.deepEqual(
    fixture.events.flatMap((event) => (event.kind === "secret.echoed" ? [event.where] : [])).sort(),
    ["body", "header:location", "header:set-cookie", "header:www-authenticate", "header:x-encoded"],
  );
});

test("fetch() removes the pair, its base64 and its password, and keeps the user", async () => {
  const one = credential("AC123456:pass-word-42", {
    encoding: "basic",
    place: { kind: "header", name: "Authorization", format: "Basic {token}" },
  });
  const encoded = Buffer.from("AC123456:pass-word-42").toString("base64");
  await using fixture = await startEcho((response) => {
    response.end(`AC123456 | ${encoded} | pass-word-42 | AC123456:pass-word-42`);
  });
  const headers = { Authorization: `Basic ${one.placeholder}` };
  const { body } = await fixture.send({ headers }, { credentials: [one] });
  assert.equal(
    Buffer.from(body).toString(),
    `AC123456 | ${one.placeholder} | ${one.placeholder} | ${one.placeholder}`,
  );
});

test("fetch() removes the user of a pair if that is the secret", async () => {
  for (const pair of ["sk_live_4242:", "sk_live_4242:x", "sk_live_4242:api_token"]) {
    const one = credential(Buffer.from(pair).toString("base64"), {
      encoding: "basic",
      place: { kind: "header", name: "Authorization", format: "Basic {token}" },
    });
    await using fixture = await startEcho((response) => void response.end("key sk_live_4242, api_token"));
    const headers = { Authorization: `Basic ${one.placeholder}` };
    const { body } = await fixture.send({ headers }, { credentials: [one] });
    assert.equal(Buffer.from(body).toString(), `key ${one.placeholder}, api_token`, pair);
  }
});

test("fetch() removes a secret that was replaced a moment ago", async () => {
  const values = ["first-secret", "second-secret"];
  const one = credential("", { read: () => values.shift() ?? "third-secret" });
  await using fixture = await startEcho((response) => void response.end("first-secret second-secret"));
  assert.equal(await fetchBody(fixture, one), `${one.placeholder} second-secret`);
  assert.equal(await fetchBody(fixture, one), `${one.placeholder} ${one.placeholder}`);
});

test("fetch() forgets the first of more than 64 secrets of a source, and removes the 64 latest", async () => {
  const count = 130;
  let reads = 0;
  const value = (at: number): string => `rotated-secret-${at}-${at * 7919}`;
  const one = credential("", { read: () => value(reads++) });
  const text = Array.from({ length: count }, (_, at) => `(${value(at)})`).join("\n");
  await using fixture = await startEcho((response) => void response.end(reads < count ? "" : text));
  let shown = "";
  while (reads < count) shown = await fetchBody(fixture, one);
  const lines = shown.split("\n");
  assert.equal(lines[0], `(${value(0)})`);
  for (const line of lines.slice(-64)) assert.equal(line, `(${one.placeholder})`);
});

test(
  "fetch() forgets the source that was used least recently when all have more than 2,000 secrets",
  slowTest,
  async () => {
    const count = 50;
    const sources = 41;
    const value = (source: number, at: number): string =>
      `secret-${source}-${at}-${(source + 1) * (at + 7919)}`;
    const credentialsOf = (source: number): readonly EgressCredential[] =>
      Array.from({ length: count }, (_, at) =>
        credential(value(source, at), {
          place: { kind: "header", name: `X-Token-${at}`, format: "{token}" },
        }),
      );
    let text = "";
    await using fixture = await startEcho((response) => void response.end(text));
    const fetchFor = async (source: number, credentials: readonly EgressCredential[]): Promise<string> => {
      const headers = Object.fromEntries(
        credentials.map(({ placeholder }, at) => [`X-Token-${at}`, placeholder]),
      );
      const { body } = await fixture.send({ headers }, { id: `toolspec:source-${source}`, credentials });
      return Buffer.from(body).toString();
    };
    for (let source = 0; source < sources; source += 1) await fetchFor(source, credentialsOf(source));
    const showsSecretsOf = async (source: number): Promise<boolean> => {
      text = value(source, 0);
      return (await fetchFor(source, [])) === text;
    };
    assert.equal(await showsSecretsOf(0), true);
    for (const source of [1, 2, sources - 1])
      assert.equal(await showsSecretsOf(source), false, String(source));
  },
);

const codings: { readonly [coding: string]: (bytes: Buffer) => Buffer } = {
  gzip: (bytes) => gzipSync(bytes),
  "x-gzip": (bytes) => gzipSync(bytes),
  GZIP: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  " deflate ": (bytes) => deflateRawSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  zstd: (bytes) => zstdCompressSync(bytes),
  "gzip, br": (bytes) => brotliCompressSync(gzipSync(bytes)),
  identity: (bytes) => bytes,
};

for (const [coding, encode] of Object.entries(codings)) {
  test(`fetch() scrubs a body of content coding "${coding}"`, async () => {
    const one = credential("s3cret-value");
    const bytes = Buffer.from(`${"x".repeat(200_000)}s3cret-value${"y".repeat(200_000)}`);
    await using fixture = await startEcho((response) => {
      response.setHeader("content-encoding", coding).end(encode(bytes));
    });
    const headers = { Authorization: `Bearer ${one.placeholder}` };
    const response = await fixture.send({ headers }, { credentials: [one] });
    assert.equal(
      Buffer.from(response.body).toString(),
      bytes.toString().replace("s3cret-value", one.placeholder),
    );
    assert.equal(response.totalBytes, response.body.length);
    assert.equal(response.headers["content-encoding"], undefined);
    assert.equal(response.headers["content-length"], undefined);
  });
}

test("fetch() never splits a secret at the limit of the kept bytes", async () => {
  const one = credential("s3cret-value");
  const before = "x".repeat(20);
  await using fixture = await startEcho((response) => void response.end(`${before}s3cret-value-and-more`));
  for (let maxBytes = 18; maxBytes <= 40; maxBytes += 1) {
    const text = await fetchBody(fixture, one, maxBytes);
    assert.equal(text, `${before}${one.placeholder}-and-more`.slice(0, maxBytes));
  }
});

test("fetch() removes a secret from a text in UTF-16, and keeps the rest readable", async () => {
  const one = credential(secret);
  const headers = { Authorization: `Bearer ${one.placeholder}` };
  for (const [charset, toBytes] of [
    ["utf-16le", (text: string) => Buffer.from(text, "utf16le")],
    ["utf-16be", (text: string) => Buffer.from(text, "utf16le").swap16()],
  ] as const) {
    await using fixture = await startEcho((response) => {
      response.setHeader("content-type", `text/plain; charset=${charset}`);
      response.end(toBytes(`\ufeffit is ${secret}, not ${JSON.stringify(secret)} and more`));
    });
    const { body } = await fixture.send({ headers }, { credentials: [one] });
    const text = new TextDecoder(charset).decode(body);
    assert.ok(Buffer.from(body).includes(one.placeholder));
    assert.ok(!text.includes(secret.slice(0, 6)), text);
    assert.match(text, /^it i.*, not.* and more$/su);
  }
});

test("fetch() counts a body without its secrets, so that a complete body is known to be complete", async () => {
  const one = credential("a-secret-that-is-longer-than-its-placeholder-which-has-44-characters");
  const headers = { Authorization: `Bearer ${one.placeholder}` };
  for (const secret of ["short-secret", await one.read()]) {
    const current = { ...one, read: () => secret };
    await using fixture = await startEcho((response) => {
      response.write(`before ${secret.slice(0, 8)}`);
      response.end(`${secret.slice(8)} after ${secret.slice(0, 7)}`);
    });
    const whole = `before ${one.placeholder} after ${secret.slice(0, 7)}`;
    for (const maxBytes of [9, whole.length, 1000]) {
      const { body, totalBytes } = await fixture.send({ headers, maxBytes }, { credentials: [current] });
      assert.deepEqual(
        [body.length, Buffer.from(body).toString()],
        [Math.min(maxBytes, whole.length), whole.slice(0, maxBytes)],
      );
      if (maxBytes >= whole.length) assert.equal(totalBytes, whole.length);
      else assert.ok(totalBytes > maxBytes);
    }
  }
});

test("fetch() returns a body without secrets unchanged, for any division into pieces", async () => {
  const one = credential("aaaaaab");
  let pieces: readonly Uint8Array[] = [];
  await using fixture = await startEcho(async (response) => {
    for (const piece of pieces) {
      response.write(piece);
      await setImmediate();
    }
    response.end();
  });
  const piece = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 50 }),
    fc
      .array(fc.constantFrom(0x61, 0x5c, 0x25, 0x26, 0x36), { minLength: 1, maxLength: 12 })
      .map((bytes) => Uint8Array.from(bytes)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (some) => {
      pieces = some;
      const bytes = Buffer.concat(some).toString("latin1");
      fc.pre(!/a{6}b|aaaaaab/.test(bytes));
      assert.equal(await fetchBody(fixture, one), bytes);
    }),
    { numRuns: runCount(100) },
  );
});

test("fetch() finds any secret with any escape of each character, across any pieces", async () => {
  const value = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 6,
    maxLength: 30,
  });
  const escapes: readonly ((character: string, code: string) => string)[] = [
    (character) => character,
    (_, code) => `%${code}`,
    (_, code) => `%25${code.toUpperCase()}`,
    (_, code) => `\\u00${code}`,
    (_, code) => `\\\\u00${code}`,
    (_, code) => `&#x${code};`,
    (character) => (/[A-Za-z0-9]/.test(character) ? character : `\\${character}`),
  ];
  let pieces: readonly string[] = [];
  await using fixture = await startEcho(async (response) => {
    for (const piece of pieces) {
      response.write(piece);
      await setImmediate();
    }
    response.end();
  });
  const choices = fc.array(fc.nat(escapes.length - 1), { minLength: 30, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      value,
      choices,
      fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 5 }),
      async (text, choice, cuts) => {
        const one = credential(text);
        const written = [...text]
          .map((character, at) => escapes[choice[at] ?? 0]?.(character, character.charCodeAt(0).toString(16)))
          .join("");
        let rest = `before\n${written}\nafter`;
        pieces = cuts
          .map((length) => {
            const piece = rest.slice(0, length);
            rest = rest.slice(length);
            return piece;
          })
          .concat(rest);
        assert.equal(await fetchBody(fixture, one), `before\n${one.placeholder}\nafter`);
      },
    ),
    { numRuns: runCount(200) },
  );
});

test("fetch() finds a secret that overlaps its own beginning, at every boundary of pieces", async () => {
  const one = credential("ababac-ababad");
  const text = "abababababac-ababad-ababac-ababac-ababad";
  const expected = `ababab${one.placeholder}-ababac-${one.placeholder}`;
  let cut = 0;
  await using fixture = await startEcho(async (response) => {
    if (cut > 0) response.write(text.slice(0, cut));
    await setImmediate();
    response.end(text.slice(cut));
  });
  for (cut = 0; cut <= text.length; cut += 1)
    assert.equal(await fetchBody(fixture, one), expected, String(cut));
});

test("fetch() keeps a secret that is shorter than six characters", async () => {
  const one = credential("short");
  await using fixture = await startEcho((response) => void response.end("short"));
  assert.equal(await fetchBody(fixture, one), "short");
});

/** Invalid heads, each with the secret where an error could show it. */
const unreadable: readonly string[] = [
  "HTTP/1.1 200 OK\r\ns3cret-Value: \x01 s3cret-Value",
  "HTTP/1.1 200 OK\r\ncontent-encoding: s3cret-Value",
  "HTTP/1.1 200 OK\r\ncontent-encoding: gzip, s3cret-Value, br",
];

for (const [at, head] of unreadable.entries()) {
  test(`fetch() never shows a secret in its errors (${at + 1})`, async () => {
    const one = credential("s3cret-Value");
    await using fixture = await startEcho((response) => {
      response.socket?.end(`${head}\r\n\r\ns3cret-Value`);
    });
    const headers = { Authorization: `Bearer ${one.placeholder}` };
    await assert.rejects(fixture.send({ headers }, { credentials: [one] }), (error) => {
      assert.ok(error instanceof Error);
      const texts = [
        error.message,
        error.stack,
        String(error.cause),
        JSON.stringify(error),
        JSON.stringify(error.cause),
      ];
      const { data } = { data: undefined, ...((error.cause ?? {}) as object) };
      assert.equal(data, undefined);
      assert.doesNotMatch(texts.join(), /s3cret-value/i);
      return true;
    });
  });
}
