/**
 * The environment of the programs in `test/programs`: modules, assertions, and host
 * functions that wait or fail.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextImmediate } from "node:timers/promises";
import {
  builtin,
  type Dialect,
  jsonModule,
  mathModule,
  Pending,
  StarlarkError,
  StarlarkModule,
  timeModule,
  toolDialect,
  universeFor,
  type Value,
} from "@toolcrib/starlark";
import { type AssertionLog, assertModule } from "./assertions.ts";
import { execute } from "./execute.ts";
import { starlarkGoEnvironment } from "./host-values.ts";

/** The folder of the programs. */
export const programsFolder = join(import.meta.dirname, "programs");

/** Resolves after `turns` turns of the event loop. */
async function wait(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextImmediate();
}

const hostFunctions: ReadonlyMap<string, Value> = new Map<string, Value>([
  [
    "later",
    builtin(
      "later(value, turns)",
      "The value, after the event loop went round so many times.",
      (_t, _self, value, turns) => new Pending(wait(Number(turns)).then(() => value)),
      { defers: true },
    ),
  ],
  [
    "call_tool",
    builtin(
      "call_tool(name, message, details, turns)",
      "Fails as a tool does.",
      (_t, _self, name, message, details, turns) =>
        new Pending(
          wait(Number(turns)).then(() => {
            throw new StarlarkError(String(message), { kind: "tool_error", tool: String(name), details });
          }),
        ),
      { defers: true },
    ),
  ],
]);

/** The predeclared names of programs in `dialect`; assertions are recorded in `log`. */
export function programEnvironment(log: AssertionLog, dialect: Dialect): ReadonlyMap<string, Value> {
  const universe = universeFor(dialect);
  return new Map<string, Value>([
    // The tool dialect has its own structs.
    ...[...starlarkGoEnvironment].filter(([name]) => !universe.has(name)),
    ...hostFunctions,
    ...assertModule(log).members,
    ["json", jsonModule],
    ["math", mathModule],
    ["time", timeModule],
  ]);
}

/** The result of `load`: a module of the library, or another file of the folder, which runs once. */
export function programLoader(): (name: string) => Promise<StarlarkModule> {
  const loaded = new Map<string, Promise<StarlarkModule>>([
    ["json.star", only("json", jsonModule)],
    ["math.star", only("math", mathModule)],
    ["time.star", only("time", timeModule)],
  ]);
  return (name) => {
    const module = loaded.get(name) ?? loadFile(name);
    loaded.set(name, module);
    return module;
  };
}

async function only(name: string, value: Value): Promise<StarlarkModule> {
  return new StarlarkModule(`${name}.star`, new Map([[name, value]]));
}

async function loadFile(name: string): Promise<StarlarkModule> {
  const outcome = await execute(
    { name, text: readFileSync(join(programsFolder, name), "utf8") },
    { dialect: {} },
  );
  switch (outcome.kind) {
    case "done":
      return outcome.module;
    case "static":
      throw new Error(outcome.errors[0]!.message);
    case "failed":
      throw outcome.error;
  }
}

/** The options of dialects by their names in lower case, as in `# option:`. */
const optionNames: ReadonlyMap<string, keyof Dialect> = new Map(
  [...(Object.keys(toolDialect) as (keyof Dialect)[]), "loadBindsGlobally" as const].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/**
 * The dialect that the comments of `text` request: `# dialect: tool`, or any number
 * of `# option:name`.
 *
 * @throws {Error} for an unknown option.
 */
export function dialectOfText(text: string): Dialect {
  if (/^# dialect: tool$/m.test(text)) return toolDialect;
  const dialect: { -readonly [name in keyof Dialect]: boolean } = {};
  for (const [, name] of text
    .matchAll(/^#.*?option:.*$/gm)
    .flatMap((line) => [...line[0].matchAll(/option:(\w+)/g)])) {
    const option = optionNames.get(name!.toLowerCase());
    if (option === undefined) throw new Error(`there is no option "${name}"`);
    dialect[option] = true;
  }
  return dialect;
}
