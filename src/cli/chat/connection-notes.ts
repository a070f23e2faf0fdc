import type { ConnectionState } from "../../host/index.ts";
import { formatError } from "./turn-end-notes.ts";

/** A message about the connection. */
export interface ConnectionNote {
  readonly text: string;
  readonly paint: "good" | "warn" | "bad";
  /** True if no further connection will follow. */
  readonly isFinal: boolean;
}

/** Follows the state of a connection. A loss is reported once, however many retries follow. */
export interface ConnectionNotes {
  update(state: ConnectionState): ConnectionNote | undefined;
  readonly isLost: boolean;
}

/** `where` describes the other end of the connection. */
export function createConnectionNotes(where: string): ConnectionNotes {
  let wasConnected = false;
  let isLost = false;
  return {
    update(state) {
      switch (state.type) {
        case "connected": {
          wasConnected = true;
          if (!isLost) return undefined;
          isLost = false;
          return { text: "Connected again.", paint: "good", isFinal: false };
        }
        case "lost":
          if (isLost) return undefined;
          isLost = true;
          return {
            text: `The connection is lost. Waiting for ${where} …`,
            paint: "warn",
            isFinal: false,
          };
        case "closed": {
          // The caller of the first connection receives its error.
          if (state.error === undefined || !wasConnected) return undefined;
          const text = `The connection is closed: ${formatError(state.error)}`;
          return { text, paint: "bad", isFinal: true };
        }
      }
    },
    get isLost() {
      return isLost;
    },
  };
}
