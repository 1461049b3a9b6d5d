import assert from "node:assert/strict";
import { test } from "node:test";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { buildPackages, runtimeParts, toProvenance, writeBill } from "@toolcrib/toolpack-image";
import { sampleEngine, sampleToolpack } from "./samples.ts";

const toolpacks = [sampleToolpack("alpha"), sampleToolpack("beta")];

test("writeBill() of an image is valid CycloneDX 1.6, with every file of the runtime", async () => {
  const platforms = ["linux/amd64", "linux/arm64"] as const;
  const text = writeBill({ toolpacks, engine: sampleEngine, platforms });
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  assert.equal(await validator.validate(text), null);
  assert.notEqual(await validator.validate(text.replace('"container"', '"container ship"')), null);
  for (const platform of platforms) {
    for (const { purl, files } of runtimeParts(platform)) {
      assert(text.includes(`"${purl}"`));
      for (const { sha256 } of files) assert(text.includes(sha256));
    }
  }
  assert.equal(writeBill({ toolpacks, engine: sampleEngine, platforms }), text);
});

test("toProvenance() names every part of the runtime with the digest of its archive", () => {
  const digest = `sha256:${"ab".repeat(32)}`;
  const statement = toProvenance({
    subjects: [{ name: "image", digest }],
    toolpacks,
    engine: sampleEngine,
    platforms: ["linux/amd64"],
    formats: ["image"],
    variables: new Map([["alpha", { tenant: "acme" }]]),
    reference: "registry.example/alpha:1",
  });
  const { predicate } = statement as { readonly predicate: { readonly buildDefinition: object } };
  assert.partialDeepStrictEqual(predicate.buildDefinition, {
    externalParameters: { variables: { "alpha/tenant": "acme" }, reference: "registry.example/alpha:1" },
  });
  assert.deepEqual(statement["subject"], [{ name: "image", digest: { sha256: "ab".repeat(32) } }]);
  const text = JSON.stringify(statement);
  for (const { archive } of runtimeParts("linux/amd64")) {
    const expected =
      archive.kind === "debian"
        ? archive.sha256
        : Buffer.from(archive.integrity.slice(7), "base64").toString("hex");
    assert(text.includes(expected));
  }
});

/** A change of a sample, and why its tool `list_repos` needs the engine; undefined where it is a request. */
function checkReason(title: string, edit: (text: string) => string, expected: string | undefined): void {
  test(`buildPackages() decides how a tool runs: ${title}`, () => {
    const built = buildPackages(sampleToolpack("alpha", edit), {
      engine: sampleEngine,
      variables: { tenant: "acme" },
      secretVariableOf: (id) => `SECRET_${id}`,
    });
    assert.equal(built.find(({ toolId }) => toolId === "alpha.list_repos")?.engineReason, expected);
  });
}

const version2 = (text: string) => text.replace("schemaVersion: 1", "schemaVersion: 2");
const limit = "{ name: limit, in: query, type: integer }";
checkReason("path and query", (text) => text, undefined);
checkReason(
  "a header",
  (text) => text.replace(limit, "{ name: X-A, in: header, type: string }"),
  "a parameter is a header",
);
checkReason(
  "a list in the query",
  (text) => text.replace(limit, "{ name: l, in: query, type: array }"),
  "a query parameter is a list or an object",
);
checkReason(
  "a constant",
  (text) => version2(text).replace(limit, "{ name: l, in: query, type: integer, value: 1 }"),
  "a parameter has a constant value",
);
checkReason(
  "slashes",
  (text) => version2(text).replace("/{owner}/", "/{+owner}/"),
  "a part of its path keeps slashes",
);
checkReason(
  "a variable",
  (text) =>
    version2(text)
      .replace("https://api.", "https://{tenant}.")
      .replace("tools:\n  - name", "variables: {tenant: {}}\ntools:\n  - name"),
  "its URL has variables",
);
checkReason(
  "another frame of the token",
  (text) => text.replace("Bearer {token}", "Key {token}"),
  "its credentials are in places that packages do not have",
);
checkReason("a bare token", (text) => text.replace("Bearer {token}", "{token}"), undefined);
checkReason(
  "a form",
  (text) =>
    text
      .replace(
        "method: GET\n    path: /owners/{owner}/repos",
        "method: POST\n    encoding: form\n    path: /owners/{owner}/repos",
      )
      .replace("in: query", "in: body"),
  "its body is form",
);
