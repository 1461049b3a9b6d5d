/**
 * Bundles the toolpack engine, with everything that it imports, into one JavaScript module for images, packages and
 * bundles, and lists the packages of npm in it. The bytes depend on nothing but the sources.
 *
 *     node --conditions=toolcrib-source scripts/bundle-engine.ts FOLDER
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { readManifest } from "./workspace.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Where the engine begins, in the sources and in the build. */
const entries = {
  source: "packages/cli/src/toolpack/engine.ts",
  build: "packages/cli/dist/toolpack/engine.js",
};

/** Writes the bundle and its list of packages to `folder`. */
export async function bundleEngine(form: keyof typeof entries, folder: string): Promise<void> {
  const { version } = readManifest(root, "cli");
  const build = await rolldown({
    cwd: root,
    input: join(root, entries[form]),
    platform: "node",
    resolve: {
      conditionNames: [...(form === "source" ? ["toolcrib-source"] : []), "node", "import", "default"],
    },
    plugins: [
      {
        name: "version",
        // The command reads its version from its package.json, which is not next to the bundle.
        load: (id) =>
          /[\\/]packages[\\/]cli[\\/](?:src|dist)[\\/]version\.[jt]s$/.test(id)
            ? `export const version = ${JSON.stringify(version)};`
            : null,
      },
    ],
    logLevel: "warn",
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false, comments: { legal: true } });
  await build.close();
  const [bundle, ...others] = output;
  assert(others.length === 0, "The engine must be one file");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "toolpack-engine.js"), bundle.code);
  writeFileSync(
    join(folder, "toolpack-engine.json"),
    `${JSON.stringify(packagesOf(Object.keys(bundle.modules)), null, 2)}\n`,
  );
}

/** Returns the packages of npm that the modules belong to, with their licenses. */
function packagesOf(modules: readonly string[]) {
  const folders = new Set(modules.flatMap((path) => folderOfPackage(path.replace(/^\0/, "")) ?? []));
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly [field: string]: string | undefined;
    };
    const licenseFile = readdirSync(folder).find((file) => /^licen[cs]e(?:\.|$)/i.test(file));
    const licenseText =
      licenseFile === undefined ? undefined : readFileSync(join(folder, licenseFile), "utf8");
    return { name: name ?? "", version: version ?? "", license, licenseText };
  });
  const keyOf = (one: { readonly name: string; readonly version: string }) => `${one.name}@${one.version}`;
  return [...new Map(packages.map((one) => [keyOf(one), one])).values()].toSorted((one, other) =>
    keyOf(one) < keyOf(other) ? -1 : 1,
  );
}

/** Returns the folder of the package of npm that has the module; undefined for modules of this repository. */
function folderOfPackage(path: string): string | undefined {
  if (!path.includes("node_modules")) return undefined;
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, "package.json");
    // Folders of a package can have a package.json that says only how modules are read.
    if (existsSync(file) && "version" in (JSON.parse(readFileSync(file, "utf8")) as object)) return folder;
  }
  return undefined;
}

const [folder] = process.argv.slice(2);
if (import.meta.main && folder !== undefined) await bundleEngine("source", folder);
