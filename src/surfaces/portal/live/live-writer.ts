import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import type { EventsFrame, LiveFrame } from "../../../wire/live/live-frames.ts";
import { encodeLiveFrame } from "../../../wire/live/encode-live-frame.ts";

/** Sends the frames of a connection in the order of the calls. */
export interface LiveWriter {
  /** Resolves when the client has room for the next frame (backpressure), or has disconnected. */
  write(frame: Exclude<LiveFrame, EventsFrame>): Promise<void>;
  /** Like `write`, for an encoded frame. */
  writeText(text: string): Promise<void>;
}

/**
 * Frames of several subscriptions wait in a queue. Each subscription waits for its frame before the next read of the log,
 * so the length of the queue is limited by the number of subscriptions.
 */
export function createLiveWriter({ send }: Pick<OpenSocket, "send">): LiveWriter {
  let last = Promise.resolve();
  const writeText = (text: string): Promise<void> => (last = last.then(() => send(text)));
  return { writeText, write: (frame) => writeText(encodeLiveFrame(frame)) };
}
