import assert from "node:assert/strict";
import { test } from "node:test";
import { isHostAllowed, parseHostName, parseHostPattern } from "@toolcrib/hosts";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";

type HostFault = Extract<ReturnType<typeof parseHostPattern>, { kind: "invalid" }>["fault"];

function checkPattern(text: string, expected: HostFault | "valid", instead?: string): void {
  test(`parseHostPattern(${JSON.stringify(text)}) is ${expected}`, () => {
    const verdict = parseHostPattern(text);
    assert.equal(verdict.kind === "valid" ? "valid" : verdict.fault, expected);
    if (verdict.kind === "invalid") assert.equal(verdict.instead, instead);
  });
}

checkPattern("api.example.com", "valid");
checkPattern("*.example.com", "valid");
checkPattern("*.a.b-c.example.com", "valid");
checkPattern("xn--bcher-kva.example", "valid");
checkPattern("1password.com", "valid");
checkPattern("a1.2b.com", "valid");
checkPattern(`${"a".repeat(63)}.com`, "valid");
checkPattern("", "empty");
checkPattern("*.", "empty");
checkPattern("*", "wildcard");
checkPattern("*.com", "wildcard_too_broad");
checkPattern("**.example.com", "wildcard");
checkPattern("*.*.example.com", "wildcard");
checkPattern("a.*.example.com", "wildcard");
checkPattern("api*.example.com", "wildcard");
checkPattern("*example.com", "wildcard");
checkPattern("localhost", "single_label");
checkPattern("api.example.com:443", "port", "api.example.com");
checkPattern("*.example.com:443", "port", "*.example.com");
checkPattern("api.example.com/v1", "path", "api.example.com");
checkPattern("api.example.com\\v1", "path", "api.example.com");
checkPattern("https://api.example.com/v1", "url", "api.example.com");
checkPattern("user@api.example.com", "user_information");
checkPattern("127.0.0.1", "address");
checkPattern("127.1", "address");
checkPattern("2130706433", "address");
checkPattern("0x7f000001", "address");
checkPattern("0177.0.0.1", "address");
checkPattern("1.2.3.4.5.6.7", "address");
checkPattern("example.0x", "address");
checkPattern("127.0.0.1.", "address");
checkPattern("[::1]", "address");
checkPattern("::1", "address");
checkPattern("*.1.2", "address");
checkPattern("API.example.com", "upper_case", "api.example.com");
checkPattern("api.example.com.", "trailing_dot", "api.example.com");
checkPattern("api_v1.example.com", "underscore");
checkPattern("bücher.example", "not_ascii");
checkPattern("api。example.com", "not_ascii");
checkPattern("api..example.com", "label");
checkPattern(".example.com", "label");
checkPattern("-api.example.com", "label");
checkPattern("api-.example.com", "label");
checkPattern("api example.com", "label");
checkPattern("api%2eexample.com", "label");
checkPattern("api.example.com\0", "label");
checkPattern("api.example.com\n", "label");
checkPattern(`${"a".repeat(64)}.com`, "too_long");
checkPattern(`${"a.".repeat(130)}com`, "too_long");

function checkMatch(pattern: string, host: string, expected: boolean): void {
  test(`${pattern} ${expected ? "allows" : "does not allow"} ${JSON.stringify(host)}`, () => {
    const verdict = parseHostPattern(pattern);
    assert.ok(verdict.kind === "valid");
    assert.equal(isHostAllowed([verdict.value], host), expected);
    assert.equal(isHostAllowed([verdict.value], host), expected);
  });
}

checkMatch("example.com", "example.com", true);
checkMatch("example.com", "EXAMPLE.Com", true);
checkMatch("example.com", "a.example.com", false);
checkMatch("example.com", "example.com.", false);
checkMatch("example.com", "example.com:443", false);
checkMatch("example.com", "example.com\0", false);
checkMatch("example.com", "example.com@evil.test", false);
checkMatch("kelvin.com", "\u212Aelvin.com", false);
checkMatch("*.example.com", "a.example.com", true);
checkMatch("*.example.com", "A.EXAMPLE.com", true);
checkMatch("*.example.com", "example.com", false);
checkMatch("*.example.com", "a.b.example.com", false);
checkMatch("*.example.com", "evil-example.com", false);
checkMatch("*.example.com", ".example.com", false);
checkMatch("*.example.com", "*.example.com", false);
checkMatch("*.example.com", "a.example.com.evil.test", false);
checkMatch("*.example.com", "a.example.com/", false);
checkMatch("*.example.com", "a..example.com", false);
checkMatch("*.example.com", "a_b.example.com", false);
checkMatch("*.example.com", "127.0.0.1", false);

test("the host of a base URL is a host, not a pattern", () => {
  assert.deepEqual(parseHostName("api.example.com"), { kind: "valid", value: "api.example.com" });
  assert.equal(parseHostName("*.example.com").kind, "invalid");
});

test("a URL keeps the spelling of every host that a pattern allows", () => {
  const label = fc.stringMatching(/^[a-zA-Z0-9_*.%@:/\\ \u00e9-]{0,6}$/);
  const host = fc.oneof(
    fc.array(label, { maxLength: 5 }).map((labels) => labels.join(".")),
    fc.string(),
  );
  const patterns = ["*.example.com", "api.example.com", "a.b"].flatMap((text) => {
    const verdict = parseHostPattern(text);
    return verdict.kind === "valid" ? [verdict.value] : [];
  });
  fc.assert(
    fc.property(
      fc.oneof(
        host,
        host.map((name) => `${name}.example.com`),
      ),
      (name) => {
        if (!isHostAllowed(patterns, name)) return;
        assert.equal(new URL(`https://${name}/`).host, name.toLowerCase());
      },
    ),
    { numRuns: runCount(3000) },
  );
});

test("every valid pattern without a wildcard allows itself and nothing longer", () => {
  const name = fc.domain().map((domain) => domain.toLowerCase());
  fc.assert(
    fc.property(name, (domain) => {
      const verdict = parseHostPattern(domain);
      if (verdict.kind !== "valid") return;
      assert.ok(isHostAllowed([verdict.value], domain));
      assert.ok(!isHostAllowed([verdict.value], `a.${domain}`));
    }),
  );
});
