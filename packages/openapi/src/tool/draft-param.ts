/** A parameter on its way into a tool. */

import type { ToolspecParam } from "@toolcrib/toolspec";
import type { Place } from "../document/findings.ts";
import type { Node } from "../document/node.ts";

/** A parameter, and what is known of it besides. */
export interface DraftParam {
  readonly param: ToolspecParam;
  readonly place: Place;
  /** A value that the document gives as an example. */
  readonly example: Node | undefined;
}

/** Why an operation cannot be called through a toolspec; thrown while it is read, caught where it is left out. */
export class UnfitOperation extends Error {
  readonly place: Place | undefined;
  readonly hint: string | undefined;

  constructor(reason: string, place?: Place, hint?: string) {
    super(reason);
    this.place = place;
    this.hint = hint;
  }
}
