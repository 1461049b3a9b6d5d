/**
 * The files of the layers of an image. The runtime layer is the same for every image of a platform. A second layer is
 * the engine, and a third one the services:
 *
 *     /usr/local/bin/node             Node, and the libraries that it loads
 *     /app/toolpack                   the engine, under the name of `image.entrypoint`
 *     /app/manifest.yaml              of one service
 *     /app/toolspec.yaml
 *     /app/toolpacks/NAME/…           the same files of each of several services
 *
 * There is no shell, no package manager and no link.
 */

import { nodePath, type RuntimePart } from "./runtime-parts.ts";
import type { TarEntry } from "./tar.ts";
import { licensesOf, manifestInImage, type Toolpack, type ToolpackEngine } from "./toolpack.ts";
import { ToolpackImageError } from "./toolpack-image-error.ts";

/** The user of images, for whom nothing is writable but `/tmp`. */
export const imageUser = 65_532;

/** Longest name of a tool that hosts accept. */
const toolNameMaxLength = 64;

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

/** Returns the files of the runtime layer. @param contents of the parts, by `installed` */
export function runtimeFiles(
  parts: readonly RuntimePart[],
  contents: ReadonlyMap<string, Uint8Array>,
): readonly TarEntry[] {
  const files = parts.flatMap((part) =>
    part.files.map(({ installed, isExecutable }): TarEntry => {
      const bytes = contents.get(installed);
      if (bytes === undefined) {
        throw new ToolpackImageError(
          "IMAGE_PART_INVALID",
          `The file "/${installed}" of ${part.name} is missing`,
        );
      }
      return { path: installed, bytes, mode: isExecutable === true ? 0o755 : 0o644 };
    }),
  );
  return [
    ...files,
    {
      path: "etc/passwd",
      bytes: text(
        `root:x:0:0:root:/nonexistent:/nonexistent\nnonroot:x:${imageUser}:${imageUser}:nonroot:/nonexistent:/nonexistent\n`,
      ),
    },
    { path: "etc/group", bytes: text(`root:x:0:\nnonroot:x:${imageUser}:\n`) },
    // Without it, the C library would ask DNS before /etc/hosts.
    { path: "etc/nsswitch.conf", bytes: text("hosts: files dns\n") },
    { path: "tmp", mode: 0o1777 },
    // Places of the kernel's file systems: nothing can create them below a root that is read-only.
    ...["dev", "proc", "sys"].map((path) => ({ path })),
  ];
}

/** Returns the files of the engine's layer. @param entrypoint absolute path */
export function engineFiles(engine: ToolpackEngine, entrypoint: string): readonly TarEntry[] {
  const path = entrypoint.replace(/^\/+/, "");
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
  const head = text(`#!/${nodePath}\n`);
  return [
    { path, bytes: Buffer.concat([head, engine.bytes]), mode: 0o755 },
    // A file without extension is an ECMAScript module only where this says so.
    { path: `${folder}package.json`, bytes: text('{"type":"module"}\n') },
    { path: "usr/share/doc/toolcrib/licenses.txt", bytes: text(licensesOf(engine)) },
  ];
}

/** Returns the files of the services' layer. @throws {ToolpackImageError} `IMAGE_TOOL_NAME_INVALID` */
export function toolpackFiles(toolpacks: readonly Toolpack[]): readonly TarEntry[] {
  if (toolpacks.length > 1) checkNames(toolpacks);
  return toolpacks.flatMap((toolpack) => {
    const folder = toolpacks.length === 1 ? "app" : `app/toolpacks/${toolpack.manifest.name}`;
    return [
      { path: `${folder}/manifest.yaml`, bytes: text(manifestInImage(toolpack)) },
      { path: `${folder}/toolspec.yaml`, bytes: text(toolpack.toolspecText) },
    ];
  });
}

/**
 * Checks that several services can be one server.
 *
 * @throws {ToolpackImageError} `IMAGE_TOOL_NAME_INVALID`, `IMAGE_TOOL_NAME_TAKEN`
 */
export function checkNames(toolpacks: readonly Toolpack[]): void {
  const seen = new Set<string>();
  for (const { manifest, toolspec } of toolpacks) {
    // Variables of the environment contain the name in this form.
    const key = manifest.name.replaceAll("-", "_");
    if (seen.has(key)) {
      throw new ToolpackImageError(
        "IMAGE_TOOL_NAME_TAKEN",
        `Two services are called "${manifest.name}", or almost`,
        {
          hint: "build one version of each service, and services that differ in more than hyphens",
        },
      );
    }
    seen.add(key);
    const long = toolspec.tools.find(({ name }) => `${manifest.name}__${name}`.length > toolNameMaxLength);
    if (long === undefined) continue;
    throw new ToolpackImageError(
      "IMAGE_TOOL_NAME_INVALID",
      `With the name of its service, "${manifest.name}__${long.name}" is longer than ${toolNameMaxLength} characters`,
      { hint: `build an image of "${manifest.name}" alone: its tools have their own names there` },
    );
  }
}
