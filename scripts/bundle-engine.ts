/**
 * Bundles the toolpack engine, with everything that it imports, into one JavaScript module for images, packages and
 * bundles, and lists the packages of npm in it. The bytes depend on nothing but the sources.
 *
 *     node --conditions=toolcrib-source scripts/bundle-engine.ts FOLDER
 */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundledPackages } from "./release/bundled-packages.ts";
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
      {
        name: "parts of undici",
        // The engine is one file: what is loaded late elsewhere is in it.
        transform: (code, id) => {
          const part = /\brequire\("(undici\/[^"]+)"\)/.exec(code)?.[1];
          if (part === undefined || id.includes("node_modules")) return null;
          return `import undiciPart from ${JSON.stringify(part)};\n${code.replaceAll(`require(${JSON.stringify(part)})`, "undiciPart")}`;
        },
      },
    ],
    logLevel: "warn",
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false, comments: { legal: true } });
  await build.close();
  const [bundle, ...others] = output;
  assert(others.length === 0, "The engine must be one file");
  assert(!/\brequire\("undici/.test(bundle.code), "The engine must load nothing from elsewhere");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "toolpack-engine.js"), bundle.code);
  writeFileSync(
    join(folder, "toolpack-engine.json"),
    `${JSON.stringify(bundledPackages(Object.keys(bundle.modules)), null, 2)}\n`,
  );
}

const [folder] = process.argv.slice(2);
if (import.meta.main && folder !== undefined) await bundleEngine("source", folder);
