/** A parameter while its tool is built. */

import type { ToolspecParam } from "@toolcrib/toolspec";
import type { Place } from "../document/findings.ts";
import type { Node } from "../document/node.ts";

/** A parameter with additional facts. */
export interface DraftParam {
  readonly param: ToolspecParam;
  readonly place: Place;
  /** Example value in the document. */
  readonly example: Node | undefined;
}

/** The reason why a toolspec cannot express an operation; thrown while it is read, caught where it is left out. */
export class UnfitOperation extends Error {
  readonly place: Place | undefined;
  readonly hint: string | undefined;

  constructor(reason: string, place?: Place, hint?: string) {
    super(reason);
    this.place = place;
    this.hint = hint;
  }
}
