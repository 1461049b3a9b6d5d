/**
 * Limits the work of one validation. A harmful schema can make the validation of
 * a small value practically endless (references that fan out, nested loops), so
 * the code that Ajv generates is instrumented to count its steps and to stop
 * when they are used up.
 *
 * A step is an iteration of a loop or the call of a subschema, plus one for every
 * 256 characters of its code: a tenth of a microsecond in the worst case.
 */

/** Thrown by generated code when its steps are used up, and caught where validation starts. */
export const outOfSteps: unique symbol = Symbol("out of steps");

/** The remaining steps of a validation. */
export class StepBudget {
  /** Number of remaining steps; generated code decreases it. */
  left = Number.POSITIVE_INFINITY;

  /** Uses `steps`. @throws `outOfSteps` when fewer are left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw outOfSteps;
  }
}

/** Length of generated code that counts as one step. */
const codePerStep = 256;
/** Maximum number of problems that a validation keeps in memory. */
const maxHeldProblems = 100_000;
const stepsPerProblem = 5;

/** Strings, which stay unchanged; heads of functions and loops; counters of problems; other braces. */
const tokens =
  /"(?:[^"\\]|\\.)*"|\{let vErrors = null;let errors = 0;|\bfor\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\{|errors\+\+;|errors = vErrors\.length;|[{}]/g;

/**
 * Instruments code that Ajv generated to count its steps on `self.budget`
 * (`code.process` of Ajv's options).
 */
export function countSteps(code: string): string {
  const pieces = ["const budget = self.budget;"];
  /** For each open brace: the start of its block, and the piece that counts one iteration. */
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
      // Ajv copies all earlier problems here.
      pieces.push("budget.spend(errors);");
    } else {
      open.push({ start: end, piece: pieces.length });
      pieces.push("");
    }
  }
  pieces.push(code.slice(copied));
  return pieces.join("");
}
