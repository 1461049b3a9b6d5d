/** The way to a hook: by a command, or at a URL. */

import type { Egress } from "@toolcrib/egress";
import type { LaunchedProcess } from "@toolcrib/process";
import { createCommandSend } from "./command-hook.ts";
import type { SendToHook } from "./hooks.ts";
import { createUrlSend, type HookAddress } from "./url-hook.ts";

/** Starts a command; its process ends without a grace when it is stopped. */
interface CommandWay {
  readonly start: (signal: AbortSignal) => Promise<LaunchedProcess>;
}

/** Requests, and the address of the hook for one question. */
interface UrlWay {
  readonly egress: Pick<Egress, "fetch" | "sendToLoopback">;
  readonly address: () => Promise<HookAddress>;
}

/** Returns the function that asks a hook. */
export function createSend(way: CommandWay | UrlWay): SendToHook {
  return "start" in way ? createCommandSend(way.start) : createUrlSend(way.egress, way.address);
}
