import assert from "node:assert/strict";
import { test } from "node:test";
import { runCount } from "@toolcrib/testing";
import { type Identity, identityKey, isSameIdentity, issuerName, localIdentity } from "@toolcrib/tool";
import fc from "fast-check";

const person: Identity = {
  issuer: "https://id.example.com",
  subject: "248289761001",
  name: "Jane Doe",
  roles: ["operator"],
};

test("an identity is compared by issuer and subject, not by name or roles", () => {
  assert.ok(isSameIdentity(person, { ...person, name: "Jane Roe", roles: [] }));
  assert.ok(!isSameIdentity(person, { ...person, subject: "248289761002" }));
  assert.ok(!isSameIdentity(person, { ...person, issuer: "https://id.example.org" }));
  assert.ok(!isSameIdentity(localIdentity("token", "ci"), localIdentity("cli", "ci")));
});

test("a local identity has its name as subject, and no role", () => {
  assert.deepEqual(localIdentity("token", "ci"), {
    issuer: "toolcrib:token",
    subject: "ci",
    name: "ci",
    roles: [],
  });
});

test("issuerName() is short for local issuers and the URL for others", () => {
  assert.equal(issuerName(localIdentity("stdio", "stdio")), "stdio");
  assert.equal(issuerName(person), "https://id.example.com");
});

test("identityKey() is equal exactly for the same issuer and subject", () => {
  const text = fc.string({ maxLength: 4, unit: fc.constantFrom("1", "2", ":", "a") });
  const identity = fc.record({ issuer: text, subject: text }).map((one) => ({ ...person, ...one }));
  fc.assert(
    fc.property(identity, identity, (a, b) => {
      assert.equal(identityKey(a) === identityKey(b), isSameIdentity(a, b));
    }),
    { numRuns: runCount(2000) },
  );
});
