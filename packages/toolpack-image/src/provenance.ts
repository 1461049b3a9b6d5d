/**
 * The provenance of what is built: an in-toto statement (v1) with the predicate of SLSA 1. It has no times and no name of
 * a machine, so that a second build gives the same statement. Pure.
 */

import { hash } from "node:crypto";
import type { JsonObject } from "@toolcrib/json";
import { type ImagePlatform, runtimeParts } from "./runtime-parts.ts";
import { manifestInImage, type Toolpack, type ToolpackEngine } from "./toolpack.ts";

/** A result of the build. */
export interface ProvenanceSubject {
  readonly name: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
}

/** The subject of a statement. */
export interface ProvenanceInput {
  readonly subjects: readonly ProvenanceSubject[];
  readonly toolpacks: readonly Toolpack[];
  readonly engine: ToolpackEngine;
  readonly platforms: readonly ImagePlatform[];
  readonly formats: readonly string[];
  /** Values that the build fixes, by the names of service and variable. @default none */
  readonly variables?: ReadonlyMap<string, { readonly [name: string]: string }>;
  /** The reference that was given for the image. @default none */
  readonly reference?: string | undefined;
}

/** Returns the statement. */
export function toProvenance({
  subjects,
  toolpacks,
  engine,
  platforms,
  formats,
  variables = new Map(),
  reference,
}: ProvenanceInput): JsonObject {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map(({ name, digest }) => ({
      name,
      digest: { sha256: digest.slice("sha256:".length) },
    })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:toolcrib:toolpack-build:v1",
        externalParameters: {
          services: toolpacks.map(({ manifest }) => `${manifest.name}@${manifest.version}`),
          formats: [...formats],
          platforms: [...platforms],
          variables: Object.fromEntries(
            [...variables].flatMap(([service, values]) =>
              Object.entries(values).map(([name, value]) => [`${service}/${name}`, value]),
            ),
          ),
          ...(reference === undefined ? {} : { reference }),
        },
        internalParameters: {},
        resolvedDependencies: [
          {
            name: "engine",
            uri: `pkg:generic/toolcrib-toolpack@${engine.version}`,
            digest: sha256(engine.bytes),
          },
          ...toolpacks.flatMap((toolpack) => [
            { name: `manifest of ${toolpack.manifest.name}`, digest: sha256(manifestInImage(toolpack)) },
            { name: `toolspec of ${toolpack.manifest.name}`, digest: sha256(toolpack.toolspecText) },
          ]),
          ...platforms.flatMap((platform) =>
            runtimeParts(platform).map(({ name, purl, archive }) => ({
              name,
              uri: purl,
              digest:
                archive.kind === "debian"
                  ? { sha256: archive.sha256 }
                  : {
                      sha512: Buffer.from(archive.integrity.replace("sha512-", ""), "base64").toString("hex"),
                    },
            })),
          ),
        ],
      },
      runDetails: { builder: { id: "urn:toolcrib:cli", version: { toolcrib: engine.version } } },
    },
  };
}

function sha256(content: Uint8Array | string): JsonObject {
  return { sha256: hash("sha256", content, "hex") };
}
