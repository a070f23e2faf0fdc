import type { IncomingMessage } from "node:http";

/**
 * What is more than the limit is read and forgotten, so that the client sees the answer. A body is `cut` when its client
 * leaves, or takes too long, in its middle.
 */
export function readBody(
  incoming: IncomingMessage,
  limit: number,
): Promise<Uint8Array | "too-long" | "cut"> {
  return new Promise((resolve) => {
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
      resolve("too-long");
    });
    incoming.on("end", () => resolve(isTooLong() ? "too-long" : Buffer.concat(chunks)));
    incoming.on("error", () => resolve("cut"));
    incoming.on("close", () => resolve("cut"));
  });
}
