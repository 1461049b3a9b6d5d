/**
 * Determines which expressions are pure: evaluated in one go on the JavaScript stack,
 * because they call no function of the program, never wait and do not loop. All
 * operators are pure in this sense, and so are calls of builtins that are known at
 * compile time and call no function, such as `len(x)`.
 */

import { Builtin } from "../library/builtin.ts";
import type { CallExpression, DictEntry, Expression } from "../syntax/ast.ts";
import type { Value } from "../value/value.ts";

/** Determines which expressions are pure, once for each node. */
export class Purity {
  readonly #universe: ReadonlyMap<string, Value>;
  readonly #known = new Map<Expression, boolean>();

  constructor(universe: ReadonlyMap<string, Value>) {
    this.#universe = universe;
  }

  isPure(expression: Expression): boolean {
    let pure = this.#known.get(expression);
    if (pure === undefined) {
      pure = this.#determine(expression);
      this.#known.set(expression, pure);
    }
    return pure;
  }

  /** Returns the builtin that `call` calls, if it is known at compile time and can be called in place. */
  inlineBuiltin(call: CallExpression): Builtin | undefined {
    const { callee, args } = call;
    if (callee.kind !== "Identifier" || callee.binding?.kind !== "universal") return undefined;
    const value = this.#universe.get(callee.name);
    if (!(value instanceof Builtin) || value.defers || value.hasEffect) return undefined;
    if (args.some((argument) => argument.kind !== "positional")) return undefined;
    if (value.variadic !== undefined) return value;
    const fits = args.length >= value.required && args.length <= value.parameters.length;
    return fits ? value : undefined;
  }

  #determine(expression: Expression): boolean {
    switch (expression.kind) {
      case "ParenExpression":
        return this.isPure(expression.expression);
      case "FString":
        return expression.parts.every((part) => typeof part === "string" || this.isPure(part.expression));
      case "ListExpression":
      case "TupleExpression":
        return this.#allPure(expression.elements);
      case "DictExpression":
        return expression.entries.every((entry) => this.#isEntryPure(entry));
      case "Comprehension":
        return false;
      case "UnaryExpression":
        return this.isPure(expression.operand);
      case "BinaryExpression":
        return this.isPure(expression.left) && this.isPure(expression.right);
      case "ConditionalExpression":
        return this.#allPure([expression.test, expression.body, expression.orelse]);
      case "LambdaExpression":
        return expression.parameters.every(({ value }) => value === undefined || this.isPure(value));
      case "CallExpression":
        return (
          this.inlineBuiltin(expression) !== undefined &&
          this.#allPure(expression.args.map(({ value }) => value))
        );
      case "AttributeExpression":
        return this.isPure(expression.object);
      case "IndexExpression":
        return this.isPure(expression.object) && this.isPure(expression.index);
      case "SliceExpression": {
        const { object, low, high, step } = expression;
        return [object, low, high, step].every((part) => part === undefined || this.isPure(part));
      }
      default:
        return true;
    }
  }

  #allPure(expressions: readonly Expression[]): boolean {
    return expressions.every((expression) => this.isPure(expression));
  }

  #isEntryPure({ key, value }: DictEntry): boolean {
    return this.isPure(key) && this.isPure(value);
  }
}
