import { isObject, jsonText } from "../../../domain/json.ts";
import {
  textsOf,
  toolResultsOf,
  toolUsesOf,
  type Message,
  type ResultPart,
  type ToolResult,
} from "../message.ts";
import { heardText } from "./heard.ts";
import { recoveryIn, type RepeatedResult } from "./recovery.ts";

/**
 * What came of the calls, in plain words; null when the newest message brings no results, or something to do beside them:
 * a prompt that follows calls that were cancelled is what is wanted now.
 */
export function reportResults(messages: readonly Message[]): string | null {
  const newest = messages.at(-1);
  if (heardText(newest) !== "") return null;
  const names = new Map(
    toolUsesOf(messages.at(-2)).map(({ toolUseId, name }) => [toolUseId, name]),
  );
  const repeated = textsOf(newest).flatMap((text) => recoveryIn(text)?.results ?? []);
  const results =
    repeated.length > 0 ? repeated : toolResultsOf(newest).map((result) => reported(result, names));
  return results.length === 0 ? null : results.map(report).join(" ");
}

function reported(
  { toolUseId, status, content }: ToolResult,
  names: ReadonlyMap<string, string>,
): RepeatedResult {
  const text = content.map(partText).join(" ");
  return { tool: names.get(toolUseId), isError: status === "error", text };
}

function report({ tool, isError, text }: RepeatedResult): string {
  const said = text.trim();
  if (isError) {
    const reason = said === "" ? "It did not say why." : `It said: ${sentence(said)}`;
    return `I could not finish that with ${tool ?? "the tool"}. ${reason}`;
  }
  return said === ""
    ? `Done: ${tool ?? "the tool"} ran and had nothing to say.`
    : `Done. ${tool ?? "The tool"} says: ${sentence(said)}`;
}

function partText(part: ResultPart): string {
  if ("text" in part) return part.text;
  const { json } = part;
  if (!isObject(json)) return typeof json === "string" ? json : jsonText(json);
  return Object.entries(json)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : jsonText(value)}`)
    .join(", ");
}

function sentence(text: string): string {
  const short = text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}

const LONGEST = 600;
