// For users: the language.

export { coreDialect, type Dialect, toolDialect } from "./dialect.ts";
export { programLimits } from "./program-limits.ts";
export { resolveFile } from "./resolve/resolver.ts";
export { nearestSpelling } from "./resolve/spelling.ts";
export type {
  Expression,
  File,
  Parameter,
  Statement,
} from "./syntax/ast.ts";
export { parseExpression, parseFile } from "./syntax/parser.ts";

// For users: programs in their canonical layout.

export { formatProgram } from "./format/format-program.ts";

// For users: programs and their execution.

export { compileProgram, executeProgram, Program } from "./program.ts";
export { type Evaluation, ReplSession } from "./repl.ts";
export { callFunction } from "./run/execute.ts";
export { defaultLimits, type Limits, limitCeilings } from "./run/limits.ts";
export { type StackEntry, StarlarkError } from "./run/starlark-error.ts";
export { Thread, type ThreadHost, type ThreadOptions } from "./run/thread.ts";

// For users: values, and functions of the host.

export { fromStarlark, type Json, toStarlark } from "./host/convert.ts";
export { BoundMethod, Builtin, builtin } from "./library/builtin.ts";
export { methodsFor, universeFor } from "./library/environment.ts";
export { jsonModule } from "./library/json-module.ts";
export { mathModule } from "./library/math-module.ts";
export { timeModule } from "./library/time-module.ts";
export { Pending } from "./run/deferred.ts";
export { equals } from "./value/equality.ts";
export { freeze } from "./value/freeze.ts";
export { contains } from "./value/operators.ts";
export { compare } from "./value/order.ts";
export { repr, str } from "./value/repr.ts";
export { truth } from "./value/truth.ts";
export { typeOf } from "./value/type-of.ts";
export {
  Deferred,
  HostObject,
  type NamedArgument,
  StarlarkDict,
  StarlarkFloat,
  StarlarkList,
  StarlarkModule,
  StarlarkStruct,
  StarlarkTuple,
  type Value,
  ValueIterator,
} from "./value/value.ts";
