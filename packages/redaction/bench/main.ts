/**
 * `npm run bench -w packages/redaction`: measures how long it takes to build
 * the search for 1, 5 and 50 secrets in a new process and to learn one more,
 * and the throughput of texts and streams without secrets. Prints processor
 * time, which depends less on the load of the machine than elapsed time.
 */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ByteScrubber, SecretScrubber } from "@toolcrib/redaction";
import { toMarkdown } from "../../../bench/table.ts";

const kinds = ["text", "stream"] as const;
const counts = [1, 5, 50];
const runs = 5;
const learnCount = 20;
const scanCount = 20;
/** Shorter than a stride: a call with it builds the search and scans nothing. */
const shortText = "no secret here";

/** Milliseconds of processor time, or megabytes a second of it. */
interface Measured {
  readonly build: number;
  readonly learn: number;
  readonly prose: number;
  readonly json: number;
}

interface Scrubber {
  learn(secret: string): void;
  scan(data: string | Uint8Array): void;
}

function createText(): Scrubber {
  const scrubber = new SecretScrubber();
  return {
    learn: (secret) => scrubber.learn("bench", secret),
    scan: (data) => void scrubber.text(data as string),
  };
}

function createStream(): Scrubber {
  const scrubber = new ByteScrubber<string>([]);
  return {
    learn: (secret) => scrubber.add({ owner: "bench", texts: [secret], replacement: "x" }),
    scan(data) {
      const stream = scrubber.stream(() => {});
      const bytes = data as Uint8Array;
      for (let at = 0; at < bytes.length; at += 1 << 16) stream.push(bytes.subarray(at, at + (1 << 16)));
      stream.end();
    },
  };
}

/** Random numbers that are the same in each run. */
function createRandom(): (limit: number) => number {
  let state = 7;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % limit;
  };
}

const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.";
const words = [
  "the",
  "tool",
  "returns",
  "a",
  "list",
  "of",
  "issues",
  "with",
  "their",
  "state",
  "and",
  "title",
];

function milliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function measure(kind: string, count: number): Measured {
  const random = createRandom();
  const secret = (): string =>
    Array.from({ length: 20 + random(41) }, () => characters[random(characters.length)]).join("");
  const prose = Array.from({ length: 200_000 }, () => words[random(words.length)]).join(" ");
  const json = JSON.stringify(
    Array.from({ length: 15_000 }, (_, id) => ({
      id,
      title: words[random(12)],
      url: `https://a.test/${id}`,
    })),
  );
  const ofKind = (text: string): string | Uint8Array => (kind === "text" ? text : Buffer.from(text));
  const scrubber = kind === "text" ? createText() : createStream();
  const learn = (): void => {
    scrubber.learn(secret());
    scrubber.scan(ofKind(shortText));
  };
  const build = milliseconds(() => {
    for (let at = 0; at < count; at += 1) scrubber.learn(secret());
    scrubber.scan(ofKind(shortText));
  });
  const throughput = (text: string): number => {
    const data = ofKind(text);
    for (let run = 0; run < scanCount; run += 1) scrubber.scan(data);
    const spent = milliseconds(() => {
      for (let run = 0; run < scanCount; run += 1) scrubber.scan(data);
    });
    return (data.length * scanCount) / 1000 / spent;
  };
  const speeds = { prose: throughput(prose), json: throughput(json) };
  const learned = milliseconds(() => {
    for (let at = 0; at < learnCount; at += 1) learn();
  });
  return { build, learn: learned / learnCount, ...speeds };
}

function medianOf(measured: readonly Measured[], key: keyof Measured): string {
  const sorted = measured.map((one) => one[key]).sort((one, two) => one - two);
  return (sorted[sorted.length >>> 1] as number).toFixed(1);
}

function main(): void {
  const [kind, count] = process.argv.slice(2);
  if (kind !== undefined) {
    process.stdout.write(JSON.stringify(measure(kind, Number(count))));
    return;
  }
  const script = fileURLToPath(import.meta.url);
  const rows = kinds.flatMap((one) =>
    counts.map((secrets) => {
      const measured = Array.from({ length: runs }, (): Measured => {
        const args = ["--conditions=toolcrib-source", script, one, String(secrets)];
        return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
      });
      const figures = (["build", "learn", "prose", "json"] as const).map((key) => medianOf(measured, key));
      return [`${one}, secrets: ${secrets}`, ...figures];
    }),
  );
  const columns = ["scrubber", "build, ms", "learn one more, ms", "prose, MB/s", "JSON, MB/s"];
  process.stdout.write(toMarkdown({ title: "Redaction", columns, rows }));
}

main();
