/**
 * A message from the bridge to an agent whose response was lost or cut off, with the repeated prompt and tool results.
 */
export interface RecoveryMessage {
  /** Empty if the message contains only tool results. */
  readonly prompt: string;
  readonly results: readonly RestatedResult[];
}

export interface RestatedResult {
  /** Undefined if the message does not name the tool. */
  readonly tool: string | undefined;
  readonly isError: boolean;
  readonly text: string;
}

/** Parses a recovery message of the bridge. Null for any other text. */
export function parseRecovery(text: string): RecoveryMessage | null {
  const [opening = "", ...paragraphs] = text.trim().split("\n\n");
  if (!isOpening(opening)) return null;
  const first = paragraphs.findIndex((paragraph) => RESULT_PATTERN.test(paragraph));
  const prompts = first === -1 ? paragraphs : paragraphs.slice(0, first);
  const results = first === -1 ? [] : paragraphs.slice(first);
  // The lost message may itself have been a recovery message, so nested openings are removed.
  const prompt = prompts.filter((paragraph) => !isOpening(paragraph)).join("\n\n");
  return { prompt, results: parseResults(results) };
}

function isOpening(paragraph: string): boolean {
  return OPENINGS.some((opening) => paragraph.startsWith(opening));
}

const OPENINGS = [
  "The connection was lost before your response was complete.",
  "Your last response was cut off,",
];
const RESULT_PATTERN = /^(?:A tool|The tool (\S+)) (returned|failed): ?/;

/** A result may contain several paragraphs. */
function parseResults(paragraphs: readonly string[]): RestatedResult[] {
  const results: RestatedResult[] = [];
  for (const paragraph of paragraphs) {
    const [head = "", tool, verb] = RESULT_PATTERN.exec(paragraph) ?? [];
    const previous = head === "" ? results.pop() : undefined;
    results.push(
      previous === undefined
        ? { tool, isError: verb === "failed", text: paragraph.slice(head.length) }
        : { ...previous, text: `${previous.text}\n\n${paragraph}` },
    );
  }
  return results;
}
