/**
 * Caught errors as values: the variable of `except … as e`.
 */

import type { StarlarkError } from "../run/starlark-error.ts";
import { HostObject, type Value } from "./value.ts";

/** A caught error: `e.type`, `e.message`, `e.tool`, `e.details`; `str(e)` is its message. */
export class ErrorValue extends HostObject {
  get type(): "error" {
    return "error";
  }
  readonly error: StarlarkError;

  constructor(error: StarlarkError) {
    super();
    this.error = error;
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case "type":
        return this.error.kind === "tool_error" ? "ToolError" : "Error";
      case "message":
        return this.error.message;
      case "tool":
        return this.error.tool ?? null;
      case "details":
        return this.error.detailsValue;
      default:
        return undefined;
    }
  }

  override attributeNames(): readonly string[] {
    return ["details", "message", "tool", "type"];
  }

  /** The memory includes the stack of JavaScript, which each error records, and the stack of the program. */
  override weight(): number {
    return 1100 + 120 * this.error.stackEntries.length;
  }

  override references(rest: Value[]): void {
    rest.push(this.error.message, this.error.detailsValue);
  }

  override repr(): string {
    return this.error.message;
  }
}
