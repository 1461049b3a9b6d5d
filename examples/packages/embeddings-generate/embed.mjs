/** Counts the words of a text in buckets that their hashes choose, and scales the counts to a vector of length 1. */

import { createHash } from "node:crypto";

const parts = [];
process.stdin.on("data", (part) => parts.push(part));
process.stdin.on("end", () => {
  const { text, model = "hashed-words-16" } = JSON.parse(Buffer.concat(parts).toString("utf8"));
  const vector = new Array(Number(model.split("-").at(-1))).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    vector[createHash("sha256").update(word).digest().readUInt32BE() % vector.length] += 1;
  }
  const length = Math.hypot(...vector);
  const embeddings = vector.map((count) => (length === 0 ? 0 : Number((count / length).toFixed(6))));
  console.log(JSON.stringify({ embeddings }));
});
