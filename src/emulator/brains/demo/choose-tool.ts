import type { InvocationSettings, ToolSetting } from "../brain.ts";
import type { DemoPrompt } from "./demo-prompt.ts";
import { extractWords } from "./extract-words.ts";

/** The tool whose name and description match a prompt best. Null if no tool matches. */
export function chooseTool(settings: InvocationSettings, prompt: DemoPrompt): ToolSetting | null {
  const ranked = selectClientTools(settings)
    .map((tool) => ({ tool, score: scoreTool(tool, prompt.words) }))
    .sort((left, right) => right.score - left.score);
  const [best] = ranked;
  if (best === undefined) return null;
  if (best.score >= MIN_SCORE) return best.tool;
  return asksForAction(prompt)
    ? (ranked.find(({ tool }) => isActionTool(tool))?.tool ?? null)
    : null;
}

/** The allowed tools that run on the client's side. */
export function selectClientTools({ tools, allowedTools }: InvocationSettings): ToolSetting[] {
  const allowsAll = allowedTools.length === 0 || allowedTools.includes("*");
  return tools.filter(
    ({ type, name }) =>
      type === "inline_function" && name !== "" && (allowsAll || allowedTools.includes(name)),
  );
}

/** A matching word in the name, or two in the description. */
const MIN_SCORE = 2;

function scoreTool({ name, description }: ToolSetting, promptWords: ReadonlySet<string>): number {
  const inName = new Set(extractWords(name));
  const inDescription = extractWords(description).filter((word) => !inName.has(word));
  const count = (words: Iterable<string>): number =>
    [...new Set(words)].filter((word) => promptWords.has(word)).length;
  return 2 * count(inName) + count(inDescription);
}

const ACTIONS: ReadonlySet<string> = new Set(
  extractWords(
    "add book buy cancel change close create delete deploy edit execute install make move open order pay put refund remove rename restart run save send set start stop update write",
  ),
);

export function asksForAction({ words }: DemoPrompt): boolean {
  return [...words].some((word) => ACTIONS.has(word));
}

function isActionTool({ name, description }: ToolSetting): boolean {
  return extractWords(`${name} ${description}`).some((word) => ACTIONS.has(word));
}
