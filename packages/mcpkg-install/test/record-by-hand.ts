/** Writes an installed package and its record without the installer, for the tests of the reader. */

import { hash } from "node:crypto";
import { writeFiles } from "@toolcrib/testing";

const messageSchema = {
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
};

/** The manifest of section 9 of the MCPKG document. */
export const echoManifest = {
  toolId: "demo.echo",
  name: "Echo Tool",
  version: "0.1.0",
  description: "Echos back whatever input it receives.",
  capabilities: ["demo", "echo"],
  endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo" },
  input_schema: messageSchema,
  output_schema: messageSchema,
};

/** The files of the package. */
export const echoFiles = {
  "manifest.json": JSON.stringify(echoManifest),
  "docs/README.md": "# Echo\n",
};

/** Writes the package into `root` (`packages` of the home, or `.mcp/tools` of `project`), and the record into `home`. */
export function writeInstalled(directory: string, home: string, root: string, project?: string): void {
  writeFiles(directory, {
    ...Object.fromEntries(
      Object.entries(echoFiles).map(([path, text]) => [`${root}/demo.echo/${path}`, text]),
    ),
    [`${home}/packages/.record.json`]: JSON.stringify({
      format: 1,
      packages: [
        {
          toolId: "demo.echo",
          version: "0.1.0",
          project,
          digest: `sha256:${"0".repeat(64)}`,
          source: "demo.echo@^0.1",
          installedAt: "2026-01-01T00:00:00.000Z",
          files: Object.entries(echoFiles).map(([path, text]) => ({
            path,
            bytes: Buffer.byteLength(text),
            sha256: hash("sha256", text, "hex"),
            isExecutable: false,
          })),
        },
      ],
      publisherKeys: {},
    }),
  });
}
