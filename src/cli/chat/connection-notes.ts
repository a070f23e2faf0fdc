import type { ConnectionState } from "../../host/index.ts";
import { formatError } from "./turn-end-notes.ts";

/** What is said of a connection. */
export interface ConnectionNote {
  readonly text: string;
  readonly paint: "good" | "warn" | "bad";
  /** There will be no other connection. */
  readonly isFinal: boolean;
}

/** Follows a connection: that it is lost is said once, however often it is tried again. */
export interface ConnectionNotes {
  update(state: ConnectionState): ConnectionNote | undefined;
  readonly isLost: boolean;
}

/** `where` is what the connection leads to, in words. */
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
          // Whoever wanted the first one hears why there is none.
          if (state.error === undefined || !wasConnected) return undefined;
          const text = `There is no connection any more: ${formatError(state.error)}`;
          return { text, paint: "bad", isFinal: true };
        }
      }
    },
    get isLost() {
      return isLost;
    },
  };
}
