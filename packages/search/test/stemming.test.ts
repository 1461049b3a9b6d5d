import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSearch } from "@toolcrib/search";

/** Words and their Porter2 stems, rule by rule. */
const pairs = [
  // Words of one root.
  `consist consist, consisted consist, consistency consist, consistent consist,
   consistently consist, consisting consist, consists consist, consign consign,
   consignment consign, consolation consol, consolidate consolid`,
  // Words that begin alike.
  `knack knack, knackeries knackeri, knave knave, kneaded knead, knew knew, knife knife,
   knives knive, knock knock, knocker knocker, knot knot, knots knot`,
  // Exceptions and invariants.
  `skis ski, skies sky, sky sky, dying die, lying lie, tying tie, idly idl, gently gentl,
   ugly ugli, early earli, only onli, singly singl, news news, howe howe, atlas atlas,
   cosmos cosmos, bias bias, andes andes, inning inning, outing outing, canning canning,
   herring herring, earring earring, evening evening, proceed proceed, exceed exceed,
   succeed succeed`,
  // Beginnings that set the first region.
  `generate generat, general general, generic generic, generous generous, communication communic,
   communism communism, arsenic arsenic, arsenal arsenal, paste paste, past past, universe univers,
   university universiti, lateral lateral, later later, emerge emerg, emergency emergenc,
   organ organ, organic organic, organize organiz, intern intern, internal internal,
   international internat`,
  // Steps 1a and 1b.
  `caresses caress, ponies poni, ties tie, cries cri, gas gas, gaps gap, kiwis kiwi, agreed agre,
   feed feed, luxuriated luxuri, hopping hop, hoping hope, hoped hope, adding add, egging egg,
   offing off, falling fall, hissing hiss, failing fail, filing file, conflated conflat,
   troubled troubl, sized size`,
  // Step 1c.
  `happy happi, cry cri, say say, youth youth, boy boy, boyish boyish`,
  // Step 2.
  `relational relat, conditional condit, rational ration, valency valenc, hesitancy hesit,
   digitizer digit, conformably conform, radically radic, differently differ, vilely vile,
   analogously analog, vietnamization vietnam, predication predic, operator oper, feudalism feudal,
   decisiveness decis, hopefulness hope, callousness callous, formality formal, sensitivity sensit,
   sensibility sensibl, geologist geolog, geology geolog, hopefully hope,
   carelessly careless`,
  // Step 3.
  `triplicate triplic, formative format, formalize formal, electricity electr, electrical electr,
   hopeful hope, goodness good`,
  // Step 4.
  `revival reviv, allowance allow, inference infer, airliner airlin, gyroscopic gyroscop,
   adjustable adjust, defensible defens, irritant irrit, replacement replac, adjustment adjust,
   dependent depend, adoption adopt, homologous homolog, activate activ, angularity angular,
   effective effect, bowdlerize bowdler`,
  // Step 5.
  `probate probat, rate rate, cease ceas, controlling control, rolling roll,
   roll roll`,
  // Words of tools.
  `issue issu, issues issu, repository repositori, repositories repositori, create creat,
   creates creat, created creat, creating creat, creation creation, delete delet, deletes delet,
   deleted delet, deleting delet, deletion delet, query queri, queries queri, querying queri,
   search search, searches search, searching search, message messag, messages messag,
   notify notifi, notification notif, notifications notif, file file, files file,
   directory directori, directories directori, comment comment, comments comment, commit commit,
   commits commit, branch branch, branches branch, merge merg, merged merg, merging merg,
   schedule schedul, scheduled schedul, scheduling schedul, scheduler schedul,
   authenticate authent, authentication authent, authorization author, permission permiss,
   permissions permiss, subscribe subscrib, subscription subscript, analytics analyt,
   analysis analysi, summarize summar, summary summari, summaries summari, archive archiv,
   archived archiv, archiving archiv, upload upload, uploads upload, uploaded upload,
   download download, deployed deploy, deployment deploy, deployments deploy, recipe recip,
   calendar calendar, event event, events event, attendee attende, attendees attende,
   invitation invit, invite invit, invited invit, translate translat, translation translat,
   currency currenc, currencies currenc, memory memori, memories memori, entity entiti,
   entities entiti, relation relat, relations relat, observation observ, observations observ,
   user's user, users' user`,
];

test("English words are stemmed by Porter2", () => {
  let count = 0;
  for (const pair of pairs.join(",").split(",")) {
    const [word = "", stem = ""] = pair.trim().split(/\s+/);
    const search = createToolSearch();
    search.add({ id: "1", name: "", namespace: "", description: word });
    assert.deepEqual(
      search.search(`${word} `)[0]?.why.map(({ term }) => term),
      [stem],
      word,
    );
    count += 1;
  }
  assert.ok(count > 200);
});

test("Words of the same root find each other, words of different roots do not", () => {
  const search = createToolSearch();
  search.add({
    id: "1",
    name: "",
    namespace: "",
    description: "Deletes repositories while scheduling uploads",
  });
  for (const word of ["delete", "deleting", "deletion", "repository", "scheduler", "uploaded"]) {
    assert.equal(search.search(`${word} `).length, 1, word);
  }
  assert.equal(search.search("repose ").length, 0);
});

test("Words with digits and words of other scripts are not stemmed", () => {
  for (const word of ["s3s", "книгами", "h2os"]) {
    const search = createToolSearch();
    search.add({ id: "1", name: "", namespace: "", description: word });
    const terms = search.search(`${word} `)[0]?.why.map(({ term }) => term);
    assert.ok(terms?.includes(word), word);
  }
});
