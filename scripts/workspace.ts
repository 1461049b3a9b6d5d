/**
 * The packages of the repository for checks: their manifests, and the parsed files of
 * each `src` and `test`. Reads only.
 *
 * This file and `syntax.ts` are the only ones that know TypeScript's own API,
 * which is marked unstable; changes for a new compiler version belong here.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Source } from "@toolcrib/diagnostics";
import type { SourceFile } from "typescript/unstable/ast";
import { API, type Checker, type Project } from "typescript/unstable/sync";

/** The scope of every package of the repository. */
export const scope = "@toolcrib/";

/** One TypeScript file of a package. */
export interface WorkspaceFile extends Source {
  /** Path from the root, with `/`. */
  readonly name: string;
  readonly text: string;
  /** Its syntax, with positions in `text`. */
  readonly syntax: SourceFile;
}

/** One folder of `packages/`. */
export interface WorkspacePackage {
  /** Folder name, which is the package name without its scope. */
  readonly folder: string;
  readonly manifest: PackageManifest;
  /** The text of `package.json`, for positions of findings. */
  readonly manifestSource: Source;
  readonly src: readonly WorkspaceFile[];
  readonly test: readonly WorkspaceFile[];
}

/** The used fields of a `package.json`. */
export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: { readonly [name: string]: string };
  readonly optionalDependencies?: { readonly [name: string]: string };
  readonly bin?: { readonly [name: string]: string };
}

/** The packages below one root, parsed. Disposing ends the compiler process if it was started for it. */
export interface Workspace extends Disposable {
  readonly root: string;
  /** By folder name. */
  readonly packages: readonly WorkspacePackage[];
  readonly checker: Checker;
}

/** Starts a compiler process that several workspaces can share. */
export function startCompiler(): API & Disposable {
  const compiler = new API();
  return Object.assign(compiler, { [Symbol.dispose]: () => compiler.close() });
}

/**
 * Reads the workspace at `root`, whose `tsconfig.json` says which files belong to it.
 *
 * @param compiler a shared compiler process. @default a new one
 */
export function openWorkspace(root: string, compiler?: API): Workspace {
  const api = compiler ?? startCompiler();
  const configPath = join(root, "tsconfig.json");
  const project = api.updateSnapshot({ openProjects: [configPath] }).getProject(configPath);
  if (project === undefined) throw new Error(`Cannot open the TypeScript project ${configPath}`);
  return {
    root,
    packages: listPackageFolders(root).map((folder) => readPackage(root, folder, project)),
    checker: project.checker,
    [Symbol.dispose]() {
      if (compiler === undefined) api.close();
    },
  };
}

/** Returns the folders of `packages/` that contain a package, sorted. */
export function listPackageFolders(root: string): string[] {
  return readdirSync(join(root, "packages"))
    .filter((folder) => existsSync(join(root, "packages", folder, "package.json")))
    .sort();
}

/** Reads a package's manifest. */
export function readManifest(root: string, folder: string): PackageManifest {
  return JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")) as PackageManifest;
}

function readPackage(root: string, folder: string, project: Project): WorkspacePackage {
  const manifestName = `packages/${folder}/package.json`;
  return {
    folder,
    manifest: readManifest(root, folder),
    manifestSource: { name: manifestName, text: readFileSync(join(root, manifestName), "utf8") },
    src: readFiles(root, `packages/${folder}/src/`, project),
    test: readFiles(root, `packages/${folder}/test/`, project),
  };
}

function readFiles(root: string, below: string, project: Project): WorkspaceFile[] {
  const files: WorkspaceFile[] = [];
  for (const path of project.rootFiles) {
    const name = relative(root, path).split(sep).join("/");
    if (!name.startsWith(below)) continue;
    const syntax = project.program.getSourceFile(path);
    if (syntax !== undefined) files.push({ name, text: syntax.text, syntax });
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}
