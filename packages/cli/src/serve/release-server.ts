/** `toolcrib release`: releases a server of the running gateway from quarantine. */

import { randomBytes } from "node:crypto";
import { isJsonObject, type JsonValue } from "@toolcrib/json";
import { createTestHistory } from "@toolcrib/store";
import { getFromGateway, postToGateway } from "../access/gateway-api.ts";
import { findReachableGateway } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import { waitingInGateways } from "../approve/open-approvals.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { requireServer } from "../tools/require-server.ts";
import { ownCommand } from "./own-command.ts";

/** Runs the command. Without a gateway there is no quarantine: each start uses every server. */
export async function releaseServer(context: CliContext, server: string): Promise<ExitCode> {
  const { output, options, signal } = context;
  // The gateway reads the holds of packages, so that they end without it, too.
  if (server.includes(".") && (await releasePackage(options.home, server))) {
    output.json({ id: server, released: true });
    output.print(`Released ${safeLine(server)}; a running gateway offers it within seconds`);
    return exitCodes.done;
  }
  const running = await findReachableGateway(options.home);
  if (running === undefined) {
    output.json({ running: false, home: options.home });
    output.print(`No gateway is running for ${options.home}`);
    return exitCodes.unavailable;
  }
  requireServer(server, idsIn(await getFromGateway(running, "/api/v1/status", signal)));
  const answer = await postToGateway(
    running,
    `/api/v1/servers/${encodeURIComponent(server)}/release`,
    signal,
  );
  const isReleased = isJsonObject(answer) && answer["released"] === true;
  output.json({ id: server, released: isReleased });
  const shown = safeLine(server);
  if (isReleased) output.print(`Released ${shown}; it is being connected`);
  else {
    const approves = `its definitions wait for approval: ${ownCommand(context)} approve ${shown}`;
    output.prose(
      `${shown} is not quarantined${(await hasWaiting(running, server, signal)) ? `; ${approves}` : ""}`,
    );
  }
  return exitCodes.done;
}

/** Whether definitions of a server wait for approval: they are called quarantined, too, and `release` leaves them. */
async function hasWaiting(running: RunningGateway, server: string, signal: AbortSignal): Promise<boolean> {
  const { servers } = await waitingInGateways(running, [], signal);
  return servers.some((one) => one.server === server);
}

/** Ends the hold of an installed package whose behaviour changed. @returns whether there was one */
async function releasePackage(home: string, toolId: string): Promise<boolean> {
  const history = createTestHistory(home, { randomBytes });
  return (await history.holds()).has(toolId) && (await history.release(toolId));
}

/** Returns the ids of the servers, toolspecs and packages in the status of a gateway. */
function idsIn(status: JsonValue): readonly string[] {
  const { servers, toolspecs, packages } = isJsonObject(status) ? status : {};
  return [servers, toolspecs, packages]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((entry) =>
      isJsonObject(entry) && typeof entry["id"] === "string" ? [safeLine(entry["id"])] : [],
    );
}
