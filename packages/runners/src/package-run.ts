/**
 * Reads the command line of a package runner (`npx`, `uvx`, `go run`): which
 * packages it fetches, which of their programs it starts, and with which
 * arguments. Pure.
 *
 * An option that changes what would be fetched or run is understood or refused,
 * never ignored.
 */

import { basename } from "node:path";
import type { PackageRecord } from "./package-lock.ts";
import { RunnersError } from "./runners-error.ts";

/** The registry that a package comes from. */
export type PackageKind = "npm" | "python" | "go";

/** The request to a runner. */
export interface PackageRun {
  readonly kind: PackageKind;
  /** The packages as they were named, the one with the program first: `@scope/name@1.2`, `name[extra]==1`, `module@v1`. */
  readonly packages: readonly string[];
  /** The program of the package; undefined for its only or main one. */
  readonly command: string | undefined;
  readonly args: readonly string[];
  /** The Python version that `uvx --python` asks for. */
  readonly python: string | undefined;
  /** The record of a manifest about it. @default it comes from no manifest */
  readonly record?: PackageRecord | undefined;
}

/** The effect of an option of a runner. */
type OptionRole = "package" | "with" | "command" | "python" | "ignored";

interface Syntax {
  readonly options: { readonly [name: string]: OptionRole };
  readonly kind: PackageKind;
  readonly shown: string;
}

const npxSyntax: Syntax = {
  kind: "npm",
  shown: "npx",
  options: {
    "-y": "ignored",
    "--yes": "ignored",
    "-q": "ignored",
    "--quiet": "ignored",
    "--silent": "ignored",
    "-s": "ignored",
    "--prefer-online": "ignored",
    "--prefer-offline": "ignored",
    "-p": "package",
    "--package": "package",
    "-c": "command",
    "--call": "command",
  },
};

const uvxSyntax: Syntax = {
  kind: "python",
  shown: "uvx",
  options: {
    "-q": "ignored",
    "--quiet": "ignored",
    "--no-progress": "ignored",
    "--isolated": "ignored",
    "--no-config": "ignored",
    "-n": "ignored",
    "--no-cache": "ignored",
    "--refresh": "ignored",
    "--from": "package",
    "--with": "with",
    "-p": "python",
    "--python": "python",
  },
};

const goSyntax: Syntax = { kind: "go", shown: "go run", options: {} };

/**
 * Reads a command line.
 *
 * @returns undefined when the program is no package runner, or runs something local (`go run ./cmd`).
 * @throws {RunnersError} `RUNNER_COMMAND_INVALID`
 */
export function readPackageRun(program: string, args: readonly string[]): PackageRun | undefined {
  const name = basename(program).replace(/\.(cmd|exe|ps1)$/i, "");
  const [first, second] = args;
  if (name === "npx") return readNpx(args);
  if (name === "npm" && (first === "exec" || first === "x")) return readNpx(args.slice(1));
  if (name === "uvx") return readUvx(args);
  if (name === "uv" && first === "tool" && second === "run") return readUvx(args.slice(2));
  if (name === "go" && first === "run") return readGo(args.slice(1));
  return undefined;
}

function readNpx(args: readonly string[]): PackageRun {
  const { found, rest } = readOptions(npxSyntax, args);
  if (found.command.length > 0) {
    throw invalid(npxSyntax, "-c runs a line of a shell", "name the program and its arguments instead");
  }
  const [name, ...others] = rest;
  if (name === undefined) throw invalid(npxSyntax, "no package is named", 'write args: ["-y", "PACKAGE"]');
  const packages = found.package.length > 0 ? found.package : [name];
  for (const one of packages) checkNpmPackage(one);
  const command = found.package.length > 0 ? name : undefined;
  return { kind: "npm", packages, command, args: others, python: undefined };
}

/** Accepts names with a version or a tag; not paths, Git repositories and URLs, which have no integrity value. */
function checkNpmPackage(text: string): void {
  if (/^(@[\w.~-]+\/)?[\w.~-]+(@[\w.^~<>=|*+ -]+)?$/.test(text) && !/^[.~-]/.test(text)) return;
  throw invalid(
    npxSyntax,
    `"${text}" is not the name of a package of a registry`,
    "name a package such as @scope/name@1.2.3, or install the program and give its path as command",
  );
}

function readUvx(args: readonly string[]): PackageRun {
  const { found, rest } = readOptions(uvxSyntax, args);
  const [name, ...others] = rest;
  if (name === undefined) throw invalid(uvxSyntax, "no package is named", 'write args: ["PACKAGE"]');
  const [from] = found.package;
  const packages = [from ?? name, ...found.with.flatMap((text) => text.split(","))].map(toRequirement);
  const command = from === undefined ? undefined : name;
  return { kind: "python", packages, command, args: others, python: found.python.at(-1) };
}

/** Returns `name@1.2` of uvx as the requirement `name==1.2` (PEP 508). */
function toRequirement(text: string): string {
  const found = /^([A-Za-z0-9][\w.-]*)(\[[\w.,\s-]*\])?\s*(@\s*[\w.+!-]+|[\w.,<>=!~*+\s-]*)$/.exec(
    text.trim(),
  );
  if (found === null) {
    throw invalid(
      uvxSyntax,
      `"${text}" is not the name of a package of a registry`,
      "name a package such as name@1.2.3, or install the program and give its path as command",
    );
  }
  const [, name = "", extras = "", version = ""] = found;
  const wanted = version.startsWith("@") ? version.slice(1).trim() : undefined;
  if (wanted === "latest") return name + extras;
  return wanted === undefined ? name + extras + version : `${name}${extras}==${wanted}`;
}

function readGo(args: readonly string[]): PackageRun | undefined {
  const [name, ...others] = args;
  if (name === undefined) return undefined;
  if (name.startsWith("-")) {
    if (!args.some((one) => one.includes("@"))) return undefined;
    throw invalid(
      goSyntax,
      `the option ${name} is not supported`,
      "build the program and give its path as command",
    );
  }
  if (!name.includes("@")) return undefined;
  if (!/^[\w.~-]+(\/[\w.~-]+)+@[\w.+-]+$/.test(name)) {
    throw invalid(
      goSyntax,
      `"${name}" is not a module with a version`,
      "name it as example.com/module@v1.2.3",
    );
  }
  return { kind: "go", packages: [name], command: undefined, args: others, python: undefined };
}

interface FoundOptions {
  readonly package: string[];
  readonly with: string[];
  readonly command: string[];
  readonly python: string[];
}

/** Reads the options before the first other word; what follows belongs to the program. */
function readOptions(
  syntax: Syntax,
  args: readonly string[],
): { readonly found: FoundOptions; readonly rest: readonly string[] } {
  const found: FoundOptions = { package: [], with: [], command: [], python: [] };
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string;
    if (word === "--") return { found, rest: args.slice(at + 1) };
    if (!word.startsWith("-") || word === "-") return { found, rest: args.slice(at) };
    const equalsAt = word.indexOf("=");
    const name = equalsAt === -1 ? word : word.slice(0, equalsAt);
    const role = Object.hasOwn(syntax.options, name) ? syntax.options[name] : undefined;
    if (role === undefined) {
      throw invalid(
        syntax,
        `the option ${name} is not supported`,
        "leave it out, or install the program and give its path as command",
      );
    }
    if (role === "ignored") continue;
    const value = equalsAt === -1 ? args[++at] : word.slice(equalsAt + 1);
    if (value === undefined || value === "")
      throw invalid(syntax, `the option ${name} has no value`, "add it");
    found[role].push(value);
  }
  return { found, rest: [] };
}

function invalid({ shown }: Syntax, problem: string, fix: string): RunnersError {
  return new RunnersError("RUNNER_COMMAND_INVALID", `Cannot run a package by ${shown}: ${problem}`, {
    hint: fix,
  });
}
