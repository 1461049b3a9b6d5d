/** `toolcrib toolpack fetch`: fills the cache of what images are built from. */

import type { ImagePlatform } from "@toolcrib/toolpack-image";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { findParts } from "./part-store.ts";

/** Options of the command. */
export interface FetchFlags {
  readonly platform?: readonly ImagePlatform[];
  readonly debianMirror?: string;
}

/** Runs the command. */
export async function fetchParts(context: CliContext, flags: FetchFlags): Promise<ExitCode> {
  const { output } = context;
  const platforms = [...new Set(flags.platform ?? ["linux/amd64" as const])];
  const downloaded: string[] = [];
  for (const platform of platforms) {
    const found = await findParts(context, platform, flags);
    downloaded.push(...found.downloaded.map((name) => `${name} (${platform})`));
  }
  output.json({ platforms, downloaded });
  output.print(
    downloaded.length === 0
      ? `Everything for images of ${platforms.join(" and ")} is there`
      : `Downloaded ${downloaded.join(", ")}`,
  );
  return exitCodes.done;
}
