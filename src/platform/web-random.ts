/** Random bytes as hex digits from Web Crypto, for browsers and other runtimes without Node. */
export function randomWebHex(bytes: number): string {
  const values = globalThis.crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(values, (value) => value.toString(16).padStart(2, "0")).join("");
}

/** From 0 up to, but not including, 1. */
export function randomWebFraction(): number {
  return Math.random();
}
