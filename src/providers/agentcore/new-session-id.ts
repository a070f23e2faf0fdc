import { randomText } from "../../platform/random.ts";

/** Names the bridge in the service's own logs, with more chance in it than a UUID has. */
export function newSessionId(): string {
  return `spanline-${randomText(32)}`;
}
