/**
 * The command as a process: signals, broken pipes and defects. The first Ctrl-C
 * asks the command to stop (`World.interrupted`), the second ends it at once.
 */

import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { main } from "./main.ts";
import { createOutput } from "./output/output.ts";
import { reportError } from "./output/report-error.ts";
import { createWorld, type SignalListener } from "./world.ts";

/** Run the command of this process; sets its exit code. */
export async function runProcess(): Promise<void> {
  const interrupt = new AbortController();
  const outputEnd = new AbortController();
  let holder: SignalListener | undefined;
  const holdSignals = (listener: SignalListener): Disposable => {
    holder = listener;
    const hangUp = () => listener("SIGHUP");
    process.on("SIGHUP", hangUp);
    return {
      [Symbol.dispose]() {
        holder = undefined;
        process.off("SIGHUP", hangUp);
      },
    };
  };
  const world = createWorld({ interrupted: interrupt.signal, holdSignals }, outputEnd.signal);
  const stop = (signal: NodeJS.Signals) => {
    if (holder !== undefined) {
      holder(signal);
      return;
    }
    if (interrupt.signal.aborted) process.exit(exitCodes.interrupted);
    interrupt.abort(new CliError("CLI_INTERRUPTED", `Interrupted by ${signal}`));
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  // Whoever reads the output may stop reading (`toolcrib list | head`); that is no failure, and no reason
  // for a gateway to end.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
      outputEnd.abort();
    });
  }
  process.on("uncaughtException", (error) => {
    const flags = { isJson: false, noColor: world.args.includes("--no-color") };
    reportError(createOutput(world, flags), error, world.args.includes("--debug"));
    process.exit(exitCodes.failed);
  });
  process.exitCode = await main(world);
  process.off("SIGINT", stop);
  process.off("SIGTERM", stop);
}
