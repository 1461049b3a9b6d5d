/** The limits of what is learned, all together. None of them is a setting. */

const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

/** Limits of observed searches, which are in memory only. */
export const observationLimits = {
  /** Milliseconds in which a call can follow a search. */
  windowMs: 10 * minuteMs,
  /** Searches of one client and session that wait for a call; the oldest is dropped. */
  searchesPerSession: 4,
  /** Sessions of one client with such searches; the one that searched least recently is dropped. */
  sessionsPerClient: 64,
  /** Clients with such searches, in the same way. */
  clients: 2000,
  /** Different tools that one search teaches. */
  toolsPerSearch: 3,
  /** Characters of a search that are read. */
  queryMaxChars: 2000,
  /** Uses of one client that wait to be stored; further ones teach nothing. */
  usesPerClient: 100,
  /** Uses of all clients that wait to be stored, in the same way. */
  uses: 5000,
} as const;

/** Limits of words that are stored. */
export const wordLimits = {
  /** Words of one search. */
  wordsPerUse: 24,
  /** Characters of a word; longer ones are not learned. */
  wordMaxChars: 32,
  /** Words of one client for one tool; those with the least weight are dropped. */
  wordsPerTool: 64,
  /** Tools of one client; the one that was used least recently is dropped. */
  toolsPerClient: 400,
  /** Words of one client for all of its tools, in the same way. */
  wordsPerClient: 8000,
  /** Clients; the one that taught least recently is dropped. */
  clients: 1000,
  /** Words of all clients; the client with the most of them loses its oldest tools first. */
  words: 200_000,
  /** Shared words of one tool; the last ones by the alphabet are dropped. */
  sharedWordsPerTool: 256,
  /** Highest weight of a word: so many uses. */
  weightMax: 20,
  /** Words that weigh less are dropped: a single use after half a year. */
  weightMin: 0.05,
  /** Days after which a word weighs half as much. */
  halfLifeDays: 45,
  /** Bytes of the file of one client. */
  fileMaxBytes: 4 * 1024 * 1024,
  /** Characters of the id of a tool, and of the texts that identify a client. */
  idMaxChars: 1000,
} as const;

/** Clients that must have taught a tool a word before it counts for all others. */
export const sharedAfter = 3;
