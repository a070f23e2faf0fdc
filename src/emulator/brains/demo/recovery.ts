/** What the bridge repeats to an agent whose answer was lost or cut off. */
export interface Recovery {
  /** Empty when only results were told. */
  readonly prompt: string;
  readonly results: readonly RepeatedResult[];
}

export interface RepeatedResult {
  /** Undefined where the bridge does not say it. */
  readonly tool: string | undefined;
  readonly isError: boolean;
  readonly text: string;
}

/** Reads a message of the bridge's own; null for any other text. */
export function recoveryIn(text: string): Recovery | null {
  const [opening = "", ...told] = text.trim().split("\n\n");
  if (!isOpening(opening)) return null;
  const first = told.findIndex((paragraph) => RESULT.test(paragraph));
  const prompts = first === -1 ? told : told.slice(0, first);
  const results = first === -1 ? [] : told.slice(first);
  // A message that was lost may have been one of these.
  const prompt = prompts.filter((paragraph) => !isOpening(paragraph)).join("\n\n");
  return { prompt, results: resultsIn(results) };
}

function isOpening(paragraph: string): boolean {
  return OPENINGS.some((opening) => paragraph.startsWith(opening));
}

const OPENINGS = [
  "The connection was lost before your answer was complete.",
  "Your last answer was cut off,",
];
const RESULT = /^(?:A tool|The tool (\S+)) (gave|failed): ?/;

/** A result may have paragraphs of its own. */
function resultsIn(paragraphs: readonly string[]): RepeatedResult[] {
  const results: RepeatedResult[] = [];
  for (const paragraph of paragraphs) {
    const [head = "", tool, verb] = RESULT.exec(paragraph) ?? [];
    const before = head === "" ? results.pop() : undefined;
    results.push(
      before === undefined
        ? { tool, isError: verb === "failed", text: paragraph.slice(head.length) }
        : { ...before, text: `${before.text}\n\n${paragraph}` },
    );
  }
  return results;
}
