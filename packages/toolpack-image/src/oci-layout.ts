/**
 * OCI image layouts (OCI image format 1.1): layers, configuration, manifest and index as files by their digests. The
 * same input gives the same bytes. Layers are not compressed: the output of deflate differs between versions of zlib and
 * between processors, and what pushes an image compresses it.
 */

import { createHash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@toolcrib/json";
import type { ImagePlatform } from "./runtime-parts.ts";
import { writeTar } from "./tar.ts";

/** A file in parts that follow each other. */
export type FileParts = readonly Uint8Array[];

/** An image of one platform. */
export interface ImageContents {
  readonly platform: ImagePlatform;
  /** Tar archives, the lowest layer first, with the step that made each. */
  readonly layers: readonly { readonly archive: FileParts; readonly createdBy: string }[];
  readonly entrypoint: readonly string[];
  /** Arguments after the entrypoint, which the user of the image can replace. @default none */
  readonly command?: readonly string[];
  /** Paths at which volumes belong. @default none */
  readonly volumes?: readonly string[];
  /** Ports such as `7420/tcp`. @default none */
  readonly ports?: readonly string[];
  /** As Docker writes it; OCI has none, and other runtimes ignore it. @default none */
  readonly healthcheck?: JsonObject;
  readonly user: string;
  readonly env: readonly string[];
  readonly labels: { readonly [name: string]: string };
}

/** A layout. */
export interface OciLayout {
  /** Files by their paths. */
  readonly files: ReadonlyMap<string, FileParts>;
  /** Digest of the image: of its manifest, or of its index where there are several platforms. */
  readonly digest: string;
  /** Digests of the manifests by platform. */
  readonly manifests: ReadonlyMap<ImagePlatform, string>;
}

const types = {
  layer: "application/vnd.oci.image.layer.v1.tar",
  config: "application/vnd.oci.image.config.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
} as const;

/** The time of everything: images of the same contents are the same. */
const epoch = "1970-01-01T00:00:00Z";

interface Descriptor extends JsonObject {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Writes images of one name as a layout.
 *
 * @param reference name and tag, for runtimes that load the layout
 */
export function writeLayout(images: readonly ImageContents[], reference: string): OciLayout {
  const files = new Map<string, FileParts>();
  const add = (mediaType: string, parts: FileParts): Descriptor => {
    const digest = digestOf(parts);
    files.set(`blobs/sha256/${digest.slice("sha256:".length)}`, parts);
    return { mediaType, digest, size: sizeOf(parts) };
  };
  const written = images.map((image) => ({ image, ...writeImage(image, add) }));
  const descriptors = written.map(({ image, descriptor }) => ({
    ...descriptor,
    platform: toPlatform(image.platform),
  }));
  const [only] = descriptors;
  const isOne = descriptors.length === 1 && only !== undefined;
  const annotations = {
    "io.containerd.image.name": reference,
    "org.opencontainers.image.ref.name": reference.slice(reference.lastIndexOf(":") + 1),
  };
  const top = isOne ? only : add(types.index, toJsonFile(toIndex(descriptors)));
  files.set("oci-layout", toJsonFile({ imageLayoutVersion: "1.0.0" }));
  files.set("index.json", toJsonFile(toIndex([{ ...top, annotations }])));
  const [first] = written;
  if (isOne && first !== undefined) {
    // For versions of Docker that load no layouts.
    files.set("manifest.json", toJsonFile([dockerEntry(first, reference)]));
  }
  return {
    files,
    digest: top.digest,
    manifests: new Map(written.map(({ image, descriptor }) => [image.platform, descriptor.digest])),
  };
}

interface WrittenImage {
  readonly descriptor: Descriptor;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

function writeImage(
  image: ImageContents,
  add: (mediaType: string, parts: FileParts) => Descriptor,
): WrittenImage {
  const layers = image.layers.map(({ archive }) => add(types.layer, archive));
  const { os, architecture } = toPlatform(image.platform);
  const config = add(
    types.config,
    toJsonFile({
      created: epoch,
      os,
      architecture,
      config: {
        User: image.user,
        Entrypoint: [...image.entrypoint],
        Env: [...image.env],
        ...(image.command === undefined ? {} : { Cmd: [...image.command] }),
        ...(image.volumes === undefined ? {} : { Volumes: toSet(image.volumes) }),
        ...(image.ports === undefined ? {} : { ExposedPorts: toSet(image.ports) }),
        ...(image.healthcheck === undefined ? {} : { Healthcheck: image.healthcheck }),
        WorkingDir: "/tmp",
        Labels: { ...image.labels },
      },
      // An archive without compression has one digest.
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
      history: image.layers.map(({ createdBy }) => ({ created: epoch, created_by: createdBy })),
    }),
  );
  const manifest = {
    schemaVersion: 2,
    mediaType: types.manifest,
    config,
    layers,
    annotations: { ...image.labels },
  };
  return { descriptor: add(types.manifest, toJsonFile(manifest)), config, layers };
}

/** A set, as images write one. */
function toSet(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, {}]));
}

function dockerEntry({ config, layers }: WrittenImage, reference: string): JsonObject {
  const pathOf = ({ digest }: Descriptor) => `blobs/sha256/${digest.slice("sha256:".length)}`;
  return { Config: pathOf(config), RepoTags: [reference], Layers: layers.map(pathOf) };
}

function toIndex(manifests: readonly JsonObject[]): JsonObject {
  return { schemaVersion: 2, mediaType: types.index, manifests };
}

function toPlatform(platform: ImagePlatform) {
  const [os = "", architecture = ""] = platform.split("/");
  return { os, architecture };
}

function toJsonFile(value: JsonObject | readonly JsonObject[]): FileParts {
  return [new TextEncoder().encode(canonicalJson(value))];
}

/** Writes a layout as one tar archive, which runtimes load. */
export function archiveLayout({ files }: OciLayout): FileParts {
  return writeTar([...files].map(([path, parts]) => ({ path, bytes: joined(parts) })));
}

function joined(parts: FileParts): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** Returns `sha256:` and the digest of a file. */
export function digestOf(parts: FileParts): string {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(part);
  return `sha256:${digest.digest("hex")}`;
}

/** Returns the size of a file in bytes. */
export function sizeOf(parts: FileParts): number {
  return parts.reduce((total, { length }) => total + length, 0);
}
