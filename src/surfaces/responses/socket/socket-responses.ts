/** Responses that nobody keeps but the connection which they were given on. */
export interface SocketResponses {
  has(responseId: string): boolean;
  add(responseId: string): void;
  drop(responseId: string): void;
}

/** A connection may begin as many conversations as it likes. The oldest are forgotten first. */
const MAX_RESPONSES = 256;

export function createSocketResponses(): SocketResponses {
  const responseIds = new Set<string>();
  return {
    has: (responseId) => responseIds.has(responseId),
    add(responseId) {
      responseIds.add(responseId);
      const [oldest] = responseIds;
      if (responseIds.size > MAX_RESPONSES && oldest !== undefined) responseIds.delete(oldest);
    },
    drop: (responseId) => void responseIds.delete(responseId),
  };
}
