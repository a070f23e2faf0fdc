/** Encodes server-sent events, with and without names. */
export function encodeServerSent(...events: readonly (string | object)[]): Uint8Array {
  return new TextEncoder().encode(events.map(formatEvent).join(""));
}

function formatEvent(event: string | object): string {
  if (typeof event === "string") return `data: ${event}\n\n`;
  const name = "type" in event ? `event: ${String(event.type)}\n` : "";
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
