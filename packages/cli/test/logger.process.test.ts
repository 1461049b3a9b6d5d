import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "@toolcrib/cli";

type LoggerOptions = NonNullable<Parameters<typeof createLogger>[1]>;

/** Returns the output of a logger with `options`. */
function logged(options: LoggerOptions, log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  const output = { write: (line: string) => lines.push(line) };
  log(createLogger({ output, now: () => Date.UTC(2026, 10, 22, 1, 2, 3, 4) }, options));
  return lines.join("");
}

const secret = "tcb_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

test("createLogger() writes one JSON object per line", () => {
  const text = logged({}, (logger) => {
    logger.debug({}, "not at this level");
    logger.info({ server: "files", count: 2 }, "server started");
    logger.warn({}, "line\nbreak");
  });
  const lines = text.trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { level: "info", time: "2026-11-22T01:02:03.004Z", server: "files", count: 2, msg: "server started" },
      { level: "warn", time: "2026-11-22T01:02:03.004Z", msg: "line\nbreak" },
    ],
  );
});

test("each level includes records of the same or a higher severity", () => {
  const count = (level: LoggerOptions["level"]) =>
    logged({ level }, (logger) => {
      for (const name of ["debug", "info", "warn", "error"] as const) logger[name]({}, name);
    }).split("\n").length - 1;
  assert.deepEqual((["debug", "info", "warn", "error", "silent"] as const).map(count), [4, 3, 2, 1, 0]);
});

test("errors are written with their stack and causes", () => {
  const cause = new Error("the disk is full");
  const text = logged({}, (logger) => logger.error({ err: new Error("cannot write", { cause }) }, "failed"));
  const { err } = JSON.parse(text);
  assert.match(err.stack, /cannot write[\s\S]*the disk is full/);
});

test("fields named like a credential are not written", () => {
  const fields = {
    authorization: secret,
    headers: {
      Authorization: `Bearer ${secret}`,
      "Proxy-Authorization": secret,
      cookie: secret,
      accept: "*/*",
    },
    list: [{ "x-api-key": secret, access_token: [secret] }],
    clientSecret: secret,
    password: secret,
    token: secret,
    tokens: 3,
    isTokenValid: true,
  };
  for (const pretty of [false, true]) {
    const text = logged({ pretty }, (logger) => logger.info(fields, "request"));
    assert.doesNotMatch(text, /0123456789/);
    assert.match(text, /\*\/\*/);
    assert.match(text, /tokens"?[:=]3/);
  }
});

test("fields that name a secret without its value are written", () => {
  const fields = { secretName: "acme-token", event: { secret_names: ["acme-token"] }, credential: "token" };
  for (const pretty of [false, true]) {
    const text = logged({ pretty }, (logger) => logger.warn({ ...fields, secret }, "echoed"));
    assert.equal(text.split("acme-token").length - 1, 2);
    assert.match(text, /secret"?[:=]"?\[redacted\]/);
    assert.doesNotMatch(text, /0123456789/);
  }
});

test("bearer tokens are not written, in any position", () => {
  for (const pretty of [false, true]) {
    const text = logged({ pretty }, (logger) => {
      logger.warn({ reason: `refused "Bearer ${secret.slice(4)}"` }, `authorization: bearer ${secret}`);
      logger.error({ err: new Error(`GET /?token=${secret}`) }, "failed");
      logger.error({ basic: "Basic dXNlcjpwYXNzd29yZA==" }, "failed");
    });
    assert.doesNotMatch(text, /0123456789|dXNlcjpwYXNzd29yZA/);
  }
});

test("a long text of a server is written up to a length", () => {
  const reason = "a".repeat(1_000_000);
  for (const pretty of [false, true]) {
    const text = logged({ pretty }, (logger) => logger.warn({ reason, nested: { reason } }, "call failed"));
    assert.ok(text.length < 20_000, String(text.length));
    assert.match(text, /a{8192}… \(991808 more characters\)/);
  }
});

test("no control or bidirectional character reaches the terminal", () => {
  const odd = "a\u001b[31mred\u009b31m\u202eevil\u2066\u007f\u0000\r\nforged line";
  for (const pretty of [false, true]) {
    const text = logged({ pretty }, (logger) => {
      logger.error({ [odd]: odd, nested: { odd }, err: new Error(odd) }, odd);
    });
    assert.doesNotMatch(text.replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    for (const line of text.trimEnd().split("\n")) assert.doesNotMatch(line, /^forged line/);
  }
});

test("the pretty format is readable", () => {
  const text = logged({ pretty: true }, (logger) =>
    logger.info(
      { server: "files", url: "http://127.0.0.1:7420", note: "two words", list: [1] },
      "server started",
    ),
  );
  assert.equal(
    text,
    '01:02:03.004 INFO  server started server=files url=http://127.0.0.1:7420 note="two words" list=[1]\n',
  );
});

test("deeply nested fields are truncated", () => {
  const fields: { self?: object } = {};
  fields.self = fields;
  assert.match(
    logged({}, (logger) => logger.info(fields, "cycle")),
    /cycle/,
  );
});

test("a long text is cut after a credential was removed from it", () => {
  const text = logged({}, (logger) => logger.warn({ reason: `${"x".repeat(8180)} ${secret}` }, "failed"));
  assert.doesNotMatch(text, /tcb_0/);
  assert.match(text, /more characters\)/);
});
