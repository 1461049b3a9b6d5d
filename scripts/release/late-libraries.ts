/**
 * Libraries of which a waiting gateway needs nothing: their code is in files of their own, which are loaded with the first
 * use of one of their exports. The sources import them like any other module.
 *
 * In the place of a library, the modules of the bundle import a small module with the same names. Each name stands for a
 * function, a class or an object that is used as a whole: called, constructed, or asked for a member. A module must not do
 * that while it is loaded, which would load the library.
 *
 * A library that cannot be loaded is the error `LIBRARY_UNAVAILABLE`, and is loaded again with the next use.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";

/** The names by which modules import the libraries, by the name of the file that has them. */
const libraries: { readonly [file: string]: readonly string[] } = {
  ajv: ["ajv", "ajv/dist/2020.js", "ajv-formats"],
  "json-p3": ["json-p3"],
  re2js: ["re2js"],
  semver: ["semver"],
  toml: ["toml-eslint-parser"],
  xz: ["xz-decompress"],
  yaml: ["yaml"],
};

/** A library that is imported, and where it is. */
type Found = Map<string, string>;

/** Begins the ids of the modules that are imported in the place of libraries. */
const prefix = "\0late:";
const common = `${prefix}*`;

/** The module that makes the error of a library that cannot be loaded, from the root. */
const failurePath = "packages/diagnostics/src/library-unavailable.ts";

/**
 * Loads a library with the first use of an export. `instanceof` asks for members, too. A library whose code failed once has
 * exports that are undefined.
 */
const commonCode = (root: string) => `import { createRequire } from "node:module";
import { libraryUnavailable } from ${JSON.stringify(join(root, failurePath))};
export const require = createRequire(import.meta.url);
export const late = (name, read) => {
  const load = () => {
    let value;
    try {
      value = read();
    } catch (cause) {
      throw libraryUnavailable(name, cause);
    }
    if (value === undefined) throw libraryUnavailable(name, undefined);
    return value;
  };
  return new Proxy(function () {}, {
    apply: (_, self, values) => Reflect.apply(load(), self, values),
    construct: (_, values) => Reflect.construct(load(), values),
    get: (_, name) => Reflect.get(load(), name),
    has: (_, name) => Reflect.has(load(), name),
  });
};
`;

/** The libraries of a bundle. */
export class LateLibraries {
  readonly #found: Found = new Map();
  readonly #root: string;
  readonly #isOwnModule: (path: string) => boolean;

  /**
   * @param root the folder of the repository
   * @param isOwnModule whether a module is one of this repository: libraries import each other as usual
   */
  constructor(root: string, isOwnModule: (path: string) => boolean) {
    this.#root = root;
    this.#isOwnModule = isOwnModule;
  }

  /** The names of their files. */
  get fileNames(): readonly string[] {
    return this.#files().map(([name]) => fileNameOf(name));
  }

  /** Puts the small modules in the place of libraries. */
  plugin(): Plugin {
    const isLate = new Set(Object.values(libraries).flat());
    const found = this.#found;
    const isOwnModule = this.#isOwnModule;
    return {
      name: "late libraries",
      async resolveId(id, importer) {
        if (id === common) return id;
        if (!isLate.has(id) || importer === undefined || !isOwnModule(importer)) return null;
        const resolved = await this.resolve(id, importer, { skipSelf: true });
        assert(resolved, `${importer} imports ${id}, which is not installed`);
        assert.equal(found.get(id) ?? resolved.id, resolved.id, `There are several versions of ${id}`);
        found.set(id, resolved.id);
        return `${prefix}${id}`;
      },
      load: (id) => {
        if (id === common) return { code: commonCode(this.#root), moduleSideEffects: false };
        if (!id.startsWith(prefix)) return null;
        return codeFor(id.slice(prefix.length), found);
      },
    };
  }

  /** Writes the files. @returns the paths of all modules in them */
  async write(root: string, folder: string, check: (chunk: OutputChunk) => void): Promise<readonly string[]> {
    const all: string[] = [];
    for (const [name, names] of this.#files()) {
      const members = names.map(
        (one) => `get ${JSON.stringify(one)}() { return require(${JSON.stringify(this.#found.get(one))}); }`,
      );
      all.push(
        ...(await writeParts(
          { root, folder, name, code: `module.exports = { ${members.join(", ")} };` },
          check,
        )),
      );
    }
    return all;
  }

  #files(): readonly (readonly [string, readonly string[]])[] {
    return Object.entries(libraries)
      .map(([file, names]) => [file, names.filter((name) => this.#found.has(name))] as const)
      .filter(([, names]) => names.length > 0);
  }
}

/** A CommonJS module to write, with everything that it requires. */
export interface Parts {
  readonly root: string;
  readonly folder: string;
  /** Its name without its suffix. */
  readonly name: string;
  readonly code: string;
  /** The folder, from the root, from which it requires modules. @default the root */
  readonly from?: string;
}

/** Writes one file. @returns the paths of all modules in it */
export async function writeParts(
  parts: Parts,
  check: (chunk: OutputChunk) => void,
): Promise<readonly string[]> {
  const { root, folder, name, code, from = "" } = parts;
  const id = `parts of ${name}`;
  const entry = join(root, from, `${name}-parts.cjs`);
  const build = await rolldown({
    cwd: root,
    input: { [name]: id },
    platform: "node",
    plugins: [
      {
        name: id,
        resolveId: (one) => (one === id ? entry : null),
        load: (one) => (one === entry ? code : null),
      },
    ],
    checks: { pluginTimings: false },
    logLevel: "warn",
  });
  const { output } = await build.generate({
    format: "cjs",
    strict: true,
    codeSplitting: false,
    comments: { legal: false, jsdoc: false },
    minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
  });
  await build.close();
  const [chunk] = output;
  check(chunk);
  writeFileSync(join(folder, fileNameOf(name)), chunk.code);
  return chunk.moduleIds.filter((path) => path !== entry);
}

function fileNameOf(name: string): string {
  return `${name}.cjs`;
}

/** Returns the module with the exports of library `id`. */
async function codeFor(id: string, found: Found): Promise<{ code: string; moduleSideEffects: false }> {
  const exported = Object.keys(await import(pathToFileURL(found.get(id)!).href));
  const [file] = Object.entries(libraries).find(([, names]) => names.includes(id))!;
  const library = `require("./${fileNameOf(file)}")[${JSON.stringify(id)}]`;
  // The default export of a module of CommonJS is all of it.
  const isCommonJs = exported.includes("module.exports");
  const lines = exported
    .filter((name) => name === "default" || /^[A-Za-z_$][\w$]*$/.test(name))
    .map((name) => {
      const value = isCommonJs && name === "default" ? library : `${library}.${name}`;
      return `const late_${name} = /* @__PURE__ */ late(${JSON.stringify(fileNameOf(file))}, () => ${value});\nexport { late_${name} as ${name} };`;
    });
  return {
    code: [`import { late, require } from ${JSON.stringify(common)};`, ...lines].join("\n"),
    moduleSideEffects: false,
  };
}
