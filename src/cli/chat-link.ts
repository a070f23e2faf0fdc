import type { LinkState } from "../host/index.ts";
import { complaintOf } from "./chat-ends.ts";

/** What is said of a connection. */
export interface LinkNote {
  readonly text: string;
  readonly paint: "good" | "warn" | "bad";
  /** There will be no other connection. */
  readonly isEnd: boolean;
}

/** Follows a connection: that it is lost is said once, however often it is tried again. */
export interface ChatLink {
  heard(state: LinkState): LinkNote | undefined;
  readonly isLost: boolean;
}

/** `where` is what the connection leads to, in words. */
export function chatLink(where: string): ChatLink {
  let wasThere = false;
  let isLost = false;
  return {
    heard(state) {
      switch (state.type) {
        case "connected": {
          wasThere = true;
          if (!isLost) return undefined;
          isLost = false;
          return { text: "Connected again.", paint: "good", isEnd: false };
        }
        case "lost":
          if (isLost) return undefined;
          isLost = true;
          return {
            text: `The connection is lost. Waiting for ${where} …`,
            paint: "warn",
            isEnd: false,
          };
        case "closed": {
          // Whoever wanted the first one hears why there is none.
          if (state.error === undefined || !wasThere) return undefined;
          const text = `There is no connection any more: ${complaintOf(state.error)}`;
          return { text, paint: "bad", isEnd: true };
        }
      }
    },
    get isLost() {
      return isLost;
    },
  };
}
