/** Explanations of the codes of the package embeddings. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { serverFile } from "../samples.ts";

export const explanations: Explanations = {
  EMBEDDINGS_ANSWER_INVALID: {
    cause:
      "The endpoint of search.embeddings answered with something other than one vector for each text. Search goes by words until it answers well.",
    files: serverFile(
      "notes",
      [],
      'serve: { auth: none }\nsearch: { embeddings: { url: "http://127.0.0.1:9000/json", model: m } }\n',
    ),
    did: "Another service answers at the address.",
    before: [
      "(toolcrib serve --listen 127.0.0.1:0 --quiet --log-level warn > log 2>&1 & pid=$!; n=0; until grep -q EMBED log || [ $((n += 1)) = 300 ]; do sleep 0.1; done; kill $pid; wait)",
    ],
    run: "grep EMBED log",
    fix: "Check url and model of search.embeddings: the endpoint must speak the form of OpenAI's /v1/embeddings. toolcrib doctor asks it.",
  },
  EMBEDDINGS_FILE_UNREADABLE: {
    cause:
      "A file with vectors in the home cannot be read or is damaged. The vectors are fetched again, which costs requests and nothing else.",
    did: "A file of vectors was cut off when the disk was full.",
    prints: 'Cannot read "/home/ada/.toolcrib/embeddings/definitions": it is damaged',
    unrun: "machine",
    tested: "packages/gateway/test/embeddings.security.test.ts",
    fix: "Nothing has to be done; if it repeats, check disk and permissions of the folder embeddings in the home.",
  },
  EMBEDDINGS_TOO_MANY: {
    cause: "There are more definitions than vectors are kept. The others are found by their words.",
    did: "A gateway has 30,000 tools.",
    prints: "10000 of 30000 definitions have no vector: 20000 are kept",
    unrun: "load",
    tested: "packages/gateway/test/embeddings.security.test.ts",
    fix: "Remove servers that nobody uses, or accept that some tools are found by words only.",
  },
  EMBEDDINGS_UNAVAILABLE: {
    cause:
      "The endpoint cannot be reached, is too slow for a query, or refused the request (a wrong key, a limit). Search goes by words meanwhile, and the endpoint is asked again later.",
    files: serverFile(
      "notes",
      [],
      'serve: { auth: none }\nsearch: { embeddings: { url: "http://127.0.0.1:9000/status-503", model: m } }\n',
    ),
    did: "The endpoint is down.",
    before: [
      "(toolcrib serve --listen 127.0.0.1:0 --quiet --log-level warn > log 2>&1 & pid=$!; n=0; until grep -q EMBED log || [ $((n += 1)) = 300 ]; do sleep 0.1; done; kill $pid; wait)",
    ],
    run: "grep EMBED log",
    fix: "Start the endpoint, correct url, or store a valid key for its headers. For slow answers, raise search.embeddings.timeout_ms.",
  },
  EMBEDDINGS_UNWRITABLE: {
    cause: "Vectors cannot be stored in the home. They are kept in memory and fetched again after a restart.",
    files: {
      ...serverFile(
        "notes",
        [],
        'serve: { auth: none }\nsearch: { embeddings: { url: "http://127.0.0.1:9000/vectors", model: m } }\n',
      ),
      ".toolcrib/embeddings": "not a folder\n",
    },
    did: "A file is where the folder of vectors has to be.",
    before: [
      "(toolcrib serve --listen 127.0.0.1:0 --quiet --log-level warn > log 2>&1 & pid=$!; n=0; until grep -q UNWRITABLE log || [ $((n += 1)) = 300 ]; do sleep 0.1; done; kill $pid; wait)",
    ],
    run: "grep UNWRITABLE log",
    fix: "Free space, or let the user who runs Toolcrib own the folder embeddings in the home.",
  },
};
