/** An event as one piece of text: some readers forget what a write brought only half of. */
export function encodeSseEvent(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The last thing that a stream says. */
export const SSE_DONE = "data: [DONE]\n\n";
