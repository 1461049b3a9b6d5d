/** An output that collects lines instead of printing them, for one frame of a live view. */

import { wrapProse, wrapStyled } from "../output/fit-styled.ts";
import type { Output } from "../output/output.ts";
import { formatTable } from "../output/table.ts";

/** The output of a frame, and its lines. */
export interface FrameOutput extends Output {
  readonly lines: readonly string[];
}

/** Creates the output of a frame that is `width` columns wide, with the styles of `base`. */
export function createFrameOutput(base: Output, width: number): FrameOutput {
  const lines: string[] = [];
  const print = (...more: readonly string[]) => {
    for (const line of more.flatMap((text) => text.split("\n"))) lines.push(...wrapStyled(line, width));
  };
  // Each member is named, so that the compiler refuses one that would write past the frame.
  return {
    isJson: false,
    isTerminal: base.isTerminal,
    isNoteTerminal: base.isNoteTerminal,
    width,
    lines,
    print,
    prose(...more) {
      print(...more.flatMap((line) => wrapProse(line, width)));
    },
    table(columns, rows) {
      // The rows of a table that cannot shrink further are cut, so that its columns stay columns.
      lines.push(...formatTable(columns, rows, { width, paintTitle: (title) => base.style("dim", title) }));
    },
    json() {},
    jsonLine() {},
    note() {},
    style: base.style,
    noteStyle: base.noteStyle,
  };
}
