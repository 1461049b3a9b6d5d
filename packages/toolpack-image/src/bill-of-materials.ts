/** The software bill of materials of what is built (CycloneDX 1.6, JSON). The same input gives the same bytes. Pure. */

import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@toolcrib/json";
import { type ImagePlatform, runtimeParts } from "./runtime-parts.ts";
import { manifestInImage, nameOf, type Toolpack, type ToolpackEngine, versionOf } from "./toolpack.ts";

/** The subject of a bill. */
export interface BillInput {
  readonly toolpacks: readonly Toolpack[];
  readonly engine: ToolpackEngine;
  /** Platforms of the image; none without an image. */
  readonly platforms: readonly ImagePlatform[];
}

/** Writes the bill. */
export function writeBill({ toolpacks, engine, platforms }: BillInput): string {
  const root = {
    type: platforms.length > 0 ? "container" : "application",
    "bom-ref": "root",
    name: nameOf(toolpacks),
    version: versionOf(toolpacks, engine),
  };
  const runtime = platforms.flatMap((platform) => runtimeComponents(platform));
  const bundled = engine.packages.map(({ name, version, license }): JsonObject => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return { type: "library", "bom-ref": purl, name, version, purl, ...toLicenses(license) };
  });
  const engineRef = `pkg:generic/toolcrib-toolpack@${engine.version}`;
  const own: JsonObject = {
    type: "application",
    "bom-ref": engineRef,
    name: "toolcrib-toolpack",
    version: engine.version,
    purl: engineRef,
    ...toLicenses("Apache-2.0"),
    hashes: [sha256(engine.bytes)],
  };
  const services = toolpacks.flatMap((toolpack) => serviceComponents(toolpack));
  const direct = [...runtime, own, ...services];
  const refsOf = (components: readonly JsonObject[]) =>
    components.map((one) => one["bom-ref"] as string).toSorted();
  const body: JsonObject = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      tools: { components: [{ type: "application", name: "toolcrib", version: engine.version }] },
      component: root,
    },
    components: [...direct, ...bundled],
    dependencies: [
      { ref: "root", dependsOn: refsOf(direct) },
      { ref: engineRef, dependsOn: refsOf(bundled) },
    ],
  };
  return `${canonicalJson({ ...body, serialNumber: `urn:uuid:${uuidOf(canonicalJson(body))}` })}\n`;
}

function runtimeComponents(platform: ImagePlatform): readonly JsonObject[] {
  return runtimeParts(platform).map(({ name, version, license, purl, files, archive }) => ({
    type: name === "node" ? "platform" : "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    ...toLicenses(license),
    ...(archive.kind === "debian" ? { hashes: [{ alg: "SHA-256", content: archive.sha256 }] } : {}),
    components: files.map(({ installed, sha256: content }) => ({
      type: "file",
      "bom-ref": `${purl}#${installed}`,
      name: `/${installed}`,
      hashes: [{ alg: "SHA-256", content }],
    })),
  }));
}

function serviceComponents(toolpack: Toolpack): readonly JsonObject[] {
  const { name, version } = toolpack.manifest;
  const texts = { manifest: manifestInImage(toolpack), toolspec: toolpack.toolspecText };
  return Object.entries(texts).map(([kind, text]) => ({
    type: "data",
    "bom-ref": `${kind}:${name}@${version}`,
    name: `${kind} of ${name}`,
    version,
    hashes: [sha256(new TextEncoder().encode(text))],
  }));
}

function sha256(bytes: Uint8Array): JsonObject {
  return { alg: "SHA-256", content: hash("sha256", bytes, "hex") };
}

function toLicenses(license: string | undefined): JsonObject {
  return license === undefined ? {} : { licenses: [{ expression: license }] };
}

/** Returns a UUID of version 8 (RFC 9562) that depends on the text alone. */
function uuidOf(text: string): string {
  const hex = hash("sha256", text, "hex");
  const variant = "89ab"[Number.parseInt(hex[16] ?? "0", 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
