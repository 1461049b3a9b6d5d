/**
 * `npm run build`: `dist` of each package, JavaScript with declarations, for
 * publishing and for `npm test -- --dist`. Packages are compiled in the order
 * of their dependencies, each against the published declarations of the previous
 * ones.
 *
 *     npm run build [-- FOLDER...]
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundleEngine } from "./bundle-engine.ts";
import { listPackageFolders, readManifest, scope } from "./workspace.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = join(root, "node_modules/typescript/bin/tsc");
const wanted = new Set(process.argv.slice(2));

/**
 * Modules that a package loads by their path, in a thread or a process of their own.
 * In the build they are next to `index.js`.
 */
const ownEntries: { readonly [folder: string]: readonly string[] } = {
  metatool: ["run/isolated/child-process.js", "run/threaded/execution-thread.js"],
  store: ["index-worker.js"],
};

/**
 * Packages that are not bundled: the command, which loads the modules of each
 * subcommand when they are needed, and the programs of tests.
 */
const unbundled: ReadonlySet<string> = new Set(["cli", "testing"]);

const order = sortByDependencies(listPackageFolders(root));
const unknown = [...wanted].filter((folder) => !order.includes(folder));
if (unknown.length > 0) {
  console.error(`No package is called ${unknown.join(", ")}; there are ${order.join(", ")}`);
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), "toolcrib-build-"));
try {
  for (const folder of order) {
    if ((wanted.size === 0 || wanted.has(folder)) && !(await buildPackage(folder))) {
      console.error(`Cannot build packages/${folder}`);
      process.exitCode = 1;
      break;
    }
  }
} finally {
  rmSync(scratch, { recursive: true });
}

/** Returns the folders in the order of their dependencies. */
function sortByDependencies(folders: readonly string[]): string[] {
  const sorted = new Set<string>();
  const entered = new Set<string>();
  function enter(folder: string): void {
    if (entered.has(folder)) return;
    entered.add(folder);
    for (const name of Object.keys(readManifest(root, folder).dependencies ?? {})) {
      if (name.startsWith(scope)) enter(name.slice(scope.length));
    }
    sorted.add(folder);
  }
  for (const folder of folders) enter(folder);
  return [...sorted];
}

/** Compiles one package. The compiler prints errors. @returns whether it succeeded */
async function buildPackage(folder: string): Promise<boolean> {
  const home = join(root, "packages", folder);
  const dist = join(home, "dist");
  rmSync(dist, { recursive: true, force: true });
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rootDir: join(home, "src"),
      outDir: dist,
      typeRoots: [join(root, "node_modules/@types")],
      // Resolves other packages to their published declarations.
      customConditions: [],
    },
    include: [join(home, "src/**/*.ts")],
  };
  const configPath = join(scratch, `${folder}.json`);
  writeFileSync(configPath, JSON.stringify(config));
  const { status } = spawnSync(process.execPath, [compiler, "--project", configPath], { stdio: "inherit" });
  if (status !== 0) return false;
  if (!unbundled.has(folder)) await bundle(dist, ownEntries[folder] ?? []);
  if (folder === "cli") {
    // The package of the command includes the catalog, and the engine of images in one file.
    cpSync(join(root, "catalog"), join(dist, "catalog"), { recursive: true });
    await bundleEngine("build", join(dist, "engine"));
  }
  for (const path of Object.values(readManifest(root, folder).bin ?? {})) {
    const program = join(home, path);
    if (!existsSync(program) || !readFileSync(program, "utf8").startsWith("#!")) {
      console.error(`${program} is named as a program and is not one that begins with #!`);
      return false;
    }
    chmodSync(program, 0o755);
  }
  return true;
}

/**
 * Bundles the modules below `dist` into its `index.js`, because Node spends most of
 * the load time of hundreds of small modules on resolving them. Modules that are
 * imported later stay in files of their own; declarations do not change.
 */
async function bundle(dist: string, ownEntriesOfPackage: readonly string[]): Promise<void> {
  const entries = ["index.js", ...ownEntriesOfPackage];
  const build = await rolldown({
    input: Object.fromEntries(entries.map((path) => [basename(path, ".js"), join(dist, path)])),
    // Entries have no importer; packages are never bundled into another one.
    external: (id, importer, isResolved) => importer !== undefined && !isResolved && !id.startsWith("."),
    platform: "node",
  });
  const { output } = await build.generate({ format: "esm" });
  await build.close();
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".js")) rmSync(join(dist, file));
  }
  for (const file of output) {
    assert(file.type === "chunk", file.fileName);
    writeFileSync(join(dist, file.fileName), file.code);
  }
}
