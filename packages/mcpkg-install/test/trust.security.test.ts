/** Publishers that may replace an installed package, and the one flag that allows each exception. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { keyIdOf } from "@toolcrib/mcpkg";
import {
  type Allowances,
  InstallError,
  readInstalledPackages,
  uninstallPackages,
} from "@toolcrib/mcpkg-install";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { resolverOf } from "./folder-resolver.ts";
import {
  archiveOf,
  changeDeps,
  install,
  key,
  otherKey,
  placeIn,
  type Sample,
  type TestInstall,
  type TestPlace,
} from "./sample-packages.ts";

const unsigned = { signer: undefined };
const url = "https://tools.example.com/demo.mcpkg";

/** Where the second package comes from. */
type Way = "file" | "url" | "registry";

interface TrustCase {
  /** The package that is installed first; undefined for none. */
  readonly first?: Sample;
  readonly second: Sample;
  readonly way: Way;
  readonly code: string;
  readonly message: RegExp;
  /** The flag that the hint names. */
  readonly flag: string;
  readonly allowed: Allowances;
}

const cases: { readonly [title: string]: TrustCase } = {
  "an unsigned package from a URL": {
    second: unsigned,
    way: "url",
    code: "INSTALL_UNSIGNED",
    message: /is not signed, and comes from a URL/,
    flag: "--allow-unsigned",
    allowed: { unsigned: true },
  },
  "an unsigned package from a registry": {
    second: unsigned,
    way: "registry",
    code: "INSTALL_UNSIGNED",
    message: /comes from a registry/,
    flag: "--allow-unsigned",
    allowed: { unsigned: true },
  },
  "a package with a signature of another scheme": {
    second: { ...unsigned, files: { "meta/signature.sig": "PGP" } },
    way: "url",
    code: "INSTALL_UNSIGNED",
    message: /of a scheme that is not known, and counts as none/,
    flag: "--allow-unsigned",
    allowed: { unsigned: true },
  },
  "a signature that was removed": {
    first: {},
    second: { ...unsigned, version: "2.0.0" },
    way: "file",
    code: "INSTALL_SIGNATURE_STRIPPED",
    message: /is not signed, and the one before it was signed by sha256:/,
    flag: "--allow-stripped-signature",
    allowed: { strippedSignature: true },
  },
  "another key": {
    first: {},
    second: { signer: otherKey, version: "2.0.0" },
    way: "file",
    code: "INSTALL_KEY_CHANGED",
    message: /is signed by sha256:[0-9a-f]{64}, and the key of this tool is sha256:/,
    flag: `--allow-key ${keyIdOf(otherKey)}`,
    allowed: { keys: [keyIdOf(otherKey)] },
  },
  "an older version": {
    first: { version: "1.10.0" },
    second: { version: "1.9.0" },
    way: "file",
    code: "INSTALL_DOWNGRADE",
    message: /version 1\.10\.0 is installed, which is newer/,
    flag: "--allow-downgrade",
    allowed: { downgrade: true },
  },
  "a pre-release of the installed version": {
    first: { version: "1.0.0" },
    second: { version: "1.0.0-rc.1" },
    way: "registry",
    code: "INSTALL_DOWNGRADE",
    message: /version 1\.0\.0 is installed/,
    flag: "--allow-downgrade",
    allowed: { downgrade: true },
  },
  "other content under the same version": {
    first: { description: "One." },
    second: { description: "Two." },
    way: "url",
    code: "INSTALL_RELEASE_CHANGED",
    message: /the same version is installed with other content: sha256:/,
    flag: "--allow-changed-release",
    allowed: { changedRelease: true },
  },
};

function installBy(place: TestPlace, way: Way, sample: Sample, options: TestInstall = {}) {
  const archive = archiveOf(sample);
  if (way === "file") return install(place, [archive], options);
  if (way === "url") return install(place, [url], { ...options, fetchBytes: async () => archive });
  const releases = [{ toolId: "demo.echo", version: sample.version ?? "1.0.0", archive }];
  return install(place, ["demo.echo"], { ...options, resolver: resolverOf(releases) });
}

async function installedOf({ home, project }: TestPlace) {
  return (await readInstalledPackages({ home, projectFolder: project })).packages.map(
    ({ version, publisherKey, digest }) => ({ version, publisherKey, digest }),
  );
}

describe("an installation refuses, and one flag allows,", () => {
  for (const [title, one] of Object.entries(cases)) {
    test(title, async () => {
      await using directory = await makeTemporaryDirectory();
      const place = placeIn(directory);
      if (one.first !== undefined) await install(place, [archiveOf(one.first)]);
      const before = await installedOf(place);
      const all: Allowances = {
        unsigned: true,
        strippedSignature: true,
        keys: [keyIdOf(otherKey)],
        downgrade: true,
        changedRelease: true,
        replacingFolder: true,
      };
      // Everything but the one flag is allowed, and that alone is not enough.
      const others = Object.fromEntries(
        Object.entries(all).filter(([name]) => !Object.hasOwn(one.allowed, name)),
      );
      for (const allowed of [{}, others]) {
        await assert.rejects(installBy(place, one.way, one.second, { allowed }), (error: unknown) => {
          assert(error instanceof InstallError, String(error));
          assert.equal(error.code, one.code, error.message);
          assert.match(error.message, one.message);
          assert(error.hint?.includes(one.flag) === true, error.hint ?? "no hint");
          return true;
        });
      }
      assert.deepEqual(await installedOf(place), before);
      assert.equal(existsSync(`${place.project}/.mcp/tools/.staging`), false);
      await installBy(place, one.way, one.second, { allowed: one.allowed });
      assert.notDeepEqual(await installedOf(place), before);
    });
  }
});

test("a key is pinned for the tool: also after a removal, in another project, and not by an unsigned package", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  await install(place, [archiveOf()]);
  await uninstallPackages(changeDeps, { ...place, toolIds: ["demo.echo"] });
  const byOther = () => archiveOf({ signer: otherKey, version: "2.0.0" });
  await assert.rejects(install(place, [byOther()]), { code: "INSTALL_KEY_CHANGED" });
  await assert.rejects(install(place, [byOther()], { isForUser: true }), { code: "INSTALL_KEY_CHANGED" });
  await assert.rejects(install(place, [archiveOf(unsigned)]), { code: "INSTALL_SIGNATURE_STRIPPED" });
  await install(place, [archiveOf(unsigned)], { allowed: { strippedSignature: true } });
  await assert.rejects(install(place, [byOther()]), { code: "INSTALL_KEY_CHANGED" });
  // The other key is allowed once, and is the pinned one from then on.
  await install(place, [byOther()], { allowed: { keys: [keyIdOf(otherKey)] } });
  await assert.rejects(install(place, [archiveOf({ version: "3.0.0" })]), { code: "INSTALL_KEY_CHANGED" });
  await uninstallPackages(changeDeps, { ...place, toolIds: ["demo.echo"], forgetsKeys: true });
  await install(place, [archiveOf()]);
});

test("a key that is named, or stated by the registry, must have signed the package", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const all = { unsigned: true, strippedSignature: true, keys: [keyIdOf(key), keyIdOf(otherKey)] };
  const requiredKey = keyIdOf(otherKey);
  for (const archive of [archiveOf(), archiveOf(unsigned)]) {
    await assert.rejects(install(place, [archive], { requiredKey, allowed: all }), {
      code: "INSTALL_KEY_MISMATCH",
    });
    const stated = { publisherKey: keyIdOf(otherKey) };
    const resolver = resolverOf([{ toolId: "demo.echo", version: "1.0.0", archive, stated }]);
    await assert.rejects(install(place, ["demo.echo"], { resolver, allowed: all }), {
      code: "INSTALL_KEY_MISMATCH",
    });
  }
  await install(place, [archiveOf()], { requiredKey: keyIdOf(key) });
});

test("what a registry sends must be what it states: digest, tool and version", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const archive = archiveOf();
  const refused = async (stated: object) => {
    const resolver = resolverOf([{ toolId: "demo.echo", version: "1.0.0", archive, stated }]);
    await assert.rejects(install(place, ["demo.echo"], { resolver }), { code: "INSTALL_DIGEST_MISMATCH" });
  };
  await refused({ digest: `sha256:${"0".repeat(64)}` });
  await refused({ version: "1.0.1" });
  const other = archiveOf({ toolId: "evil.echo" });
  const resolver = resolverOf([{ toolId: "demo.echo", version: "1.0.0", archive: other }]);
  await assert.rejects(install(place, ["demo.echo"], { resolver }), { code: "INSTALL_DIGEST_MISMATCH" });
  await assert.rejects(install(place, ["demo.other"], { resolver }), { code: "INSTALL_PACKAGE_NOT_FOUND" });
  assert.equal(existsSync(place.home), false);
});
