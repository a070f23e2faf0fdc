/** Responses that nobody keeps but the connection which they were given on. */
export interface SocketMemory {
  has(responseId: string): boolean;
  add(responseId: string): void;
  drop(responseId: string): void;
}

/** A connection may begin as many conversations as it likes. The oldest are forgotten first. */
const MOST_REMEMBERED = 256;

export function socketMemory(): SocketMemory {
  const known = new Set<string>();
  return {
    has: (responseId) => known.has(responseId),
    add(responseId) {
      known.add(responseId);
      const [oldest] = known;
      if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest);
    },
    drop: (responseId) => void known.delete(responseId),
  };
}
