import { listCoveringTexts } from "./join-words.ts";
import { toBareName } from "./launchers.ts";

/** A command among those that it is joined with. */
export interface LineCommand {
  readonly operator: string;
  readonly words: readonly string[];
  /** What runs in the end, where the command only starts another. */
  readonly startedWords: readonly string[];
}

/**
 * Commands with their operators between them, in one spelling: the whole, and every pipeline in it. Once by their programs'
 * names as they stand, once by the bare names of what runs in the end.
 */
export function formatLineVariants(line: readonly LineCommand[]): string[] {
  const runs = [line, ...splitPipelines(line)].filter((run) => run.length > 1);
  return runs.flatMap((run) => [
    ...formatPipeline(run, ({ words }) => words),
    ...formatPipeline(run, ({ startedWords }) => useBareName(startedWords)),
  ]);
}

/** The same command by the bare name of its program. */
export function useBareName(words: readonly string[]): readonly string[] {
  return words.map((word, at) => (at === 0 ? toBareName(word) : word));
}

/** A pattern for texts of commands with its operators as those texts have them. */
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

/** With quotes and without, as single commands are compared. */
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
