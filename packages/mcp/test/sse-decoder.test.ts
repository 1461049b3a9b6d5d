/** Server-sent events by WHATWG HTML, section 9.2. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatSseEvent, SseDecoder } from "@toolcrib/mcp";
import { slowTest } from "@toolcrib/testing";
import fc from "fast-check";
import type { SseEvent } from "./option-types.ts";

interface Received {
  readonly events: SseEvent[];
  readonly ids: string[];
  readonly retries: number[];
  tooLarge: number;
}

function decode(chunks: Iterable<string>, maxLength = 1 << 20): Received {
  const received: Received = { events: [], ids: [], retries: [], tooLarge: 0 };
  const decoder = new SseDecoder(
    {
      event: (event) => received.events.push(event),
      id: (id) => received.ids.push(id),
      retry: (milliseconds) => received.retries.push(milliseconds),
      tooLarge: () => {
        received.tooLarge += 1;
      },
    },
    maxLength,
  );
  for (const chunk of chunks) decoder.write(chunk);
  return received;
}

/** The parts of an event that differ from `message` without an id. */
function short({ event, data, id }: SseEvent): string {
  return `${event === "message" ? "" : `${event}:`}${data}${id === undefined ? "" : `#${id}`}`;
}

/** A stream and its events: `[event:]data[#id]`. */
const streams: [text: string, events: string[]][] = [
  ["data: a\n\n", ["a"]],
  ["data:a\n\n", ["a"]],
  ["data:  a\n\n", [" a"]],
  ["data: a\r\n\r\n", ["a"]],
  ["data: a\r\r", ["a"]],
  ["data: a\n\r\n", ["a"]],
  ["data: a\r\n\n", ["a"]],
  ["\ufeffdata: a\n\n", ["a"]],
  ["\n\ufeffdata: a\n\ndata: b\n\n", ["b"]],
  // The examples of the standard.
  ["data: YHOO\ndata: +2\ndata: 10\n\n", ["YHOO\n+2\n10"]],
  [
    ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
    ["first event#1", "second event#", " third event#"],
  ],
  ["data\n\ndata\ndata\n\ndata:", ["", "\n"]],
  ["data:test\n\ndata: test\n\n", ["test", "test"]],
  // An event without data is not dispatched, and its name is reset.
  ["event: x\n\ndata: a\n\n", ["a"]],
  ["event: x\ndata: a\n\ndata: b\n\n", ["x:a", "b"]],
  ["event: x\nevent:\ndata: a\n\n", ["a"]],
  // The id stays until it is replaced; an id with NUL is ignored, an empty one resets it.
  ["id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n", ["a#1", "b#1", "c#2"]],
  ["id: 1\ndata: a\n\nid: x\0y\ndata: b\n\n", ["a#1", "b#1"]],
  ["id: 1\ndata: a\n\nid\ndata: b\n\n", ["a#1", "b#"]],
  ["id: 7\n\ndata: a\n\n", ["a#7"]],
  // Comments, unknown fields, fields with spaces.
  [": comment\n\n:\ndata: a\n:x\ndata: b\n\n", ["a\nb"]],
  ["DATA: a\nfoo: bar\nfoo\n data: no\ndata : no\ndata: yes\n\n", ["yes"]],
  ["data: a:b: c\n\n", ["a:b: c"]],
  // An event without its final blank line is discarded.
  ["data: a\n\ndata: b\n", ["a"]],
  ["data: a", []],
  ["", []],
];

test("Streams are parsed by the standard, in one piece, split anywhere, and character by character", () => {
  for (const [text, expected] of streams) {
    const cuttings = [[text], [...text], ...[...text].map((_, at) => [text.slice(0, at), text.slice(at)])];
    for (const cutting of cuttings) {
      assert.deepEqual(decode(cutting).events.map(short), expected, JSON.stringify(cutting));
    }
  }
});

test("An event that ends in a bare CR is reported at once", () => {
  assert.deepEqual(decode(["data: a\r\r"]).events.map(short), ["a"]);
  assert.deepEqual(decode(["data: a\r\r", "\ndata: b\r", "\n\r\n"]).events.map(short), ["a", "b"]);
});

test("An id without data is reported, so that a stream can be resumed from it", () => {
  assert.deepEqual(decode(["id: 5\n\nid: 6\nretry: 10\n\nid: 7\ndata: a\n\n\n\n"]).ids, ["5", "6"]);
});

test("retry accepts digits only", () => {
  const text =
    "retry: 3000\nretry:0\nretry: 1.5\nretry: -1\nretry: 1e3\nretry\nretry: 12345678901\nretry: 5x\n\n";
  assert.deepEqual(decode([text]).retries, [3000, 0]);
});

test("Any events survive any split and any line breaks", () => {
  const word = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replace(/[\r\n\0]/g, ""));
  const event = fc.record({
    name: fc.constantFrom("", "endpoint", "x"),
    id: fc.option(word, { nil: undefined }),
    lines: fc.array(word, { minLength: 1, maxLength: 4 }),
    comments: fc.nat(2),
  });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 6 }),
      fc.infiniteStream(fc.constantFrom("\n", "\r", "\r\n")),
      fc.array(fc.nat(600), { maxLength: 20 }),
      (events, breaks, cuts) => {
        let text = "";
        const end = () => breaks.next().value as string;
        for (const { name, id, lines, comments } of events) {
          for (let count = 0; count < comments; count += 1) text += `: noise${end()}`;
          if (name !== "") text += `event: ${name}${end()}`;
          if (id !== undefined) text += `id: ${id}${end()}`;
          for (const line of lines) text += `data: ${line}${end()}`;
          // A CR before an LF would form a single line break.
          text += text.endsWith("\r") ? "\r" : end();
        }
        let lastId: string | undefined;
        const expected = events.map(({ name, id, lines }) => {
          lastId = id ?? lastId;
          return { event: name === "" ? "message" : name, data: lines.join("\n"), id: lastId };
        });
        const edges = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort(
          (a, b) => a - b,
        );
        const chunks = edges.slice(1).map((edge, index) => text.slice(edges[index], edge));
        assert.deepEqual(decode(chunks).events, expected);
      },
    ),
  );
});

test("Random text is parsed without a crash, with the same result for any split", () => {
  const alphabet = fc.constantFrom(
    "\n",
    "\r",
    ":",
    " ",
    "d",
    "data",
    "id",
    "event",
    "retry",
    "\ufeff",
    "\0",
    "1",
  );
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 60 }), (parts) => {
      assert.deepEqual(decode(parts), decode([parts.join("")]));
    }),
  );
});

test("formatSseEvent() and the decoder are inverse", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.option(fc.stringMatching(/^[!-~]{1,20}$/), { nil: undefined }),
      (value, id) => {
        const text = formatSseEvent(JSON.stringify(value), { event: "message", id });
        assert.deepEqual(decode([text]).events, [{ event: "message", data: JSON.stringify(value), id }]);
      },
    ),
  );
});

test("An event over the limit is discarded and reported once, and the next one is read", () => {
  const large = [
    `data: ${"x".repeat(200)}\n\n`,
    `${"data: 12345678\n".repeat(30)}\n`,
    // Lines without data count too, because they become line feeds.
    `${"data\n".repeat(500)}\n`,
    `nonsense${"x".repeat(500)}\n\n`,
  ];
  for (const text of large) {
    for (const cutting of [
      [text, "data: next\n\n"],
      [...text, ..."data: next\n\n"],
    ]) {
      const received = decode(cutting, 100);
      // A line of an unknown field is not data: it is too large only if it exceeds the buffer.
      if (!text.startsWith("nonsense")) assert.equal(received.tooLarge, 1);
      assert.deepEqual(received.events.map(short), ["next"]);
    }
  }
});

test("Data of exactly the limit is reported", () => {
  const text = `data: ${"x".repeat(100)}\n\n`;
  for (const cutting of [[text], [...text]]) {
    assert.equal(decode(cutting, 100).events.length, 1);
    assert.equal(decode(cutting, 100).tooLarge, 0);
  }
});

test("The time depends on the length of the text, not on the number of its pieces or lines", slowTest, () => {
  // In quadratic time these would take minutes.
  const large = "x".repeat(16 << 20);
  const pieces = [
    "data: ",
    ...Array.from({ length: 256 * 1024 }, (_, n) => large.slice(n * 64, (n + 1) * 64)),
    "\n\n",
  ];
  assert.equal(decode(pieces, 64 << 20).events[0]?.data.length, large.length);
  const many = "data: a\n\n".repeat(500_000);
  assert.equal(decode([many]).events.length, 500_000);
  assert.equal(decode([many.replaceAll("\n", "\r")]).events.length, 500_000);
});
