/** Base64 encoding of bytes, without Node. */

/** Returns `bytes` in base64. */
export function encodeBase64(bytes: Uint8Array): string {
  let characters = "";
  // A call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    characters += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(characters);
}
