/** Describes the machine of the measurement. */

import { cpus, release, totalmem, type } from "node:os";

/** Markdown list of the machine, the runtime and the time of the run. */
export function describeMachine(now: Date): string {
  const processors = cpus();
  return [
    `- Processor: ${processors[0]?.model.trim() ?? "unknown"}, ${processors.length} cores`,
    `- Memory: ${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    `- Kernel: ${type()} ${release()} ${process.arch}`,
    `- Node: ${process.version}`,
    `- Date: ${now.toISOString().slice(0, 10)}`,
  ].join("\n");
}
