/** Bytes of ClientHello messages, written independently of the reader that they test. */

import { Duplex } from "node:stream";
import { connect } from "node:tls";

/** An extension: its type and its content. */
export type Extension = readonly [type: number, content: Buffer];

/** Returns the extension `server_name` for names of type 0. */
export function serverName(...names: readonly string[]): Extension {
  const list = names.map((name) => Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name, "latin1"))]));
  return [0, vector(2, Buffer.concat(list))];
}

/** Returns a message with its head, and without records. */
export function helloMessage(extensions: readonly Extension[], after = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(32, 9)),
    vector(2, Buffer.from([0x13, 0x01, 0x13, 0x02])),
    vector(1, Buffer.from([0])),
    vector(
      2,
      Buffer.concat(
        extensions.map(([type, content]) => Buffer.concat([number(2, type), vector(2, content)])),
      ),
    ),
    after,
  ]);
  return Buffer.concat([Buffer.from([1]), number(3, body.length), body]);
}

/** Cuts a message into records. @param sizes of the records; the last one takes the rest */
export function toRecords(message: Buffer, sizes: readonly number[] = []): Buffer {
  const records: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, message.length]) {
    const piece = message.subarray(at, at + size);
    at += piece.length;
    if (piece.length > 0) records.push(Buffer.concat([Buffer.from([22, 3, 1]), vector(2, piece)]));
  }
  return Buffer.concat(records);
}

/** Returns the first bytes that the TLS client of Node sends. */
export async function bytesOfNode(servername: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const socket = new Duplex({
    read() {},
    write: (bytes: Buffer, _encoding, done) => {
      resolve(bytes);
      done();
    },
  });
  const client = connect({ socket, servername, ALPNProtocols: ["h2", "http/1.1"] });
  client.on("error", () => {});
  const bytes = await promise;
  client.destroy();
  return bytes;
}

function vector(size: 1 | 2, content: Buffer): Buffer {
  return Buffer.concat([number(size, content.length), content]);
}

function number(size: 1 | 2 | 3, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}
