/** Errors as values: what `except … as e` binds. */

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

  /** JavaScript keeps the stack of its own calls with every error, and the machine that of the program's. */
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
