/** Encodes an event as one string, written at once: some clients lose the rest of an event split over two writes. */
export function encodeSseEvent(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The last data of a stream. */
export const SSE_DONE = "data: [DONE]\n\n";
