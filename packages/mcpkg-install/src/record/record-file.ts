/** The file of the install record. */

import { errnoOf, type FileContent, readRegularFile, reasonOf } from "@toolcrib/files";
import { recordPathOf } from "../install-places.ts";
import {
  emptyRecord,
  type InstallRecord,
  parseRecord,
  recordMaxBytes,
  unreadable,
} from "./install-record.ts";

/** A record as it was read. */
export interface ReadRecord {
  readonly record: InstallRecord;
  /** Its text; empty where there is no file. Two reads with the same text saw the same state. */
  readonly text: string;
}

/**
 * Reads the record of a home.
 *
 * @throws {InstallError} `INSTALL_RECORD_UNREADABLE`
 */
export async function readRecordFile(home: string): Promise<ReadRecord> {
  const path = recordPathOf(home);
  let content: FileContent;
  try {
    content = await readRegularFile(path, recordMaxBytes);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return { record: emptyRecord, text: "" };
    throw unreadable(path, reasonOf(cause), cause);
  }
  if (content.bytes.length > recordMaxBytes)
    throw unreadable(path, `it has more than ${recordMaxBytes} bytes`);
  const text = Buffer.from(content.bytes).toString("utf8");
  return { record: parseRecord(text, path), text };
}
