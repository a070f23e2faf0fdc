import { listCoveringTexts } from "./join-words.ts";
import { toBareName } from "./launchers.ts";

/** A simple command in a line of joined commands. */
export interface LineCommand {
  readonly operator: string;
  readonly words: readonly string[];
  /** The words of the launched program if the command is a launcher, otherwise the same words. */
  readonly startedWords: readonly string[];
}

/**
 * Formats the whole line and each pipeline in it with normalized operators: with the program names as written, and with
 * the bare names of the programs which finally run.
 */
export function formatLineVariants(line: readonly LineCommand[]): string[] {
  const runs = [line, ...splitPipelines(line)].filter((run) => run.length > 1);
  return runs.flatMap((run) => [
    ...formatPipeline(run, ({ words }) => words),
    ...formatPipeline(run, ({ startedWords }) => useBareName(startedWords)),
  ]);
}

/** Replaces the program's path by its bare name. */
export function useBareName(words: readonly string[]): readonly string[] {
  return words.map((word, at) => (at === 0 ? toBareName(word) : word));
}

/** Normalizes the operators of a command pattern as in the formatted lines. */
export function spaceOperators(pattern: string): string {
  return pattern.replaceAll(/ *(\|\||&&|\|&|[|&;]) */g, (_, operator: string) => {
    return operator === "|&" ? " | " : ` ${operator} `;
  });
}

function splitPipelines(line: readonly LineCommand[]): LineCommand[][] {
  const pipelines: LineCommand[][] = [];
  for (const command of line) {
    const open = command.operator === "|" ? pipelines.at(-1) : undefined;
    if (open === undefined) pipelines.push([command]);
    else open.push(command);
  }
  return pipelines;
}

/** With and without quotes, as for single commands. */
function formatPipeline(
  run: readonly LineCommand[],
  selectWords: (command: LineCommand) => readonly string[],
): string[] {
  const texts = run.map((command) => listCoveringTexts(selectWords(command)));
  return [0, 1].map((form) =>
    run
      .map(({ operator }, at) => `${at === 0 ? "" : ` ${operator} `}${texts[at]?.[form] ?? ""}`)
      .join(""),
  );
}
