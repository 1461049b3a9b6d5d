/**
 * Runs the command as a process: signals, broken pipes and defects. The first
 * Ctrl-C asks the command to stop (`ProcessContext.signal`), the second ends the
 * process at once.
 */

import { CliError } from "./cli-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { explainUnreportable } from "./load-failure.ts";
import { createProcessContext, type ProcessContext, type SignalListener } from "./process-context.ts";

/** Runs the command of this process with `run`, and sets its exit code. */
export async function runProcess(run: (context: ProcessContext) => Promise<ExitCode>): Promise<void> {
  const interrupt = new AbortController();
  const outputEnd = new AbortController();
  let holder: SignalListener | undefined;
  const interceptSignals = (listener: SignalListener): Disposable => {
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
  const context = createProcessContext({ signal: interrupt.signal, interceptSignals }, outputEnd.signal);
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
  // The reader of the output may stop reading (`toolcrib list | head`). That is not a failure, and a gateway
  // continues.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // EIO: the terminal was closed.
      if (!["EPIPE", "EIO", "ERR_STREAM_DESTROYED"].includes(error.code ?? "")) throw error;
      outputEnd.abort();
    });
  }
  process.on("uncaughtException", (error) => {
    reportDefect(context, error)
      .catch((failure: unknown) => context.stderr.write(explainUnreportable(failure)))
      .finally(() => process.exit(exitCodes.failed));
  });
  process.exitCode = await run(context);
  process.off("SIGINT", stop);
  process.off("SIGTERM", stop);
}

async function reportDefect(context: ProcessContext, error: unknown): Promise<void> {
  const { createOutput } = await import("./output/output.ts");
  const { reportError } = await import("./output/report-error.ts");
  const output = createOutput(context, { isJson: false, noColor: context.args.includes("--no-color") });
  reportError(output, error, { isDebug: context.args.includes("--debug") });
}
