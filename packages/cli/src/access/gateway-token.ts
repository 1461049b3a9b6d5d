/** Finds the token that commands send to the gateway of their own home. */

import { readToken } from "@toolcrib/gateway";
import type { CliContext } from "../cli-context.ts";

/** Name of the token that `serve` creates. */
export const defaultTokenName = "default";

/**
 * Returns `TOOLCRIB_TOKEN`, otherwise the token named `default`.
 *
 * @throws {GatewayError} `TOKEN_FILE_UNREADABLE`, `TOKEN_FILE_EXPOSED`, `TOKEN_INVALID`.
 */
export function findGatewayToken({ env, options }: CliContext): string {
  const given = env["TOOLCRIB_TOKEN"] ?? "";
  return given === "" ? readToken(options.home, defaultTokenName) : given;
}
