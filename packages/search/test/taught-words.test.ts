import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSearch, TaughtWords } from "@toolcrib/search";
import fc from "fast-check";

const names = ["create_issue", "list_orders", "send_mail", "read_file", "close_task"] as const;
const words = ["ticket", "mail", "order", "open", "money", "file"] as const;

function indexOf(ids: readonly string[]) {
  const search = createToolSearch();
  for (const name of ids) search.add({ id: name, name, namespace: "", description: `The tool ${name}` });
  return search;
}

test("a taught word finds a tool that no word of its definition finds, and the reasons say so", () => {
  const search = indexOf(names);
  const taught = new TaughtWords("learned");
  taught.set("create_issue", [["tickets", 2]]);
  assert.deepEqual(search.search("ticket"), []);
  const [hit] = search.search("ticket", { taught: [taught] });
  assert.equal(hit?.id, "create_issue");
  assert.deepEqual(
    hit?.why.map(({ word, term, match, field }) => ({ word, term, match, field })),
    [{ word: "ticket", term: "ticket", match: "word", field: "learned" }],
  );
  assert.deepEqual(search.search("ticket", { taught: [taught], filter: (id) => id !== "create_issue" }), []);
});

test("the parts of a score with taught words add up, whatever was taught, removed and added again", () => {
  const taughtWords = fc.array(fc.tuple(fc.constantFrom(...words), fc.integer({ min: -1, max: 5 })));
  const lessons = fc.array(fc.tuple(fc.constantFrom(...names), taughtWords), { maxLength: 12 });
  const query = fc.array(fc.constantFrom(...words, "create", "tool"), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(lessons, lessons, query, fc.constantFrom(...names), (own, shared, asked, renewed) => {
      const search = indexOf(names);
      const taught = [new TaughtWords("learned"), new TaughtWords("shared")] as const;
      for (const [id, learned] of own) taught[0].set(id, learned);
      for (const [id, learned] of shared) taught[1].set(id, learned);
      search.search(asked.join(" "), { taught });
      // Its slot and its number are others afterwards.
      search.remove(renewed);
      search.add({ id: "other", name: "other", namespace: "" });
      search.add({ id: renewed, name: renewed, namespace: "", description: `The tool ${renewed}` });
      search.remove("other");
      taught[0].delete("absent");
      const fresh = [new TaughtWords("learned"), new TaughtWords("shared")] as const;
      for (const [id, learned] of new Map(own)) fresh[0].set(id, learned);
      for (const [id, learned] of new Map(shared)) fresh[1].set(id, learned);
      const found = search.search(asked.join(" "), { taught });
      assert.deepEqual(
        found.map(({ id, score }) => [id, score.toFixed(9)]),
        indexOf(names)
          .search(asked.join(" "), { taught: fresh })
          .map(({ id, score }) => [id, score.toFixed(9)]),
      );
      for (const { score, why } of found) {
        const sum = why.reduce((total, { contribution }) => total + contribution, 0);
        assert.ok(Math.abs(sum - score) < 1e-9, `${sum} is not ${score}`);
      }
    }),
  );
});

test("words of tools that are not in the index change nothing", () => {
  const search = indexOf(names);
  const taught = new TaughtWords("shared");
  taught.set("absent", [["issue", 5]]);
  taught.set("gone", [["unheard", 5]]);
  for (const query of ["issue", "unheard", "create issue"]) {
    assert.deepEqual(search.search(query, { taught: [taught] }), search.search(query));
  }
});
