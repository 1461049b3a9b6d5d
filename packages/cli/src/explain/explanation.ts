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
  /** What is the case besides the files, such as how a server at port 9000 behaves, in one sentence. */
  readonly did?: string;
  /** The lines before it, of the kinds of `run`, of a shell, or `toolcrib serve &`. Their output is not shown. */
  readonly before?: readonly string[];
  /**
   * The line that produces the code: a command such as `toolcrib config check toolcrib.yaml`, the head
   * and body of an HTTP request, or a message of a client as JSON.
   */
  readonly run: string;
  /** What the fix changes; with it, a test runs the example again and requires that the code is gone. */
  readonly repaired?: Repaired;
}

/** The changes of a fix: files with other texts, lines before the example is run again, another line. */
export interface Repaired {
  readonly files?: { readonly [path: string]: string };
  readonly before?: readonly string[];
  readonly run?: string;
}

/** No test runs the example. A check compares its text with the message in the sources. */
export interface PrintedExample extends CauseAndFix {
  /** What was done, in one sentence. */
  readonly did: string;
  /** The message as it is printed, and its hint in a second line. */
  readonly prints: string;
  /** Why no test runs the example. */
  readonly unrun: UnrunReason;
}

/** Why no test runs an example. */
export const unrunReasons = {
  client: "needs a running gateway and a client that sends this request",
  damage: "needs files of the home to be damaged, locked, or open to others",
  fault: "needs a fault in a program; nothing that a user does produces it",
  library: "only a program that embeds a library of Toolcrib gets it",
  load: "needs more calls or more data than an example should produce",
  machine: "needs a machine that lacks something or refuses it, such as a full disk",
  moment: "needs two things to happen at the same moment",
  packages: "needs signed packages, registries or an earlier state of them",
  remote: "needs another server to fail or to answer in a certain way",
  running: "needs a running gateway with servers and an operator who decides",
  setup: "needs files that are larger than an example, or several commands before it",
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
