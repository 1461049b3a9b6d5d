/** Secrets that are learned after a scan, and values that are forgotten. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteScrubber, SecretScrubber } from "@toolcrib/redaction";
import { encodings } from "./encodings.ts";

const first = "sk_live_4eC39HqLyjWDarjt";
const second = "x7-Other/Value+42=";

test("a value that is learned after a scan is replaced in every encoding, and so is the one before", () => {
  const scrubber = new SecretScrubber();
  scrubber.learn("first", first);
  assert.equal(scrubber.text(`${first} ${second}`), `[secret first] ${second}`);
  scrubber.learn("second", second);
  for (const { title, encode } of encodings) {
    const shown = scrubber.text(`(${encode(first)}) (${encode(second)})`);
    assert.match(shown, /\[secret first\].*\[secret second\]/s, title);
  }
});

test("a shorter value that is learned later is replaced, and so are the longer ones before", () => {
  const scrubber = new SecretScrubber();
  const values = [first.repeat(3), first, "abc123"];
  for (const [at, value] of values.entries()) {
    scrubber.learn(`s${at}`, value);
    const known = values.slice(0, at + 1);
    for (const { title, encode } of encodings) {
      const shown = scrubber.text(known.map((one) => `(${encode(one)})`).join(" - "));
      assert.equal(shown.split("[secret ").length - 1, known.length, `${title}: ${shown}`);
    }
  }
});

test("each of several hundred values is replaced", () => {
  const scrubber = new SecretScrubber();
  const values = Array.from({ length: 300 }, (_, at) => `value-${at * 7919}-${(at * 104_729).toString(36)}`);
  for (const [at, value] of values.entries()) {
    scrubber.learn(`s${at}`, value);
    if (at % 50 === 0) scrubber.text("a text that builds the search");
  }
  for (const [at, value] of values.entries()) {
    for (const text of [value, btoa(value), encodeURIComponent(value).replaceAll("-", "%2D")])
      assert.equal(scrubber.text(`(${text})`), `([secret s${at}])`);
  }
});

test("a secret that is added to a stream that has begun is replaced from then on", () => {
  const scrubber = new ByteScrubber([{ owner: 1, texts: [first], replacement: "[1]" }]);
  const stream = scrubber.stream(() => {});
  const push = (text: string): string => Buffer.concat([...stream.push(Buffer.from(text))]).toString();
  assert.equal(push(`${second} `), `${second} `);
  scrubber.add({ owner: 2, texts: [second], replacement: "[2]" });
  assert.equal(push(`${second} ${first} `), "[2] [1] ");
});

test("the value that was learned least recently is forgotten first, and the others are still replaced", () => {
  const maxValues = 8;
  const scrubber = new SecretScrubber({ maxValues });
  const values = Array.from({ length: 3 * maxValues }, (_, at) => `value-number-${at}-${at * 7919}`);
  for (const [at, value] of values.entries()) {
    scrubber.learn(`s${at}`, value);
    // Each scan adds the value to the search, which is built again after some were forgotten.
    for (let known = Math.max(0, at - maxValues + 1); known <= at; known += 1)
      assert.equal(scrubber.text(`(${values[known]})`), `([secret s${known}])`);
  }
  // The search was built again with the last values only.
  assert.equal(scrubber.text(`(${values[0]})`), `(${values[0]})`);
});

test("a value that is learned again is not forgotten first", () => {
  const scrubber = new SecretScrubber({ maxValues: 2 });
  scrubber.learn("a", "value-a");
  scrubber.learn("b", "value-b");
  scrubber.learn("a", "value-a");
  scrubber.learn("c", "value-c");
  assert.equal(scrubber.text("value-a value-b value-c"), "[secret a] value-b [secret c]");
});
