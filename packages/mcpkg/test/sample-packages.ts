/** Packages for tests: the files of the examples that the MCPKG document prints. */

import type { PackageFile } from "@toolcrib/mcpkg";

/** Returns files from texts and bytes by path. */
export function filesOf(contents: {
  readonly [path: string]: string | Uint8Array | object;
}): Map<string, PackageFile> {
  return new Map(
    Object.entries(contents).map(([path, content]) => {
      const bytes =
        content instanceof Uint8Array
          ? content
          : Buffer.from(typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
      return [path, { bytes, isExecutable: false }];
    }),
  );
}

const messageSchema = {
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
};

/** The manifest of section 9. */
export const echoManifest = {
  toolId: "demo.echo",
  name: "Echo Tool",
  version: "0.1.0",
  description: "Echos back whatever input it receives.",
  capabilities: ["demo", "echo"],
  endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo", timeoutMs: 5000 },
  input_schema: messageSchema,
  output_schema: messageSchema,
  tests: ["tests/echo.test.json"],
};

/** The test of section 9. */
export const echoTest = {
  name: "simple_echo",
  description: "Echos back the same message.",
  input: { message: "hello" },
  expected: { message: "hello" },
  assertions: [{ path: "$.message", equals: "hello" }],
};

/** The package of section 9, with other members of the manifest. */
export function echoFiles(
  changes: object = {},
  more: Parameters<typeof filesOf>[0] = {},
): Map<string, PackageFile> {
  return filesOf({
    "manifest.json": { ...echoManifest, ...changes },
    "tests/echo.test.json": echoTest,
    ...more,
  });
}

/** A manifest without a way to run, for chains and implementations. */
export const { endpoint: _endpoint, tests: _tests, ...bareManifest } = echoManifest;
