/**
 * Entry: one of the two trackers on stdin and stdout, until stdin ends. Further
 * arguments are ignored.
 *
 *     node packages/testing/src/tracker-stdio.ts github|zenhub
 */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createTrackerServer } from "./tracker-server.ts";

const name = process.argv[2] === "zenhub" ? "zenhub" : "github";
serveStdio(() => createTrackerServer(name), { onerror: (error) => console.error(error.message) });
