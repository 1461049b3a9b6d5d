/** The lines of `status` about the configuration in force: when it was loaded, what it could not take over, and what needs a restart. Pure. */

import { isJsonObject, type JsonValue } from "@toolcrib/json";
import { type Output, reasonLine, safeLine } from "../output/output.ts";

/** Returns the lines. A gateway of an earlier version reports none of this. */
export function configurationLines(status: object, output: Output): string[] {
  const { configuration } = status as { readonly configuration?: JsonValue };
  if (!isJsonObject(configuration)) return [];
  const { loadedAt, lastError, incomplete, pendingRestart } = configuration;
  const loaded =
    typeof loadedAt === "string" ? [output.style("dim", `configuration loaded ${safeLine(loadedAt)}`)] : [];
  const problem = messageIn(lastError);
  const failed =
    problem === undefined
      ? []
      : [`${output.style("yellow", "not in force")} the changed configuration: ${reasonLine(problem)}`];
  const reasons = Array.isArray(incomplete) ? incomplete.filter((one) => typeof one === "string") : [];
  const parts = reasons.map(
    (reason) =>
      `${output.style("red", "not in force")} a part of the changed configuration; restart the gateway: ${reasonLine(reason)}`,
  );
  const waiting = Array.isArray(pendingRestart)
    ? pendingRestart.filter((one) => typeof one === "string")
    : [];
  const pending =
    waiting.length === 0
      ? []
      : [`${output.style("yellow", "needs a restart")} ${waiting.map(safeLine).join(", ")}`];
  return [...loaded, ...failed, ...parts, ...pending];
}

function messageIn(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  if (!isJsonObject(value)) return undefined;
  const { message } = value;
  return typeof message === "string" ? message : undefined;
}
