import type { Settings, ToolSetting } from "../brain.ts";
import type { Heard } from "./heard.ts";
import { wordsIn } from "./words.ts";

/** The tool that a prompt fits best by its name and description; null when none fits. */
export function chooseTool(settings: Settings, prompt: Heard): ToolSetting | null {
  const ranked = clientTools(settings)
    .map((tool) => ({ tool, score: scoreOf(tool, prompt.words) }))
    .sort((left, right) => right.score - left.score);
  const [best] = ranked;
  if (best === undefined) return null;
  if (best.score >= ENOUGH) return best.tool;
  return asksForAction(prompt) ? (ranked.find(({ tool }) => acts(tool))?.tool ?? null) : null;
}

/** The tools that run on the client's side and that this harness may call. */
export function clientTools({ tools, allowedTools }: Settings): ToolSetting[] {
  const allowsAll = allowedTools.length === 0 || allowedTools.includes("*");
  return tools.filter(
    ({ type, name }) =>
      type === "inline_function" && name !== "" && (allowsAll || allowedTools.includes(name)),
  );
}

/** A word of the name, or two of the description. */
const ENOUGH = 2;

function scoreOf({ name, description }: ToolSetting, said: ReadonlySet<string>): number {
  const inName = new Set(wordsIn(name));
  const inDescription = wordsIn(description).filter((word) => !inName.has(word));
  const count = (words: Iterable<string>): number =>
    [...new Set(words)].filter((word) => said.has(word)).length;
  return 2 * count(inName) + count(inDescription);
}

const ACTIONS: ReadonlySet<string> = new Set(
  wordsIn(
    "add book buy cancel change close create delete deploy edit execute install make move open order pay put refund remove rename restart run save send set start stop update write",
  ),
);

export function asksForAction({ words }: Heard): boolean {
  return [...words].some((word) => ACTIONS.has(word));
}

function acts({ name, description }: ToolSetting): boolean {
  return wordsIn(`${name} ${description}`).some((word) => ACTIONS.has(word));
}
