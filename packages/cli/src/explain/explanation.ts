/**
 * The form of the explanations that `toolcrib explain` prints and the reference pages
 * contain: cause, example and fix of each code. The texts are one file for each area,
 * which is the package that declares the codes; no other command loads them.
 */

/** The explanation of one code. */
export type Explanation = ProducedExample | PrintedExample;

interface CauseAndFix {
  /** Why it happens, and what it protects where that is not obvious. */
  readonly cause: string;
  /** The steps that remove the cause. */
  readonly fix: string;
}

/** The example runs in a test; its output is in `recorded.ts`. */
export interface ProducedExample extends CauseAndFix {
  /** The texts of the files that it reads, by path. */
  readonly files?: { readonly [path: string]: string };
  /** The circumstances besides the files, such as how a server at port 9000 behaves, in one sentence. */
  readonly did?: string;
  /** The lines before it, of the kinds of `run`, of a shell, or `toolcrib serve &`. Their output is not shown. */
  readonly before?: readonly string[];
  /**
   * The line that produces the code: a command such as `toolcrib config check toolcrib.yaml`, the head
   * and body of an HTTP request, or a message of a client as JSON.
   */
  readonly run: string;
  /** The change of the fix; with it, a test runs the example again and requires that the code is gone. */
  readonly repaired?: Repaired;
}

/** The changes of a fix: files with other texts, lines before the example is run again, another line. */
export interface Repaired {
  readonly files?: { readonly [path: string]: string };
  readonly before?: readonly string[];
  readonly run?: string;
}

/** The example does not run. A check compares its text with the message in the sources, and finds the code in the test. */
export interface PrintedExample extends CauseAndFix {
  /** The action, in one sentence. */
  readonly did: string;
  /** The message as it is printed, and its hint in a second line. */
  readonly prints: string;
  /** Why the example does not run. */
  readonly unrun: UnrunReason;
  /** The path of the test that provokes the code instead. Only `untested` has none. */
  readonly tested?: string;
}

/** Why an example does not run. */
export const unrunReasons = {
  fault: "needs a fault in a program; nothing that a user does produces it",
  load: "needs more calls or more data than an example should produce",
  machine: "needs a machine or files that fail, such as a full disk",
  moment: "needs two things to happen at the same moment",
  setup: "needs a server, a client or signed files of its own, which are longer than an example",
  untested: "needs something that no test has; only the wording of its message is checked",
} as const;

/** A key of `unrunReasons`. */
export type UnrunReason = keyof typeof unrunReasons;

/** The explanations of one area by code. */
export interface Explanations {
  readonly [code: string]: Explanation;
}

/** Whether a test produces the example. */
export function isProduced(explanation: Explanation): explanation is ProducedExample {
  return "run" in explanation;
}
