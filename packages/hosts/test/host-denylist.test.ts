import assert from "node:assert/strict";
import { test } from "node:test";
import { findDenied, parseHostDenylist, parseHostPattern } from "@toolcrib/hosts";

const denylist = parseHostDenylist(
  "# capture services\r\nWebhook.site\n\nngrok.io # tunnels\n*.pipedream.net\nlocalhost\ninternal\nnot a name\n",
);

function check(pattern: string, expected: string | undefined): void {
  test(`the denylist ${expected === undefined ? "accepts" : "refuses"} ${pattern}`, () => {
    const verdict = parseHostPattern(pattern);
    assert.ok(verdict.kind === "valid");
    assert.equal(findDenied(verdict.value, denylist), expected);
  });
}

check("webhook.site", "webhook.site");
check("a.webhook.site", "webhook.site");
check("a.b.webhook.site", "webhook.site");
check("*.webhook.site", "webhook.site");
check("*.a.ngrok.io", "ngrok.io");
check("x.pipedream.net", "pipedream.net");
check("metadata.google.internal", "internal");
check("db.localhost", "localhost");
check("mywebhook.site", undefined);
check("webhook.site.example.com", undefined);
check("api.example.com", undefined);

test("a wildcard that covers a listed name is refused, for one level only", () => {
  const list = parseHostDenylist("metadata.google.example\n");
  const find = (text: string) => {
    const verdict = parseHostPattern(text);
    return verdict.kind === "valid" ? findDenied(verdict.value, list) : undefined;
  };
  assert.equal(find("*.google.example"), "metadata.google.example");
  assert.equal(find("*.other.example"), undefined);
  assert.equal(find("google.example"), undefined);
});

test("invalid lines are reported with their number", () => {
  assert.deepEqual(denylist.unreadable, [{ lineNumber: 8, text: "not a name" }]);
  assert.equal(denylist.names.size, 5);
});
