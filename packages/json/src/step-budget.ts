/**
 * How much work one validation may be. A schema can be written so that judging
 * a small value takes longer than anyone waits (references that fan out, loops
 * in loops), so the code that Ajv generates is made to count its steps and to
 * stop when they are used up.
 *
 * A step is a turn of a loop or the call of a subschema, and one more for every
 * 256 characters of its code: about a tenth of a microsecond at worst.
 */

/** Thrown by generated code when its steps are used up, and caught where validation starts. */
export const outOfSteps: unique symbol = Symbol("out of steps");

/** Steps that are left. */
export class StepBudget {
  /** Generated code counts down here. */
  left = Number.POSITIVE_INFINITY;

  /** Use `steps`. @throws `outOfSteps` when there are not as many. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw outOfSteps;
  }
}

/** Length of generated code that counts as one step. */
const codePerStep = 256;
/** Most problems that a validation holds at once; each takes memory. */
const maxHeldProblems = 100_000;
const stepsPerProblem = 5;

/** Strings, which stay as they are; heads of functions and of loops; the counting of problems; other braces. */
const tokens =
  /"(?:[^"\\]|\\.)*"|\{let vErrors = null;let errors = 0;|\bfor\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\{|errors\+\+;|errors = vErrors\.length;|[{}]/g;

/**
 * Code that Ajv generated, with its steps counted on `self.budget`
 * (`code.process` of Ajv's options).
 */
export function countSteps(code: string): string {
  const pieces = ["const budget = self.budget;"];
  /** For each open brace: where its block begins, and the piece that counts a turn of it. */
  const open: { readonly start: number; readonly piece: number | undefined }[] = [];
  let copied = 0;
  for (const { 0: token, index } of code.matchAll(tokens)) {
    if (token.startsWith('"')) continue;
    const end = index + token.length;
    if (token === "}") {
      const block = open.pop();
      if (block?.piece !== undefined) {
        pieces[block.piece] = `budget.spend(${1 + Math.floor((index - block.start) / codePerStep)});`;
      }
      continue;
    }
    if (token === "{") {
      open.push({ start: end, piece: undefined });
      continue;
    }
    pieces.push(code.slice(copied, end));
    copied = end;
    if (token === "errors++;") {
      pieces.push(`budget.spend(errors>${maxHeldProblems}?Infinity:${stepsPerProblem});`);
    } else if (token.startsWith("errors =")) {
      // Here Ajv copies all problems so far.
      pieces.push("budget.spend(errors);");
    } else {
      open.push({ start: end, piece: pieces.length });
      pieces.push("");
    }
  }
  pieces.push(code.slice(copied));
  return pieces.join("");
}
