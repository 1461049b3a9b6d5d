/**
 * Builds an MCP bundle (.mcpb, manifest version 0.3): the engine as a server of type `node`, and the services. The host
 * asks for the secrets, keeps them, and passes them in the environment. Pure.
 */

import type { JsonObject } from "@toolcrib/json";
import { type PackageFile, type PackageFiles, writeArchive } from "@toolcrib/mcpkg";
import { checkNames } from "./image-files.ts";
import {
  licensesOf,
  manifestInImage,
  nameOf,
  type Toolpack,
  type ToolpackEngine,
  versionOf,
} from "./toolpack.ts";
import { ToolpackImageError } from "./toolpack-image-error.ts";

/** Dependencies of the build of a bundle. */
export interface BundleSettings {
  readonly engine: ToolpackEngine;
  /** Returns the environment variable with the secret of a credential. */
  readonly secretVariableOf: (toolpack: Toolpack, credentialId: string) => string;
  /** Values of variables that the host does not ask for, by the names of service and variable. */
  readonly variables: ReadonlyMap<string, { readonly [name: string]: string }>;
}

/**
 * Builds the bundle.
 *
 * @returns the bytes of the archive
 * @throws {ToolpackImageError} `IMAGE_SETTING_TAKEN`; as images of several services do
 */
export function buildBundle(
  toolpacks: readonly Toolpack[],
  { engine, secretVariableOf, variables }: BundleSettings,
): Uint8Array {
  if (toolpacks.length > 1) checkNames(toolpacks);
  const isOne = toolpacks.length === 1;
  const config = new Map<string, JsonObject>();
  const env = new Map<string, string>();
  const takenBy = new Map<string, string>();
  const args: string[] = isOne
    ? ["--manifest", inBundle("manifest.yaml"), "--toolspec", inBundle("toolspec.yaml")]
    : ["--folder", inBundle("toolpacks")];
  const files = new Map<string, PackageFile>();
  for (const toolpack of toolpacks) {
    const { manifest, toolspec } = toolpack;
    const { name, displayName = name } = manifest;
    const prefix = isOne ? "" : `${name}_`;
    for (const { id, inject } of manifest.credentials ?? []) {
      const key = toKey(`${prefix}${id}`);
      const secretVariable =
        manifest.tier === "entrusted" ? (inject.env ?? "") : secretVariableOf(toolpack, id);
      const owner = `the credential "${id}" of "${name}"`;
      take(takenBy, `The setting ${key}`, owner);
      take(takenBy, `The environment variable ${secretVariable}`, owner);
      config.set(key, {
        type: "string",
        title: `${displayName}: ${id}`.slice(0, 200),
        description: `Secret for ${displayName}. It is only sent to ${(manifest.entitlements?.egress ?? []).join(", ")}.`,
        sensitive: true,
        required: true,
      });
      env.set(secretVariable, `\${user_config.${key}}`);
    }
    for (const [variable, { description, default: fallback }] of Object.entries(toolspec.variables ?? {})) {
      const key = toKey(`${prefix}${variable}`);
      const target = `${isOne ? "" : `${name}/`}${variable}`;
      const fixed = variables.get(name)?.[variable];
      args.push("--variable", `${target}=${fixed ?? `\${user_config.${key}}`}`);
      if (fixed !== undefined) continue;
      take(takenBy, `The setting ${key}`, `the variable "${variable}" of "${name}"`);
      config.set(key, {
        type: "string",
        title: `${displayName}: ${variable}`.slice(0, 200),
        description: description ?? `Value of ${variable} in the addresses of ${displayName}`,
        required: fallback === undefined,
        ...(fallback === undefined ? {} : { default: fallback }),
      });
    }
    const folder = isOne ? "" : `toolpacks/${name}/`;
    files.set(`${folder}manifest.yaml`, toFile(manifestInImage(toolpack)));
    files.set(`${folder}toolspec.yaml`, toFile(toolpack.toolspecText));
  }
  files.set("server/engine.mjs", { bytes: engine.bytes, isExecutable: false });
  files.set("licenses.txt", toFile(licensesOf(engine)));
  const json = toManifest(toolpacks, engine, {
    args,
    env: Object.fromEntries(env),
    config: Object.fromEntries(config),
  });
  files.set("manifest.json", toFile(`${JSON.stringify(json, null, 2)}\n`));
  return writeArchive(files satisfies PackageFiles);
}

/** Notes that `owner` uses `name`: where two did, the secret of one would be sent to the other's server. */
function take(takenBy: Map<string, string>, name: string, owner: string): void {
  const other = takenBy.get(name);
  if (other !== undefined) {
    throw new ToolpackImageError(
      "IMAGE_SETTING_TAKEN",
      `${name} would belong to both ${other} and ${owner}`,
      {
        hint: "such names differ in letters and digits only: build a bundle of each service, or rename one of the two",
      },
    );
  }
  takenBy.set(name, owner);
}

interface ServerSettings {
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly config: { readonly [name: string]: JsonObject };
}

function toManifest(
  toolpacks: readonly Toolpack[],
  engine: ToolpackEngine,
  { args, env, config }: ServerSettings,
): JsonObject {
  const [first] = toolpacks;
  const isOne = toolpacks.length === 1 && first !== undefined;
  const titles = toolpacks.map(({ manifest }) => manifest.displayName ?? manifest.name);
  const tools = toolpacks.flatMap(({ manifest, toolspec }) =>
    toolspec.tools.map(({ name, description }) => ({
      name: isOne ? name : `${manifest.name}__${name}`,
      description,
    })),
  );
  return {
    manifest_version: "0.3",
    name: nameOf(toolpacks),
    display_name: titles.join(", "),
    version: versionOf(toolpacks, engine),
    description: (isOne ? first.manifest.description : undefined) ?? `Tools of ${titles.join(", ")}`,
    // The format requires an author. Manifests name none, and no licence, but where the service comes from.
    author: { name: [...new Set(toolpacks.map(({ manifest }) => manifest.source.repo))].join(", ") },
    server: {
      type: "node",
      entry_point: "server/engine.mjs",
      mcp_config: { command: "node", args: [inBundle("server/engine.mjs"), ...args], env },
    },
    tools,
    compatibility: { platforms: ["darwin", "linux", "win32"], runtimes: { node: ">=24.0.0" } },
    ...(Object.keys(config).length === 0 ? {} : { user_config: config }),
  };
}

/** Returns a path that the host completes with the folder of the bundle. */
function inBundle(path: string): string {
  return `\${__dirname}/${path}`;
}

function toKey(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "_");
}

function toFile(text: string): PackageFile {
  return { bytes: new TextEncoder().encode(text), isExecutable: false };
}
