/**
 * Reads which upstream MCP server a manifest adopts (document 000, tier 1): the
 * package of a registry that `source` names, its version, and the program that
 * `image.entrypoint` names. Pure; nothing is fetched here.
 *
 * `builder: go-static` names a Go module by its repository. `node` and `python`
 * are additions to the document: their `source.repo` is `npm:NAME` and `pypi:NAME`.
 * Their `image.digest` is the SHA-256 of the lock of the package, a file of its own.
 */

import { quote } from "@toolcrib/document";
import type { Builder, Manifest } from "../manifest/manifest.ts";

/** The upstream server of a manifest. */
export interface AdoptedSource {
  readonly kind: "go" | "npm" | "python";
  /** The name in the registry: a Go package with its module, `@scope/name`, or the name of a Python project. */
  readonly package: string;
  /** One exact version, as the registry spells it. */
  readonly version: string;
  /** The program of the package; for Go, the name of the built binary. */
  readonly program: string;
  /** Arguments that the server always gets, before those of the configuration. */
  readonly args: readonly string[];
  /** SHA-256 in hexadecimal digits, from `image.digest`; undefined where that is zeros, which records nothing. */
  readonly digest: string | undefined;
}

/** Why a manifest adopts no server. */
export interface SourceProblem {
  /** The field with the problem, such as `source.repo`. */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** Words of an entrypoint that are read: the path and its arguments. */
const entrypointMaxWords = 64;

const rules: {
  readonly [B in Exclude<Builder, "toolpack">]: {
    readonly kind: AdoptedSource["kind"];
    readonly repo: RegExp;
    readonly repoHint: string;
    readonly version: RegExp;
    readonly versionHint: string;
  };
} = {
  "go-static": {
    kind: "go",
    repo: /^(?:https:\/\/)?([a-z0-9][a-z0-9.-]*\.[a-z]{2,}(?:\/[\w~][\w.~-]*?)+?)(?:\.git|\/)?$/i,
    repoHint: "write the path of the module, such as github.com/owner/repository",
    version: /^(?:[\w./-]+\/)?(v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/,
    versionHint: "write a version of the module, such as v1.2.3",
  },
  node: {
    kind: "npm",
    repo: /^npm:((?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*)$/,
    repoHint: "write npm: and the name of the package, such as npm:@scope/server",
    version: /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/,
    versionHint: "write an exact version, such as 1.2.3",
  },
  python: {
    kind: "python",
    repo: /^pypi:([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)$/,
    repoHint: "write pypi: and the name of the project, such as pypi:mcp-server-time",
    version:
      /^v?((?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)$/i,
    versionHint: "write an exact version, such as 1.2.3",
  },
};

/** The files beside a manifest. */
export interface BesideManifest {
  /** SHA-256 of its lock in hexadecimal digits; undefined where it has none. */
  readonly lockDigest: string | undefined;
}

/**
 * Returns the upstream server that `manifest` adopts, or why it adopts none.
 *
 * @param beside compared with the digest of the manifest. @default the lock is not compared
 */
export function adoptedSource(manifest: Manifest, beside?: BesideManifest): AdoptedSource | SourceProblem {
  const source = readSource(manifest);
  if (!("kind" in source)) return source;
  return (
    placeholderProblem(manifest) ?? (beside === undefined ? undefined : lockProblem(source, beside)) ?? source
  );
}

function placeholderProblem(manifest: Manifest): SourceProblem | undefined {
  const variables = [...placeholderVariables(manifest).values()];
  if (new Set(variables).size === variables.length) return undefined;
  return {
    path: "credentials",
    message: `The manifest ${quote(manifest.name)} has several sealed credentials in one variable`,
    hint: "give each of them a placeholderEnv, the variable that the server reads",
  };
}

function lockProblem(
  { kind, digest }: AdoptedSource,
  { lockDigest }: BesideManifest,
): SourceProblem | undefined {
  if (kind === "go" || digest === undefined || digest === lockDigest) return undefined;
  return {
    path: "image.digest",
    message:
      lockDigest === undefined
        ? `"image.digest" is the SHA-256 of a lock, and the manifest has none`
        : `"image.digest" is sha256:${digest}, but the lock of the manifest has sha256:${lockDigest}`,
    hint: "restore the lock, or write both again: toolcrib lint-manifests --live MANIFEST --write",
  };
}

function readSource(manifest: Manifest): AdoptedSource | SourceProblem {
  const { source, image } = manifest;
  const builder = image.builder ?? "go-static";
  if (builder === "toolpack") {
    return {
      path: "image.builder",
      message: `The manifest ${quote(manifest.name)} has builder: toolpack, which needs a toolspec and adopts no server`,
      hint: "write it in toolspecs: instead, or choose another builder: go-static, node or python",
    };
  }
  const { kind, ...rule } = rules[builder];
  const name = rule.repo.exec(source.repo.trim())?.[1];
  if (name === undefined) {
    const message = `"source.repo" of the manifest ${quote(manifest.name)} is ${quote(source.repo)}, which names no package for builder: ${builder}`;
    return { path: "source.repo", message, hint: rule.repoHint };
  }
  const version = rule.version.exec(source.tag.trim())?.[1];
  if (version === undefined) {
    const message = `"source.tag" of the manifest ${quote(manifest.name)} is ${quote(source.tag)}, which is no exact version`;
    return { path: "source.tag", message, hint: rule.versionHint };
  }
  const [path = "", ...args] = image.entrypoint.trim().split(/\s+/, entrypointMaxWords);
  const program = path.slice(path.lastIndexOf("/") + 1);
  if (!/^[A-Za-z0-9][\w.-]*$/.test(program)) {
    return {
      path: "image.entrypoint",
      message: `"image.entrypoint" of the manifest ${quote(manifest.name)} names no program`,
      hint: "write the path of the program, and its fixed arguments after it: /app/server stdio",
    };
  }
  const folder =
    kind === "go" && source.package !== undefined ? `/${source.package.replace(/^\.?\/|\/$/g, "")}` : "";
  return {
    kind,
    package: `${name}${folder}`,
    version,
    program,
    args,
    digest: /^sha256:0{64}$/.test(image.digest) ? undefined : image.digest.slice("sha256:".length),
  };
}

/** The variable for the placeholder of a manifest with one sealed credential. */
const placeholderVariable = "TOOLCRIB_PLACEHOLDER";

/**
 * Returns the variable in which the process of an adopted server finds the placeholder of each sealed credential, by the
 * id of the credential. Empty for the entrusted tier.
 */
export function placeholderVariables({ tier, credentials = [] }: Manifest): ReadonlyMap<string, string> {
  if (tier !== "sealed") return new Map();
  return new Map(credentials.map(({ id, placeholderEnv }) => [id, placeholderEnv ?? placeholderVariable]));
}
