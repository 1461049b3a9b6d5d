/**
 * Bundles sources of this repository, with everything that they import, into the modules of one folder. What is
 * loaded when it is needed stays in modules of its own. The bytes depend on nothing but the sources and their
 * dependencies.
 */

import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, isAbsolute, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type CodeSplittingGroup,
  type OutputAsset,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  rolldown,
} from "rolldown";
import { type ExactFile, groupModules } from "./group-modules.ts";
import { LateLibraries, writeParts } from "./late-libraries.ts";
import { lateModules } from "./late-modules.ts";
import { repeatableModules } from "./repeatable-modules.ts";

/** Modules that run in a thread or a process of their own, loaded by their names from the module next to them. */
const ownEntries: { readonly [name: string]: string } = {
  "execution-thread": "packages/metatool/src/run/threaded/execution-thread.ts",
  "child-process": "packages/metatool/src/run/isolated/child-process.ts",
  "index-worker": "packages/store/src/index-worker.ts",
};

/** The module with the parts of undici that are loaded with the first connection. */
const undiciName = "undici.cjs";

/** The module of the engine of policies, beside its WebAssembly. */
const cedarName = "cedar-wasm.cjs";

/** Number of files at most for modules that entries share. The published command has at most 400 files. */
const sharedFilesMaxCount = 24;

/** Entries that are loaded with every command, and the gateway, whose start others wait for. */
const hotEntries: ReadonlySet<string> = new Set(["start", "run-process", "main", "serve"]);

/** Entries that are loaded before the version of Node is known, in their order. */
const firstEntries = ["bin", "start"];

/** Those of the hot ones that load what they import dynamically, too, whenever they are loaded. */
const wholeEntries: ReadonlySet<string> = new Set(["serve"]);

/** Factor by which they are loaded more often than other entries. */
const hotWeight = 20;

/** A bundle to write. */
export interface FolderBundle {
  readonly root: string;
  /** Paths of the first modules from the root, by the name of their file in the folder. */
  readonly entries: { readonly [name: string]: string };
  /** Whether it starts gateways, which need the modules of threads and processes. */
  readonly startsGateways: boolean;
  /**
   * `cjs` for programs: Node starts modules of CommonJS with less work. `esm` for libraries, whose users choose by their own
   * modules.
   */
  readonly format: "cjs" | "esm";
  readonly folder: string;
  /**
   * Whether the modules of the command find its launcher, version and catalog where its sources are, and processes of
   * composites start from their sources, which sandboxes show. @default false
   */
  readonly keepsPlaces?: boolean;
}

/** The modules of a bundle, as paths. */
export interface BundledModules {
  /** The modules of which something is in it. */
  readonly modules: readonly string[];
  /** The files that were read. */
  readonly sources: readonly string[];
}

/** Writes the bundle. */
export async function bundleFolder(bundle: FolderBundle): Promise<BundledModules> {
  const { root, folder, format } = bundle;
  const sources = new Set<string>();
  const undici = new Set<string>();
  const cedar = new Set<string>();
  const libraries = new LateLibraries(root, (path) => isOwnModule(path, root));
  const entries = { ...bundle.entries, ...(bundle.startsGateways ? ownEntries : {}) };
  const isEntry = new Set(Object.values(entries).map((path) => join(root, path)));
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    treeshake: {
      // Modules of this repository only define; what is imported from the index of a package needs no other module.
      moduleSideEffects: (path) => !isOwnModule(path, root) || isEntry.has(path),
    },
    // jsonc-parser can be bundled by its "module" only: its "main" passes `require` on.
    resolve: {
      conditionNames: ["toolcrib-source", "node", "import", "default"],
      mainFields: ["module", "main"],
    },
    plugins: [
      {
        name: "sources",
        transform: (_, path) => {
          if (isAbsolute(path)) sources.add(path);
        },
      },
      ownRequires(undici),
      ownEngine(cedar),
      ...(bundle.keepsPlaces === true ? [keptPlaces(placesKept.map((path) => join(root, path)))] : []),
      libraries.plugin(),
      format === "esm" ? places : lateModules,
      repeatableModules,
      plainCharacters,
      ownShapes,
    ],
    // Reports about slow plugins are about busy machines, and one module of the command is loaded in both ways.
    checks: { pluginTimings: false, ineffectiveDynamicImport: false },
    logLevel: "warn",
  });
  const exact = await build.generate(
    outputOptions(format, [{ name: "shared", minShareCount: 2, entriesAware: true }]),
  );
  const files = exact.output.flatMap(toExactFile);
  const first = firstModules(files);
  const groups = groupModules(
    files.filter(({ modules }) => !modules.some((path) => first.has(path))),
    sharedFilesMaxCount,
    (name) => (hotEntries.has(name) ? hotWeight : 1),
  );
  const groupOf = (path: string) => first.get(path) ?? groups.get(path) ?? null;
  const { output } = await build.write({
    dir: folder,
    ...outputOptions(format, [{ name: groupOf }]),
  });
  await build.close();
  // The packages themselves are of modules of ECMAScript.
  if (format === "cjs") writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const names = new Set([...output.map(({ fileName }) => fileName), undiciName, ...libraries.fileNames]);
  for (const file of output) {
    if (file.type !== "chunk") continue;
    assertComplete(file, names);
    assert(format === "esm" || file.code.startsWith('"use strict"'), `${file.fileName} is not strict`);
  }
  for (const path of cedar) {
    cpSync(path, join(folder, cedarName));
    cpSync(join(path, "../cedar_wasm_bg.wasm"), join(folder, "cedar_wasm_bg.wasm"));
    modules.push(path);
    sources.add(path);
  }
  const ofUndici = undici.size === 0 ? [] : await bundleUndici(root, folder, undici);
  const ofLibraries = await libraries.write(root, folder, (chunk) => assertComplete(chunk, new Set()));
  return { modules: [...modules, ...ofUndici, ...ofLibraries], sources: [...sources] };
}

/**
 * Returns the names of the groups of the shared modules that the command loads before it turns on the compile cache, and
 * before it knows the version of Node: nothing else is put into their files.
 */
function firstModules(files: readonly ExactFile[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const name of firstEntries) {
    const found = new Set(files.filter(({ entry }) => entry === name));
    for (const { entry, imports, modules } of found) {
      for (const file of files) {
        if (file.entry === undefined && imports.includes(file.fileName)) found.add(file);
      }
      if (entry !== undefined) continue;
      for (const path of modules) if (!groups.has(path)) groups.set(path, `shared-before-${name}`);
    }
  }
  return groups;
}

/** Whether a module is a source of a package here. Dependencies of other versions than at the root are below packages, too. */
function isOwnModule(path: string, root: string): boolean {
  return path.startsWith(join(root, "packages", sep)) && !path.includes(`${sep}node_modules${sep}`);
}

/** @param groups the modules that are put into one file */
function outputOptions(format: FolderBundle["format"], groups: CodeSplittingGroup[]): OutputOptions {
  return {
    format,
    // As modules of ECMAScript are, which the sources are.
    strict: true,
    entryFileNames: "[name].js",
    chunkFileNames: ({ name }) => (name.startsWith("shared") ? "shared-[hash].js" : "[name]-[hash].js"),
    comments: { legal: false, jsdoc: false },
    codeSplitting: { includeDependenciesRecursively: false, groups },
    // Chunks can import each other: modules run in the order of their imports nevertheless.
    strictExecutionOrder: true,
    // Stack traces keep the names of functions and classes.
    minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
  };
}

function toExactFile(file: OutputChunk | OutputAsset): ExactFile[] {
  if (file.type !== "chunk") return [];
  const { fileName, name, isEntry, isDynamicEntry, imports, dynamicImports, code, moduleIds } = file;
  return [
    {
      fileName,
      entry: isEntry || isDynamicEntry ? name : undefined,
      imports: wholeEntries.has(name) ? [...imports, ...dynamicImports] : imports,
      bytes: code.length,
      modules: moduleIds,
    },
  ];
}

/** Turns `require("undici/…")` of sources into a member of the module with all of these parts. */
function ownRequires(undici: Set<string>): Plugin {
  return {
    name: "parts of undici",
    transform: (code, path) => {
      if (path.includes("node_modules") || !code.includes('require("undici/')) return null;
      return code.replaceAll(/require\("(undici\/[^"]+)"\)/g, (_, part: string) => {
        undici.add(part);
        return `require("./${undiciName}")[${JSON.stringify(part)}]`;
      });
    },
  };
}

/**
 * Keeps the module of the engine of policies in a file of its own, which can be loaded anew. @param paths gets its path
 */
function ownEngine(paths: Set<string>): Plugin {
  const resolution = 'require.resolve("@cedar-policy/cedar-wasm/nodejs")';
  return {
    name: "engine of policies",
    transform: (code, path) => {
      if (path.includes("node_modules") || !code.includes(resolution)) return null;
      paths.add(createRequire(path).resolve("@cedar-policy/cedar-wasm/nodejs"));
      return code.replaceAll(resolution, `require.resolve("./${cedarName}")`);
    },
  };
}

/** Folders and modules whose places are kept. */
const placesKept = ["packages/cli/src/", "packages/metatool/src/run/isolated/isolated-child.ts"];

/** Replaces what modules, or modules below folders, read of their own places by the places of their sources. */
function keptPlaces(starts: readonly string[]): Plugin {
  return {
    name: "kept places",
    transform: (code, path) =>
      starts.some((start) => path.startsWith(start)) && code.includes("import.meta.")
        ? code
            .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
            .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        : null,
  };
}

/** Gives modules of CommonJS, which are in modules of ECMAScript here, the name of their folder. */
const places: Plugin = {
  name: "places",
  renderChunk: (code) =>
    /\b__dirname\b/.test(code) ? `const __dirname = import.meta.dirname;\n${code}` : null,
};

/** Escapes what is not ASCII: for one such character, V8 keeps two bytes of each character of the module. */
const plainCharacters: Plugin = {
  name: "plain characters",
  generateBundle(_, output) {
    for (const file of Object.values(output)) if (file.type === "chunk") file.code = escaped(file.code);
  },
};

function escaped(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Gives the exports of each module of CommonJS a first property that no other module has. They are getters of the same
 * short names in each: objects that get different getters under one name, in the same order of names, become dictionaries in V8,
 * and each use of something from another module looks it up (10 ns) instead of reading it (0.5 ns).
 */
const ownShapes: Plugin = {
  name: "own shapes of exports",
  generateBundle({ format }, output) {
    if (format !== "cjs") return;
    for (const file of Object.values(output)) {
      if (file.type !== "chunk" || !file.code.includes("Object.defineProperty(exports,")) continue;
      file.code = file.code.replace('"use strict";', () => `"use strict";exports["${file.fileName}"]=0;`);
    }
  },
};

/** Writes a module that loads each part of undici when it is first used. @returns the paths of all modules in it */
async function bundleUndici(
  root: string,
  folder: string,
  parts: ReadonlySet<string>,
): Promise<readonly string[]> {
  const members = [...parts]
    .sort()
    .map((part) => `get ${JSON.stringify(part)}() { return require(${JSON.stringify(part)}); }`);
  const code = `module.exports = { ${members.join(", ")} };`;
  // Below the package whose dependency undici is.
  const from = "packages/mcp";
  return await writeParts({ root, folder, name: "undici", code, from }, (chunk) =>
    assertComplete(chunk, new Set()),
  );
}

/** Modules that ajv names in the text of functions which it can write to files; nothing here writes them. */
const namedOnly = /^ajv(?:-formats)?\/dist\//;

/** Asserts that a module loads nothing that is not in the folder. Calls of `require` are found in its text, texts included. */
function assertComplete(
  {
    fileName,
    code,
    imports,
    dynamicImports,
  }: Pick<OutputChunk, "fileName" | "code" | "imports" | "dynamicImports">,
  files: ReadonlySet<string>,
): void {
  for (const name of [...imports, ...dynamicImports]) {
    assert(files.has(name) || isBuiltin(name), `${fileName} imports ${name}, which is not in the package`);
  }
  for (const [, name = ""] of code.matchAll(/\brequire\("([^"\s]+)"/g)) {
    const isName = /^[a-z@][\w@/.-]*$/.test(name);
    const isComplete = !name.startsWith("./") || files.has(name.slice(2));
    assert(isComplete, `${fileName} loads ${name}, which is not in the package`);
    assert(!isName || isBuiltin(name) || namedOnly.test(name), `${fileName} loads ${name}`);
  }
}
