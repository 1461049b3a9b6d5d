import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { CodedError } from "@toolcrib/diagnostics";
import { createPlaceholder, type EgressCredential } from "@toolcrib/egress";
import { credential, type EgressRequest, host, startFixture } from "./fixture.ts";

const secret = "s3cret-Value+/=42";
const header = (name: string, format: string): EgressCredential["place"] => ({
  kind: "header",
  name,
  format,
});

test("createPlaceholder() creates a new placeholder each time", () => {
  const one = createPlaceholder(randomBytes);
  assert.match(one, /^toolcrib-ph-[0-9a-f]{32}$/);
  assert.notEqual(one, createPlaceholder(randomBytes));
});

/** A request with placeholders, and the request that the server receives. */
interface InjectionCase {
  readonly title: string;
  readonly credentials: readonly EgressCredential[];
  readonly request: (...placeholders: string[]) => Partial<EgressRequest>;
  readonly target?: string;
  readonly headers?: { readonly [name: string]: string };
}

function checkInjection({ title, credentials, request, target = "/", headers = {} }: InjectionCase): void {
  test(`fetch() inserts a secret into ${title}`, async () => {
    await using fixture = await startFixture();
    const sent = request(...credentials.map(({ placeholder }) => placeholder));
    await fixture.send({ callId: "call-7", ...sent }, { credentials });
    const [received] = fixture.server.requests;
    assert.equal(received?.target, target);
    for (const [name, value] of Object.entries(headers)) {
      assert.deepEqual(
        received?.headers.filter(([one]) => one.toLowerCase() === name).map(([, one]) => one),
        [value],
      );
    }
    assert.deepEqual(
      fixture.events,
      credentials.map(({ id, secretName }) => ({
        source: "toolspec:test",
        host,
        callId: "call-7",
        kind: "secret.used",
        credential: id,
        secretName,
      })),
    );
  });
}

checkInjection({
  title: "a header",
  credentials: [credential(secret)],
  request: (one) => ({ headers: { Authorization: `Bearer ${one}` } }),
  headers: { authorization: `Bearer ${secret}` },
});
checkInjection({
  title: "a header of any case",
  credentials: [credential(secret)],
  request: (one) => ({ headers: { AUTHORIZATION: `Bearer ${one}` } }),
  headers: { authorization: `Bearer ${secret}` },
});
checkInjection({
  title: "a header, if the secret contains replacement patterns",
  credentials: [credential("$&$1$`$$", { place: header("X-Key", "key={token};v=1") })],
  request: (one) => ({ headers: { "X-Key": `key=${one};v=1` } }),
  headers: { "x-key": "key=$&$1$`$$;v=1" },
});
checkInjection({
  title: "each header of several credentials",
  credentials: [
    credential("first-secret", { place: header("DD-API-KEY", "{token}") }),
    credential("second-secret", {
      id: "app",
      secretName: "app-key",
      place: header("DD-APPLICATION-KEY", "{token}"),
    }),
  ],
  request: (one = "", two = "") => ({ headers: { "DD-API-KEY": one, "DD-APPLICATION-KEY": two } }),
  headers: { "dd-api-key": "first-secret", "dd-application-key": "second-secret" },
});
checkInjection({
  title: "the query, encoded, next to other parameters",
  credentials: [
    credential("a&b=c d/é?".replace("é", "e"), {
      place: { kind: "query", name: "api key", format: "{token}" },
    }),
  ],
  request: (one) => ({ url: `https://${host}/v1?q=x%20y&api%20key=${one}&z` }),
  target: "/v1?q=x%20y&api%20key=a%26b%3Dc%20d%2Fe%3F&z",
});
checkInjection({
  title: "the query, inside of its format",
  credentials: [credential("abc", { place: { kind: "query", name: "auth", format: "token {token}" } })],
  request: (one) => ({ url: `https://${host}/?auth=token+${one}` }),
  target: "/?auth=token%20abc",
});
checkInjection({
  title: "the beginning of the path",
  credentials: [credential("123456:AA-bb_cc", { place: { kind: "pathPrefix", format: "/bot{token}" } })],
  request: (one) => ({ url: `https://${host}/bot${one}/sendMessage?chat_id=1`, method: "POST" }),
  target: "/bot123456:AA-bb_cc/sendMessage?chat_id=1",
});
checkInjection({
  title: "the beginning of the path, as one segment",
  credentials: [credential("../../x?y#z", { place: { kind: "pathPrefix", format: "/bot{token}" } })],
  request: (one) => ({ url: `https://${host}/bot${one}/getMe` }),
  target: "/bot..%2F..%2Fx%3Fy%23z/getMe",
});
checkInjection({
  title: "basic authentication, as an encoded pair",
  credentials: [
    credential("user:pä:ss", { encoding: "basic", place: header("Authorization", "Basic {token}") }),
  ],
  request: (one) => ({ headers: { Authorization: `Basic ${one}` } }),
  headers: { authorization: `Basic ${Buffer.from("user:pä:ss").toString("base64")}` },
});
checkInjection({
  title: "basic authentication, unchanged if it is already encoded",
  credentials: [
    credential("dXNlcjpwYXNz", { encoding: "basic", place: header("Authorization", "Basic {token}") }),
  ],
  request: (one) => ({ headers: { Authorization: `Basic ${one}` } }),
  headers: { authorization: "Basic dXNlcjpwYXNz" },
});

test("fetch() reads a secret for each request, and only if the request uses it", async () => {
  await using fixture = await startFixture();
  const values = ["first-value", "second-value"];
  let unread = 0;
  const used = credential("", { read: async () => values.shift() ?? "" });
  const unused = credential("", {
    id: "other",
    place: header("X-Other", "{token}"),
    read() {
      unread += 1;
      return "never";
    },
  });
  for (const value of [...values]) {
    await fixture.send(
      { headers: { Authorization: `Bearer ${used.placeholder}` } },
      { credentials: [used, unused] },
    );
    const got = fixture.server.requests.at(-1)?.headers.find(([name]) => name === "Authorization")?.[1];
    assert.equal(got, `Bearer ${value}`);
  }
  assert.equal(unread, 0);
});

function checkSecret(title: string, read: () => string, encoding?: "basic"): void {
  test(`fetch() refuses a secret that ${title}, without showing it`, async () => {
    await using fixture = await startFixture();
    const one = credential("", { read, encoding });
    const sent = fixture.send(
      { headers: { Authorization: `Bearer ${one.placeholder}` } },
      { credentials: [one] },
    );
    await assert.rejects(sent, (error) => {
      assert.ok(error instanceof CodedError && error.code === "EGRESS_SECRET_UNAVAILABLE");
      assert.match(error.message, /"api-token" for credential "token"/);
      assert.doesNotMatch(`${error.message} ${error.hint} ${error.stack}`, /hidden/);
      return true;
    });
    assert.equal(fixture.events.at(-1)?.kind, "egress.denied");
    assert.equal(fixture.server.connectionCount, 0);
  });
}

checkSecret("is empty", () => "");
checkSecret("has a line break", () => "hidden\r\nX-Injected: 1");
checkSecret("ends in a line feed", () => "hidden\n");
checkSecret("has a NUL", () => "hidden\0");
checkSecret("is not ASCII", () => "hiddén");
checkSecret("has spaces at its ends", () => " hidden ");
checkSecret("is too long", () => "hidden".repeat(4000));
checkSecret("is neither a pair nor ASCII in basic authentication", () => "hiddén", "basic");
checkSecret("cannot be read", () => {
  throw new CodedError("SECRETS_NOT_FOUND", "There is none", { hint: "set it" });
});
