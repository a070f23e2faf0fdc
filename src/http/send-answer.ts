import type { ServerResponse } from "node:http";
import type { ServedAnswer } from "./served.ts";

export interface SendOptions {
  readonly gone: AbortSignal;
  /** A client that takes nothing of a whole answer for so long is cut off. */
  readonly stalledMs: number;
}

/** Resolves when all was handed over or the client is gone. What the body throws, it throws too. */
export async function sendAnswer(
  outgoing: ServerResponse,
  { status, headers, body, cut }: ServedAnswer,
  { gone, stalledMs }: SendOptions,
): Promise<void> {
  if (body instanceof Uint8Array) {
    const length = status === 204 ? {} : { "content-length": String(body.length) };
    outgoing.writeHead(status, { ...headers, ...length });
    // Whoever sends in pieces knows itself how long it waits.
    outgoing.setTimeout(stalledMs, () => outgoing.socket?.resetAndDestroy());
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, { ...headers });
  // The client learns the status before the first piece, which may be long in coming.
  outgoing.flushHeaders();
  cut?.addEventListener("abort", () => outgoing.socket?.resetAndDestroy(), { once: true });
  for await (const piece of body) {
    if (gone.aborted) return;
    if (!outgoing.write(piece)) await writable(outgoing);
    if (gone.aborted) return;
  }
  outgoing.end();
}

/** Resolves when the client has read enough, or is gone. */
function writable(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.on("drain", done);
    outgoing.on("close", done);
    if (outgoing.destroyed) done();
  });
}
