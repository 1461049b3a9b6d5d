/** Builds the image of services: its layers, labels and reference. Pure. */

import { engineFiles, imageUser, runtimeFiles, toolpackFiles } from "./image-files.ts";
import { type FileParts, type OciLayout, writeLayout } from "./oci-layout.ts";
import { type ImagePlatform, type RuntimePart, runtimeParts } from "./runtime-parts.ts";
import { writeTar } from "./tar.ts";
import { nameOf, type Toolpack, type ToolpackEngine, versionOf } from "./toolpack.ts";
import { ToolpackImageError } from "./toolpack-image-error.ts";

/** The runtime of one platform. */
export interface ImageRuntime {
  readonly platform: ImagePlatform;
  /** Contents of the files of its parts, by `installed`. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** @default the recorded parts of the platform */
  readonly parts?: readonly RuntimePart[];
}

/** The sources of an image. */
export interface ImageInput {
  /** One or more. */
  readonly toolpacks: readonly Toolpack[];
  readonly engine: ToolpackEngine;
  /** One for each platform. */
  readonly runtimes: readonly ImageRuntime[];
  /** Name and tag. @default `image.ref` and the version of the only service, otherwise `toolpack` and their names */
  readonly reference?: string | undefined;
  /** Arguments of the engine that the image has before those of its user. @default none */
  readonly args?: readonly string[];
}

/** An image and its reference. */
export interface BuiltImage extends OciLayout {
  readonly reference: string;
}

/** Path of the engine in an image of several services. */
const sharedEntrypoint = "/app/toolpack";

/**
 * Builds the image.
 *
 * @throws {ToolpackImageError}
 */
export function buildImage({ toolpacks, engine, runtimes, reference, args = [] }: ImageInput): BuiltImage {
  const [first] = toolpacks;
  const isOne = toolpacks.length === 1 && first !== undefined;
  const entrypoint = isOne ? first.manifest.image.entrypoint : sharedEntrypoint;
  const name = checkReference(reference ?? defaultReference(toolpacks, engine));
  const labels = labelsOf(toolpacks, engine);
  const engineLayer = engineFiles(engine, entrypoint);
  const toolpackLayer = toolpackFiles(toolpacks);
  const upper = [
    { archive: writeTar(engineLayer), createdBy: `toolcrib ${engine.version}: engine` },
    { archive: writeTar(toolpackLayer), createdBy: `toolcrib ${engine.version}: ${nameOf(toolpacks)}` },
  ];
  const images = runtimes.map(({ platform, contents, parts }) => {
    const runtimeLayer = runtimeFiles(parts ?? runtimeParts(platform), contents);
    // Files of different layers must not replace each other.
    writeTar([...runtimeLayer, ...engineLayer, ...toolpackLayer]);
    return {
      platform,
      layers: [{ archive: writeTar(runtimeLayer) as FileParts, createdBy: "toolcrib: runtime" }, ...upper],
      entrypoint: [entrypoint, ...args],
      user: `${imageUser}:${imageUser}`,
      env: ["PATH=/usr/local/bin", "HOME=/nonexistent"],
      labels,
    };
  });
  return { ...writeLayout(images, name), reference: name };
}

/** Returns the reference of an image: `image.ref`, with the version as its tag; for several services their names. */
function defaultReference(toolpacks: readonly Toolpack[], engine: ToolpackEngine): string {
  const [first] = toolpacks;
  const version = versionOf(toolpacks, engine);
  if (toolpacks.length !== 1 || first === undefined) return `toolpack:${nameOf(toolpacks).slice(0, 100)}`;
  const { name, image } = first.manifest;
  const ref = image.ref.replace(/@.*$/s, "");
  const hasTag = ref.lastIndexOf(":") > ref.lastIndexOf("/");
  if (hasTag) return ref;
  // One repository can have the images of many services.
  return ref.split("/").at(-1) === name ? `${ref}:${version}` : `${ref}:${name}-${version}`;
}

/** Grammar of references, of the OCI distribution specification, with a required tag. */
const referencePattern =
  /^(?:[a-zA-Z0-9.-]+(?::[0-9]{1,5})?\/)?[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** @throws {ToolpackImageError} `IMAGE_NAME_INVALID` */
export function checkReference(reference: string): string {
  if (reference.length <= 255 && referencePattern.test(reference)) return reference;
  throw new ToolpackImageError(
    "IMAGE_NAME_INVALID",
    `"${reference.slice(0, 300)}" is not a reference with a tag`,
    {
      hint: "give one: --ref registry.example.com/tools/github:0.1.0",
    },
  );
}

function labelsOf(
  toolpacks: readonly Toolpack[],
  engine: ToolpackEngine,
): { readonly [name: string]: string } {
  const [first] = toolpacks;
  const isOne = toolpacks.length === 1 && first !== undefined;
  const services = toolpacks.map(({ manifest }) => `${manifest.name}@${manifest.version}`).join(",");
  const hosts = [
    ...new Set(toolpacks.flatMap(({ manifest }) => manifest.entitlements?.egress ?? [])),
  ].toSorted();
  const { displayName, name, description, source } = first?.manifest ?? {};
  return {
    "org.opencontainers.image.title": isOne ? (displayName ?? name ?? "") : nameOf(toolpacks),
    "org.opencontainers.image.version": versionOf(toolpacks, engine),
    ...(isOne && description !== undefined ? { "org.opencontainers.image.description": description } : {}),
    ...(isOne && source !== undefined
      ? {
          "org.opencontainers.image.source": toUrl(source.repo),
          "org.opencontainers.image.revision": source.tag,
        }
      : {}),
    "io.toolcrib.toolpack.services": services,
    "io.toolcrib.toolpack.egress": hosts.join(","),
    "io.toolcrib.version": engine.version,
  };
}

function toUrl(repo: string): string {
  return /^[a-z]+:\/\//.test(repo) ? repo : `https://${repo}`;
}
