/** `toolcrib doctor`: looks for everything that keeps Toolcrib from working, and says how to mend it. */

import type { CommandContext } from "../command-context.ts";
import type { Finding } from "../doctor/check.ts";
import { checkHome, checkNode, checkTokens, checkTrail } from "../doctor/check-machine.ts";
import { checkSecrets } from "../doctor/check-secrets.ts";
import { checkConfigured } from "../doctor/check-servers.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Style, safeText } from "../output/output.ts";

const marks: { readonly [S in Finding["status"]]: { readonly mark: string; readonly style: Style } } = {
  ok: { mark: "✓", style: "green" },
  warning: { mark: "!", style: "yellow" },
  failed: { mark: "✗", style: "red" },
};

/** Run the command. */
export async function doctor(context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const findings: Finding[] = [];
  const tell = (finding: Finding) => {
    findings.push(finding);
    const { mark, style } = marks[finding.status];
    const [first = "", ...rest] = safeText(finding.message).split("\n");
    output.print(
      `${output.style(style, mark)} ${finding.subject}: ${first}`,
      ...rest.map((line) => `    ${line}`),
    );
    if (finding.fix !== undefined)
      output.print(`    ${output.style("cyan", "fix")}: ${safeText(finding.fix)}`);
  };
  tell(checkNode());
  tell(checkHome(context));
  checkTokens(context).forEach(tell);
  (await checkSecrets(context)).forEach(tell);
  (await checkTrail(context)).forEach(tell);
  await checkConfigured(context, tell);
  const failures = findings.filter(({ status }) => status === "failed").length;
  output.json({ ok: failures === 0, findings });
  output.print(
    "",
    failures === 0 ? "Nothing is wrong." : `${failures} thing${failures === 1 ? " is" : "s are"} wrong.`,
  );
  return failures === 0 ? exitCodes.done : exitCodes.failed;
}
