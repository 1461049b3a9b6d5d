/**
 * The facts in the pages of the clients that come from code: where a client's file is, the entry that
 * `toolcrib connect` writes, and what makes the client see it. They stand between two comments; everything else of
 * a page is written by hand.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ClientProgram, clientPrograms, filesOf, type UserPlaces, withServer } from "@toolcrib/clients";

const begin = "<!-- Written by `npm run docs` from packages/clients. -->";
const end = "<!-- End of the written part. -->";

const platforms: readonly (readonly [name: string, places: UserPlaces])[] = [
  ["Linux", { platform: "linux", home: "~", settings: "~/.config" }],
  ["macOS", { platform: "darwin", home: "~", settings: "~/Library/Application Support" }],
  ["Windows", { platform: "win32", home: "%USERPROFILE%", settings: "%APPDATA%" }],
];

const remoteServer = { url: "http://127.0.0.1:7420/mcp", token: "TOKEN" };
/** The entry of a client that starts a bridge, for a user `ada` with a configuration in the folder `tools`. */
const localServer = (id: string) => ({
  command: "/usr/local/bin/node",
  args: [
    "/usr/local/lib/node_modules/toolcrib/bin/toolcrib.js",
    ...["--config", "/home/ada/tools/toolcrib.yaml", "--home", "/home/ada/.toolcrib"],
    ...["bridge", "--as", id],
  ],
  env: { PATH: "/home/ada/.local/bin:/usr/local/bin:/usr/bin:/bin" },
});

/** Returns the pages of the clients below `root` with their facts; the facts alone where a page has no place for them. */
export function clientPages(root: string): readonly (readonly [path: string, text: string])[] {
  return [
    ["docs/clients/index.md", withFacts(root, "docs/clients/index.md", tableOfClients())],
    ...clientPrograms.map((program) => {
      const path = `docs/clients/${program.id}.md`;
      return [path, withFacts(root, path, factsOf(program))] as const;
    }),
  ];
}

function withFacts(root: string, path: string, facts: string): string {
  const block = `${begin}\n\n${facts}\n\n${end}`;
  const text = existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "";
  const start = text.indexOf(begin);
  const stop = text.indexOf(end);
  if (start === -1 || stop < start) return `${block}\n`;
  return text.slice(0, start) + block + text.slice(stop + end.length);
}

function tableOfClients(): string {
  const rows = clientPrograms.map((program) => {
    const way = program.remote === undefined ? "starts `toolcrib bridge`" : "over HTTP";
    return `| [${program.name}](${program.id}.md) | \`toolcrib connect ${program.id}\` | ${way} |`;
  });
  return ["| Client | Command | Connects |", "|---|---|---|", ...rows].join("\n");
}

function factsOf(program: ClientProgram): string {
  const files = platforms.map(([name, places]) => {
    const paths = filesOf(program, places).map((path) => `\`${path}\``);
    return `| ${name} | ${paths.join(", or ")} |`;
  });
  const entry = program.remote?.(remoteServer) ?? program.local(localServer(program.id));
  const text = withServer("", program, "toolcrib", entry).trimEnd();
  const way =
    program.remote === undefined
      ? "starts `toolcrib bridge`, which joins the running gateway and starts one where none runs"
      : "connects over HTTP, with a token of its own";
  return [
    ["| System | File |", "|---|---|", ...files].join("\n"),
    `${program.name} ${way}. In an empty file, \`toolcrib connect ${program.id}\` writes:`,
    `\`\`\`${program.format}\n${text}\n\`\`\``,
    `Then: ${program.reload}.`,
  ].join("\n\n");
}
