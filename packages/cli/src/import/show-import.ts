/** Shows what an import would do: a table of the servers, then everything about them that a user should know. */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { CliContext } from "../cli-context.ts";
import { shortPath } from "../config/find-config-files.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { asTyped } from "../serve/source-table.ts";
import type { FileProblem, ImportPlan, Origin, PlannedServer } from "./import-types.ts";
import type { Measured } from "./measure-servers.ts";
import { unwantedText } from "./unwanted-servers.ts";

/** Terminal width from which the column of tokens is shown although no server was started. */
const narrowColumns = 110;

/**
 * Prints the plan.
 *
 * @param measured tokens of the servers that were started
 * @param isMove whether the files of clients are changed too
 */
export function showImport(
  context: CliContext,
  plan: ImportPlan,
  measured: ReadonlyMap<string, Measured>,
  isMove: boolean,
): void {
  const { output } = context;
  const { servers, leftOut, problems } = plan;
  const hasTokens = output.width >= narrowColumns || measured.size > 0;
  if (servers.length > 0) {
    output.table(
      [
        { title: "SERVER", canShrink: true, isName: true },
        { title: "IN", canShrink: true },
        { title: "RUNS", canShrink: true, isName: true, isBelow: true },
        { title: "VERSION" },
        { title: "SECRETS", canShrink: true },
        ...(hasTokens ? [{ title: "TOKENS" }] : []),
      ],
      servers.map((server) => [
        server.id,
        clientsOf(server).join(", "),
        safeLine(server.shown),
        server.unpinned === undefined ? "-" : "not pinned",
        secretsText(server),
        ...(hasTokens ? [tokensText(measured.get(server.id))] : []),
      ]),
    );
  }
  const section = (title: string, lines: readonly string[]) => {
    if (lines.length > 0)
      output.prose("", output.style("bold", title), ...lines.map((line) => `  ${safeLine(line)}`));
  };
  const byReach = Map.groupBy(
    servers.filter(({ reach }) => reach !== undefined),
    ({ reach }) => reach ?? "",
  );
  section(
    "Contained here, unlike at their clients (containment of an entry allows more):",
    [...byReach].map(([reach, own]) => `${own.map(({ id }) => id).join(", ")}: ${reach}`),
  );
  const twins = servers.filter(({ origins }) => origins.length > 1);
  section(
    "The same server in several places, imported once:",
    twins.map(({ id, origins }) => `${id}: ${origins.map((origin) => placeOf(origin, context)).join(", ")}`),
  );
  section(
    "What files of projects set for their servers; look at it before you agree:",
    servers.flatMap((server) => (isOfProject(server) ? settingsOf(server) : [])),
  );
  section(
    "Not pinned to a version, so that any new release runs:",
    servers.flatMap(({ id, unpinned }) => (unpinned === undefined ? [] : [`${id}: ${unpinned}`])),
  );
  section(
    `Secrets in the clear, which move into the secret store${isMove ? "" : " (the client's file stays as it is)"}:`,
    servers.flatMap(({ id, secrets, origins }) =>
      secrets.flatMap(({ name, purpose, value }) =>
        value === undefined
          ? []
          : [`${id}: ${purpose}, in ${shownPath(origins[0]?.file ?? "", context)}, as ${name}`],
      ),
    ),
  );
  section(
    `Secrets that only you have; store each with ${asTyped("toolcrib secret set NAME", context)}:`,
    wantedSecrets(plan).map(({ id, name, purpose }) => `${name} (${purpose} of ${id})`),
  );
  section(
    "Not wanted before:",
    servers.flatMap(({ id, unwanted }) =>
      unwanted === undefined ? [] : [`${id}: ${unwantedText(unwanted)}`],
    ),
  );
  section(
    "Different from the client:",
    servers.flatMap(({ id, notes }) => notes.map((note) => `${id}: ${asTyped(note, context)}`)),
  );
  section(
    "Not imported:",
    leftOut.map(
      ({ origin, reason }) => `${origin.name} (${placeOf(origin, context)}): ${asTyped(reason, context)}`,
    ),
  );
  if (problems.length > 0)
    output.prose(
      "",
      output.style("bold", "Not readable:"),
      ...problems.map((one) => `  ${problemLine(one, context)}`),
    );
  const failed = servers.filter(({ id }) => measured.get(id)?.kind === "failed");
  section(
    "Not measured:",
    failed.map(({ id }) => {
      const one = measured.get(id);
      return `${id}: ${one?.kind === "failed" ? one.reason : ""}`;
    }),
  );
}

/** Returns a problem in one line, as compilers write them. */
export function problemLine({ file, line, column, code, message }: FileProblem, context: CliContext): string {
  return safeLine(`${shownPath(file, context)}:${line}:${column}: error ${code} ${message}`);
}

/** The secrets that the user has to store. */
export function wantedSecrets({
  servers,
}: ImportPlan): readonly { readonly id: string; readonly name: string; readonly purpose: string }[] {
  return servers.flatMap(({ id, secrets }) =>
    secrets.flatMap(({ name, purpose, value }) => (value === undefined ? [{ id, name, purpose }] : [])),
  );
}

/** Returns the plan for `--json`; no secret is in it. */
export function importJson(
  plan: ImportPlan,
  measured: ReadonlyMap<string, Measured>,
): { [name: string]: JsonValue } {
  const json = {
    files: plan.files,
    servers: plan.servers.map(({ id, entry, origins, unpinned, notes, reach, secrets }) => {
      const tokens = measured.get(id);
      return {
        id,
        entry,
        origins,
        notPinned: unpinned,
        tokens: tokens?.kind === "measured" ? tokens.tokens : undefined,
        tools: tokens?.kind === "measured" ? tokens.tools : undefined,
        notes,
        reach,
        secrets: secrets.map(({ name, purpose, value }) => ({ name, purpose, isFound: value !== undefined })),
      };
    }),
    leftOut: plan.leftOut.map(({ origin, reason }) => ({ origin, reason })),
    problems: plan.problems,
  };
  return JSON.parse(JSON.stringify(json)) as { [name: string]: JsonValue };
}

/** Returns a path relative to this folder or to the home directory of the user. */
export function shownPath(path: string, { directory, userDirectory }: CliContext): string {
  const short = shortPath(path, directory);
  if (short !== path) return short;
  const inHome = shortPath(path, userDirectory);
  return inHome === path ? path : `~/${inHome.replaceAll("\\", "/")}`;
}

function clientsOf({ origins }: PlannedServer): readonly string[] {
  return [...new Set(origins.map(({ client }) => client))];
}

function placeOf({ client, file, line }: Origin, context: CliContext): string {
  return `${client === "file" ? "" : `${client}, `}${shownPath(file, context)}:${line}`;
}

/** Whether only files of projects have a server: somebody else can have written them. */
function isOfProject({ origins }: PlannedServer): boolean {
  return origins.every(({ project }) => project !== undefined);
}

/** The variables, headers and references of an entry, which the table does not show, one line each. */
function settingsOf({ id, entry }: PlannedServer): readonly string[] {
  const { args, url, env, headers, cwd } = entry["transport"] as JsonObject;
  const words = Array.isArray(args) ? args : [];
  const references = [
    ...words.map((word, at) => [`argument ${at + 1}`, word] as const),
    ["URL", url ?? ""] as const,
  ].filter(([, value]) => typeof value === "object");
  const named = [env, headers].flatMap((map) => Object.entries((map ?? {}) as JsonObject));
  return [...references, ...named, ...(cwd === undefined ? [] : [["working folder", cwd] as const])].map(
    ([name, value]) => `${id}: ${name} = ${settingText(value ?? "")}`,
  );
}

/** Longest value that is shown whole, in characters. */
const shownMaxLength = 300;

function shortened(text: string): string {
  const more = text.length - shownMaxLength;
  return more > 0 ? `${text.slice(0, shownMaxLength)} … (${more} more characters)` : text;
}

/** A value, or where it comes from. */
function settingText(value: JsonValue): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return shortened(String(value));
  const { prefix = "", secret_key_ref: ref } = value as JsonObject;
  if (typeof ref !== "object" || ref === null) return `${String(prefix)}(a secret of the store)`;
  const { env, file } = ref as JsonObject;
  return `${String(prefix)}(${env === undefined ? `the content of ${String(file)}` : `your variable ${String(env)}`})`;
}

function secretsText({ secrets }: PlannedServer): string {
  const found = secrets.filter(({ value }) => value !== undefined).length;
  const missing = secrets.length - found;
  const parts = [
    ...(found === 0 ? [] : [`${found} in the clear`]),
    ...(missing === 0 ? [] : [`${missing} missing`]),
  ];
  return parts.length === 0 ? "-" : parts.join(", ");
}

function tokensText(measured: Measured | undefined): string {
  if (measured?.kind !== "measured") return "unknown";
  return `${measured.tokens} (${counted(measured.tools, "tool")})`;
}
