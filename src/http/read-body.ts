import type { IncomingMessage } from "node:http";

/** Undefined when there is more than the limit; the rest is then read and forgotten, so that the client sees the answer. */
export function readBody(
  incoming: IncomingMessage,
  limit: number,
): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const isTooLong = (): boolean =>
      length > limit || Number(incoming.headers["content-length"] ?? 0) > limit;
    incoming.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (!isTooLong()) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      resolve(undefined);
    });
    incoming.on("end", () => resolve(isTooLong() ? undefined : Buffer.concat(chunks)));
    incoming.on("error", reject);
  });
}
