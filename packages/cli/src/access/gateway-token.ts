/** The token with which commands go to the gateway of their own home. */

import { readToken } from "@toolcrib/gateway";
import type { CommandContext } from "../command-context.ts";

/** Name of the token that `serve` makes. */
export const defaultTokenName = "default";

/**
 * `TOOLCRIB_TOKEN`, else the token called `default`.
 *
 * @throws {GatewayError} `TOKEN_FILE_UNREADABLE`, `TOKEN_FILE_EXPOSED`, `TOKEN_INVALID`.
 */
export function findGatewayToken({ options, world }: Pick<CommandContext, "options" | "world">): string {
  const given = world.environment["TOOLCRIB_TOKEN"] ?? "";
  return given === "" ? readToken(options.home, defaultTokenName) : given;
}
