/**
 * The texts that `toolcrib serve` prints: servers, how to connect a client, and
 * what to try next. Each printed command works in another terminal. No I/O.
 */

import { join } from "node:path";
import { defaultTokenName, tokenDirectory } from "@toolcrib/auth";
import type { ClientProgram } from "@toolcrib/clients";
import { counted } from "../output/counted.ts";
import { wrapStyled } from "../output/fit-styled.ts";
import { type Output, reasonLine, safeLine } from "../output/output.ts";
import { padText, textWidth } from "../output/text-width.ts";
import { containmentText } from "./containment-text.ts";
import { argumentsWord, type ExampleCall } from "./example-call.ts";
import type { ListedSource } from "./listed-sources.ts";

/** The address of a gateway and its token. */
export interface Endpoint {
  /** Base URL without a slash at the end. */
  readonly url: string;
  readonly home: string;
  /** Token for clients; `undefined` if the gateway requires none, or accepts no token of its home. */
  readonly token: string | undefined;
  /** Issuers whose access tokens the gateway accepts. @default none */
  readonly issuers?: readonly string[];
}

/** Returns the path of the token file for clients. */
export function tokenFile({ home }: Pick<Endpoint, "home">): string {
  return join(tokenDirectory(home), defaultTokenName);
}

/** Widths of the columns of `serverLines`. */
export interface ServerColumns {
  readonly id: number;
  readonly transport: number;
}

/** Returns the widths for servers. */
export function serverColumns(servers: readonly Pick<ListedSource, "id" | "transport">[]): ServerColumns {
  return {
    id: Math.max(0, ...servers.map(({ id }) => textWidth(id))),
    transport: Math.max(0, ...servers.map(({ transport }) => textWidth(transport))),
  };
}

/** Returns the lines of a server: one, or on a terminal more, which begin below its text. */
export function serverLines(status: ListedSource, columns: ServerColumns, output: Output): string[] {
  const { id, transport } = status;
  const head = `${padText(id, columns.id)}  ${output.style("dim", padText(transport, columns.transport))}  `;
  const indentation = 4 + columns.id + 2 + columns.transport + 2;
  const { mark, text } = serverText(status, output);
  if (output.width === Number.POSITIVE_INFINITY) return [`  ${mark} ${head}${text}`];
  const lines = wrapStyled(text, Math.max(textWidthMin, output.width - indentation));
  return lines.map((line, at) =>
    at === 0 ? `  ${mark} ${head}${line}` : `${" ".repeat(indentation)}${line}`,
  );
}

/** Narrowest text of a server that is wrapped. */
const textWidthMin = 20;

/** The state of a server as a mark and a text. */
function serverText(status: ListedSource, output: Output): { readonly mark: string; readonly text: string } {
  const { health, tools, waitingTools = 0 } = status;
  const contained = containmentText(status);
  const toolsText = `${counted(tools, "tool")}${contained === "" ? "" : `, ${contained}`}`;
  if (health.state === "ready") {
    const reason =
      health.reason === undefined ? "" : `; ${output.style("yellow", reasonLine(health.reason))}`;
    // A server of which clients see nothing is not in order.
    const isHeld = tools === 0 && waitingTools > 0;
    const mark = isHeld ? output.style("yellow", "!") : output.style("green", "✓");
    return { mark, text: `${toolsText}${reason}` };
  }
  if (health.state === "idle")
    return { mark: output.style("green", "✓"), text: `${toolsText}, starts at its first call` };
  if (health.state === "disabled") return { mark: output.style("dim", "-"), text: "disabled" };
  if (health.state === "starting") return { mark: output.style("yellow", "…"), text: "still starting" };
  return { mark: output.style("red", "✗"), text: reasonLine(health.reason ?? health.state) };
}

/** Takes the place of the token where the output is not a terminal: it can be a log that others read. */
const tokenPlaceholder = "TOKEN";

/**
 * Returns the instructions for clients, each line within 80 columns where the paths allow it. They contain the
 * token only on a terminal.
 *
 * @param command the command itself (`ownCommand`)
 * @param programs the clients that `connect` knows and finds on this machine
 */
export function clientLines(
  endpoint: Endpoint,
  command: string,
  programs: readonly ClientProgram[],
  output: Output,
): string[] {
  const { url } = endpoint;
  const heading = (text: string) => output.style("bold", text);
  const local = programs.filter(({ remote }) => remote === undefined);
  const none = [
    heading("No client is found on this machine; this lists those that are known"),
    `  ${command} connect`,
  ];
  const found = [
    heading("Connect a client (shown before it is written; disconnect takes it back)"),
    `  ${command} connect`,
  ];
  return [
    ...(programs.length === 0 ? none : found),
    ...(local.length === 0
      ? []
      : [
          `${local.map(({ name }) => name).join(", ")}: stdio entries only`,
          ...local.map(({ id }) => `  ${command} connect ${id}`),
        ]),
    heading("Or enter it by hand in a client that takes an address (HTTP)"),
    ...accessTokenLines(endpoint),
    `  URL     ${url}/mcp`,
    ...tokenLines(endpoint, output),
    `  and ${url}/sse for clients of the older HTTP with SSE`,
  ];
}

function tokenLines(endpoint: Endpoint, output: Output): readonly string[] {
  if (endpoint.token === undefined) return [];
  if (output.isTerminal) return [`  header  Authorization: Bearer ${endpoint.token}`];
  return [
    `  header  Authorization: Bearer ${tokenPlaceholder}`,
    `  where ${tokenPlaceholder} is the content of ${tokenFile(endpoint)}`,
  ];
}

function accessTokenLines({ issuers = [], token }: Endpoint): readonly string[] {
  if (issuers.length === 0) return [];
  const names = issuers.map(safeLine).join(", ");
  return token === undefined
    ? [`Clients need an access token of ${names}, and get one by themselves where they support OAuth`]
    : [`Clients can also use an access token of ${names}`];
}

/** Returns what to do about a gateway without servers and toolspecs. @param command the command itself (`ownCommand`) */
export function noSourcesText(command: string): string {
  return `${command} add NAME adds one, ${command} import takes over those of your clients`;
}

/** Returns the commands to try next. */
export function nextLines(
  options: {
    /** The command itself (`ownCommand`). */
    readonly command: string;
    /** Whether tools wait for the operator, so that no client sees them. */
    readonly hasWaiting: boolean;
    readonly searchWords: string | undefined;
    readonly example: ExampleCall | undefined;
  },
  output: Output,
): string[] {
  const { command, hasWaiting, searchWords, example } = options;
  return [
    output.style("bold", "Try it in another terminal"),
    ...(hasWaiting ? [`  ${command} approve`] : []),
    `  ${command} list`,
    ...(searchWords === undefined ? [] : [`  ${command} search ${searchWords}`]),
    ...(example === undefined
      ? []
      : [`  ${command} call ${example.tool.wireName} ${argumentsWord(example.args)}`]),
    `  ${command} trace last`,
  ];
}

/** Returns the words of a tool name, for a search. */
export function wordsOf(name: string): string | undefined {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").match(/[A-Za-z0-9]+/g);
  return words === null ? undefined : words.slice(0, 4).join(" ").toLowerCase();
}
