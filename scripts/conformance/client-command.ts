/**
 * The command that the conformance suite starts for each scenario of a client: the gateway, with the server of the
 * scenario as its only one, and a client of the SDK that uses it.
 *
 *     conformance client --command "node --conditions=toolcrib-source scripts/conformance/client-command.ts" …
 *
 * The suite starts all scenarios of a revision at once. `npm run conformance` names a queue in
 * TOOLCRIB_CONFORMANCE_QUEUE, which runs them a few at a time in one process; without it, this process runs its own.
 */

import type { ScenarioOutcome, ScenarioRequest } from "./client-scenario.ts";

const { env } = process;
const scenario = env["MCP_CONFORMANCE_SCENARIO"];
const url = process.argv[2];
if (scenario === undefined || url === undefined) {
  console.error("Use: MCP_CONFORMANCE_SCENARIO=NAME client-command.ts URL");
  process.exit(2);
}
const { code, log } = await run({
  scenario,
  url,
  revision: env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "2025-11-25",
  context: JSON.parse(env["MCP_CONFORMANCE_CONTEXT"] ?? "{}"),
});
process.stdout.write(log);
process.exitCode = code;

/** Runs the scenario in the queue, or here. */
async function run(request: ScenarioRequest): Promise<ScenarioOutcome> {
  const queue = env["TOOLCRIB_CONFORMANCE_QUEUE"];
  if (queue === undefined) {
    const { runClientScenario } = await import("./client-scenario.ts");
    return await runClientScenario(request);
  }
  const response = await fetch(queue, { method: "POST", body: JSON.stringify(request) });
  return (await response.json()) as ScenarioOutcome;
}
