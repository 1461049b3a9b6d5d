/** Bundles: whose secret is passed on as what, and what their manifest says of them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readArchive } from "@toolcrib/mcpkg";
import { buildBundle, type Toolpack, ToolpackImageError } from "@toolcrib/toolpack-image";
import { sampleEngine, sampleToolpack } from "./samples.ts";

const settings = {
  engine: sampleEngine,
  secretVariableOf: ({ manifest }: Toolpack, id: string) =>
    `TOOLCRIB_SECRET_${`${manifest.name}_${id}`.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`,
  variables: new Map(),
};

test("buildBundle() refuses services of which one would get the other's secret", () => {
  const one = sampleToolpack("acme", (text) => text.replace("id: token", "id: eu_token"));
  const other = sampleToolpack("acme-eu");
  assert.throws(
    () => buildBundle([one, other], settings),
    (error) =>
      error instanceof ToolpackImageError &&
      error.code === "IMAGE_SETTING_TAKEN" &&
      /setting acme_eu_token would belong to both the credential "eu_token" of "acme" and .*"token" of "acme-eu"/.test(
        error.message,
      ),
  );
  // The keys of settings differ, and the variables of the environment do not.
  const same = { ...settings, secretVariableOf: () => "TOOLCRIB_SECRET_SAME" };
  assert.throws(
    () => buildBundle([sampleToolpack("alpha"), sampleToolpack("beta")], same),
    /The environment variable TOOLCRIB_SECRET_SAME/,
  );
});

test("buildBundle() names the source of the services, and no licence that it does not know", async () => {
  const files = await readArchive(buildBundle([sampleToolpack("alpha"), sampleToolpack("beta")], settings));
  const text = new TextDecoder().decode(files.get("manifest.json")?.bytes);
  const { author, license } = JSON.parse(text);
  assert.deepEqual(author, { name: "github.com/acme/alpha, github.com/acme/beta" });
  assert.equal(license, undefined);
});
