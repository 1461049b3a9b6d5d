/**
 * Reads the manifests that tool servers of a layer name, checks them, and
 * completes the servers. Findings about a manifest point into it, findings about
 * an entry point into the configuration. Reads no secret and starts nothing.
 */

import { hash } from "node:crypto";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { nodeAt, type Problem, toDiagnostic } from "@toolcrib/document";
import { explainFileFailure } from "@toolcrib/secrets";
import { parseManifest } from "@toolcrib/toolspec";
import {
  type AdoptedFiles,
  type AdoptedFilesProblem,
  isManifestPath,
  readAdoptedAt,
  readCatalogManifest,
} from "./adopted-files.ts";
import { completeAdopted, readAdoptedManifest } from "./adopted-server.ts";
import type { ConfigLayer, ServerDeclaration } from "./config-layer.ts";
import type { AdoptedManifest } from "./config-types.ts";
import { quote } from "./display-source.ts";
import type { ToolspecFilesDeps } from "./toolspec-files.ts";

/** Dependencies of reading manifests. */
export interface LoadAdoptedDeps extends ToolspecFilesDeps {
  /** Returns the path that a reference of the file `fileName` means. */
  readonly pathFrom: (path: string, fileName: string) => string;
  /** Whether a server whose credentials have no secret is an error. @default true */
  readonly needsSecrets?: boolean | undefined;
}

/** A manifest, or why there is none. */
interface Reading {
  readonly files: AdoptedManifest | undefined;
  readonly digest: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly problem: Problem | undefined;
}

/** Returns `layer` with its adopted servers completed. */
export async function loadAdopted(layer: ConfigLayer, deps: LoadAdoptedDeps): Promise<ConfigLayer> {
  if (layer.servers.every(({ adopted }) => adopted === undefined)) return layer;
  const diagnostics: Diagnostic[] = [];
  const report = (problem: Problem): void => void diagnostics.push(toDiagnostic(problem, layer.source));
  const known = new Map<string, Promise<Reading>>();
  const servers = await Promise.all(
    layer.servers.map(async (server): Promise<ServerDeclaration> => {
      const { adopted } = server;
      if (adopted === undefined) return server;
      const { reference } = adopted;
      const isFirst = !known.has(reference);
      const reading = known.get(reference) ?? readManifest(reference, layer.source.name, deps);
      known.set(reference, reading);
      const { files, digest, diagnostics: findings, problem } = await reading;
      if (isFirst) diagnostics.push(...findings);
      const span = nodeAt(server.node, ["transport", "manifest"])?.span ?? server.span;
      if (problem !== undefined) report({ span, path: "transport.manifest", ...problem });
      if (files === undefined) return server;
      const completed = completeAdopted(server, files, report, { needsSecrets: deps.needsSecrets !== false });
      return { ...completed, adopted: completed.adopted && { ...completed.adopted, digest } };
    }),
  );
  return { ...layer, servers, diagnostics: [...layer.diagnostics, ...diagnostics] };
}

async function readManifest(reference: string, fileName: string, deps: LoadAdoptedDeps): Promise<Reading> {
  const nothing = { files: undefined, digest: undefined, diagnostics: [] };
  let found: AdoptedFiles | AdoptedFilesProblem;
  try {
    found = isManifestPath(reference)
      ? await readAdoptedAt(deps.pathFrom(reference, fileName), deps)
      : await readCatalogManifest(reference, deps);
  } catch (error) {
    const message = `Cannot read the manifest: ${explainFileFailure(error)}`;
    const hint = "check the permissions of its files";
    return { ...nothing, problem: { code: "CONFIG_MANIFEST_UNREADABLE", message, hint } };
  }
  if ("code" in found) return { ...nothing, problem: found };
  return readFound(found);
}

function readFound({ manifest: file, lock: lockFile }: AdoptedFiles): Reading {
  const text = new TextDecoder().decode(file.text);
  const { value, diagnostics } = parseManifest({ name: file.name, text });
  if (value === undefined || hasErrors(diagnostics)) {
    const message = `Cannot use ${quote(file.name)}: the manifest has errors`;
    const hint = "fix the errors listed for this file";
    return {
      files: undefined,
      digest: undefined,
      diagnostics,
      problem: { code: "CONFIG_MANIFEST_INVALID", message, hint },
    };
  }
  const lock = lockFile === undefined ? undefined : new TextDecoder().decode(lockFile.text);
  const read = readAdoptedManifest(value, { manifestFile: file.name, lock });
  if ("code" in read) return { files: undefined, digest: undefined, diagnostics, problem: read };
  const digest = `sha256:${hash("sha256", `${text}\0${lock ?? ""}`, "hex")}`;
  return { files: read, digest, diagnostics, problem: undefined };
}
