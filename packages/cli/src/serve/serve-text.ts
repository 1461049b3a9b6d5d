/**
 * The texts that `toolcrib serve` prints: servers, how to connect a client, and
 * what to try next. Each printed command works in another terminal. No I/O.
 */

import { join } from "node:path";
import { counted } from "../output/counted.ts";
import { type Output, reasonLine, safeLine } from "../output/output.ts";
import { padText } from "../output/text-width.ts";
import { containmentText } from "./containment-text.ts";
import { argumentsWord, type ExampleCall } from "./example-call.ts";
import { shellQuote } from "./shell-quote.ts";
import type { SourceStatus } from "./wait-for-servers.ts";

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
  return join(home, "tokens", "default");
}

/** Returns the line of a server. */
export function serverLine(status: SourceStatus, idWidth: number, output: Output): string {
  const { id, transport, health, tools, waitingTools = 0 } = status;
  const head = `${padText(id, idWidth)}  ${output.style("dim", padText(transport, 15))}  `;
  const contained = containmentText(status);
  const toolsText = `${counted(tools, "tool")}${contained === "" ? "" : `, ${contained}`}`;
  if (health.state === "ready") {
    const reason =
      health.reason === undefined ? "" : `; ${output.style("yellow", reasonLine(health.reason))}`;
    // A server of which clients see nothing is not in order.
    const isHeld = tools === 0 && waitingTools > 0;
    const mark = isHeld ? output.style("yellow", "!") : output.style("green", "✓");
    return `  ${mark} ${head}${toolsText}${reason}`;
  }
  if (health.state === "idle")
    return `  ${output.style("green", "✓")} ${head}${toolsText}, starts at its first call`;
  if (health.state === "disabled") return `  ${output.style("dim", `- ${head}disabled`)}`;
  if (health.state === "starting") return `  ${output.style("yellow", "…")} ${head}still starting`;
  return `  ${output.style("red", "✗")} ${head}${reasonLine(health.reason ?? health.state)}`;
}

/** Takes the place of the token where the output is not a terminal: it can be a log that others read. */
const tokenPlaceholder = "TOKEN";

/**
 * Returns the instructions for clients. They contain the token only on a terminal.
 *
 * @param command the command itself (`ownCommand`)
 */
export function clientLines(endpoint: Endpoint, command: string, output: Output): string[] {
  const { url } = endpoint;
  const token = endpoint.token === undefined || output.isTerminal ? endpoint.token : tokenPlaceholder;
  const heading = (text: string) => output.style("bold", text);
  const server = {
    type: "http",
    url: `${url}/mcp`,
    ...(token === undefined ? undefined : { headers: { Authorization: `Bearer ${token}` } }),
  };
  const header = headerOf(endpoint);
  return [
    heading("Connect a client"),
    `  ${command} connect`,
    heading("Or copy this into its configuration (mcpServers: .mcp.json, Cursor and others)"),
    ...accessTokenLines(endpoint),
    ...(token === tokenPlaceholder ? [`${tokenPlaceholder} is the content of ${tokenFile(endpoint)}`] : []),
    JSON.stringify({ mcpServers: { toolcrib: server } }, undefined, 2),
    "",
    heading("Claude Code"),
    `  claude mcp add --transport http toolcrib ${url}/mcp${header === undefined ? "" : ` --header ${header}`}`,
    heading("VS Code"),
    `  code --add-mcp ${shellQuote(JSON.stringify({ name: "toolcrib", ...server }))}`,
    heading("Clients of the older HTTP with SSE"),
    `  ${url}/sse${token === undefined ? "" : " (with the same header)"}`,
  ];
}

function accessTokenLines({ issuers = [], token }: Endpoint): readonly string[] {
  if (issuers.length === 0) return [];
  const names = issuers.map(safeLine).join(", ");
  return token === undefined
    ? [`Clients need an access token of ${names}, and get one by themselves where they support OAuth`]
    : [`Clients can also use an access token of ${names}`];
}

/** Returns the header as a shell word that reads the token from its file, so that the shell history does not contain it. */
function headerOf(endpoint: Endpoint): string | undefined {
  if (endpoint.token === undefined) return undefined;
  return `"Authorization: Bearer $(cat ${shellQuote(tokenFile(endpoint))})"`;
}

/** Returns the commands to try next. */
export function nextLines(
  endpoint: Endpoint,
  options: {
    /** The command itself (`ownCommand`). */
    readonly command: string;
    readonly searchWords: string | undefined;
    readonly example: ExampleCall | undefined;
  },
  output: Output,
): string[] {
  const { command, searchWords, example } = options;
  const header = headerOf(endpoint);
  return [
    output.style("bold", "Try in another terminal"),
    `  ${command} list`,
    ...(searchWords === undefined ? [] : [`  ${command} search ${searchWords}`]),
    ...(example === undefined
      ? []
      : [`  ${command} call ${example.tool.wireName} ${argumentsWord(example.args)}`]),
    // Without a token of the home, only a client that gets an access token can connect.
    ...(header === undefined && (endpoint.issuers ?? []).length > 0
      ? []
      : [
          `  npx @modelcontextprotocol/inspector --cli ${endpoint.url}/mcp --transport http${
            header === undefined ? "" : ` --header ${header}`
          } --method tools/list`,
        ]),
    `  ${command} audit list`,
  ];
}

/** Returns the words of a tool name, for a search. */
export function wordsOf(name: string): string | undefined {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").match(/[A-Za-z0-9]+/g);
  return words === null ? undefined : words.slice(0, 4).join(" ").toLowerCase();
}
