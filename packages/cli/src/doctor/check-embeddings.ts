/** Checks search by meaning: its secret, and its state in the running gateway. Sends nothing. */

import { type GatewayConfig, SecretResolver } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import type { GatewayStatus } from "@toolcrib/gateway";
import type { CliContext } from "../cli-context.ts";
import { safeLine } from "../output/output.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

const subject = "embeddings";

/** Checks `search.embeddings` of a configuration from this terminal. */
export async function checkEmbeddings(
  { env, options }: CliContext,
  { embeddings }: GatewayConfig["search"],
): Promise<Finding[]> {
  if (embeddings === undefined) return [];
  if (embeddings.secret !== undefined) {
    const secrets = new SecretResolver({ env, readFile: readRegularFile, home: options.home });
    const resolution = await secrets.resolve(embeddings.secret, "");
    if (resolution.kind === "failed") return [failed(subject, resolution.message, resolution.hint)];
  }
  return [ok(subject, `${safeLine(embeddings.model)} of ${safeLine(embeddings.url)}`)];
}

/** The state of search by meaning in the running gateway. */
export function embeddingsFinding({
  vectors,
  tools,
  reason,
}: NonNullable<GatewayStatus["embeddings"]>): Finding {
  if (reason === undefined) return ok(subject, `${vectors} of ${tools} tools are found by meaning`);
  return warning(subject, safeLine(reason), "search goes by words meanwhile; check search.embeddings");
}
