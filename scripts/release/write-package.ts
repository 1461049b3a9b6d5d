/**
 * Writes one published package to a folder: its modules and types, its commands, its license and those of the packages
 * in it, and a package.json without dependencies.
 */

import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { bundleEngine } from "../bundle-engine.ts";
import { readManifest } from "../workspace.ts";
import { bundleFolder } from "./bundle-folder.ts";
import { bundledPackages, licenseTexts } from "./bundled-packages.ts";
import type { PublishedPackage } from "./published-packages.ts";

/**
 * Writes the package.
 *
 * @param folder is replaced
 * @param repository its address for the manifest; without one, no provenance can be published
 */
export async function writePackage(
  root: string,
  published: PublishedPackage,
  folder: string,
  repository: string | undefined,
): Promise<void> {
  const home = join(root, "packages", published.folder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const entry = published.kind === "program" ? "bin" : "index";
  const { modules } = await bundleFolder({
    root,
    entries: { [entry]: `packages/${published.folder}/src/${entry}.ts` },
    startsGateways: published.startsGateways,
    format: published.kind === "program" ? "cjs" : "esm",
    folder: join(folder, "dist"),
  });
  if (published.kind === "program") {
    cpSync(join(home, "bin"), join(folder, "bin"), { recursive: true });
    for (const path of Object.values(readManifest(root, published.folder).bin ?? {})) {
      chmodSync(join(folder, path), 0o755);
    }
    cpSync(join(root, "catalog"), join(folder, "catalog"), { recursive: true });
    await bundleEngine("source", join(folder, "engine"));
  } else {
    await writeTypes(root, published, join(folder, "dist"));
  }
  const packages = bundledPackages(modules);
  if (packages.length > 0) writeFileSync(join(folder, "THIRD-PARTY-LICENSES"), licenseTexts(packages));
  for (const name of ["LICENSE", "CHANGELOG.md"]) cpSync(join(root, name), join(folder, name));
  cpSync(join(home, "README.md"), join(folder, "README.md"));
  const manifest = toManifest(root, published, repository, packages.length > 0);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Writes the types of a library, with those of the packages in it. */
async function writeTypes(root: string, { folder }: PublishedPackage, dist: string): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: { index: `packages/${folder}/src/index.ts` },
    platform: "node",
    resolve: { conditionNames: ["toolcrib-source", "node", "import", "default"] },
    plugins: [dts({ emitDtsOnly: true, tsconfig: join(root, "tsconfig.json") })],
    checks: { pluginTimings: false },
    logLevel: "warn",
  });
  await build.write({ dir: dist, format: "esm" });
  await build.close();
}

function toManifest(
  root: string,
  { name, folder, kind, description, keywords }: PublishedPackage,
  repository: string | undefined,
  hasLicenses: boolean,
): object {
  const { version, license, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly [field: string]: unknown;
  };
  const isProgram = kind === "program";
  return {
    name,
    version,
    description,
    keywords,
    license,
    ...(repository === undefined
      ? {}
      : { repository: { type: "git", url: repository, directory: `packages/${folder}` } }),
    type: "module",
    engines,
    ...(isProgram ? { bin: readManifest(root, folder).bin } : {}),
    exports: {
      ...(isProgram ? {} : { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } }),
      "./package.json": "./package.json",
    },
    // Programs in TypeScript that use the library need these types.
    ...(isProgram
      ? {}
      : {
          peerDependencies: { "@types/node": ">=24" },
          peerDependenciesMeta: { "@types/node": { optional: true } },
        }),
    files: [
      ...(isProgram ? ["bin", "catalog", "engine"] : []),
      "dist",
      "CHANGELOG.md",
      ...(hasLicenses ? ["THIRD-PARTY-LICENSES"] : []),
    ],
    publishConfig: { access: "public", provenance: true },
  };
}
