/** A service, an engine and a runtime of small files for tests. */

import { hash } from "node:crypto";
import { sampleManifest, sampleToolspec } from "@toolcrib/testing";
import type { ImageRuntime, RuntimePart, Toolpack, ToolpackEngine } from "@toolcrib/toolpack-image";
import { parseManifest, parseToolspec } from "@toolcrib/toolspec";

/** Returns a service. @param edit changes the texts of manifest and toolspec */
export function sampleToolpack(name: string, edit: (text: string) => string = (text) => text): Toolpack {
  const manifestText = edit(sampleManifest(name));
  const toolspecText = edit(sampleToolspec(name));
  const { value: manifest } = parseManifest({ name: "manifest", text: manifestText });
  const { value: toolspec } = parseToolspec({ name: "toolspec", text: toolspecText });
  if (manifest === undefined || toolspec === undefined) throw new Error("the sample has errors");
  return { manifest, toolspec, manifestText, toolspecText };
}

export const sampleEngine: ToolpackEngine = {
  bytes: Buffer.from("console.log(1);\n"),
  version: "1.2.3",
  packages: [
    { name: "@scope/one", version: "1.0.0", license: "MIT", licenseText: "MIT of one" },
    { name: "two", version: "2.0.0" },
  ],
};

/** Returns a part whose archive is of npm. */
export function samplePart(archive: Uint8Array, files: { readonly [path: string]: string }): RuntimePart {
  return {
    name: "sample",
    version: "1.0.0",
    license: "MIT",
    purl: "pkg:npm/sample@1.0.0",
    archive: {
      kind: "npm",
      name: "sample",
      version: "1.0.0",
      integrity: `sha512-${hash("sha512", archive, "base64")}`,
    },
    files: Object.entries(files).map(([path, text]) => ({
      path: `package/${path}`,
      installed: `usr/${path}`,
      sha256: hash("sha256", text, "hex"),
      bytes: text.length,
    })),
  };
}

/** A runtime of one file. */
export const sampleRuntime: ImageRuntime = {
  platform: "linux/amd64",
  parts: [samplePart(Buffer.alloc(0), { "local/bin/node": "node" })],
  contents: new Map([["usr/local/bin/node", Buffer.from("node")]]),
};
