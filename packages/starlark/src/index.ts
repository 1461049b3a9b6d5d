// For users: the language.

export { coreDialect, type Dialect, toolDialect } from "./dialect.ts";
export type { Binding, BindingKind, Scope } from "./resolve/binding.ts";
export {
  maxArguments,
  maxCaptures,
  maxResolveErrors,
  type ResolveOptions,
  resolveFile,
} from "./resolve/resolver.ts";
export { nearestSpelling } from "./resolve/spelling.ts";
export {
  type Argument,
  type ArithmeticOperator,
  type AssignOperator,
  type AssignStatement,
  type AttributeExpression,
  type BinaryExpression,
  type BinaryOperator,
  type BranchStatement,
  type BytesLiteral,
  type CallExpression,
  type Comment,
  type ComparisonOperator,
  type Comprehension,
  type ConditionalExpression,
  type DefStatement,
  type DictEntry,
  type DictExpression,
  type ExceptClause,
  type ExceptType,
  type Expression,
  type ExpressionStatement,
  type File,
  type FloatLiteral,
  type ForClause,
  type ForStatement,
  type FString,
  type FStringField,
  type Identifier,
  type IfBranch,
  type IfClause,
  type IfStatement,
  type IndexExpression,
  type IntLiteral,
  type LambdaExpression,
  type ListExpression,
  type LoadBinding,
  type LoadStatement,
  maxNesting,
  maxTreeDepth,
  maxTreeNodes,
  type Parameter,
  type ParenExpression,
  type ReturnStatement,
  type SliceExpression,
  type Statement,
  type StringLiteral,
  type TryStatement,
  type TupleExpression,
  type UnaryExpression,
  type UnaryOperator,
  type WhileStatement,
} from "./syntax/ast.ts";
export {
  maxSourceLength,
  maxSyntaxErrors,
  type ParsedFile,
  parseExpression,
  parseFile,
} from "./syntax/parser.ts";

// For users: programs in their canonical layout.

export { type FormattedProgram, formatProgram } from "./format/format-program.ts";

// For users: programs and their execution.

export { maxCodeSize } from "./compile/code-size.ts";
export {
  compileProgram,
  type Execution,
  executeProgram,
  Program,
  type ProgramOptions,
} from "./program.ts";
export {
  createReplSession,
  type EvaluateOptions,
  type Evaluation,
  type ReplOptions,
  type ReplSession,
} from "./repl.ts";
export { callFunction } from "./run/execute.ts";
export { defaultLimits, type Limits, limitCeilings } from "./run/limits.ts";
export {
  type StackEntry,
  StarlarkError,
  type StarlarkErrorDetails,
  type StarlarkErrorKind,
} from "./run/starlark-error.ts";
export { Thread, type ThreadHost, type ThreadOptions } from "./run/thread.ts";

// For users: values, and functions of the host.

export { fromStarlark, type Json, maxConversionDepth, toStarlark } from "./host/convert.ts";
export {
  BoundMethod,
  Builtin,
  type BuiltinOptions,
  builtin,
  type Implementation,
  type VariadicImplementation,
} from "./library/builtin.ts";
export { methodsFor, universeFor } from "./library/environment.ts";
export { jsonModule } from "./library/json-module.ts";
export { mathModule } from "./library/math-module.ts";
export { timeModule } from "./library/time-module.ts";
export { type CallRequest, Continuation, type ContinuationBody, Pending } from "./run/deferred.ts";
export { equals } from "./value/equality.ts";
export { freeze } from "./value/freeze.ts";
export { FunctionValue } from "./value/function-value.ts";
export { repr, str } from "./value/repr.ts";
export { truth } from "./value/truth.ts";
export { typeOf } from "./value/type-of.ts";
export {
  Deferred,
  HostObject,
  type NamedArgument,
  StarlarkBytes,
  StarlarkDict,
  StarlarkFloat,
  StarlarkList,
  StarlarkModule,
  StarlarkObject,
  StarlarkRange,
  StarlarkSet,
  StarlarkStruct,
  StarlarkTuple,
  type Value,
  ValueIterator,
} from "./value/value.ts";

// For hosts that compare and search values as programs do.

export { contains } from "./value/operators.ts";
export { compare, type OrderOperator } from "./value/order.ts";
