/**
 * The reason why a hook has no answer. The message is the end of a sentence that the client sees; the detail is
 * for the operator alone.
 */
export class HookFailure extends Error {
  readonly detail: string | undefined;

  constructor(message: string, detail?: string) {
    super(message);
    this.detail = detail;
  }
}
