/** Runs the command of `audit.anchor` for one signed end of the trail, without a shell. */

import type { ProcessLauncher } from "@toolcrib/process";
import type { TextScrubber } from "@toolcrib/redaction";

/**
 * Starts the command, writes `line` to its standard input and waits for its end. Discards its standard output; its
 * standard error is in `logs/audit-anchor.log` of the home.
 *
 * @param signal ends the command.
 * @throws {ProcessError} when it cannot be started, and an error when its exit code is not 0.
 */
export async function runAnchorCommand(
  {
    launcher,
    scrubber,
  }: { readonly launcher: Pick<ProcessLauncher, "launch">; readonly scrubber: TextScrubber },
  [command = "", ...args]: readonly string[],
  line: string,
  signal: AbortSignal,
): Promise<void> {
  const started = await launcher.launch(
    { command, args, env: {}, label: "audit-anchor", isTask: true, scrub: (text) => scrubber.text(text) },
    { signal },
  );
  const stop = () => void started.stop(0);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) stop();
    started.stdout.resume();
    started.stdin.end(line);
    const { code, signal: endedBy, lastStderr } = await started.exited;
    if (code === 0) return;
    const how = endedBy === undefined ? `exited with code ${code}` : `was ended by ${endedBy}`;
    throw new Error(`"${command}" ${how}${lastStderr === undefined ? "" : `: ${lastStderr}`}`);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
