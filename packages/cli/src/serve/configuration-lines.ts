/** The lines of `status` about the configuration in force: when it was loaded, what it could not take over, and what needs a restart. Pure. */

import { isJsonObject, type JsonValue } from "@toolcrib/json";
import { counted } from "../output/counted.ts";
import { type Output, reasonLine, safeLine, safeText } from "../output/output.ts";

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
      : problemLines(`${output.style("yellow", "not in force")} the changed configuration:`, problem);
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

/** Lines of a problem that are shown. */
const problemLinesMax = 12;

/** Returns a problem after its head. Findings keep their lines: a caret stands below what is wrong. */
function problemLines(head: string, problem: string): readonly string[] {
  const lines = safeText(problem.trimEnd()).split("\n");
  if (lines.length === 1) return [`${head} ${reasonLine(problem)}`];
  const hidden = lines.length - problemLinesMax;
  const more = hidden > 0 ? [`  and ${counted(hidden, "more line")}: toolcrib config check shows them`] : [];
  return [head, ...lines.slice(0, problemLinesMax).map((line) => `  ${line}`), ...more];
}

function messageIn(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  if (!isJsonObject(value)) return undefined;
  const { message } = value;
  return typeof message === "string" ? message : undefined;
}
