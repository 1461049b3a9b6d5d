/**
 * The picture of a call: from the client to the server and back, with what each part does. The
 * data below names the steps of the table in ARCHITECTURE.md that a part stands for; a test
 * compares both.
 */

import { escapeText, textAt, toSvg } from "./svg.ts";

/** One box of the picture. */
export interface Stage {
  readonly title: string;
  /** Its actions, a line each. */
  readonly lines: readonly string[];
  /** The steps of ARCHITECTURE.md ("The path of a call") that it stands for. */
  readonly steps: readonly string[];
  /** The record that is written into the audit trail at its end. */
  readonly record?: string;
  /** Whether a call may end here, refused. */
  readonly refuses?: string;
}

/** The boxes from the client to the server and back to the record of the end. */
export const stages: readonly Stage[] = [
  { title: "Client", lines: ["tools/call, over HTTP, SSE or stdio"], steps: [] },
  {
    title: "Endpoint",
    lines: ["checks the token, Host and Origin", "finds the session, in either era of MCP"],
    steps: [
      "route and authenticate the request",
      "find the session and the protocol era",
      "parse messages, stream answers",
      "answer as a session of the legacy era",
    ],
  },
  {
    title: "Tool",
    lines: ["found by its name, among those of this client", "its definition is the one that was pinned"],
    steps: ["dispatch the method, resolve the name", "bind the tool to its source and its facts"],
  },
  {
    title: "Admission",
    lines: [
      "policy: authorize · guards: pauses · containment",
      "your hooks · your approval · limits are counted",
    ],
    steps: [
      "admit it, perform it, record how it ends",
      "authorize, guard, contain, ask hooks, approve, count, record the intent",
    ],
    record: "call.intent",
    refuses: "call.denied",
  },
  {
    title: "Execution",
    lines: ["within its deadline, in the era of the server", "secrets enter here: egress proxy, sandbox"],
    steps: [
      "execute within the deadline, pass messages to the client",
      "choose the session of the server",
      "relate the call to messages of the server",
      "send the request in the era of the server, match the response",
      "write the message to the network",
    ],
  },
  { title: "Server or API", lines: ["in a sandbox where it is a local process"], steps: [] },
  {
    title: "Result",
    lines: ["validated, secrets removed, size limited", "labelled, shown to your hooks, then passed on"],
    steps: [],
    record: "call.completed",
  },
];

const width = 580;
const boxLeft = 92;
const boxWidth = 346;
const gap = 26;
const heightOf = ({ lines }: Stage) => 37 + lines.length * 19;

/** Draws the picture. */
export function drawCallPath(): string {
  const elements: string[] = [
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>',
    '<marker id="stophead" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="stophead" d="M0 0L8 4L0 8z"/></marker></defs>',
  ];
  const middle = boxLeft + boxWidth / 2;
  const tops: number[] = [];
  let y = 20;
  for (const stage of stages) {
    tops.push(y);
    y += heightOf(stage) + gap;
  }
  for (const [at, stage] of stages.entries()) {
    const top = tops[at] ?? 0;
    const height = heightOf(stage);
    const isKey = stage.record !== undefined;
    elements.push(
      `<rect class="${isKey ? "key" : "box"}" x="${boxLeft}" y="${top}" width="${boxWidth}" height="${height}" rx="6"/>`,
      textAt(boxLeft + 16, top + 23, stage.title, "title"),
      ...stage.lines.map((line, index) => textAt(boxLeft + 16, top + 43 + index * 19, line, "soft")),
    );
    if (at < stages.length - 1) {
      elements.push(
        `<path class="arrow" d="M${middle} ${top + height}v${gap - 2}" marker-end="url(#head)"/>`,
      );
    }
    if (stage.record !== undefined) elements.push(...drawRecord(stage.record, top + height / 2));
    if (stage.refuses !== undefined)
      elements.push(...drawRefusal(stage.refuses, top + height / 2, tops[0] ?? 0));
  }
  // The answer goes back to the client.
  const last = stages.at(-1);
  const bottom = (tops.at(-1) ?? 0) + (last === undefined ? 0 : heightOf(last));
  const clientMiddle = (tops[0] ?? 0) + 20;
  elements.push(
    `<path class="arrow" d="M${boxLeft} ${bottom - 24}H24V${clientMiddle}H${boxLeft - 2}" marker-end="url(#head)"/>`,
    `<text class="soft" transform="translate(18 ${(bottom + clientMiddle) / 2}) rotate(-90)" text-anchor="middle">answer</text>`,
  );
  return toSvg({
    width,
    height: bottom + 20,
    title: "The path of a call through Toolcrib",
    description: describe(),
    elements,
  });
}

/** A record of the audit trail, at the right. */
function drawRecord(name: string, y: number): string[] {
  const left = boxLeft + boxWidth;
  return [
    `<path class="arrow" d="M${left} ${y}h22" marker-end="url(#head)"/>`,
    textAt(left + 26, y - 3, "record", "soft"),
    `<text class="code" x="${left + 26}" y="${y + 14}">${escapeText(name)}</text>`,
  ];
}

/** A refusal, which goes back to the client at the left. */
function drawRefusal(name: string, y: number, clientTop: number): string[] {
  return [
    `<path class="stop" d="M${boxLeft} ${y}H58V${clientTop + 36}H${boxLeft - 2}" marker-end="url(#stophead)"/>`,
    `<text class="stoptext" transform="translate(52 ${(y + clientTop) / 2 + 18}) rotate(-90)" text-anchor="middle">refused: <tspan class="code stoptext">${escapeText(name)}</tspan></text>`,
  ];
}

/** The picture in words. */
function describe(): string {
  const parts = stages.map(({ title, lines, record, refuses }) => {
    const ends = [
      ...(record === undefined ? [] : [`recorded as ${record}`]),
      ...(refuses === undefined ? [] : [`or refused and recorded as ${refuses}`]),
    ];
    return `${title}: ${[...lines, ...ends].join("; ")}.`;
  });
  return `From top to bottom. ${parts.join(" ")} The answer goes back to the client.`;
}
