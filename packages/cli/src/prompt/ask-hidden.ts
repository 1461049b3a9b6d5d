/** Asks for a text on the terminal without echoing it. */

import type { ReadStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";

/**
 * Returns the typed line. Backspace deletes a character, Ctrl-U deletes all.
 *
 * @throws {CliError} `CLI_INTERRUPTED` for Ctrl-C and Ctrl-D; `CLI_USAGE` for a paste with several lines.
 */
export function askHidden(question: string, { stdin, stderr, signal }: ProcessContext): Promise<string> {
  const terminal = stdin as ReadStream;
  return new Promise((resolve, reject) => {
    let typed: readonly string[] = [];
    const end = () => {
      terminal.off("data", read);
      signal.removeEventListener("abort", stop);
      terminal.setRawMode(false);
      terminal.pause();
      stderr.write("\n");
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    const stop = () => fail(signal.reason);
    const read = (chunk: string) => {
      const characters = [...stripVTControlCharacters(chunk)];
      for (const [at, character] of characters.entries()) {
        if (character === "\r" || character === "\n") {
          // The shell would receive the remaining lines.
          if (
            characters
              .slice(at + 1)
              .join("")
              .trim() !== ""
          )
            fail(severalLines());
          else {
            end();
            resolve(typed.join(""));
          }
          return;
        }
        if (character === "\u0003" || character === "\u0004") {
          fail(new CliError("CLI_INTERRUPTED", "Nothing was stored"));
          return;
        }
        typed = nextTyped(typed, character);
      }
    };
    signal.addEventListener("abort", stop);
    terminal.setEncoding("utf8");
    // Before the question: what is typed as soon as it appears must not be echoed.
    terminal.setRawMode(true);
    terminal.on("data", read);
    terminal.resume();
    stderr.write(question);
  });
}

function nextTyped(typed: readonly string[], character: string): readonly string[] {
  if (character === "\u007f" || character === "\b") return typed.slice(0, -1);
  if (character === "\u0015") return [];
  return character < " " && character !== "\t" ? typed : [...typed, character];
}

function severalLines(): CliError {
  return new CliError("CLI_USAGE", "A secret of several lines cannot be pasted here", {
    hint: "save it to a file and use --from-file, or pipe it",
  });
}
