/** Checks of a package before it is published, by publint and Are The Types Wrong, and by its limits. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import type { PackedPackage } from "./pack-package.ts";
import { type PublishedPackage, packageLimits } from "./published-packages.ts";

/** Returns what is wrong with a package; nothing where it can be published. */
export async function checkPackage(
  root: string,
  published: PublishedPackage,
  folder: string,
  packed: PackedPackage,
): Promise<readonly string[]> {
  const { messages } = await publint({ pkgDir: folder, strict: true, pack: false });
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as object;
  const { maxBytes, maxFiles } = packageLimits;
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, manifest) ?? message.code}`),
    ...(published.kind === "library" ? typeProblems(root, packed.tarball) : []),
    ...(packed.unpackedBytes > maxBytes
      ? [`it has ${packed.unpackedBytes} bytes; at most ${maxBytes} are allowed`]
      : []),
    ...(packed.files > maxFiles ? [`it has ${packed.files} files; at most ${maxFiles} are allowed`] : []),
  ];
}

function typeProblems(root: string, tarball: string): readonly string[] {
  const program = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, tarball, "--profile", "esm-only", "--no-color", "--no-emoji"],
    { encoding: "utf8" },
  );
  return status === 0 ? [] : [`attw: ${(stdout + stderr).trim()}`];
}
