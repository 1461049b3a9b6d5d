/**
 * Looks a package up in the registry of this machine: its exact newest version, and what the registry says about
 * its publisher. It runs npm, uv or go in the sandbox of fetches and installs nothing. Everything that a registry
 * answers is untrusted: texts are cut, lists have a limit, and a version that no runner would accept is refused.
 */

import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makePrivateDirectory } from "@toolcrib/files";
import { isJsonObject, type JsonValue } from "@toolcrib/json";
import type { FetchWorkplace } from "./fetch-recipe.ts";
import type { FetchSandbox } from "./fetch-sandbox.ts";
import type { PackageKind } from "./package-run.ts";
import { RunnersError } from "./runners-error.ts";

/** A package that is looked up. */
export interface WantedPackage {
  readonly kind: PackageKind;
  /** `@scope/name` (npm), `name` or `name[extra]` (Python), the path of a program's package (Go). */
  readonly name: string;
  /** A version, tag or range as the runner accepts it. @default the newest */
  readonly version?: string | undefined;
}

/** A package as its registry describes it. Texts are untrusted, and at most 300 characters long. */
export interface PublishedPackage {
  readonly kind: PackageKind;
  readonly name: string;
  /** One exact version. */
  readonly version: string;
  /** The statements of the registry about the publisher, such as `["maintainers", "ada, ben"]`. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Why the publisher discourages its use. */
  readonly deprecated?: string | undefined;
}

/** Dependencies of `lookUpPackage`. */
export interface LookUpDeps {
  /** Folder of the fetched packages; it uses a folder in it, which it removes. */
  readonly folder: string;
  readonly sandbox: Pick<FetchSandbox, "at">;
  /** The program of the runner, such as `/usr/bin/npx`. */
  readonly runner: string;
  readonly randomBytes: (count: number) => Uint8Array;
}

const textMaxLength = 300;
const namesMaxCount = 8;

/**
 * Looks `wanted` up.
 *
 * @throws {RunnersError} `PACKAGE_FETCH_FAILED` where the registry does not have it (then `data.isAbsent` is true), or
 *   does not answer
 */
export async function lookUpPackage(deps: LookUpDeps, wanted: WantedPackage): Promise<PublishedPackage> {
  const { kind } = wanted;
  await makePrivateDirectory(deps.folder);
  const folder = join(deps.folder, `.look-up-${Buffer.from(deps.randomBytes(8)).toString("hex")}`);
  await mkdir(folder, { mode: 0o755 });
  try {
    const run = { kind, packages: [specOf(wanted)], command: undefined, args: [], python: undefined };
    const found = await lookUps[kind](wanted, deps.sandbox.at(run, folder, deps.runner));
    if (!/^v?[0-9][\w.+!-]{0,127}$/.test(found.version)) {
      throw failed(wanted, `the registry names the version ${JSON.stringify(found.version.slice(0, 60))}`);
    }
    return { kind, name: wanted.name, ...found };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type LookUp = (
  wanted: WantedPackage,
  workplace: FetchWorkplace,
) => Promise<Pick<PublishedPackage, "version" | "facts" | "deprecated"> & { readonly name?: string }>;

const lookUps: { readonly [kind in PackageKind]: LookUp } = {
  async npm(wanted, { runner, cache, run }) {
    const fields = ["name", "version", "dist.attestations", "_npmUser", "maintainers", "repository"];
    const printed = await run({
      command: join(dirname(runner), "npm"),
      args: [
        ...["view", specOf(wanted), ...fields, "homepage", "license", "deprecated"],
        ...["--json", `--cache=${cache}`, "--loglevel=error", "--no-update-notifier"],
      ],
    });
    const all = parse(wanted, printed);
    // A range matches several versions, the newest last.
    const found = Array.isArray(all) ? all.at(-1) : all;
    if (!isJsonObject(found)) throw absent(wanted, "the registry has no such version");
    const { _npmUser: user, maintainers, repository, homepage, license, deprecated } = found;
    const scope = /^@[^/]+/.exec(wanted.name)?.[0];
    const attested = "dist.attestations" in found;
    return {
      version: textOf(found["version"]),
      facts: facts([
        ["published by", personOf(user)],
        ["maintainers", listOf(Array.isArray(maintainers) ? maintainers : [maintainers])],
        ["scope", scope ?? ""],
        ["repository", textOf(isJsonObject(repository) ? repository["url"] : repository)],
        ["home page", textOf(homepage)],
        ["license", textOf(license)],
        ["provenance", attested ? "the registry has an attestation of its build" : ""],
      ]),
      deprecated: textOf(deprecated) === "" ? undefined : textOf(deprecated),
    };
  },
  async python(wanted, { folder, cache, runner, run }) {
    const input = join(folder, "requirements.in");
    await writeFile(input, `${specOf(wanted)}\n`);
    const shared = ["--quiet", "--no-progress", "--no-python-downloads", `--cache-dir=${cache}`];
    const printed = await run({
      command: join(dirname(runner), "uv"),
      args: [
        ...["pip", "compile", "--no-deps", "--only-binary=:all:", "--no-header", "--no-annotate"],
        ...[input, ...shared],
      ],
    });
    const version = /^[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?==(\S+)\s*$/m.exec(printed)?.[1];
    if (version === undefined) throw absent(wanted, "the index has no version that runs here");
    return { version, facts: [] };
  },
  async go(wanted, { cache, runner, run }) {
    const env = { GOPATH: join(cache, "path"), GOFLAGS: "-modcacherw -mod=mod", GOTOOLCHAIN: "local" };
    const version = wanted.version ?? "latest";
    let problem: unknown;
    // The module of a package is the longest path above it that is one.
    for (const path of pathsAbove(wanted.name)) {
      try {
        const printed = await run({
          command: runner,
          args: ["list", "-m", "-json", `${path}@${version}`],
          env: { ...env, GOCACHE: join(cache, "build"), GOTMPDIR: cache },
        });
        const found = parse(wanted, printed);
        const { Version, Origin, Time, Deprecated } = isJsonObject(found) ? found : {};
        const origin = isJsonObject(Origin) ? textOf(Origin["URL"]) : "";
        return {
          version: textOf(Version),
          facts: facts([
            ["module", path],
            ["repository", origin],
            ["released", textOf(Time)],
          ]),
          deprecated: textOf(Deprecated) === "" ? undefined : textOf(Deprecated),
        };
      } catch (error) {
        problem ??= error;
      }
    }
    throw problem;
  },
};

/** The package as the tools of its registry name it, with its version. */
function specOf({ kind, name, version }: WantedPackage): string {
  if (version === undefined) return kind === "python" ? name : `${name}@latest`;
  if (kind !== "python") return `${name}@${version}`;
  return /^[0-9]/.test(version) ? `${name}==${version}` : `${name}${version}`;
}

/** Paths that can be the module of a package: at most five, the longest first. */
function pathsAbove(name: string): readonly string[] {
  const parts = name.split("/");
  const lengths = Array.from({ length: Math.min(5, parts.length) }, (_, at) => parts.length - at);
  return lengths
    .filter((length) => length >= Math.min(2, parts.length))
    .map((length) => parts.slice(0, length).join("/"));
}

function facts(all: readonly (readonly [string, string])[]): PublishedPackage["facts"] {
  return all.filter(([, value]) => value !== "");
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== "string") return "";
  return value.length > textMaxLength ? `${value.slice(0, textMaxLength)}…` : value;
}

/** The name of a person: `ada <ada@example.com>`, or an object. */
function personOf(value: JsonValue | undefined): string {
  const text = isJsonObject(value) ? textOf(value["name"]) : textOf(value);
  return text.replace(/\s*<[^>]*>\s*$/, "");
}

function listOf(values: readonly (JsonValue | undefined)[]): string {
  const names = values
    .slice(0, namesMaxCount)
    .map(personOf)
    .filter((name) => name !== "");
  const more = values.length - namesMaxCount;
  return textOf(more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", "));
}

function parse(wanted: WantedPackage, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw failed(wanted, "the answer of the registry cannot be read");
  }
}

function failed({ name }: WantedPackage, reason: string, data?: { readonly isAbsent: true }): RunnersError {
  return new RunnersError("PACKAGE_FETCH_FAILED", `"${name}" cannot be looked up: ${reason}`, {
    hint: "check its name and version, and the registry of this machine",
    ...(data === undefined ? {} : { data }),
  });
}

/** The error about what the registry does not have. */
function absent(wanted: WantedPackage, reason: string): RunnersError {
  return failed(wanted, reason, { isAbsent: true });
}
