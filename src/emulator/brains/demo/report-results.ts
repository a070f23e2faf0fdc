import { isObject, toJsonText } from "../../../data/json.ts";
import {
  readTexts,
  readToolResults,
  readToolUses,
  type Message,
  type ResultPart,
  type ToolResult,
} from "../session-message.ts";
import { readPromptText } from "./demo-prompt.ts";
import { parseRecovery, type RestatedResult } from "./parse-recovery.ts";

/**
 * Reports tool results as plain text. Null if the newest message has no results, or also has a prompt: a prompt after
 * cancelled tool calls takes precedence.
 */
export function reportResults(messages: readonly Message[]): string | null {
  const newest = messages.at(-1);
  if (readPromptText(newest) !== "") return null;
  const names = new Map(
    readToolUses(messages.at(-2)).map(({ toolUseId, name }) => [toolUseId, name]),
  );
  const repeated = readTexts(newest).flatMap((text) => parseRecovery(text)?.results ?? []);
  const results =
    repeated.length > 0
      ? repeated
      : readToolResults(newest).map((result) => toRestatedResult(result, names));
  return results.length === 0 ? null : results.map(formatResult).join(" ");
}

function toRestatedResult(
  { toolUseId, status, content }: ToolResult,
  names: ReadonlyMap<string, string>,
): RestatedResult {
  const text = content.map(formatPart).join(" ");
  return { tool: names.get(toolUseId), isError: status === "error", text };
}

function formatResult({ tool, isError, text }: RestatedResult): string {
  const resultText = text.trim();
  if (isError) {
    const reason =
      resultText === "" ? "It gave no reason." : `It said: ${formatSentence(resultText)}`;
    return `I could not finish that with ${tool ?? "the tool"}. ${reason}`;
  }
  return resultText === ""
    ? `Done: ${tool ?? "the tool"} ran and had nothing to say.`
    : `Done. ${tool ?? "The tool"} says: ${formatSentence(resultText)}`;
}

function formatPart(part: ResultPart): string {
  if ("text" in part) return part.text;
  const { json } = part;
  if (!isObject(json)) return typeof json === "string" ? json : toJsonText(json);
  return Object.entries(json)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : toJsonText(value)}`)
    .join(", ");
}

function formatSentence(text: string): string {
  const short =
    text.length <= MAX_SENTENCE_CHARACTERS ? text : `${text.slice(0, MAX_SENTENCE_CHARACTERS)}…`;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}

const MAX_SENTENCE_CHARACTERS = 600;
