import { isObject, jsonText } from "../../../domain/json.ts";
import {
  toolResultsOf,
  toolUsesOf,
  type Message,
  type ResultPart,
  type ToolResult,
} from "../message.ts";

/** What came of the calls, in plain words; null when the newest message brings no results. */
export function reportResults(messages: readonly Message[]): string | null {
  const newest = messages.at(-1);
  const results = toolResultsOf(newest);
  if (results.length === 0) return null;
  const names = new Map(
    toolUsesOf(messages.at(-2)).map(({ toolUseId, name }) => [toolUseId, name]),
  );
  return results
    .map((result) => report(result, names.get(result.toolUseId) ?? "the tool"))
    .join(" ");
}

function report({ status, content }: ToolResult, name: string): string {
  const said = content.map(partText).join(" ").trim();
  if (status === "error") {
    const reason = said === "" ? "It did not say why." : `It said: ${sentence(said)}`;
    return `I could not finish that with ${name}. ${reason}`;
  }
  return said === ""
    ? `Done: ${name} ran and had nothing to say.`
    : `Done. ${name} says: ${sentence(said)}`;
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
