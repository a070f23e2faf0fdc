/** The page for an address. */
export type Route =
  | { readonly page: "inbox" }
  | { readonly page: "sessions" }
  | { readonly page: "session"; readonly sessionId: string }
  | { readonly page: "login" }
  | { readonly page: "unknown" };

export function parseRoute(pathname: string): Route {
  const [first = "", second, ...rest] = pathname.split("/").slice(1);
  if (rest.length > 0) return { page: "unknown" };
  if (first === "sessions" && second !== undefined && second !== "") {
    const sessionId = decodeSegment(second);
    return sessionId === undefined ? { page: "unknown" } : { page: "session", sessionId };
  }
  if (second !== undefined && second !== "") return { page: "unknown" };
  switch (first) {
    case "":
    case "inbox":
      return { page: "inbox" };
    case "sessions":
      return { page: "sessions" };
    case "login":
      return { page: "login" };
    default:
      return { page: "unknown" };
  }
}

/** Path of a session, optionally of the item with the event at `seq`. */
export function formatSessionPath(sessionId: string, seq?: number): string {
  const path = `/sessions/${encodeURIComponent(sessionId)}`;
  return seq === undefined ? path : `${path}#${seq}`;
}

/** Undefined if the segment is not valid percent encoding. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
