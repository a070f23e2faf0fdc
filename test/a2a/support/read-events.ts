/** An event of a stream. */
export interface SentEvent {
  /** Null if the event has no id. */
  readonly id: string | null;
  // Untyped: tests read any field.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

/** Reads the events of a response as they arrive. */
export async function* readEvents(response: Response): AsyncGenerator<SentEvent> {
  if (response.body === null) throw new Error("The response has no body");
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = readEvent(block);
      if (event !== undefined) yield event;
    }
  }
}

/** Undefined for a comment. */
function readEvent(block: string): SentEvent | undefined {
  const id = /^id: (.*)$/m.exec(block)?.[1] ?? null;
  const lines = block.split("\n").filter((line) => line.startsWith("data: "));
  if (lines.length === 0) return undefined;
  return { id, data: JSON.parse(lines.map((line) => line.slice("data: ".length)).join("\n")) };
}

export async function readAllEvents(response: Response): Promise<readonly SentEvent[]> {
  const events: SentEvent[] = [];
  for await (const event of readEvents(response)) events.push(event);
  return events;
}
