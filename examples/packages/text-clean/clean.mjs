/** Joins the lines of a text, and normalizes its white space and its characters. */

const parts = [];
process.stdin.on("data", (part) => parts.push(part));
process.stdin.on("end", () => {
  const { text } = JSON.parse(Buffer.concat(parts).toString("utf8"));
  const result = text
    .normalize("NFKC")
    .replace(/-\r?\n(?=\p{Ll})/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  console.log(JSON.stringify({ result }));
});
