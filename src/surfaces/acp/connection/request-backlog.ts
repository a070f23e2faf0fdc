/** Requests to a client that wait until it has answered others, in order. */
export interface RequestBacklog {
  /** Sends a request now or later. Returns the key under which it can be removed. */
  add(send: SendRequest): string;
  /** Sends the oldest waiting requests, as many as the connection takes. */
  flush(): void;
  /** Removes a request that was answered or is withdrawn. Returns its id if it was sent. */
  remove(key: string): string | undefined;
}

/** Returns the id of the request, or undefined if the client has too many. */
type SendRequest = () => string | undefined;

export function createRequestBacklog(): RequestBacklog {
  const waiting = new Map<string, SendRequest>();
  const sentIds = new Map<string, string>();
  let count = 0;

  function flush(): void {
    for (const [key, send] of waiting) {
      const requestId = send();
      if (requestId === undefined) return;
      waiting.delete(key);
      sentIds.set(key, requestId);
    }
  }

  return {
    add(send) {
      count += 1;
      const key = `request ${count}`;
      waiting.set(key, send);
      flush();
      return key;
    },
    flush,
    remove(key) {
      waiting.delete(key);
      const requestId = sentIds.get(key);
      sentIds.delete(key);
      return requestId;
    },
  };
}
